// The number of threads that one operator may use.
#pragma once

#include <ATen/Parallel.h>

#include "pace/base/default_threads.hpp"

namespace pace::runner {

/// Sets the number of threads of an operator for the whole process; with 0 LibTorch uses one for each core.
inline void use_threads(int threads) {
  if (threads > 0) at::set_num_threads(threads);
}

}  // namespace pace::runner
