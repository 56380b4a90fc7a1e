// Expected: the outputs of the baseline, and the agreement of other outputs with them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/poison.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/core/result.hpp"

namespace pace::detail {

/// Outputs of one call of the baseline on operands with their first values.
struct Expected {
  c10::IValue output;
  /// Values of every operand tensor after the call.
  std::vector<at::Tensor> operands;
  /// Whether the call drew random numbers, so that the next call may have other correct outputs.
  bool random = false;
  /// Outputs of the float64 reference, if there is one.
  std::optional<c10::IValue> reference;
  /// What calls on nearly these operands have shown of the tensors of `output` and `operands`.
  check::LearnedTolerances learned;
};

/// Returns whether both are equal bit for bit, so that an unchanged NaN is no change.
[[nodiscard]] inline bool unchanged(const at::Tensor& before, const at::Tensor& after) {
  check::CheckOptions bitwise;
  bitwise.method = check::CheckOptions::Method::bitwise;
  return check::outputs_match(before, after, bitwise).correct;
}

[[nodiscard]] inline bool unchanged(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& after) {
  if (before.size() != after.size()) return false;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!unchanged(before[i], after[i])) return false;
  return true;
}

/// Makes one call on operands with their first values and with poisoned memory for allocations. Returns a copy of the
/// output, which later calls do not overwrite.
[[nodiscard]] inline c10::IValue checked_call(Implementation& implementation, OperandSets& operands, std::size_t set,
                                              std::uint64_t seed) {
  operands.restore_all(set);
  reset_random_state(seed);
  const check::PoisonedAllocations poisoned;
  return check::clone_ivalue(implementation.call(set));
}

/// Runs the baseline once, and returns its outputs and the operands that it writes to.
[[nodiscard]] inline Expected expected_of(Implementation& baseline, OperandSets& operands, std::uint64_t seed) {
  Expected expected;
  reset_random_state(seed);
  const auto state_before = random_state();
  expected.output = checked_call(baseline, operands, 0, seed);
  expected.random = !unchanged(state_before, random_state());
  operands.mutated.clear();
  for (std::size_t i = 0; i < operands.pristine.size(); ++i) {
    const bool changed = !unchanged(operands.pristine[i], operands.tensors[0][i]);
    if (changed) operands.mutated.push_back(i);
    expected.operands.push_back(changed ? check::clone_input(operands.tensors[0][i]) : operands.pristine[i]);
  }
  return expected;
}

struct Agreement {
  bool correct = true;
  /// Whether there were outputs to compare.
  bool compared = false;
  std::string message;
  double max_abs_error = 0;
};

/// Compares an output with what was expected, and the operands of set `set` as well if one is given: after many
/// timed calls of several implementations it would be unknown which one changed an operand.
[[nodiscard]] inline Agreement agree(const Expected& expected, const c10::IValue& output, const OperandSets& operands,
                                     std::optional<std::size_t> set, const check::CheckOptions& options) {
  Agreement agreement;
  if (options.method == check::CheckOptions::Method::none) return agreement;
  const auto look_at = [&](const check::Match& match, const std::string& prefix) {
    agreement.compared = agreement.compared || match.compared > 0;
    agreement.max_abs_error = std::max(agreement.max_abs_error, match.max_abs_error);
    if (match.correct || !agreement.correct) return;
    agreement.correct = false;
    agreement.message = prefix + match.message;
  };
  if (!expected.output.isNone() || !output.isNone())
    look_at(check::outputs_match(expected.output, output, options, expected.reference ? &*expected.reference : nullptr,
                                 &expected.learned),
            "");
  if (!set) return agreement;
  // The reference has no values for operands.
  check::CheckOptions direct = options;
  if (direct.method == check::CheckOptions::Method::float64_reference)
    direct.method = check::CheckOptions::Method::allclose;
  auto next_mutated = operands.mutated.begin();
  for (std::size_t i = 0; i < expected.operands.size(); ++i) {
    const at::Tensor& now = operands.tensors[*set][i];
    if (next_mutated != operands.mutated.end() && *next_mutated == i) {
      ++next_mutated;
      look_at(check::outputs_match(expected.operands[i], now, direct, nullptr, &expected.learned),
              "operand tensor " + std::to_string(i) + ", which the baseline writes to: ");
    } else if (!unchanged(expected.operands[i], now)) {
      agreement.compared = true;
      if (agreement.correct)
        agreement.message = "it changes operand tensor " + std::to_string(i) + ", which the baseline leaves alone";
      agreement.correct = false;
    }
  }
  return agreement;
}

}  // namespace pace::detail
