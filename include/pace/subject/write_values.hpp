// write_values: writes values into operands, whose versions then tell that they changed.
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

/// Whether both are equal bit for bit, so that an unchanged NaN is no change. Compares most operands on their device:
/// checks do this before each call, and a copy to the host would take longest.
[[nodiscard]] inline bool unchanged(const at::Tensor& before, const at::Tensor& after) {
  if (before.defined() && after.defined()) {
    if (const auto identical = check::detail::identical_bits(before, after)) return *identical;
  }
  check::CheckOptions bitwise;
  bitwise.method = check::CheckOptions::Method::bitwise;
  return check::outputs_match(before, after, bitwise).correct;
}

/// Whether an operand's version may advance. An inference tensor has none, and a graph may have saved a tensor that is
/// no leaf.
[[nodiscard]] inline bool is_versioned(const at::Tensor& operand) {
  return operand.defined() && operand.is_leaf() && !operand.is_inference();
}

/// Writes values into operands, except at the indices `kept`. Advances the version of each leaf whose values change:
/// implementations may keep what they derive from an operand while its version stays. Others keep their version, since
/// a graph may have saved them. Throws Error if an operand is not like its values.
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
