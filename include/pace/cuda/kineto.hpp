// The device's activities by CUPTI, through LibTorch's profiler Kineto.
#pragma once

#include <torch/csrc/autograd/profiler_kineto.h>

#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "pace/clock/activity.hpp"
#include "pace/core/error.hpp"

namespace pace::cuda::kineto {

/// Starts recording; there is one recording at a time in a process. Throws Refused if LibTorch was built without it.
inline void start() {
  namespace profiler = torch::profiler::impl;
  const std::set<profiler::ActivityType> activities{profiler::ActivityType::CUDA};
  const profiler::ProfilerConfig config(profiler::ProfilerState::KINETO);
  torch::autograd::profiler::prepareProfiler(config, activities);
  torch::autograd::profiler::enableProfiler(config, activities);
}

/// Kernels, copies and fills since start(), in no particular order.
[[nodiscard]] inline std::vector<clock::Activity> stop() {
  using Kind = clock::Activity::Kind;
  const auto result = torch::autograd::profiler::disableProfiler();
  // Of the whole epoch a double would keep steps of 256 ns.
  const std::uint64_t origin = result->trace_start_ns();
  std::vector<clock::Activity> activities;
  for (const auto& event : result->events()) {
    if (event.deviceType() != c10::DeviceType::CUDA) continue;
    std::string name = event.name();
    // Waits are activities too, of nobody.
    constexpr std::array<std::string_view, 4> waits{"Context Sync", "Stream Sync", "Event Sync", "Stream Wait Event"};
    bool waits_only = false;
    for (const auto wait : waits) waits_only = waits_only || name.starts_with(wait);
    if (waits_only) continue;
    const Kind kind = name.starts_with("Memcpy") ? Kind::copy : name.starts_with("Memset") ? Kind::fill : Kind::kernel;
    const auto start = static_cast<std::int64_t>(event.startNs() - origin);
    activities.push_back({kind, std::move(name), Nanoseconds(static_cast<double>(start)),
                          Nanoseconds(static_cast<double>(event.durationNs())), event.deviceResourceId()});
  }
  return activities;
}

inline void abandon() noexcept {
  try {
    static_cast<void>(torch::autograd::profiler::disableProfiler());
  } catch (...) {
  }
}

}  // namespace pace::cuda::kineto
