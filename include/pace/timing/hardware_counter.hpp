// hardware_ticks: the CPU's own counter, which no library of the program can change.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace pace::timing {

/// Returns the ticks of the CPU's counter; 0 if there is none. Takes about 10 ns.
[[nodiscard]] inline std::uint64_t hardware_ticks() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

/// Whether the counter ticks at one rate, whatever the CPU's clock is.
[[nodiscard]] inline bool has_steady_ticks() {
#if defined(__x86_64__)
  constexpr unsigned leaf = 0x80000007, invariant = 1 << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(leaf, &a, &b, &c, &d) != 0 && (d & invariant) != 0;
#elif defined(__aarch64__)
  return true;
#else
  return false;
#endif
}

}  // namespace pace::timing
