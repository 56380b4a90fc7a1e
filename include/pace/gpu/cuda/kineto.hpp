// Recordings of the device's activities by CUPTI, through LibTorch's profiler Kineto.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/result/result.hpp"

#if __has_include(<torch/csrc/autograd/profiler_kineto.h>)
#include <torch/csrc/autograd/profiler_kineto.h>
#define PACE_HAS_KINETO 1
#else
#define PACE_HAS_KINETO 0
#endif

namespace pace::cuda::kineto {

#if PACE_HAS_KINETO

/// Starts a recording. A process can have one at a time; throws c10::Error if one is in progress.
inline void start() {
  namespace profiler = torch::profiler::impl;
  const std::set<profiler::ActivityType> activities{profiler::ActivityType::CUDA};
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
}

namespace detail {

/// Whether the activity is a wait, which runs no kernel.
[[nodiscard]] inline bool only_waits(std::string_view name) {
  for (const std::string_view wait : {"Context Sync", "Stream Sync", "Event Sync", "Stream Wait Event"})
    if (name.starts_with(wait)) return true;
  return false;
}

[[nodiscard]] inline gpu::Activity::Kind kind_of(std::string_view name) {
  using Kind = gpu::Activity::Kind;
  return name.starts_with("Memcpy") ? Kind::copy : name.starts_with("Memset") ? Kind::fill : Kind::kernel;
}

}  // namespace detail

/// Stops the recording and counts kernels on the device, and launches and waits by the host.
[[nodiscard]] inline DeviceCounts stop_and_count() {
  const auto result = torch::autograd::profiler::disableProfiler();
  DeviceCounts counts;
  for (const auto& event : result->events()) {
    const std::string name = event.name();
    if (event.deviceType() == c10::DeviceType::CUDA) {
      counts.kernels += !detail::only_waits(name) && detail::kind_of(name) == gpu::Activity::Kind::kernel;
    } else if (name.starts_with("cu")) {
      counts.launches += name.find("Launch") != std::string::npos;
      counts.synchronisations += name.find("Synchronize") != std::string::npos;
    }
  }
  return counts;
}

/// Stops the recording and returns the kernels, copies and fills since start(), in no particular order.
[[nodiscard]] inline std::vector<gpu::Activity> stop() {
  const auto result = torch::autograd::profiler::disableProfiler();
  // Times are relative to the start, since a double holds nanoseconds since 1970 in steps of 256 ns.
  const std::uint64_t origin = result->trace_start_ns();
  std::vector<gpu::Activity> activities;
  for (const auto& event : result->events()) {
    if (event.deviceType() != c10::DeviceType::CUDA) continue;
    std::string name = event.name();
    if (detail::only_waits(name)) continue;
    const auto kind = detail::kind_of(name);
    const auto start = static_cast<std::int64_t>(event.startNs() - origin);
    activities.push_back({kind, std::move(name), Nanoseconds(static_cast<double>(start)),
                          Nanoseconds(static_cast<double>(event.durationNs())), event.deviceResourceId(),
                          event.correlationId()});
  }
  return activities;
}

/// Stops the recording without a result.
inline void abandon() noexcept {
  try {
    static_cast<void>(torch::autograd::profiler::disableProfiler());
  } catch (...) {
  }
}

#else

/// Throws Unsupported, since LibTorch was installed without the profiler's headers; then nothing else is called.
inline void start() {
  throw Unsupported(
      "this LibTorch was installed without the headers of its profiler (torch/csrc/autograd/profiler_kineto.h)");
}
[[nodiscard]] inline DeviceCounts stop_and_count() { return {}; }
[[nodiscard]] inline std::vector<gpu::Activity> stop() { return {}; }
inline void abandon() noexcept {}

#endif  // PACE_HAS_KINETO

}  // namespace pace::cuda::kineto
