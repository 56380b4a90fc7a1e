// Category: the kind of a kernel that Inductor generated, by its name or its source.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace pace::kernel {

/// Kinds of kernels, as Inductor's Triton heuristics name them; `template_` stands for `template`.
enum class Category { foreach, persistent_reduction, pointwise, reduction, split_scan, template_, unknown };

/// Names of the enumerators of Category, in their order.
inline constexpr std::array<std::string_view, 7> category_names{
    "foreach", "persistent_reduction", "pointwise", "reduction", "split_scan", "template", "unknown"};

/// Returns the name of a category, such as `pointwise`.
[[nodiscard]] constexpr std::string_view to_string(Category category) {
  return category_names[static_cast<std::size_t>(category)];
}

/// Returns the abbreviation of a category: `FOR`, `PER`, `POI`, `RED`, `SPL`, `TEM` or `UNK`.
[[nodiscard]] constexpr std::string_view abbreviation(Category category) {
  constexpr std::array<std::string_view, 7> short_names{"FOR", "PER", "POI", "RED", "SPL", "TEM", "UNK"};
  return short_names[static_cast<std::size_t>(category)];
}

/// Returns the category by the name of a kernel that Inductor generated, such as `triton_poi_fused_add_0`; unknown for
/// any other name, and for kernels of its CPU code such as `cpp_fused_add_0`.
[[nodiscard]] constexpr Category category_of_name(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Category>, 6> prefixes{{
      {"triton_for_", Category::foreach},
      {"triton_per_", Category::persistent_reduction},
      {"triton_poi_", Category::pointwise},
      {"triton_red_", Category::reduction},
      {"triton_spl_", Category::split_scan},
      {"triton_tem_", Category::template_},
  }};
  for (const auto& [prefix, category] : prefixes)
    if (name.starts_with(prefix)) return category;
  return Category::unknown;
}

/// Returns the categories that occur as `@triton_heuristics.NAME` in the source of a Triton kernel, each once.
[[nodiscard]] constexpr std::vector<Category> heuristics_in(std::string_view source) {
  constexpr std::string_view decorator = "@triton_heuristics.";
  std::vector<Category> found;
  for (std::size_t i = 0; i + 1 < category_names.size(); ++i) {
    bool occurs = false;
    for (std::size_t at = source.find(decorator); at != std::string_view::npos; at = source.find(decorator, at + 1))
      occurs = occurs || source.substr(at + decorator.size()).starts_with(category_names[i]);
    if (occurs) found.push_back(static_cast<Category>(i));
  }
  return found;
}

}  // namespace pace::kernel
