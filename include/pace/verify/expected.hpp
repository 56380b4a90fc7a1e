// Expected: the outputs of the baseline, and whether other outputs agree with them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/base/spelling.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/poison.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/ties.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"

namespace pace::detail {

/// Outputs of one baseline call on operands with their first values.
struct Expected {
  c10::IValue output;
  /// Values of every operand tensor after the call.
  std::vector<at::Tensor> operands;
  /// Whether the call drew random numbers; the next call may then have other correct outputs.
  bool random = false;
  /// Outputs of the float64 reference, if there is one.
  std::optional<c10::IValue> reference;
  /// Tolerances for the tensors of `output` and `operands`, learned from calls on nearly these operands.
  check::LearnedTolerances learned;
  /// Whether each tensor of `output` requires gradients, in order.
  std::vector<bool> with_graph;
};

[[nodiscard]] inline bool unchanged(const std::vector<at::Tensor>& before, const std::vector<at::Tensor>& after) {
  if (before.size() != after.size()) return false;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (!unchanged(before[i], after[i])) return false;
  return true;
}

/// Makes one call on operands with their first values, with poison in allocated memory. Returns a copy of the output.
/// Writes to `with_graph` which of its tensors require gradients.
[[nodiscard]] inline c10::IValue checked_call(Implementation& implementation, OperandSets& operands, std::size_t set,
                                              std::uint64_t seed, std::vector<bool>& with_graph) {
  operands.restore_all(set);
  reset_random_state(seed);
  const check::PoisonedAllocations poisoned;
  const c10::IValue output = implementation.call(set);
  with_graph.clear();
  check::for_each_tensor(output, [&](const at::Tensor& tensor) { with_graph.push_back(tensor.requires_grad()); });
  return check::clone_ivalue(output);
}

/// Returns which output lacks the baseline's autograd graph, as text; empty if none does.
[[nodiscard]] inline std::string lost_graph(const std::vector<bool>& baseline, const std::vector<bool>& candidate) {
  for (std::size_t i = 0; i < std::min(baseline.size(), candidate.size()); ++i)
    if (baseline[i] && !candidate[i])
      return "output tensor " + std::to_string(i) +
             " has no autograd graph (requires_grad is false), and the baseline's has one: its gradients are lost; "
             "try: if none are needed, call both under " +
             no_grad_text() + ", or switch this check off (" + check_text("check_autograd", "autograd=False") + ')';
  return {};
}

/// Runs the baseline once. Returns its outputs, and enters into `operands` what it writes to.
[[nodiscard]] inline Expected expected_of(Implementation& baseline, OperandSets& operands, std::uint64_t seed) {
  Expected expected;
  reset_random_state(seed);
  const auto state_before = random_state();
  expected.output = checked_call(baseline, operands, 0, seed, expected.with_graph);
  expected.random = !unchanged(state_before, random_state());
  operands.mutated.clear();
  for (std::size_t i = 0; i < operands.given.size(); ++i) {
    const bool changed = !unchanged(operands.given[i], operands.tensors[0][i]);
    if (changed && !operands.is_scratch(i)) operands.mutated.push_back(i);
    expected.operands.push_back(changed ? check::clone_input(operands.tensors[0][i]) : operands.given[i]);
  }
  return expected;
}

struct Agreement {
  bool correct = true;
  /// Whether there were outputs to compare.
  bool compared = false;
  /// Outputs that were not compared: see check::Match.
  std::int64_t only_nan = 0, empty = 0;
  std::string message;
  double max_abs_error = 0;
  /// Whether the error is finite, no declaration would allow it, and a larger tolerance might.
  bool beyond_tolerance = false;

  /// Returns why nothing was compared, for outputs that agree.
  [[nodiscard]] Uncompared why_uncompared() const {
    if (only_nan > 0) return empty > 0 ? Uncompared::empty_or_nan : Uncompared::only_nan;
    return empty > 0 ? Uncompared::empty : Uncompared::no_output;
  }
};

/// Enters why outputs were not compared. The row's times then prove no claim.
inline void enter_uncompared(Uncompared why, ImplementationResult& row) {
  row.uncompared = why;
  row.context.enter(Objection::of(Severity::unproven, std::string("its outputs were not compared: ") + describe(why)));
}

/// Compares an output with the expected one; operands are not compared.
[[nodiscard]] inline check::Match match_outputs(const Expected& expected, const c10::IValue& output,
                                                const check::CheckOptions& options) {
  const auto match = [&](const c10::IValue& e, const c10::IValue& a) {
    return check::outputs_match(e, a, options, expected.reference ? &*expected.reference : nullptr, &expected.learned);
  };
  if (options.method != check::CheckOptions::Method::ties) return match(expected.output, output);
  const at::Tensor& values = expected.operands.at(options.ties_operand);
  const auto found_in = [&](const c10::IValue& value) { return check::detail::Found(values, options.ties_dim, value); };
  const auto same_shapes = [&] {
    const auto es = check::tensors_of(expected.output), as = check::tensors_of(output);
    return std::equal(es.begin(), es.end(), as.begin(), as.end(),
                      [](const auto& e, const auto& a) { return e.sizes() == a.sizes(); });
  };
  if (!same_shapes()) return match(expected.output, output);
  const auto e = found_in(expected.output), a = found_in(output);
  if (e.valid() && !a.valid()) {
    auto found = match(expected.output, output);
    found.correct = false;
    found.message = "indices are out of range of operand tensor " + std::to_string(options.ties_operand) +
                    " (counted from 0), or occur twice, and the baseline's do not: " + found.message;
    return found;
  }
  return match(check::detail::with_clones(expected.output, e), check::detail::with_clones(output, a));
}

/// Returns why only one of two outputs may be float64, as the end of a message; empty if both or neither are.
[[nodiscard]] inline std::string float64_hint(const c10::IValue& expected, const c10::IValue& output) {
  const auto known = check::tensors_of(expected), found = check::tensors_of(output);
  const auto is_double = [](const at::Tensor& tensor) {
    return tensor.defined() && tensor.scalar_type() == at::kDouble;
  };
  for (std::size_t i = 0; i < std::min(known.size(), found.size()); ++i)
    if (is_double(known[i]) != is_double(found[i]))
      return "; try: if the baseline keeps memory from call to call, state tolerances (rtol, atol): without them it is "
             "called in float64, too, for which such memory would have to be made again";
  return {};
}

/// Whether real tensors differ by less than a thousandth of their magnitude. A different order would make larger
/// differences, and sorting hides small ones.
[[nodiscard]] inline bool is_nearly_right(const c10::IValue& expected, const c10::IValue& output) {
  constexpr double share = 1e-3;
  const auto known = check::tensors_of(expected), found = check::tensors_of(output);
  const auto is_near = [&](const at::Tensor& a, const at::Tensor& b) {
    if (!a.defined() || !b.defined() || a.sizes() != b.sizes() || a.layout() != at::kStrided ||
        b.layout() != at::kStrided || !a.is_floating_point() || !b.is_floating_point() ||
        check::detail::holds_only_bits(a.scalar_type()) || check::detail::holds_only_bits(b.scalar_type()))
      return false;
    const at::Tensor wide = a.to(at::kDouble);
    return wide.sub(b.to(wide.options())).abs().le(wide.abs().max().mul(share)).all().item<bool>();
  };
  for (std::size_t i = 0; i < std::min(known.size(), found.size()); ++i)
    if (found[i].defined() && found[i].numel() > 0 && !is_near(known[i], found[i])) return false;
  return true;
}

/// Returns which declaration would make differing outputs agree, as the end of a message; empty if none would.
[[nodiscard]] inline std::string declaration_hint(const Expected& expected, const c10::IValue& output,
                                                  const check::CheckOptions& options) {
  using Method = check::CheckOptions::Method;
  if (options.method != Method::allclose) return {};
  if (!options.rtol && !options.atol)
    if (auto hint = float64_hint(expected.output, output); !hint.empty()) return hint;
  // Sorting large outputs would take too long for a hint.
  constexpr std::int64_t most_elements = 1 << 20;
  std::int64_t elements = 0;
  check::for_each_tensor(expected.output, [&](const at::Tensor& tensor) { elements += tensor.numel(); });
  if (elements > most_elements) return {};
  const auto agrees_by = [&](Method method) {
    check::CheckOptions declared = options;
    declared.method = method;
    try {
      check::validate_outputs(declared, expected.output, expected.operands);
      return match_outputs(expected, output, declared).correct;
    } catch (...) {
      return false;
    }
  };
  if (agrees_by(Method::ties))
    return "; try: declare " + declaration_text(".ties(), if equal values may be found in any order", "--check ties");
  if (agrees_by(Method::order_free) && !is_nearly_right(expected.output, output))
    return "; try: declare " + declaration_text(".order_free(), if rows may come in any order", "--check order_free");
  if (agrees_by(Method::sign_free))
    return "; try: declare " +
           declaration_text(".sign_free(), if vectors are determined up to their signs", "--check sign_free");
  if (expected.random && agrees_by(Method::random))
    return "; try: declare " +
           declaration_text(".random(), if its random numbers are its own, to compare distributions", "--check random");
  return {};
}

[[nodiscard]] inline std::string scratch_hint(std::size_t operand) {
  return "; try: declare " +
         declaration_text(".scratch(" + std::to_string(operand) + "), counted from 0, if that is a workspace",
                          "--scratch " + std::to_string(operand));
}

/// The fault of an implementation that writes to an operand which the baseline leaves alone.
[[nodiscard]] inline std::string describe_changed_operand(std::size_t operand) {
  return "it changes operand tensor " + std::to_string(operand) + ", which the baseline leaves alone" +
         scratch_hint(operand);
}

/// Returns which operand of `set` differs from `values` though the baseline leaves it alone, as text; empty if none.
[[nodiscard]] inline std::string changed_operand(const OperandSets& operands, const std::vector<at::Tensor>& values,
                                                 std::size_t set) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!operands.may_change(i) && !unchanged(values[i], operands.tensors[set][i])) return describe_changed_operand(i);
  return {};
}

/// Compares an output with the expected one. Compares `tensors`, the operands of the call, as well unless null.
[[nodiscard]] inline Agreement agree_with(const Expected& expected, const c10::IValue& output,
                                          const OperandSets& operands, const std::vector<at::Tensor>* tensors,
                                          const check::CheckOptions& options) {
  Agreement agreement;
  if (options.method == check::CheckOptions::Method::none) return agreement;
  const auto look_at = [&](const check::Match& match, check::CheckOptions::Method method, const std::string& prefix) {
    agreement.compared = agreement.compared || match.compared > 0;
    agreement.only_nan += match.only_nan;
    agreement.empty += match.empty;
    agreement.max_abs_error = std::max(agreement.max_abs_error, match.max_abs_error);
    if (match.correct || !agreement.correct) return;
    agreement.correct = false;
    agreement.message = prefix + match.message;
    // Other dtypes and shapes count as infinite errors, and unwritten elements have any values.
    agreement.beyond_tolerance = check::has_tolerance(method) && !match.unwritten && match.max_abs_error > 0 &&
                                 std::isfinite(match.max_abs_error);
  };
  if (!expected.output.isNone() || !output.isNone())
    look_at(match_outputs(expected, output, options), options.method, "");
  if (!agreement.correct) {
    const auto hint = declaration_hint(expected, output, options);
    agreement.message += hint;
    agreement.beyond_tolerance = agreement.beyond_tolerance && hint.empty();
  }
  if (tensors == nullptr) return agreement;
  // The reference has no values for operands, custom functions are about outputs, and operands are no indices.
  using Method = check::CheckOptions::Method;
  check::CheckOptions direct = options;
  if (options.method == Method::float64_reference || options.method == Method::custom || options.method == Method::ties)
    direct.method = Method::allclose;
  auto next_mutated = operands.mutated.begin();
  for (std::size_t i = 0; i < expected.operands.size(); ++i) {
    const at::Tensor& now = (*tensors)[i];
    if (next_mutated != operands.mutated.end() && *next_mutated == i) {
      ++next_mutated;
      const bool was_correct = agreement.correct;
      look_at(check::outputs_match(expected.operands[i], now, direct, nullptr, &expected.learned), direct.method,
              "operand tensor " + std::to_string(i) + ", which the baseline writes to: ");
      if (was_correct && !agreement.correct) agreement.message += scratch_hint(i);
    } else if (!operands.is_scratch(i) && !unchanged(expected.operands[i], now)) {
      agreement.compared = true;
      if (agreement.correct) agreement.message = describe_changed_operand(i);
      agreement.correct = false;
    }
  }
  return agreement;
}

/// Compares an output as above, with the operands of `set` if there is one. After timed calls of several
/// implementations, nothing tells which one changed an operand.
[[nodiscard]] inline Agreement agree(const Expected& expected, const c10::IValue& output, const OperandSets& operands,
                                     std::optional<std::size_t> set, const check::CheckOptions& options) {
  return agree_with(expected, output, operands, set ? &operands.tensors[*set] : nullptr, options);
}

}  // namespace pace::detail
