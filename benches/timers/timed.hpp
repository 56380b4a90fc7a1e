// timed: Inductor's stop watch, one reading around a few calls.
#pragma once

#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <ostream>
#include <utility>
#include <vector>

#include "benches/timers/summary.hpp"

#include "pace/base/c_numbers.hpp"

namespace pace::benches::timers {

struct Timed {
  int times = 1;
  /// Before the first call, outside of its time: the original sets the random seed to 1337.
  std::function<void()> set_seed = {};
  /// Before the first reading of the clock, and after each call, inside of its time.
  std::function<void()> synchronise = {};
};

/// The time of all calls together. No warm-up. `clock` needs now().
template <class C, class F>
[[nodiscard]] Nanoseconds timed(C& clock, F&& function, const Timed& options = {}) {
  detail::call_if_set(options.synchronise);
  detail::call_if_set(options.set_seed);
  const Nanoseconds start = clock.now();
  for (int i = 0; i < options.times; ++i) {
    function();
    detail::call_if_set(options.synchronise);
  }
  return clock.now() - start;
}

struct PrintPerformance {
  int times = 10, repeat = 10;
  /// Seconds that count as 1 in printed figures.
  double baseline = 1;
  std::function<void()> set_seed = {}, synchronise = {};
};

/// Inductor's print_performance: the lower median of `repeat` readings of `times` calls, in seconds a call, printed
/// over the baseline with six digits, and returned.
template <class C, class F>
double print_performance(C& clock, F&& function, const PrintPerformance& options, std::ostream& out) {
  std::vector<Milliseconds> readings;
  for (int i = 0; i < options.repeat; ++i)
    readings.emplace_back(timed(clock, function, {options.times, options.set_seed, options.synchronise}));
  const double took = std::chrono::duration<double>(lower_median(std::move(readings))).count() / options.times;
  std::array<char, 64> text;
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), "%.6f", took / options.baseline);
  out << text.data() << '\n' << std::flush;
  return took;
}

}  // namespace pace::benches::timers
