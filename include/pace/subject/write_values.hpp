// Writing values into operands so that their versions say when they change.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/on_device.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/restore.hpp"

namespace pace::detail {

/// Returns whether both are equal bit for bit, so that an unchanged NaN is no change. Most operands are compared on
/// their device: this is asked before each call of a check, and a copy to the host would take longer than all the rest.
[[nodiscard]] inline bool unchanged(const at::Tensor& before, const at::Tensor& after) {
  if (before.defined() && after.defined()) {
    if (const auto identical = check::detail::identical_bits(before, after)) return *identical;
  }
  check::CheckOptions bitwise;
  bitwise.method = check::CheckOptions::Method::bitwise;
  return check::outputs_match(before, after, bitwise).correct;
}

/// Returns whether the version of an operand may be advanced: an inference tensor has none, and a tensor that is no
/// leaf may be saved by a graph.
[[nodiscard]] inline bool is_versioned(const at::Tensor& operand) {
  return operand.defined() && operand.is_leaf() && !operand.is_inference();
}

/// Writes values into operands, and advances the version of each whose values change. An implementation may keep what
/// it derives from an operand, such as packed weights, for as long as its version stays. An operand that requires a
/// gradient keeps its version unless it is a leaf, since a graph may have saved it; a leaf's changes whenever an
/// optimiser steps. Operands of the indices `kept` are not touched. Throws Error if an operand is not like its values.
inline void write_values(const std::vector<at::Tensor>& values, const std::vector<at::Tensor>& operands,
                         std::span<const std::size_t> kept = {}) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::ranges::find(kept, i) != kept.end()) continue;
    const at::Tensor& operand = operands.at(i);
    const bool changes = is_versioned(operand) && !unchanged(values[i], operand);
    check::restore_tensor(values[i], operand);
    if (changes) operand.unsafeGetTensorImpl()->bump_version();
  }
}

}  // namespace pace::detail
