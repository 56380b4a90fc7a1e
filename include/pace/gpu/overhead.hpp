// Overhead: what a clock adds to the time of kernels, measured with a short kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "pace/core/units.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::gpu {

/// The time by a clock is about the kernels' own + `per_call` + `per_kernel` * (kernels of a call - 1).
struct Overhead {
  Nanoseconds per_call{}, per_kernel{};

  /// Time of one call without what the clock added; never below 0.
  [[nodiscard]] Nanoseconds remove_from(Nanoseconds time_of_call, double kernels_per_call) const {
    return std::max(Nanoseconds{}, time_of_call - per_call - per_kernel * std::max(0.0, kernels_per_call - 1));
  }
};

namespace detail {

/// The upper one of the two in the middle.
[[nodiscard]] inline Nanoseconds upper_median(std::vector<Nanoseconds> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace detail

/// `short_kernel` is a subject of exactly one kernel of a few microseconds that fills the device and writes some
/// megabytes: a kernel that others follow must drain and make its writes visible first, which one that does next to
/// nothing shows little of (0.05 us instead of 0.35 us on the H200). Its time by `clock` less its time by `profiler`,
/// both cold or both hot, is what the
/// clock adds to every call; in a graph, where kernels follow each other at the same distance whatever call they belong
/// to, also what it adds to every further kernel. The two take turns, `rounds` times, `calls` calls a sample, after one
/// each that does not count, each after the same rest: a device that has just been idle has another clock than one that
/// has not.
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
