// Shortcuts: outputs with the right values behind which nothing was computed or written.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/impl/COW.h>

#include "pace/check/ivalue.hpp"

namespace pace::detail {

/// Ways in which one output tensor does without memory of its own, or'ed together.
enum Shortcuts : std::int64_t {
  /// It is an operand, or a view of one.
  borrows = 1,
  /// Some of its elements are the same memory (stride 0).
  repeats = 2,
  /// It is only marked as conjugated, negated or zero; reading it computes it.
  defers = 4,
  /// It is a copy that is made when it is written to.
  postpones = 8,
};

[[nodiscard]] inline std::int64_t shortcuts_of(const at::Tensor& tensor, const std::vector<at::Tensor>& operands) {
  std::int64_t found = 0;
  if (tensor.layout() != at::kStrided || tensor.is_nested()) return found;
  if (tensor.is_conj() || tensor.is_neg() || tensor._is_zerotensor()) found |= defers;
  if (tensor.numel() == 0) return found;
  for (std::int64_t i = 0; i < tensor.dim(); ++i)
    if (tensor.stride(i) == 0 && tensor.size(i) > 1) found |= repeats;
  if (!tensor.has_storage()) return found;
  if (c10::impl::cow::is_cow_data_ptr(tensor.storage().data_ptr())) found |= postpones;
  for (const auto& operand : operands)
    if (operand.has_storage() && operand.is_alias_of(tensor)) found |= borrows;
  return found;
}

/// Those of each tensor of an output, in order.
[[nodiscard]] inline std::vector<std::int64_t> shortcuts_of_each(const c10::IValue& output,
                                                                 const std::vector<at::Tensor>& operands) {
  std::vector<std::int64_t> found;
  check::for_each_tensor(output, [&](const at::Tensor& tensor) { found.push_back(shortcuts_of(tensor, operands)); });
  return found;
}

/// Returns the shortcuts that only the candidate takes, as text; empty if there are none. Shortcuts of both belong to
/// the computation: a transposition returns a view. `may_repeat`: repeated elements are no shortcut.
[[nodiscard]] inline std::string describe_shortcuts(const std::vector<std::int64_t>& baseline,
                                                    const std::vector<std::int64_t>& candidate, bool may_repeat) {
  for (std::size_t i = 0; i < std::min(baseline.size(), candidate.size()); ++i) {
    const std::int64_t own = candidate[i] & ~baseline[i];
    const char* what = nullptr;
    if (own & borrows)
      what = " shares memory with an operand, and the baseline's does not: nothing was computed";
    else if ((own & repeats) && !may_repeat)
      what = " repeats elements in memory (stride 0), and the baseline writes each";
    else if (own & defers)
      what = " is only marked as conjugated, negated or zero, and the baseline computes it";
    else if (own & postpones)
      what = " is a copy that is made when it is written to (copy-on-write), and the baseline makes its own";
    if (what != nullptr) return "output tensor " + std::to_string(i) + what;
  }
  return {};
}

}  // namespace pace::detail
