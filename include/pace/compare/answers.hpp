// Answers: what an implementation must answer, learned from the baseline, and the judgement of one call by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/outputs.hpp"
#include "pace/compare/fresh_answers.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/observed_call.hpp"
#include "pace/compare/shortcuts.hpp"
#include "pace/compare/verification.hpp"

namespace pace::detail {

/// Which operand of `set` no longer holds what `values` hold, though the baseline leaves it alone; empty if none.
[[nodiscard]] inline std::string changed_operand(const OperandSets& operands, const std::vector<at::Tensor>& values,
                                                 std::size_t set) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!operands.may_change(i) && !unchanged(values[i], operands.tensors[set][i]))
      return "it changes operand tensor " + std::to_string(i) + ", which the baseline leaves alone";
  return {};
}

/// Bit for bit, by however many elements: a number is no tensor.
[[nodiscard]] bool unchanged_output(const auto& before, const auto& after) {
  check::CheckOptions bitwise;
  bitwise.method = check::CheckOptions::Method::bitwise;
  return check::outputs_match(before, after, bitwise).mismatches == 0;
}

class Answers {
 public:
  Answers(const OperandSets& for_operands, const Expected& on_given, const check::CheckOptions& options)
      : operands(for_operands), given(on_given), check(options) {}

  const OperandSets& operands;
  /// On the operands as the user gave them.
  const Expected& given;
  /// On other values; none if the baseline takes no others.
  FreshAnswers fresh = {};
  /// The owner may relax it later.
  const check::CheckOptions& check;

  /// What the baseline does with its output, others may do as well.
  void imitate(const ObservedCall& made) {
    shortcuts_ = shortcuts_of_each(made.output, operands.tensors[0]);
    baseline_is_late_ = made.late.allocations > 0;
  }

  /// What is wrong with a call on set `set`, made on the given values or, if `renewed`, on the fresh ones; empty if
  /// nothing is.
  [[nodiscard]] std::string judge(const ObservedCall& made, bool renewed, std::size_t set = 0) const {
    const Expected& expected = renewed ? fresh.expected : given;
    const Verification verification = verify(expected, made.at_return, operands, set, check);
    if (!verification.correct) {
      // Said first: a changed operand makes the outputs of later calls wrong.
      if (auto problem = changed_operand(operands, expected.operands, set); !problem.empty()) return problem;
      const bool stale = renewed && !made.at_return.isNone() &&
                         check::outputs_match(given.output, made.at_return, without_reference(check)).correct;
      // Gentle as they are, these may take away what an implementation rightly relies on.
      if (renewed && fresh.renewal != Renewal::halve && !stale) return {};
      if (!renewed) return verification.message;
      const std::string changed =
          std::string("other values in the same memory (the operands ") + to_string(fresh.renewal) + ")";
      if (stale)
        return "it returned the answer for values that had been overwritten by " + changed +
               ", so the answer was kept, not computed: " + verification.message;
      return "it is right for the operands given, but not for " + changed + ": " + verification.message +
             ". If it relies on what is special about the operands, switch this check off "
             "(check::CheckOptions::fresh_values)";
    }
    const auto shortcuts = shortcuts_of_each(made.output, operands.tensors[set]);
    if (auto problem = describe_shortcuts(shortcuts_, shortcuts); !problem.empty()) return problem;
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
  std::vector<std::int64_t> shortcuts_;
  bool baseline_is_late_ = false;
};

}  // namespace pace::detail
