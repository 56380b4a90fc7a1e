// Embedding operators: their recorded inputs are not replayed, since random indices would point outside the table.
#pragma once

#include <string_view>

namespace pace::corpus {

/// True for operators whose name contains `embedding`: a consumer warns once and treats the operator as one without
/// samples, as upstream does.
[[nodiscard]] constexpr bool yields_no_inputs(std::string_view op_name) {
  return op_name.find("embedding") != std::string_view::npos;
}

/// The warning that goes with yields_no_inputs().
inline constexpr std::string_view no_inputs_warning = "Embedding inputs NYI";

}  // namespace pace::corpus
