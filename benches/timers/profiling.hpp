// Timers by the profiler: Inductor's, and Triton's loop under it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "benches/timers/do_bench.hpp"
#include "benches/timers/summary.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/gpu/owned.hpp"

namespace pace::benches::timers {

namespace detail {

/// The activities of each call, without the flush before it. The host queues the flush first, and a call ends at the
/// next activity of that name. (The original looks up an activity's correlation id in the ranges of the host.) If calls
/// have activities like the flush, too, all must have equally many. Throws Error for activities that cannot be told
/// apart by either.
[[nodiscard]] inline std::vector<std::vector<gpu::Activity>> split_calls(std::vector<gpu::Activity> activities,
                                                                         std::int64_t calls) {
  const auto count = static_cast<std::size_t>(calls);
  // Streams run side by side, so start times may have another order than on the host.
  std::ranges::stable_sort(activities, {}, &gpu::Activity::correlation);
  const auto flushes =
      activities.empty()
          ? 0
          : static_cast<std::size_t>(std::ranges::count(activities, activities.front().name, &gpu::Activity::name));
  const bool by_name = flushes == count;
  if (activities.empty() || (!by_name && activities.size() % count != 0))
    throw Error(
        "the profiler saw " + std::to_string(activities.size()) + " activities in " + std::to_string(calls) +
        " calls, and " + std::to_string(flushes) +
        " of them may be flushes of the cache; expected one flush for each call, or equally many activities in each");
  const std::size_t each = activities.size() / count;
  std::vector<std::vector<gpu::Activity>> groups;
  for (std::size_t i = 0; i < activities.size(); ++i) {
    if (by_name ? activities[i].name == activities.front().name : i % each == 0)
      groups.emplace_back();
    else
      groups.back().push_back(activities[i]);
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
/// Error if activities cannot be assigned to calls.
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

/// TorchProfilerBenchmarker: the mean time of a call, from the start of its first activity to the end of its last. A
/// range around the call has that time on the device.
template <gpu::TracesActivities D, class F>
[[nodiscard]] Milliseconds profiler_benchmark(D& device, F&& function, const ProfilerBenchmark& options = {}) {
  device.synchronise();
  function();
  device.synchronise();
  const auto buffer = gpu::own_buffer(device, device.l2_bytes());
  const auto stream = device.current_stream();
  device.fill(buffer.get(), stream);
  const Milliseconds estimate =
      summarise(flushed_calls(device, function, buffer.get(), {}, options.estimation), Statistic::min);
  const std::int64_t calls = std::min(options.calls, detail::times_in(options.longest, estimate));
  for (int i = 0; i < options.memory_warm_up; ++i) device.fill(buffer.get(), stream);
  Milliseconds total{};
  for (const auto& call : detail::profiled_calls(device, function, buffer.get(), calls)) total += gpu::span_of(call);
  return total / static_cast<double>(calls);
}

}  // namespace pace::benches::timers
