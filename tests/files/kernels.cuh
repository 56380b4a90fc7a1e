// Included by kernels.cu.
#pragma once

struct Structure {
  char bytes[200];
};
