// wait_a_moment: one turn of a loop that waits without sleeping.
#pragma once

namespace pace::detail {

/// Lets the core's other thread run while this one waits for memory to change.
inline void wait_a_moment() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace pace::detail
