// Freed memory stays with the program, so that the calls that are timed do not pay for getting it back.
#pragma once

#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include "pace/core/bazel.hpp"

namespace pace::runner {

/// Has glibc's allocator keep what is freed, up to 1 GiB, and to map only blocks above 256 MiB apart. Otherwise it
/// gives memory back to the kernel in some runs and not in others, and every output is then made of fresh pages: one and
/// the same layer norm took 67 us or up to 331 us, with a spread of 86 % instead of 2 %. What MALLOC_..._ variables or
/// GLIBC_TUNABLES say goes first. Other allocators are left alone.
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

}  // namespace pace::runner
