// match_activities: assigns a profiler's records to the kernels of a graph that was launched several times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/kernels/category_patterns.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/kernels/report.hpp"

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

/// A kernel that a profiler saw and that is not among the nodes of a graph.
struct UnlistedKernel {
  std::string name;                ///< by the profiler
  double runs = 0;                 ///< in one launch, on average
  std::optional<KernelTime> time;  ///< of one run; absent if listed kernels have the same name
};

/// Returns the kernels among the records that are not among `names`, the kernels of one launch, in the order of their
/// first runs. Of a name that is listed, those runs count that are more than `launches` times the listed ones.
[[nodiscard]] inline std::vector<UnlistedKernel> unlisted_kernels(std::span<const std::string> names,
                                                                  std::span<const gpu::Activity> in_order_of_start,
                                                                  std::size_t launches) {
  std::vector<std::pair<std::string, std::vector<Nanoseconds>>> seen;
  for (const auto& each : in_order_of_start) {
    if (each.kind != gpu::Activity::Kind::kernel) continue;
    auto found = std::ranges::find(seen, each.name, [](const auto& known) { return known.first; });
    if (found == seen.end()) found = seen.insert(seen.end(), {each.name, {}});
    found->second.push_back(each.duration);
  }
  std::vector<UnlistedKernel> unlisted;
  for (auto& [name, durations] : seen) {
    const auto listed = launches * static_cast<std::size_t>(std::ranges::count(names, name));
    if (launches == 0 || durations.size() <= listed) continue;
    UnlistedKernel& kernel = unlisted.emplace_back();
    kernel.name = name;
    kernel.runs = static_cast<double>(durations.size() - listed) / static_cast<double>(launches);
    if (listed == 0) kernel.time = summary_of(std::move(durations));
  }
  return unlisted;
}

/// Adds rows to a report for the kernels `seen` in the bodies of a graph's conditional nodes. The report's kernels have
/// the times that match_activities() returns. Where a listed kernel has fewer records than launches, records were lost
/// or its name is not the profiler's: then there are no rows, `bodies_profiled` stays false, and a note has the reason.
inline void add_kernels_of_bodies(KernelReport& report, const std::vector<UnlistedKernel>& seen) {
  const auto lacks_records = [&](const Kernel& kernel) {
    // A kernel that also runs in a body has too many records, and no time, either.
    return !kernel.profiled && std::ranges::find(seen, kernel.name, &UnlistedKernel::name) == seen.end();
  };
  const auto lacking = std::ranges::find_if(report.kernels, lacks_records);
  if (lacking != report.kernels.end()) {
    report.notes.push_back("kernels in the bodies of conditional nodes are not listed: the profiler has not recorded " +
                           lacking->name + " in each launch, so that others may be missing, too");
    return;
  }
  report.bodies_profiled = true;
  for (const auto& each : seen) {
    Kernel& kernel = report.kernels.emplace_back();
    kernel.name = kernel.symbol = each.name;
    kernel.category = find_category_of_name(each.name);
    kernel.profiled = each.time;
    kernel.runs = each.runs;
    kernel.why_not_alone = "it is in the body of a conditional node, where it ran " +
                           (each.runs == 1 ? "once" : format_significant(each.runs) + " times") + " in a launch";
    if (!each.time) kernel.why_not_alone += "; its times are not told from those of a listed kernel of that name";
  }
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
