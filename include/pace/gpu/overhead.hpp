// Overhead: the time that a clock adds to the time of kernels, measured with a short kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::gpu {

/// The time that a clock adds: the time of a call by the clock is about the time of its kernels + `per_call` +
/// `per_kernel` * (kernels of a call - 1).
struct Overhead {
  Nanoseconds per_call{};    ///< added to each call
  Nanoseconds per_kernel{};  ///< added for each kernel of a call after the first

  /// Returns the time of one call of `kernels_per_call` kernels without the added time, at least 0.
  [[nodiscard]] Nanoseconds remove_from(Nanoseconds time_of_call, double kernels_per_call) const {
    return std::max(Nanoseconds{}, time_of_call - per_call - per_kernel * std::max(0.0, kernels_per_call - 1));
  }
};

namespace detail {

/// The median; the upper one of the two in the middle for an even number of times.
[[nodiscard]] inline Nanoseconds upper_median(std::vector<Nanoseconds> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace detail

/// Measures the time that `clock` adds, as the difference of the median times of `short_kernel` by `clock` and by
/// `profiler`, which must be both cold or both hot.
///
/// `short_kernel` must be a subject of exactly one kernel of a few microseconds that fills the device and writes some
/// megabytes: a kernel must drain and make its writes visible before the next one starts, and a kernel that does next
/// to nothing shows little of that (0.05 us instead of 0.35 us on the H200). The difference is added to every call and,
/// in a graph, where all kernels follow each other at the same distance, to every further kernel.
///
/// Both clocks take `rounds` samples of `calls` calls in turns, after an untimed sample each. The same rest precedes
/// each sample, since a device that has been idle has another clock rate than a busy one.
[[nodiscard]] inline Overhead measure_overhead(timing::Clock& clock, timing::Clock& profiler,
                                               timing::Subject& short_kernel, std::size_t rounds = 9,
                                               std::int64_t calls = 128) {
  constexpr auto rest = std::chrono::milliseconds(5);
  std::vector<Nanoseconds> by_clock, itself;
  for (std::size_t round = 0; round <= rounds; ++round) {
    std::this_thread::sleep_for(rest);
    const Nanoseconds profiled = profiler.sample(short_kernel, 0, calls);
    std::this_thread::sleep_for(rest);
    const Nanoseconds timed = clock.sample(short_kernel, 0, calls);
    if (round == 0) continue;
    itself.push_back(profiled);
    by_clock.push_back(timed);
  }
  const Nanoseconds added = detail::upper_median(by_clock) - detail::upper_median(itself);
  const Nanoseconds each = std::max(Nanoseconds{}, added) / static_cast<double>(calls);
  return {each, each};
}

}  // namespace pace::gpu
