// Suite: which of the three collections a model belongs to, if any. It follows that collection's rules.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "pace/base/error.hpp"

namespace pace::benches::models {

/// Each collection has batch sizes, tolerances and a mode of its own. `own`: a model outside of them, which follows
/// torchbench's rules.
enum class Suite { torchbench, huggingface, timm, own };

inline constexpr std::array<std::string_view, 4> suite_names{"torchbench", "huggingface", "timm", "own"};

[[nodiscard]] inline std::string to_string(Suite suite) {
  return std::string(suite_names[static_cast<std::size_t>(suite)]);
}

/// Throws InputError with all names.
[[nodiscard]] inline Suite suite_of(std::string_view name) {
  for (std::size_t i = 0; i < suite_names.size(); ++i)
    if (suite_names[i] == name) return static_cast<Suite>(i);
  throw InputError({}, "no suite is called '" + std::string(name) + "'; expected torchbench, huggingface, timm or own");
}

}  // namespace pace::benches::models
