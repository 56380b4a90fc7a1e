// Activity: one kernel, copy or fill of a device, as a profiler recorded it.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/device.hpp"

namespace pace::gpu {

/// One kernel, copy or fill of a device, as a profiler recorded it.
struct Activity {
  /// What the device did.
  enum class Kind {
    kernel,  ///< ran a kernel
    copy,    ///< copied memory
    fill,    ///< filled memory with a value
  };
  Kind kind = Kind::kernel;  ///< what the device did
  std::string name = {};     ///< name of the kernel, demangled, or of the operation
  Nanoseconds start{};       ///< since a point that is fixed for a recording
  Nanoseconds duration{};    ///< until its end
  std::int64_t stream = 0;   ///< stream in which it ran, by the profiler's numbers
  /// The call of the host that queued it, by the profiler's numbers, which rise with the calls of a process. All nodes
  /// of a graph have the launch's; 0: not known.
  std::uint64_t correlation = 0;
};

/// A device whose profiler records all activities between `start_trace()` and `stop_trace()`. `abandon_trace()` ends a
/// recording without its result, and must not throw.
template <class D>
concept TracesActivities = Device<D> && requires(D& device) {
  device.start_trace();
  { device.stop_trace() } -> std::same_as<std::vector<Activity>>;
  device.abandon_trace();
};

/// Returns what the device does for `body`, until all of it is done, in the order of start times.
template <TracesActivities D, class Body>
[[nodiscard]] std::vector<Activity> trace(D& device, Body&& body) {
  struct Abandon {
    D& device;
    bool traces = true;
    ~Abandon() {
      if (traces) device.abandon_trace();
    }
  };
  device.synchronise();
  device.start_trace();
  Abandon abandon{device};
  body();
  device.synchronise();
  auto activities = device.stop_trace();
  abandon.traces = false;
  std::ranges::sort(activities, {}, &Activity::start);
  return activities;
}

/// Returns for how long at least one of the activities ran: time in which several ran counts once.
[[nodiscard]] inline Nanoseconds busy_time(std::span<const Activity> in_order_of_start) {
  Nanoseconds total{}, end = Nanoseconds::min();
  for (const auto& each : in_order_of_start) {
    const Nanoseconds start = std::max(each.start, end), stop = each.start + each.duration;
    if (stop <= start) continue;
    total += stop - start;
    end = stop;
  }
  return total;
}

/// Returns the time from the first start to the last end; 0 without activities.
[[nodiscard]] inline Nanoseconds span_of(std::span<const Activity> activities) {
  if (activities.empty()) return {};
  Nanoseconds first = activities[0].start, last = Nanoseconds::min();
  for (const auto& each : activities) {
    first = std::min(first, each.start);
    last = std::max(last, each.start + each.duration);
  }
  return last - first;
}

}  // namespace pace::gpu
