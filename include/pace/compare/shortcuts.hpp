// Shortcuts: outputs with the right values behind which nothing was computed or written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/ivalue.hpp"

namespace pace::detail {

/// Ways in which one output tensor does without memory of its own.
struct Shortcut {
  /// It is an operand, or a view of one.
  bool borrows = false;
  /// Some of its elements are the same memory (stride 0).
  bool repeats = false;
  /// It is only marked as conjugated, negated or zero; whoever reads it computes it.
  bool defers = false;
};

[[nodiscard]] inline Shortcut shortcut_of(const at::Tensor& tensor, const std::vector<at::Tensor>& operands) {
  Shortcut found;
  if (tensor.layout() != at::kStrided || tensor.is_nested()) return found;
  found.defers = tensor.is_conj() || tensor.is_neg() || tensor._is_zerotensor();
  if (tensor.numel() == 0) return found;
  for (std::int64_t i = 0; i < tensor.dim(); ++i)
    found.repeats = found.repeats || (tensor.stride(i) == 0 && tensor.size(i) > 1);
  if (!tensor.has_storage()) return found;
  for (const auto& operand : operands)
    found.borrows = found.borrows || (operand.has_storage() && operand.is_alias_of(tensor));
  return found;
}

/// One for each tensor of an output, in order.
[[nodiscard]] inline std::vector<Shortcut> shortcuts_of(const c10::IValue& output,
                                                        const std::vector<at::Tensor>& operands) {
  std::vector<Shortcut> found;
  check::for_each_tensor(output, [&](const at::Tensor& tensor) { found.push_back(shortcut_of(tensor, operands)); });
  return found;
}

/// What a candidate does that the baseline does not, in words; empty if nothing. What both do is what the computation
/// is: a transposition returns a view.
[[nodiscard]] inline std::string describe_shortcuts(const std::vector<Shortcut>& baseline,
                                                    const std::vector<Shortcut>& candidate) {
  for (std::size_t i = 0; i < std::min(baseline.size(), candidate.size()); ++i) {
    const char* what = nullptr;
    if (candidate[i].borrows && !baseline[i].borrows)
      what = " shares memory with an operand, and the baseline's does not: nothing was computed";
    else if (candidate[i].repeats && !baseline[i].repeats)
      what = " repeats elements in memory (stride 0), and the baseline writes each";
    else if (candidate[i].defers && !baseline[i].defers)
      what = " is only marked as conjugated, negated or zero, and the baseline computes it";
    if (what != nullptr) return "output tensor " + std::to_string(i) + what;
  }
  return {};
}

}  // namespace pace::detail
