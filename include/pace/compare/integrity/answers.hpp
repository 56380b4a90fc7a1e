// Answers: whether a call computes the correct outputs, for the given values and for others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/outputs.hpp"
#include "pace/compare/expected.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/integrity/fresh_values.hpp"
#include "pace/compare/integrity/observed_call.hpp"
#include "pace/compare/integrity/shortcuts.hpp"
#include "pace/compare/operands.hpp"

namespace pace::detail {

/// Adds what a float64 reference computes on these operands, if there is one.
using AddReference = std::function<void(Expected&, const OperandSet&)>;

/// The method in use, as far as it goes without a float64 reference.
[[nodiscard]] inline check::CheckOptions without_reference(check::CheckOptions options) {
  if (options.method == check::CheckOptions::Method::float64_reference)
    options.method = check::CheckOptions::Method::allclose;
  return options;
}

/// What the baseline answers on other values than those given; nothing if it takes no others.
struct FreshAnswers {
  Renewal renewal = Renewal::none;
  std::unique_ptr<OperandSet> operands = {};
  /// Those in `operands`.
  std::vector<at::Tensor> values = {};
  Expected expected = {};
};

/// By the first kind of other values that the baseline takes, and by which its outputs change at all.
[[nodiscard]] inline FreshAnswers find_fresh_answers(Implementation& baseline, const OperandSets& operands,
                                                     const OperandSet& given, const Expected& given_expected,
                                                     const check::CheckOptions& check, std::uint64_t seed,
                                                     const AddReference& add_reference) {
  const auto options = without_reference(check);
  const auto differs = [&](const c10::IValue& before, const c10::IValue& now) {
    return !check::outputs_match(before, now, options).correct;
  };
  const auto answer = [&](FreshAnswers& fresh) {
    renew(fresh.renewal, fresh.values);
    fresh.expected.output = observe_call(baseline, operands, &fresh.values, seed, given_expected.output).at_return;
    fresh.expected.random = given_expected.random;
    bool changes = !given_expected.output.isNone() && differs(given_expected.output, fresh.expected.output);
    for (std::size_t i = 0; i < fresh.values.size(); ++i) {
      const auto& now = operands.tensors[0][i];
      const bool written = !unchanged(fresh.values[i], now);
      if (written && !operands.may_change(i)) return false;
      fresh.expected.operands.push_back(written ? check::clone_input(now) : fresh.values[i]);
      changes = changes || (written && differs(given_expected.operands[i], now));
    }
    if (changes) add_reference(fresh.expected, *fresh.operands);
    return changes;
  };
  for (const Renewal renewal : {Renewal::halve, Renewal::scale_each, Renewal::rotate}) {
    FreshAnswers fresh{.renewal = renewal};
    fresh.operands = given.clone();
    fresh.values = fresh.operands->tensors();
    if (std::none_of(fresh.values.begin(), fresh.values.end(), renewable)) break;
    try {
      if (answer(fresh)) return fresh;
    } catch (...) {
      // No valid input, or a dtype that has no arithmetic.
    }
  }
  return {};
}

/// Which operand of `set` no longer holds what `values` hold, though the baseline leaves it alone; empty if none.
[[nodiscard]] inline std::string changed_operand(const OperandSets& operands, const std::vector<at::Tensor>& values,
                                                 std::size_t set) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!operands.may_change(i) && !unchanged(values[i], operands.tensors[set][i]))
      return "it changes operand tensor " + std::to_string(i) + ", which the baseline leaves alone";
  return {};
}

/// Bit for bit, by however many elements: a number is no tensor.
[[nodiscard]] inline bool unchanged_output(const c10::IValue& before, const c10::IValue& after) {
  check::CheckOptions bitwise;
  bitwise.method = check::CheckOptions::Method::bitwise;
  return check::outputs_match(before, after, bitwise).mismatches == 0;
}

/// Learned from the baseline; judges the calls of all.
class Answers {
 public:
  Answers(const OperandSets& operands, Expected on_given, FreshAnswers on_fresh, const check::CheckOptions& how)
      : given(std::move(on_given)), fresh(std::move(on_fresh)), options(how), operands_(operands) {}

  /// On the operands as the user gave them.
  const Expected given;
  const FreshAnswers fresh;
  const check::CheckOptions options;

  [[nodiscard]] bool checks() const { return options.method != check::CheckOptions::Method::none; }
  /// Whether there are other values than those given that the baseline takes.
  [[nodiscard]] bool renews() const { return fresh.renewal != Renewal::none; }
  /// Null: there are none.
  [[nodiscard]] const std::vector<at::Tensor>* fresh_values() const { return renews() ? &fresh.values : nullptr; }

  /// What the baseline does with its output, others may do as well.
  void imitate(const ObservedCall& made) {
    shortcuts_ = shortcuts_of_each(made.output, operands_.tensors[0]);
    baseline_is_late_ = made.late.allocations > 0;
  }

  /// What is wrong with a call on set `set`, made on the given values or, if `renewed`, on the fresh ones; empty if
  /// nothing is.
  [[nodiscard]] std::string judge(const ObservedCall& made, bool renewed, std::size_t set = 0) const {
    const Expected& expected = renewed ? fresh.expected : given;
    const Agreement agreement = agree(expected, made.at_return, operands_, set, options);
    if (!agreement.correct) {
      // This is reported first, since a changed operand makes the outputs of later calls wrong.
      if (auto problem = changed_operand(operands_, expected.operands, set); !problem.empty()) return problem;
      const bool stale = renewed && !made.at_return.isNone() &&
                         check::outputs_match(given.output, made.at_return, without_reference(options)).correct;
      // Gentle as they are, these may take away what an implementation rightly relies on.
      if (renewed && fresh.renewal != Renewal::halve && !stale) return {};
      if (!renewed) return agreement.message;
      const std::string changed =
          std::string("other values in the same memory (the operands ") + to_string(fresh.renewal) + ")";
      if (stale)
        return "it returned the answer for values that had been overwritten by " + changed +
               ", so the answer was kept, not computed: " + agreement.message;
      return "it is right for the operands given, but not for " + changed + ": " + agreement.message +
             ". If it relies on what is special about the operands, switch this check off "
             "(check::CheckOptions::fresh_values)";
    }
    const auto shortcuts = shortcuts_of_each(made.output, operands_.tensors[set]);
    if (auto problem = describe_shortcuts(shortcuts_, shortcuts, !options.check_strides); !problem.empty())
      return problem;
    // Comparing took a while, in which an honest output stayed as it was.
    if (!unchanged_output(made.at_return, made.output))
      return "its output was still being written after the call had returned";
    if (made.late.allocations > 0 && !baseline_is_late_)
      return "its output was computed after the call had returned, while it was converted (" +
             std::to_string(made.late.operator_calls) + " operator calls, " +
             std::to_string(made.late.bytes_allocated) + " bytes allocated)";
    return {};
  }

 private:
  const OperandSets& operands_;
  std::vector<std::int64_t> shortcuts_ = {};
  bool baseline_is_late_ = false;
};

}  // namespace pace::detail
