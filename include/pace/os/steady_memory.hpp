// Keeps freed memory in the program, so that timed calls do not wait for memory from the kernel.
#pragma once

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include "pace/os/bazel.hpp"

namespace pace {

/// Makes glibc's allocator keep up to 1 GiB of freed memory, and map only blocks above 256 MiB separately. Otherwise it
/// returns memory to the kernel in some runs only, and every output faults its pages in: one layer norm took 67 us or
/// up to 331 us, with a spread of 86 % instead of 2 %. MALLOC_..._ variables and GLIBC_TUNABLES take precedence.
inline void keep_freed_memory() {
#ifdef __GLIBC__
  if (!environment_variable("GLIBC_TUNABLES").empty()) return;
  const auto set = [](const char* variable, int parameter, int bytes) {
    if (environment_variable(variable).empty()) mallopt(parameter, bytes);
  };
  set("MALLOC_MMAP_THRESHOLD_", M_MMAP_THRESHOLD, 256 << 20);
  set("MALLOC_TRIM_THRESHOLD_", M_TRIM_THRESHOLD, 1 << 30);
  set("MALLOC_TOP_PAD_", M_TOP_PAD, 64 << 20);
#endif
}

/// Returns freed memory to the kernel, also between blocks in use, as after work that took much memory.
inline void return_freed_memory() {
#ifdef __GLIBC__
  (void)malloc_trim(0);
#endif
}

}  // namespace pace
