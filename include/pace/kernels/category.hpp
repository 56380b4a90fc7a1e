// Category: what kind of kernel Inductor made, by the names that it gives.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace pace::kernel {

enum class Category { foreach, persistent_reduction, pointwise, reduction, split_scan, template_, unknown };

inline constexpr std::array<std::string_view, 7> category_names{
    "foreach", "persistent_reduction", "pointwise", "reduction", "split_scan", "template", "unknown"};

[[nodiscard]] constexpr std::string_view to_string(Category category) {
  return category_names[static_cast<std::size_t>(category)];
}

/// `FOR`, `PER`, `POI`, `RED`, `SPL`, `TEM` or `UNK`.
[[nodiscard]] constexpr std::string_view abbreviation(Category category) {
  constexpr std::array<std::string_view, 7> short_names{"FOR", "PER", "POI", "RED", "SPL", "TEM", "UNK"};
  return short_names[static_cast<std::size_t>(category)];
}

/// By the name of a kernel that Inductor generated: `triton_poi_fused_add_0`, and `cpp_fused_add_0` of its CPU code, which
/// says no kind.
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

/// By the source of a Triton kernel: exactly one of `@triton_heuristics.NAME` must be in it, or it is unknown.
[[nodiscard]] constexpr Category category_of_source(std::string_view source) {
  constexpr std::string_view decorator = "@triton_heuristics.";
  Category found = Category::unknown;
  for (std::size_t i = 0; i + 1 < category_names.size(); ++i) {
    bool occurs = false;
    for (std::size_t at = source.find(decorator); at != std::string_view::npos; at = source.find(decorator, at + 1))
      occurs = occurs || source.substr(at + decorator.size()).starts_with(category_names[i]);
    if (!occurs) continue;
    if (found != Category::unknown) return Category::unknown;
    found = static_cast<Category>(i);
  }
  return found;
}

}  // namespace pace::kernel
