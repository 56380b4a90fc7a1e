// What is asked of pace::kernels.
#pragma once

#include <vector>

#include "pace/kernel/knowledge.hpp"

namespace pace {

struct KernelsOptions {
  /// Its number.
  int device = 0;
  /// The time of each kernel with an empty cache, too.
  bool cold = true;
  /// What memory can do, for shares of it: a tenth of a second.
  bool peak_bandwidth = true;
  /// Who knows kernels' bytes and categories; asked in this order.
  std::vector<kernel::Provider> providers = {};
};

}  // namespace pace
