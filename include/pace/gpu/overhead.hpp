// Overhead: the time that a clock adds to the time of kernels, measured with a short kernel.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/result/result.hpp"
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

/// Readings of the time that `clock` adds to a call: the times of samples of `short_kernel` by `clock` less those by
/// `profiler`, which must be both cold or both hot; one for each round.
///
/// `short_kernel` must be a subject of exactly one kernel of a few microseconds that fills the device and writes some
/// megabytes: a kernel must drain and make its writes visible before the next one starts, and a kernel that does next
/// to nothing shows little of that (0.05 us instead of 0.35 us on the H200). The difference is added to every call and,
/// in a graph, where all kernels follow each other at the same distance, to every further kernel.
///
/// Both clocks take `rounds` samples of `calls` calls in turns, after an untimed sample each. The same rest precedes
/// each sample, since a device that has been idle has another clock rate than a busy one. Throws Error if the profiler
/// sees no kernel, as where another profiler is attached to the process.
[[nodiscard]] inline std::vector<Nanoseconds> readings_of_overhead(timing::Clock& clock, timing::Clock& profiler,
                                                                   timing::Subject& short_kernel, std::size_t rounds,
                                                                   std::int64_t calls) {
  constexpr auto rest = std::chrono::milliseconds(5);
  std::vector<Nanoseconds> added;
  for (std::size_t round = 0; round <= rounds; ++round) {
    std::this_thread::sleep_for(rest);
    const Nanoseconds profiled = profiler.sample(short_kernel, 0, calls);
    if (profiled.count() <= 0) throw Error("the profiler saw no kernel; expected that no other profiler is attached");
    std::this_thread::sleep_for(rest);
    const Nanoseconds timed = clock.sample(short_kernel, 0, calls);
    if (round > 0) added.push_back((timed - profiled) / static_cast<double>(calls));
  }
  return added;
}

/// Measures what `clock` adds to a call, by several short kernels: the median of all readings, and half their range.
/// Kernels differ in it by 0.1 to 0.2 us. Requirements and errors are those of readings_of_overhead().
[[nodiscard]] inline ClockOverhead overhead_of(timing::Clock& clock, timing::Clock& profiler,
                                               std::span<timing::Subject* const> short_kernels, std::size_t rounds,
                                               std::int64_t calls) {
  std::vector<Nanoseconds> all;
  for (timing::Subject* const kernel : short_kernels)
    for (const Nanoseconds each : readings_of_overhead(clock, profiler, *kernel, rounds, calls)) all.push_back(each);
  const auto [least, most] = std::ranges::minmax(all);
  return {.added = std::max(Nanoseconds{}, detail::upper_median(std::move(all))), .error = (most - least) / 2.0};
}

/// Measures the time that `clock` adds: the median of readings_of_overhead(), at least 0.
[[nodiscard]] inline Overhead measure_overhead(timing::Clock& clock, timing::Clock& profiler,
                                               timing::Subject& short_kernel, std::size_t rounds = 9,
                                               std::int64_t calls = 128) {
  const Nanoseconds each =
      std::max(Nanoseconds{}, detail::upper_median(readings_of_overhead(clock, profiler, short_kernel, rounds, calls)));
  return {each, each};
}

}  // namespace pace::gpu
