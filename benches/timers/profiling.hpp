// Timers by the profiler: Inductor's, and Triton's loop under it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "benches/timers/do_bench.hpp"
#include "benches/timers/summary.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::benches::timers {

namespace detail {

/// What each call did, without the flush before it. Calls must all do the same: as many activities each.
[[nodiscard]] inline std::vector<std::vector<gpu::Activity>> split_calls(const std::vector<gpu::Activity>& activities,
                                                                         std::int64_t calls) {
  const auto count = static_cast<std::size_t>(calls);
  if (activities.empty() || activities.size() % count != 0)
    throw Error("the profiler saw " + std::to_string(activities.size()) + " activities in " + std::to_string(calls) +
                " calls; expected the same number in each");
  const std::size_t each = activities.size() / count;
  std::vector<std::vector<gpu::Activity>> groups;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = activities.begin() + static_cast<std::ptrdiff_t>(i * each);
    // The first one is the flush.
    groups.emplace_back(first + 1, first + static_cast<std::ptrdiff_t>(each));
  }
  return groups;
}

template <gpu::TracesActivities D, class F>
[[nodiscard]] std::vector<std::vector<gpu::Activity>> profiled_calls(D& device, F&& function,
                                                                     const typename D::Buffer& buffer,
                                                                     std::int64_t calls) {
  const auto stream = device.current_stream();
  return split_calls(gpu::trace(device,
                                [&] {
                                  for (std::int64_t i = 0; i < calls; ++i) {
                                    device.fill(buffer, stream);
                                    function();
                                  }
                                }),
                     calls);
}

}  // namespace detail

/// do_bench_using_profiling of torch._inductor.utils: the sum of the durations, divided by the number of calls. Throws
/// Error if calls differ in how much they do.
template <gpu::TracesActivities D, class F>
[[nodiscard]] Milliseconds do_bench_using_profiling(D& device, F&& function, const DoBench& options = {}) {
  const auto flushed = detail::warm_up(device, function, options);
  Milliseconds total{};
  for (const auto& call : detail::profiled_calls(device, function, flushed.buffer.get(), flushed.repeats))
    for (const auto& activity : call) total += activity.duration;
  return total / static_cast<double>(flushed.repeats);
}

struct ProfilerBenchmark {
  int estimation = 5, memory_warm_up = 10;
  std::int64_t calls = 100;
  Milliseconds longest{25};
};

/// TorchProfilerBenchmarker: from the start of the first activity of a call to the end of its last, which is what a
/// range around the call comes to on the device; the mean of all calls.
template <gpu::TracesActivities D, class F>
[[nodiscard]] Milliseconds profiler_benchmark(D& device, F&& function, const ProfilerBenchmark& options = {}) {
  device.synchronise();
  function();
  device.synchronise();
  const auto buffer = gpu::own_buffer(device, device.l2_bytes());
  const auto stream = device.current_stream();
  device.fill(buffer.get(), stream);
  const Milliseconds estimate =
      summarise(detail::flushed_calls(device, function, buffer.get(), {}, options.estimation), Statistic::min);
  const std::int64_t calls = std::min(options.calls, detail::times_in(options.longest, estimate));
  for (int i = 0; i < options.memory_warm_up; ++i) device.fill(buffer.get(), stream);
  Milliseconds total{};
  for (const auto& call : detail::profiled_calls(device, function, buffer.get(), calls)) total += gpu::span_of(call);
  return total / static_cast<double>(calls);
}

}  // namespace pace::benches::timers
