// Embedding operators, whose recorded inputs are not replayed: random indices would point outside of the table.
#pragma once

#include <string_view>

namespace pace::corpus {

/// Whether the name of the operator contains `embedding`. A program that replays warns once for such an operator and
/// treats it as one without samples, as PyTorch's benchmark does.
[[nodiscard]] constexpr bool yields_no_inputs(std::string_view op_name) {
  return op_name.find("embedding") != std::string_view::npos;
}

/// The warning for an operator for which yields_no_inputs() is true, in PyTorch's words.
inline constexpr std::string_view no_inputs_warning = "Embedding inputs NYI";

}  // namespace pace::corpus
