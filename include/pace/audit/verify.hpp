// Verify: the first calls of each implementation, which are checked before anything is timed.
#pragma once

#include <algorithm>
#include <any>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/audit/audit_driver.hpp"
#include "pace/audit/first_checks.hpp"
#include "pace/audit/least_traffic.hpp"
#include "pace/audit/unseen_norm.hpp"
#include "pace/audit/untouched_baseline.hpp"
#include "pace/check/clone.hpp"
#include "pace/result/progress.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/check.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/sensitivity.hpp"
#include "pace/verify/verified.hpp"

namespace pace::detail {

/// Adds the output of the baseline, or of its separate reference, on `operands` converted to float64, if `check` has
/// that method. If the reference fails, outputs are compared directly from then on, which becomes a note.
inline void add_reference(const Prepared& prepared, Expected& expected, const OperandSet& operands,
                          check::CheckOptions& check, Result& result) {
  if (check.method != check::CheckOptions::Method::float64_reference) return;
  try {
    auto& reference = prepared.reference ? *prepared.reference : prepared.baseline();
    expected.reference = call_in_float64(reference, *prepared.operands, operands, prepared.options.seed);
  } catch (...) {
    check.method = check::CheckOptions::Method::allclose;
    result.notes.push_back("There is no float64 reference, so outputs were compared directly: " + current_message());
  }
}

/// Longest call of a baseline that is called some more times to learn its tolerances.
inline constexpr Nanoseconds longest_call_to_learn_by = std::chrono::milliseconds(200);

/// Makes the first calls, one implementation after the other.
class FirstCalls {
 public:
  FirstCalls(timing::Clock& clock, const Prepared& prepared, AuditDriver& audit, const check::CheckOptions& check)
      : clock_(clock),
        prepared_(prepared),
        audit_(audit),
        check_(check),
        first_checks_(clock, prepared, expected_, check_,
                      [this](Expected& expected, const OperandSet& values) { learn_tolerances(expected, values); }) {
    if (prepared.options.audit == Audit::off) check_.unseen_values = check::CheckOptions::UnseenValues::none;
    if (!check_.number_dtype) check_.number_dtype = check::detail::widest_floating_type(prepared.operands->pristine);
  }

  FirstCalls(const FirstCalls&) = delete;  // its checks refer to it
  FirstCalls& operator=(const FirstCalls&) = delete;

  /// Outputs of the baseline.
  [[nodiscard]] const Expected& expected() const { return expected_; }
  /// Whether outputs are compared: the baseline repeats itself.
  [[nodiscard]] bool checks() const { return check_.method != check::CheckOptions::Method::none; }

  /// Whether candidates can be checked once more after the rounds.
  [[nodiscard]] bool can_be_repeated() const {
    return limits_of_repetition.allow(prepared_.options, longest_call_, bytes_of(prepared_.operands->pristine));
  }
  /// Checks a candidate once more: its autograd graphs, and all that FirstChecks has learned.
  [[nodiscard]] std::string find_fault_again(Implementation& candidate) {
    auto problem = find_lost_graph(candidate);
    return problem.empty() ? first_checks_.find_fault(candidate) : problem;
  }
  /// Makes and times the first call, then checked calls, and admits or drops the implementation.
  void make(std::size_t index, Verified& verified) {
    report_step({.what = "first calls of " + verified.result.implementations[index].name});
    if (time_left(clock_).count() <= 0)
      verified.participants.drop(index, Outcome::unreached, deadline_reason());
    else
      try_to_make(index, verified);
    if (!verified.participants.device_lost()) audit_.finish();
  }

 private:
  void try_to_make(std::size_t index, Verified& verified) {
    auto* const modes = clock_.modes();
    // An implementation may leave another stream of the GPU current, which must not affect the others.
    const auto stream = modes != nullptr ? modes->keep_stream() : nullptr;
    try {
      if (auto problem = find_problem(index, verified.result); !problem.empty())
        verified.participants.drop(index, Outcome::wrong, problem);
      else
        verified.participants.admit(index);
    } catch (const check::BadDeclaration& error) {
      throw check::BadDeclaration("comparison '" + verified.result.name + "': " + error.what());
    } catch (...) {
      verified.participants.drop_failed(index, current_failure_on(clock_));
    }
  }

  /// Returns the fault of the implementation as text; empty if there is none.
  [[nodiscard]] std::string find_problem(std::size_t index, Result& result) {
    auto* const modes = clock_.modes();
    auto& implementation = *prepared_.implementations[index];
    OperandSets& operands = *prepared_.operands;
    const std::uint64_t seed = prepared_.options.seed;
    const bool is_baseline = index == prepared_.participants.baseline();
    auto& row = result.implementations[index];
    const auto call = [&] { return implementation.call(0); };

    audit_.repair(0);
    audit_.start();
    row.first_call = clock_.time([&] { (void)call(); });
    if (is_baseline) {
      expected_ = expected_of(implementation, operands, seed);
      check::validate_outputs(check_, expected_.output, operands.pristine);
      add_reference(prepared_, expected_, *prepared_.given, check_, result);
    }
    std::vector<bool> with_graph;
    c10::IValue output;
    // By the clock of the device, since a call may return before it is done.
    const Nanoseconds took = clock_.time([&] { output = checked_call(implementation, operands, 0, seed, with_graph); });
    longest_call_ = std::max(longest_call_, took);
    const Agreement agreement = agree(expected_, output, operands, 0, check_);
    row.checked = agreement.compared;
    row.max_abs_error = agreement.max_abs_error;
    note_uncompared(agreement, row, result);
    if (!agreement.correct && !is_baseline) {
      row.context.beyond_tolerance = agreement.beyond_tolerance;
      return agreement.message;
    }
    // A training step takes the gradients itself, and they are compared.
    const bool is_step = implementation.phases() != nullptr;
    if (check_.check_autograd && !is_step && check_.method != check::CheckOptions::Method::none)
      if (auto problem = lost_graph(expected_.with_graph, with_graph); !problem.empty()) return problem;
    if (!agreement.correct) {
      result.notes.push_back("The baseline does not repeat itself, so nothing was checked: " + agreement.message + ".");
      check_.method = check::CheckOptions::Method::none;
      row.checked = false;
      enter_uncompared(Uncompared::varies, row);
      varies_ = true;
    }
    if (is_baseline) {
      learns_ =
          check::compares_values(check_.method) && !check_.rtol && !check_.atol && took <= longest_call_to_learn_by;
      learn_tolerances(expected_, *prepared_.given);
      audit_.learn(implementation, expected_, check_, [&](Expected& expected, const OperandSet& unseen) {
        add_reference(prepared_, expected, unseen, check_, result);
        learn_tolerances(expected, unseen);
      });
    }
    Examination examination = audit_.examine(implementation);
    row.counts = examination.counts;
    row.why_uncounted = std::move(examination.why_uncounted);
    row.context.repeats_outputs = examination.repeats_outputs;
    row.context.keeps = !examination.note.empty();
    if (!examination.note.empty()) result.notes.push_back(std::move(examination.note));
    if (!examination.problem.empty()) return examination.problem;
    if (is_baseline) {
      const bool made_calls = first_checks_.learn(implementation, took, result.notes);
      // What it keeps from call to call is then as the values given leave it, not as those of other checks.
      if (learns_ || made_calls) (void)checked_call(implementation, operands, 0, seed, with_graph);
    }
    if (!is_baseline)
      if (auto problem = first_checks_.find_fault(implementation); !problem.empty()) return problem;
    if (modes != nullptr)
      if (const auto escape = modes->find_escape([&] { (void)call(); })) return *escape;
    implementation.expect_outputs_like(output);
    if (modes != nullptr) row.device_memory = modes->memory_of([&] { return std::any(call()); });
    return {};
  }

  /// Returns which autograd graph an output of the implementation lacks, as text; empty if none.
  [[nodiscard]] std::string find_lost_graph(Implementation& implementation) const {
    if (!check_.check_autograd || implementation.phases() != nullptr || !checks()) return {};
    std::vector<bool> with_graph;
    prepared_.operands->restore_all(0);
    try {
      (void)checked_call(implementation, *prepared_.operands, 0, prepared_.options.seed, with_graph);
    } catch (...) {
      implementation.failed();
    }
    return lost_graph(expected_.with_graph, with_graph);
  }

  /// Where outputs were to be compared, and nothing was, no claim about the times of the row is proven.
  void note_uncompared(const Agreement& agreement, ImplementationResult& row, Result& result) const {
    if (agreement.compared || !agreement.correct) return;
    // The method is also `none` where the baseline does not repeat itself.
    if (!checks() && !varies_) return;
    enter_uncompared(varies_ ? Uncompared::varies : agreement.why_uncompared(), row);
    // That there are no outputs is no news, and of interest to claims alone, which say so.
    if (row.is_baseline && row.uncompared != Uncompared::no_output)
      result.notes.push_back("Nothing was compared of the outputs of '" + row.name + "': " + describe(*row.uncompared) +
                             '.');
  }

  /// Adds the tolerances of outputs on the values of `operands`.
  void learn_tolerances(Expected& expected, const OperandSet& operands) {
    if (!learns_) return;
    terms_ = Sensitivity(prepared_.baseline(), *prepared_.operands, operands, prepared_.options.seed,
                         check_.reduction_length, *check_.number_dtype)
                 .learn(expected, terms_);
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  AuditDriver& audit_;
  check::CheckOptions check_;
  Expected expected_ = {};
  Nanoseconds longest_call_{};
  /// The baseline does not repeat itself.
  bool varies_ = false;
  /// Whether tolerances are learned from calls of the baseline, and the number of terms of each of its results.
  bool learns_ = false;
  std::vector<double> terms_ = {};
  FirstChecks first_checks_;
};

/// Repeats after the rounds the checks beside the first calls.
class FirstChecksAgain final : public Check {
 public:
  explicit FirstChecksAgain(std::shared_ptr<FirstCalls> first) : first_(std::move(first)) {}
  [[nodiscard]] std::string find_fault(Implementation& candidate) override {
    const auto problem = first_->find_fault_again(candidate);
    return problem.empty() ? problem : "correct at first, but not after the rounds: " + problem;
  }

 private:
  std::shared_ptr<FirstCalls> first_;
};

/// Makes the first calls of all implementations, the baseline first, since the others are compared with it.
/// Implementations that are wrong or throw are dropped. The reference is moved out of `prepared`, since it is not
/// called again. `audit` repeats the checks after the rounds, and asks `untouched` for the time of the baseline.
[[nodiscard]] inline Verified verify(timing::Clock& clock, Prepared& prepared, AuditDriver& audit,
                                     UntouchedBaseline& untouched, const check::CheckOptions& check) {
  Verified verified{.participants = prepared.participants, .result = prepared.result, .options = prepared.options};
  auto& participants = verified.participants;
  const std::size_t baseline = participants.baseline();
  const auto shared = std::make_shared<FirstCalls>(clock, prepared, audit, check);
  FirstCalls& first_calls = *shared;
  try {
    if (participants.pending(baseline)) first_calls.make(baseline, verified);
    prepared.reference.reset();
    // What is correct only for special values is not called on values without them.
    const bool varied =
        prepared.options.audit != Audit::off && check.unseen_values == check::CheckOptions::UnseenValues::varied;
    const bool limited = clock.host_bandwidth() != nullptr || clock.modes() != nullptr;
    if (participants.remains(baseline) && first_calls.checks() && varied && limited) {
      verified.traffic = find_least_traffic(clock, prepared.baseline(), *prepared.operands, *prepared.given,
                                            first_calls.expected().output, prepared.options);
      audit.repair(0);
    }
    if (participants.remains(baseline)) {
      start_calls_alike(prepared, first_calls.expected(), verified);
      if (prepared.options.audit == Audit::strict) audit.speed_on_unseen_values().learn_norm(verified.options);
      audit.speed_on_unseen_values().ask_untouched_by(
          [&untouched](const UnseenQuestion& question, Nanoseconds longest) {
            return untouched.time_on_unseen_values(question, longest);
          });
      untouched.before_candidates(clock, prepared, verified.options, first_calls.expected().output);
      audit.finish();
    }
    for (std::size_t index = 0; index < prepared.implementations.size(); ++index) {
      if (!participants.pending(index)) continue;
      if (participants.remains(baseline))
        first_calls.make(index, verified);
      else
        participants.drop_without_baseline(index);
    }
  } catch (...) {
    enter_out_of_memory(participants);
  }
  if (first_calls.can_be_repeated()) audit.add_first_after_rounds(std::make_unique<FirstChecksAgain>(shared));
  return verified;
}

}  // namespace pace::detail
