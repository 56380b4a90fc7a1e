// Suite: which of the three collections a model belongs to, whose rules it follows.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "pace/core/error.hpp"

namespace pace::families::models {

/// Each has batch sizes, tolerances and a mode of its own.
enum class Suite { torchbench, huggingface, timm };

inline constexpr std::array<std::string_view, 3> suite_names{"torchbench", "huggingface", "timm"};

[[nodiscard]] inline std::string to_string(Suite suite) { return std::string(suite_names[static_cast<std::size_t>(suite)]); }

/// Throws InputError with all names.
[[nodiscard]] inline Suite suite_of(std::string_view name) {
  for (std::size_t i = 0; i < suite_names.size(); ++i)
    if (suite_names[i] == name) return static_cast<Suite>(i);
  throw InputError({}, "no suite is called '" + std::string(name) + "'; expected torchbench, huggingface or timm");
}

}  // namespace pace::families::models
