// Activity: one piece of work that the device did, as a profiler saw it.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/device.hpp"

namespace pace::gpu {

struct Activity {
  enum class Kind { kernel, copy, fill };
  Kind kind = Kind::kernel;
  std::string name = {};
  /// Since some fixed point.
  Nanoseconds start{}, duration{};
  /// Which queue of the device it ran in, by the profiler's numbers.
  std::int64_t stream = 0;
};

/// A device whose profiler records everything between `start_trace()` and `stop_trace()`. `abandon_trace` cannot fail.
template <class D>
concept TracesActivities = Device<D> && requires(D& device) {
  device.start_trace();
  { device.stop_trace() } -> std::same_as<std::vector<Activity>>;
  device.abandon_trace();
};

/// What the device does while `body` runs, in order of start, until all of it is done.
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

/// For how long at least one of them ran: what two did at once counts once.
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

/// From the start of the first to the end of the last.
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
