// How the compatible timers make one figure of many times.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

/// Timers as other libraries have them, with their very constants and their flaws, so that published numbers can be
/// had again. pace's own clocks are better: see the README for the errors of each.
namespace pace::benches::timers {

/// The unit of these timers.
using Milliseconds = std::chrono::duration<double, std::milli>;

enum class Statistic { min, max, mean, median };

/// torch.median: for an even number of times the lower one of the two in the middle.
[[nodiscard]] inline Milliseconds lower_median(std::vector<Milliseconds> times) {
  if (times.empty()) throw Error("a median of no times; expected one or more");
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>((times.size() - 1) / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// The mean of the two in the middle, as Python's statistics.median.
[[nodiscard]] inline Milliseconds mean_median(std::vector<Milliseconds> times) {
  if (times.empty()) throw Error("a median of no times; expected one or more");
  std::ranges::sort(times);
  return (times[(times.size() - 1) / 2] + times[times.size() / 2]) / 2;
}

[[nodiscard]] inline Milliseconds summarise(std::span<const Milliseconds> times, Statistic statistic) {
  if (times.empty()) throw Error("a summary of no times; expected one or more");
  switch (statistic) {
    case Statistic::min:
      return *std::ranges::min_element(times);
    case Statistic::max:
      return *std::ranges::max_element(times);
    case Statistic::mean:
      return std::accumulate(times.begin(), times.end(), Milliseconds{}) / static_cast<double>(times.size());
    case Statistic::median:
      return lower_median({times.begin(), times.end()});
  }
  throw Error("an unknown statistic");
}

namespace detail {

/// int(a / b) of two durations, at least 1. The originals divide by the estimate without looking at it.
[[nodiscard]] inline std::int64_t times_in(Milliseconds budget, Milliseconds estimate) {
  if (!(estimate.count() > 0))
    throw Error(
        "the call was estimated to take no time at all, and this timer divides by that; expected work that "
        "the device can see");
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(budget / estimate));
}

inline void call_if_set(const std::function<void()>& hook) {
  if (hook) hook();
}

}  // namespace detail
}  // namespace pace::benches::timers
