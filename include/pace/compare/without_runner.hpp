// prepare_without_runner: pace's preparations in a program with its own main function.
#pragma once

#include <ATen/Parallel.h>

#include "pace/base/default_threads.hpp"
#include "pace/os/steady_memory.hpp"
#include "pace/run/run_context.hpp"

namespace pace::detail {

/// LibTorch's own choice of threads, taken before main(). at::intraop_default_num_threads() may differ: with
/// OMP_NUM_THREADS=3 on two cores it says 3, but 2 are used.
inline const int threads_before_main = at::get_num_threads();

/// Prepares the process at its first comparison, as pace's main function would: one thread for each operator, and freed
/// memory stays. Keeps a number of threads that the program set itself, unless it equals LibTorch's choice. Does
/// nothing if the program has pace's main function.
inline void prepare_without_runner() {
  static bool prepared = false;
  if (run_context().has_runner || prepared) return;
  prepared = true;
  keep_freed_memory();
  if (at::get_num_threads() == threads_before_main) at::set_num_threads(default_threads);
}

}  // namespace pace::detail
