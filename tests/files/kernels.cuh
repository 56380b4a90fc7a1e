// What kernels.cu includes.
#pragma once

struct Structure {
  char bytes[200];
};
