// What pace's main function does for the figures, in a program that has another one.
#pragma once

#include <ATen/Parallel.h>

#include "pace/base/default_threads.hpp"
#include "pace/os/steady_memory.hpp"
#include "pace/result/run_context.hpp"

namespace pace::detail {

/// LibTorch's own choice of threads, taken before main(). It is not at::intraop_default_num_threads(): with
/// OMP_NUM_THREADS=3 on two cores that is 3, and 2 are used.
inline const int threads_before_main = at::get_num_threads();

/// Prepares the process at its first comparison as pace's main function does before the tests, which returns at once if
/// the program has that: one thread for each operator, and freed memory stays. A number of threads that the program has
/// chosen by at::set_num_threads() stays, unless it is LibTorch's own choice.
inline void prepare_without_runner() {
  static bool prepared = false;
  if (run_context().has_runner || prepared) return;
  prepared = true;
  keep_freed_memory();
  if (at::get_num_threads() == threads_before_main) at::set_num_threads(default_threads);
}

}  // namespace pace::detail
