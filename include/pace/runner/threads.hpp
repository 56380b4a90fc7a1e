// How many threads one operator may use.
#pragma once

#include <ATen/Parallel.h>

namespace pace::runner {

/// One, as torch.utils.benchmark has it. With several, an operator ends when the last of them does: on a machine that
/// does anything else at the same time each barrier waits for the scheduler, which made calls of 3 us take 8 ms.
inline constexpr int default_threads = 1;

/// For the whole process; 0 leaves it to LibTorch, which takes one for each core.
inline void use_threads(int threads) {
  if (threads > 0) at::set_num_threads(threads);
}

}  // namespace pace::runner
