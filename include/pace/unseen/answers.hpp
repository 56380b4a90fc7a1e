// Answers: whether a call computes the correct outputs, for the given values and for unseen ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/base/format.hpp"
#include "pace/base/spelling.hpp"
#include "pace/check/chunks.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/learned_tolerance.hpp"
#include "pace/check/outputs.hpp"
#include "pace/os/activity.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/unseen/oracle.hpp"
#include "pace/unseen/rounding.hpp"
#include "pace/values/changed_memory.hpp"
#include "pace/values/unseen_kind.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/shortcuts.hpp"

namespace pace::detail {

/// Adds what a float64 reference computes on these operands, if there is one.
using AddReference = std::function<void(Expected&, const OperandSet&)>;

/// Completes the remark of UnseenValuesInUse for values that are drawn.
[[nodiscard]] inline std::string remedy_for_drawn_values() {
  return "choose other unseen values or none (" +
         spelled("check::CheckOptions::unseen_values = scaled or none in C++, --audit off on a command line",
                 "check(unseen_values=\"scaled\") or \"none\"") +
         "), or write valid ones for each round by .renew_each_round(function)";
}
/// ... and for those of CheckOptions::edge_values.
[[nodiscard]] inline std::string remedy_for_edge_values() {
  return "leave such values out: " +
         spelled("check::CheckOptions::edge_values = false in C++, --audit off on a command line",
                 "check(edge_values=False)");
}

/// The baseline's outputs on unseen values; nothing if it takes none.
struct UnseenAnswers {
  UnseenKind kind = UnseenKind::none;
  std::shared_ptr<OperandSet> operands = {};
  /// Those in `operands`.
  std::vector<at::Tensor> values = {};
  /// Seed of the random numbers that calls on these values draw.
  std::uint64_t seed = 0;
  Expected expected = {};
  /// Calls of the baseline that it took to find them.
  std::int64_t calls = 0;
  /// Whether outputs may have fewer elements than on the given values, as where sizes and counts are smaller.
  bool may_shrink = false;
  /// For UnseenValuesInUse.
  std::string which = {}, remedy = remedy_for_drawn_values();

  /// To be kept while calls are made on these values.
  [[nodiscard]] UnseenValuesInUse in_use() const { return {which, remedy}; }
};
/// Describes the values that a draw of this kind gives to operands, as a clause.
[[nodiscard]] inline std::string describe_draw(const UnseenValues& source, UnseenKind kind) {
  return "pace drew those of operand tensor " + listed(source.changed_by(kind)) + " (" + to_string(kind) + ')';
}

/// Returns the number of elements of all floating-point tensors in a value that are finite, or not.
[[nodiscard]] inline std::int64_t count_elements(const c10::IValue& value, bool finite) {
  std::int64_t count = 0;
  check::for_each_tensor(value, [&](const at::Tensor& tensor) {
    if (!is_changeable(tensor)) return;
    for (check::detail::Chunks pieces{tensor.detach()}; pieces.next();)
      count += pieces[0].isfinite().eq(finite).sum().item<std::int64_t>();
  });
  return count;
}

/// Takes what the baseline answers on `unseen.values`. Returns whether the baseline takes them: it writes to no other
/// operands than on the given values, and its answers are as finite as `given_expected`. Throws what the baseline
/// throws.
[[nodiscard]] inline bool answer_unseen_values(Implementation& baseline, const OperandSets& operands,
                                               const Expected& given_expected, UnseenAnswers& unseen) {
  unseen.expected = {};
  unseen.expected.random = given_expected.random;
  {
    const UnseenValuesInUse in_use = unseen.in_use();
    unseen.expected.output =
        observe_call(baseline, operands, &unseen.values, unseen.seed, given_expected.output).at_return;
  }
  for (std::size_t i = 0; i < unseen.values.size(); ++i) {
    const auto& now = operands.tensors[0][i];
    const bool written = !unchanged(unseen.values[i], now);
    if (written && !operands.may_change(i)) return false;
    // Values of the caller's may change later; its own ones are never an operand of a call.
    const bool kept = !written && unseen.operands != nullptr;
    unseen.expected.operands.push_back(kept ? unseen.values[i] : check::clone_input(written ? now : unseen.values[i]));
  }
  const auto &now = unseen.expected.output, &before = given_expected.output;
  if (unseen.may_shrink) return count_elements(now, /*finite=*/false) <= count_elements(before, /*finite=*/false);
  return count_elements(now, /*finite=*/true) >= count_elements(before, /*finite=*/true);
}

/// Returns what was learned of the outputs of `known`, for the outputs of `expected` in their places.
[[nodiscard]] inline check::LearnedTolerances learned_for(const Expected& expected, const Expected& known) {
  check::LearnedTolerances learned;
  const auto add = [&](const std::vector<at::Tensor>& now, const std::vector<at::Tensor>& before) {
    for (std::size_t i = 0; i < std::min(now.size(), before.size()); ++i)
      if (const auto* each = check::find_learned(&known.learned, before[i]);
          each != nullptr && now[i].sizes() == before[i].sizes())
        learned.push_back({.output = now[i], .terms = each->terms, .slack = each->slack});
  };
  add(check::tensors_of(expected.output), check::tensors_of(known.output));
  add(expected.operands, known.operands);
  for (const auto& each : known.learned)
    if (each.number) learned.push_back(each);
  return learned;
}

/// Tries the kinds of unseen values in order. Takes the first that the baseline accepts and that changes its output. If
/// none changes it, takes the first that moves places, or any for random outputs. Their distribution may be the same
/// for all values, but numbers that were drawn ahead for some values are not.
[[nodiscard]] inline UnseenAnswers find_unseen_answers(const Oracle& oracle, UnseenValues& source,
                                                       const AddReference& add_reference) {
  const auto& [baseline, operands, given, given_expected, check] = oracle;
  const auto options = without_reference(check);
  const auto differs = [&](const c10::IValue& before, const c10::IValue& now) {
    return !check::outputs_match(before, now, options).correct;
  };
  const auto changes = [&](const UnseenAnswers& unseen) {
    if (!given_expected.output.isNone() && differs(given_expected.output, unseen.expected.output)) return true;
    for (std::size_t i = 0; i < unseen.values.size(); ++i)
      if (operands.may_change(i) && differs(given_expected.operands[i], unseen.expected.operands[i])) return true;
    return false;
  };
  UnseenAnswers unchanged;
  std::int64_t calls = 0;
  for (const UnseenKind kind : unseen_kinds) {
    if (!source.any(kind) || (kind.varies() && check.unseen_values != check::CheckOptions::UnseenValues::varied))
      continue;
    // Few values that were replaced may change an output, or not.
    const int draws = kind.integers == UnseenKind::Integers::replace ? 3 : 1;
    for (int i = 0; i < draws; ++i) {
      UnseenAnswers unseen{.kind = kind, .which = describe_draw(source, kind)};
      unseen.operands = given.clone();
      unseen.values = unseen.operands->tensors();
      unseen.seed = source.draw_seed();
      try {
        source.draw(unseen.kind, unseen.values);
        ++calls;
        if (!answer_unseen_values(baseline, operands, given_expected, unseen)) break;
        if (!changes(unseen)) {
          // A sort has the same output for other places, and what has kept an order has not.
          const bool counts = check.method == check::CheckOptions::Method::random || source.changes_places(kind);
          if (counts && unchanged.kind == UnseenKind::none) unchanged = std::move(unseen);
          continue;
        }
        add_reference(unseen.expected, *unseen.operands);
        unseen.calls = calls;
        return unseen;
      } catch (...) {
        if (current_failure().device != Failure::Device::fine) throw;
        // No valid input, or a dtype that has no arithmetic.
        break;
      }
    }
  }
  if (unchanged.kind != UnseenKind::none) add_reference(unchanged.expected, *unchanged.operands);
  unchanged.calls = calls;
  return unchanged;
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
  Answers(const OperandSets& operands, Expected on_given, UnseenAnswers on_unseen, const check::CheckOptions& how)
      : given(std::move(on_given)), options(how), operands_(operands), unseen_(std::move(on_unseen)) {}

  /// On the operands as the user gave them.
  const Expected given;
  const check::CheckOptions options;

  [[nodiscard]] bool checks() const { return options.method != check::CheckOptions::Method::none; }
  /// Whether there are unseen values that the baseline takes.
  [[nodiscard]] bool takes_unseen() const { return unseen_.kind != UnseenKind::none; }
  /// Those of the last draw. Null: there are none.
  [[nodiscard]] const std::vector<at::Tensor>* unseen_values() const {
    return takes_unseen() ? &unseen_.values : nullptr;
  }
  [[nodiscard]] const UnseenAnswers& unseen() const { return unseen_; }

  /// Whether the baseline can compute the output for further unseen values. A float64 reference is computed for the
  /// first ones alone.
  [[nodiscard]] bool can_compute_more() const { return takes_unseen() && !unseen_.expected.reference; }

  /// Draws values again, so that the next calls on unseen values cannot be answered by what earlier ones have left. The
  /// last ones stay if the baseline cannot compute more, or does not take them. Large ones are drawn in their place,
  /// several times if need be; then there are none if the baseline takes none of these.
  void draw(Implementation& baseline, UnseenValues& source) {
    if (!can_compute_more()) return;
    const bool in_place = are_large(unseen_.values);
    const int attempts = in_place ? 3 : 1;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      UnseenAnswers next{.kind = unseen_.kind,
                         .operands = in_place ? unseen_.operands : unseen_.operands->clone(),
                         .seed = source.draw_seed(),
                         .which = unseen_.which};
      next.values = next.operands->tensors();
      try {
        source.draw(next.kind, next.values);
      } catch (...) {
        if (current_failure().device != Failure::Device::fine) throw;
        continue;  // as where it does not take them
      }
      if (compute(baseline, next)) {
        unseen_ = std::move(next);
        return;
      }
    }
    if (in_place) unseen_ = {};
  }

  /// Returns what the baseline answers on `values`, as far as can_compute_more(); nothing if it does not take them.
  [[nodiscard]] std::optional<UnseenAnswers> baseline_output_for(Implementation& baseline,
                                                                 const std::vector<at::Tensor>& values,
                                                                 std::uint64_t seed) const {
    UnseenAnswers unseen{.kind = unseen_.kind, .values = values, .seed = seed, .which = unseen_.which};
    return compute(baseline, unseen) ? std::optional<UnseenAnswers>(std::move(unseen)) : std::nullopt;
  }

  /// What the baseline does with its output, others may do as well.
  void imitate(const ObservedCall& made) { shortcuts_ = shortcuts_of_each(made, operands_.tensors[0]); }

  /// Whether the output of a call on the unseen values, and nothing else of it, differs from the right one.
  [[nodiscard]] bool only_output_differs(const ObservedCall& made, std::size_t set) const {
    return changed_operand(operands_, unseen_.expected.operands, set).empty() &&
           !match_outputs(unseen_.expected, made.at_return, options).correct;
  }

  /// What is wrong with the output of a call on the values of `unseen`, and with `tensors`, the operands of the call
  /// after it; empty if nothing is.
  [[nodiscard]] std::string judge_output(const c10::IValue& output, const std::vector<at::Tensor>& tensors,
                                         const UnseenAnswers& unseen) const {
    const Agreement agreement = agree_with(unseen.expected, output, operands_, &tensors, options);
    return agreement.correct ? std::string() : explain(agreement, output, unseen.kind);
  }

  /// Whether `tensors`, the operands of a call on the values of `unseen`, are right after it.
  [[nodiscard]] bool operands_agree(const std::vector<at::Tensor>& tensors, const UnseenAnswers& unseen) const {
    return agree_with(unseen.expected, unseen.expected.output, operands_, &tensors, without_reference(options)).correct;
  }

  /// What is wrong with a call on set `set`, made on the given values or, if `unseen`, on the unseen ones; empty if
  /// nothing is.
  [[nodiscard]] std::string judge(const ObservedCall& made, bool unseen, std::size_t set = 0) const {
    const Expected& expected = unseen ? unseen_.expected : given;
    const Agreement agreement = agree(expected, made.at_return, operands_, set, options);
    if (!agreement.correct) {
      // This is reported first, since a changed operand makes the outputs of later calls wrong.
      if (auto problem = changed_operand(operands_, expected.operands, set); !problem.empty()) return problem;
      return unseen ? explain(agreement, made.at_return, unseen_.kind) : agreement.message;
    }
    const auto shortcuts = shortcuts_of_each(made, operands_.tensors[set]);
    if (auto problem = describe_shortcuts(shortcuts_, shortcuts, options); !problem.empty()) return problem;
    // Comparing took a while, in which an honest output stayed as it was.
    if (!unchanged_output(made.at_return, made.output))
      return "its output was still being written after the call had returned";
    return {};
  }

 private:
  /// Returns whether the baseline takes the values of `unseen`, with its answers and the tolerances for them.
  [[nodiscard]] bool compute(Implementation& baseline, UnseenAnswers& unseen) const {
    try {
      if (!answer_unseen_values(baseline, operands_, given, unseen)) return false;
    } catch (...) {
      if (current_failure().device != Failure::Device::fine) throw;
      // It took values of this kind before, so that these are at fault.
      return false;
    }
    // Learning tolerances takes more calls than there is time for between rounds; those of the first values are about
    // as large, and where they are not, AuditDriver looks closer.
    unseen.expected.learned = learned_for(unseen.expected, unseen_.expected);
    return true;
  }

  /// What is wrong with an output on unseen values that does not agree with the baseline's; empty if it may differ.
  [[nodiscard]] std::string explain(const Agreement& agreement, const c10::IValue& output, UnseenKind kind) const {
    const bool stale =
        !output.isNone() && check::outputs_match(given.output, output, without_reference(options)).correct;
    // These may take away what an implementation rightly relies on.
    const bool usual = kind.family >= UnseenKind::scale;
    if (!usual && !stale) return {};
    const std::string changed = std::string("unseen values in the same memory (the operands ") + to_string(kind) + ")";
    if (stale)
      return "it returned the answer for values that had been overwritten by " + changed +
             ", so the answer was kept, not computed: " + agreement.message;
    return "it is right for the operands given, but not for " + changed + ": " + agreement.message +
           "; try: if it relies on special operands, choose other unseen values or none (" +
           spelled("check::CheckOptions::unseen_values in C++, --audit off on a command line",
                   "check(unseen_values=...)") +
           ')';
  }

  const OperandSets& operands_;
  UnseenAnswers unseen_;
  std::vector<std::int64_t> shortcuts_ = {};
};

}  // namespace pace::detail
