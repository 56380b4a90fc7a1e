// The number of threads that one operator may use.
#pragma once

#include <ATen/Parallel.h>

namespace pace::runner {

/// Default number of threads of one operator: one, as in torch.utils.benchmark. With several, an operator ends when the
/// last of them does: on a machine that does anything else at the same time each barrier waits for the scheduler, which
/// made calls of 3 us take 8 ms.
inline constexpr int default_threads = 1;

/// Sets the number of threads of an operator for the whole process; with 0 LibTorch uses one for each core.
inline void use_threads(int threads) {
  if (threads > 0) at::set_num_threads(threads);
}

}  // namespace pace::runner
