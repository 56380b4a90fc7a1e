// A provider of Inductor's facts about a package's kernels, recorded when it compiled them.
//
//   const auto facts = pace::benches::aot::read_package_facts("model.pt2");
//   if (facts) options.providers.push_back(pace::benches::kernels::package_provider(*facts));
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "benches/files/aot/package_facts.hpp"
#include "pace/kernels/category.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/kernels/knowledge.hpp"
#include "pace/kernels/ranges.hpp"

namespace pace::benches::kernels {

namespace detail {

[[nodiscard]] inline std::optional<kernel::Category> category_named(std::string_view name) {
  const auto found = std::ranges::find(kernel::category_names, name);
  if (found == kernel::category_names.end()) return std::nullopt;
  return static_cast<kernel::Category>(found - kernel::category_names.begin());
}

/// Whether the driver or the profiler calls the recorded kernel by this name.
[[nodiscard]] inline bool is_called(const benches::aot::PackageKernel& recorded, std::string_view name) {
  return name == recorded.name || (!recorded.range.empty() && name == recorded.range);
}

/// A Triton kernel with something behind its name: `triton_poi_fused_add_1_0d1d2de` is `triton_poi_fused_add_1`, but
/// `triton_poi_fused_add_10` is not.
[[nodiscard]] inline bool begins_as(const benches::aot::PackageKernel& recorded, std::string_view name) {
  return recorded.kind == benches::aot::PackageKernel::Kind::triton && name.starts_with(recorded.name) &&
         name.substr(recorded.name.size()).starts_with('_');
}

[[nodiscard]] inline std::vector<kernel::Build> builds_of(const benches::aot::PackageKernel& kernel) {
  constexpr std::uint32_t threads_of_a_warp = 32;
  std::vector<kernel::Build> builds;
  for (const auto& each : kernel.configurations)
    builds.push_back({each.text, each.printed, each.file, each.symbol, each.grid, threads_of_a_warp * each.warps,
                      each.shared_bytes, each.chosen});
  return builds;
}

/// The facts that all of them share.
[[nodiscard]] inline kernel::Knowledge common_knowledge(
    const std::vector<const benches::aot::PackageKernel*>& kernels) {
  kernel::Knowledge knowledge{category_named(kernels.front()->category), kernels.front()->bytes};
  if (kernels.size() == 1) knowledge.builds = builds_of(*kernels.front());
  for (const benches::aot::PackageKernel* kernel : kernels) {
    if (category_named(kernel->category) != knowledge.category) knowledge.category.reset();
    if (kernel->bytes != knowledge.bytes) knowledge.bytes.reset();
  }
  return knowledge;
}

}  // namespace detail

/// Finds the records of a kernel by its symbol or its name, whichever is recorded. Inductor's own kernels have records.
/// On the CPU, LibTorch's operators are named steps and have records, too. Returns all calls of one operator.
[[nodiscard]] inline std::vector<const benches::aot::PackageKernel*> recorded_of(
    const kernel::Kernel& kernel, const benches::aot::PackageFacts& facts) {
  std::vector<const benches::aot::PackageKernel*> found;
  for (const std::string_view name : {kernel::without_graph(kernel.symbol), kernel::without_graph(kernel.name)}) {
    for (const auto& recorded : facts.kernels)
      if (detail::is_called(recorded, name)) found.push_back(&recorded);
    if (!found.empty()) return found;
  }
  for (const auto& recorded : facts.kernels) {
    if (!detail::begins_as(recorded, kernel.symbol)) continue;
    if (!found.empty() && found.front()->name.size() > recorded.name.size()) continue;  // the longest name is its own
    found = {&recorded};
  }
  return found;
}

/// Provides the records of recorded_of(). Several calls of one operator give only the facts that they share.
[[nodiscard]] inline kernel::Provider package_provider(benches::aot::PackageFacts facts) {
  return [facts = std::move(facts)](const kernel::Kernel& kernel) -> std::optional<kernel::Knowledge> {
    const auto found = recorded_of(kernel, facts);
    return found.empty() ? std::nullopt : std::optional(detail::common_knowledge(found));
  };
}

}  // namespace pace::benches::kernels
