// Verification: each implementation must compute what the baseline computes, before it is timed and after.
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
#include "pace/check/outputs.hpp"
#include "pace/check/poison.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/core/result.hpp"

namespace pace::detail {

/// What the baseline left behind after one call on pristine operands.
struct Expected {
  c10::IValue output;
  /// Values of every operand tensor after the call.
  std::vector<at::Tensor> operands;
  /// Whether it drew random numbers: the next call is right with other values.
  bool random = false;
  /// In float64, where asked for.
  std::optional<c10::IValue> reference;
};

/// Bit for bit the same, so that a NaN which stays is no change.
template <class Tensor>
[[nodiscard]] bool unchanged(const Tensor& before, const Tensor& after) {
  check::CheckOptions bitwise;
  bitwise.method = check::CheckOptions::Method::bitwise;
  return check::outputs_match(before, after, bitwise).correct;
}

template <class Tensor>
[[nodiscard]] bool unchanged(const std::vector<Tensor>& before, const std::vector<Tensor>& after) {
  if (before.size() != after.size()) return false;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!unchanged(before[i], after[i])) return false;
  return true;
}

/// One call on pristine operands, with poisoned memory for whatever it allocates. Returned by value: what a later call
/// overwrites must not change it.
[[nodiscard]] inline c10::IValue checked_call(Implementation& implementation, OperandSets& operands, std::size_t set,
                                              std::uint64_t seed) {
  operands.restore_all(set);
  reset_random_state(seed);
  const check::PoisonedAllocations poisoned;
  return check::clone_ivalue(implementation.call(set));
}

/// Runs the baseline once and takes down its outputs and which operands it writes to.
[[nodiscard]] inline Expected expect(Implementation& baseline, OperandSets& operands, std::uint64_t seed) {
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

struct Verification {
  bool correct = true;
  /// Whether there was anything to compare.
  bool compared = false;
  std::string message;
  double max_abs_error = 0;
};

/// Compares an output with what was expected, and the operands of set `set` as well if one is given: after many
/// timed calls of several implementations it would be unknown which one changed an operand.
[[nodiscard]] inline Verification verify(const Expected& expected, const c10::IValue& output,
                                         const OperandSets& operands, std::optional<std::size_t> set,
                                         const check::CheckOptions& options) {
  Verification verification;
  if (options.method == check::CheckOptions::Method::none) return verification;
  const auto look_at = [&](const check::Match& match, const std::string& prefix) {
    verification.compared = verification.compared || match.compared > 0;
    verification.max_abs_error = std::max(verification.max_abs_error, match.max_abs_error);
    if (match.correct || !verification.correct) return;
    verification.correct = false;
    verification.message = prefix + match.message;
  };
  if (!expected.output.isNone() || !output.isNone())
    look_at(check::outputs_match(expected.output, output, options, expected.reference ? &*expected.reference : nullptr),
            "");
  if (!set) return verification;
  auto next_mutated = operands.mutated.begin();
  for (std::size_t i = 0; i < expected.operands.size(); ++i) {
    const at::Tensor& now = operands.tensors[*set][i];
    if (next_mutated != operands.mutated.end() && *next_mutated == i) {
      ++next_mutated;
      look_at(check::outputs_match(expected.operands[i], now, options),
              "operand tensor " + std::to_string(i) + ", which the baseline writes to: ");
    } else if (!unchanged(expected.operands[i], now)) {
      verification.compared = true;
      if (verification.correct)
        verification.message = "it changes operand tensor " + std::to_string(i) + ", which the baseline leaves alone";
      verification.correct = false;
    }
  }
  return verification;
}

}  // namespace pace::detail
