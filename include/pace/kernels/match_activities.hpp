// match_activities: assigns a profiler's records to the kernels of a graph that was launched several times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/activity.hpp"
#include "pace/kernels/kernel.hpp"

namespace pace::kernel {

/// Returns the times of each kernel over `launches` launches of a graph. `names` are the kernels of one launch in
/// order; kernels of one name are distinguished by their order. Nothing for a kernel if the number of records of its
/// name is not `launches` times the number of kernels of that name.
[[nodiscard]] inline std::vector<std::optional<KernelTime>> match_activities(
    std::span<const std::string> names, std::span<const gpu::Activity> in_order_of_start, std::size_t launches) {
  std::vector<std::optional<KernelTime>> times(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::vector<Nanoseconds> seen;
    for (const auto& each : in_order_of_start)
      if (each.kind == gpu::Activity::Kind::kernel && each.name == names[i]) seen.push_back(each.duration);
    const auto namesakes = static_cast<std::size_t>(std::ranges::count(names, names[i]));
    const auto before =
        static_cast<std::size_t>(std::count(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(i), names[i]));
    if (launches == 0 || seen.size() != launches * namesakes) continue;
    std::vector<Nanoseconds> own;
    for (std::size_t launch = 0; launch < launches; ++launch) own.push_back(seen[launch * namesakes + before]);
    times[i] = summary_of(std::move(own));
  }
  return times;
}

/// Returns the activities of `launches` launches without the `before` activities that precede each of them. Nothing if
/// the launches have different numbers of activities, so that it is not known which these are.
[[nodiscard]] inline std::optional<std::vector<gpu::Activity>> without_those_before(
    std::span<const gpu::Activity> in_order_of_start, std::size_t launches, std::size_t before) {
  if (launches == 0 || in_order_of_start.size() % launches != 0) return std::nullopt;
  const std::size_t each = in_order_of_start.size() / launches;
  if (each < before) return std::nullopt;
  std::vector<gpu::Activity> left;
  for (std::size_t i = 0; i < in_order_of_start.size(); ++i)
    if (i % each >= before) left.push_back(in_order_of_start[i]);
  return left;
}

}  // namespace pace::kernel
