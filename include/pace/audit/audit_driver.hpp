// AuditDriver: runs the checks of a comparison at its first calls, between its rounds and after them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/audit/baseline_limit.hpp"
#include "pace/audit/checks_after_rounds.hpp"
#include "pace/audit/context.hpp"
#include "pace/audit/learn_baseline_limit.hpp"
#include "pace/audit/least_traffic.hpp"
#include "pace/audit/less_on_seen_values.hpp"
#include "pace/audit/reused_outputs.hpp"
#include "pace/audit/timed_calls.hpp"
#include "pace/audit/timed_outputs.hpp"
#include "pace/audit/untouched_baseline.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/unseen/answers.hpp"
#include "pace/unseen/first_checks.hpp"
#include "pace/verify/call_counts.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/repeated_numbers.hpp"
#include "pace/verify/round_figures.hpp"
#include "pace/verify/shortcuts.hpp"

namespace pace::detail {

/// Learns the correct outputs from the baseline, audits candidates as an observer of the rounds, and checks all
/// implementations afterwards.
class AuditDriver final : public CandidateAudit {
 public:
  /// All must outlive it.
  AuditDriver(timing::Clock& clock, const Prepared& prepared, UntouchedBaseline& untouched)
      : untouched_(untouched), context_(clock, prepared), timed_outputs_(clock, context_.random()) {}

  // The first calls.

  void before_first_call() override { context_.process.start(); }
  void after_first_calls() override {
    repair(0);
    context_.process.restore();
  }
  void repair(std::size_t set) override { context_.repair(set); }
  void learn(const BaselineCalls& calls) override;
  void examine(Implementation& implementation, Nanoseconds took, Examination& found) override;
  [[nodiscard]] timing::LeastTraffic before_candidates() override;

  // The rounds.

  void begin_pass() override;
  void begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) override;
  /// In one round of four, keeps a random output of each sample instead of the last one. Not on a device: a graph has
  /// the same outputs at each replay.
  void round_started(std::size_t round) override;
  /// The next sample's output replaces the one that the last audit left.
  void sample_started() override { audited_last_.reset(); }
  /// Checks the sample's kept output. `place`: the implementation's among the timed ones.
  void sample_ended(std::size_t place) override;
  /// Judges outputs, and audits one candidate at unpredictable moments, for at most AuditContext::audit_share of the
  /// time.
  void cycle_ended(const timing::Rounds& so_far) override;
  [[nodiscard]] Nanoseconds took() const override { return context_.schedule.took() + timed_outputs_.took(); }
  [[nodiscard]] bool has_fault() const override { return context_.schedule.found(); }
  void check_operands() override;

  // After the rounds.

  [[nodiscard]] AuditFindings check_after_rounds(RoundFigures figures) override;

  // The process of one side.

  void judge_timed_outputs() override;
  [[nodiscard]] std::string check_now(std::size_t index) override;
  void take_times(Nanoseconds elapsed, const std::vector<Nanoseconds>& shortest) override {
    context_.schedule.take_times(elapsed, shortest);
  }
  [[nodiscard]] bool draws_anew() const override { return context_.draws_anew(); }
  [[nodiscard]] std::vector<Repetitions> repetitions_of(std::size_t index) const override {
    return repeated_numbers_.of(place_of(index, context_.schedule.timed()));
  }

 private:
  [[nodiscard]] std::string find_fault_in_calls(Implementation& implementation, Examination& found);
  void find_repeated_numbers(AuditFindings& findings) const;
  void inspect(AuditFindings& findings);

  UntouchedBaseline& untouched_;
  AuditContext context_;
  OutputReuse reuse_{context_};
  TimedCalls timed_calls_{context_, reuse_};
  BaselineLimit baseline_limit_;
  ChecksAfterRounds after_rounds_{context_, baseline_limit_};
  TimedOutputs timed_outputs_;
  RepeatedNumbers repeated_numbers_;
  /// Absent before learn().
  std::optional<FirstChecks> first_checks_;
  /// The longest first call of all implementations.
  Nanoseconds longest_call_{};
  /// The implementation whose last output an audit after the last cycle has taken.
  std::optional<std::size_t> audited_last_;
};

inline void AuditDriver::learn(const BaselineCalls& calls) {
  context_.learn(calls.baseline, calls.expected, calls.check, calls.complete);
  first_checks_.emplace(context_.clock, context_.prepared, calls);
  after_rounds_.add_first(std::make_unique<FirstChecksAgain>(context_.prepared, calls, *first_checks_, longest_call_));
}

inline void AuditDriver::examine(Implementation& implementation, Nanoseconds took, Examination& found) {
  longest_call_ = std::max(longest_call_, took);
  found.problem = find_fault_in_calls(implementation, found);
  if (!found.problem.empty()) return;
  if (implementation.index == context_.baseline_index)
    found.made_calls = first_checks_->learn(implementation, found.notes);
  else
    found.problem = first_checks_->find_fault(implementation);
}

/// Calls an implementation on unseen values and on the values given. Enters its counts.
inline std::string AuditDriver::find_fault_in_calls(Implementation& implementation, Examination& found) {
  const bool is_baseline = implementation.index == context_.baseline_index;
  if (auto problem = context_.take_disturbance(); !problem.empty()) return problem;
  // Candidates may share state with the baseline, so they get a draw of their own.
  if (!is_baseline) context_.draw_unseen_values();
  const ObservedCall unseen = context_.call(implementation, context_.answers->unseen_values());
  if (context_.answers->checks())
    if (auto problem = context_.answers->takes_unseen() ? context_.judge_unseen(unseen, 0)
                                                        : context_.answers->judge(unseen, false);
        !problem.empty())
      return problem;
  const ObservedCall given = context_.call(implementation, nullptr);
  found.repeats_outputs = repeats_elements(given.output, context_.operands.tensors[0]);
  if (context_.answers->checks())
    if (const auto problem = context_.answers->judge(given, false); !problem.empty())
      return "correct at first, but not later: " + problem;
  // An implementation can tell calls in a row from single ones.
  const auto in_a_row = context_.calls_add_up() ? 0 : 2 + static_cast<std::int64_t>(context_.random.below(3));
  enter_counts(
      given.counts, unseen.counts, [&] { return context_.call(implementation, nullptr).counts; }, in_a_row,
      [&](std::int64_t calls) {
        write_values(context_.operands, nullptr, 0);
        return count_in_a_row(implementation, calls);
      },
      found);
  if (context_.answers->takes_unseen() && context_.is_strict())
    find_less_on_seen_values(context_, implementation, found);
  if (reuse_.applies(implementation)) {
    if (is_baseline)
      reuse_.learn(unseen);
    else if (found.problem.empty())
      found.problem = reuse_.find_fault(unseen, 0);
  }
  if (!found.problem.empty()) return std::move(found.problem);
  return context_.take_disturbance();
}

inline timing::LeastTraffic AuditDriver::before_candidates() {
  const auto& answers = *context_.answers;
  timing::LeastTraffic traffic;
  // A baseline may need special values.
  const bool varied = answers.options.unseen_values == check::CheckOptions::UnseenValues::varied;
  const bool limited = context_.clock.host_bandwidth() != nullptr || context_.clock.modes() != nullptr;
  if (answers.checks() && varied && limited) {
    traffic = find_least_traffic(context_.clock, context_.baseline(), context_.operands, *context_.prepared.given,
                                 answers.given.output, context_.options);
    repair(0);
  }
  if (context_.is_strict()) learn_baseline_limit(context_, baseline_limit_);
  baseline_limit_.time_untouched_by([this](const UnseenRequest& request, Nanoseconds longest) {
    return untouched_.time_on_unseen_values(request, longest);
  });
  untouched_.before_candidates(context_.clock, context_.prepared, answers.given.output);
  return traffic;
}

inline void AuditDriver::begin_pass() {
  context_.process.begin_pass();
  context_.changed_operands.clear();
  context_.schedule.clear();
  repair_all(context_.prepared);
}

inline void AuditDriver::begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) {
  context_.schedule.begin(timed);
  context_.iterations = iterations;
  timed_outputs_.begin(timed.size());
  repeated_numbers_.begin(timed.size());
  audited_last_.reset();
  context_.longest_audits.assign(context_.prepared.implementations.size(), {});
}

inline void AuditDriver::round_started(std::size_t) {
  context_.schedule.round_started(context_.operands);
  if (context_.clock.modes() != nullptr) context_.operands.kept_call.reset();
  if (context_.clock.modes() != nullptr || !context_.draws_anew()) context_.operands.round_seed.reset();
}

/// No right output is known if rounds have values of their own, or calls add up. A device's capture has the same output
/// at each replay.
inline void AuditDriver::sample_ended(std::size_t place) {
  if (!context_.is_strict() || context_.schedule.timed().empty() || !context_.answers->checks() ||
      context_.clock.modes() != nullptr)
    return;
  const auto* const output = context_.prepared.implementations[context_.schedule.timed()[place]]->kept_output();
  if (output == nullptr) return;
  if (context_.draws_anew())
    repeated_numbers_.look_at(place, *output);
  else if (!context_.calls_add_up() && !context_.prepared.renew)
    timed_outputs_.look_at(place, *output, context_.answers->given.output);
}

inline void AuditDriver::judge_timed_outputs() {
  auto fault = timed_outputs_.judge(
      [&](std::size_t, const c10::IValue& output) { return timed_calls_.find_fault_of_output(output); });
  if (fault) context_.schedule.enter(context_.schedule.timed()[fault->place], std::move(fault->problem));
}

inline void AuditDriver::cycle_ended(const timing::Rounds& so_far) {
  audited_last_.reset();
  judge_timed_outputs();
  context_.schedule.cycle_ended(so_far, context_.operands, [&](std::size_t index) { return check_now(index); });
}

inline std::string AuditDriver::check_now(std::size_t index) {
  context_.operands.kept_call.reset();
  context_.operands.round_seed.reset();
  if (!context_.answers->checks() || index == context_.baseline_index || has_fault()) return {};
  context_.draw_unseen_values();
  audited_last_ = index;
  return timed_calls_.find_fault(*context_.prepared.implementations[index]);
}

inline void AuditDriver::check_operands() {
  for (std::size_t set = 0; set < context_.operands.sets.size(); ++set) {
    context_.notice_changed_operands(set);
    context_.repair(set);
  }
}

inline AuditFindings AuditDriver::check_after_rounds(RoundFigures figures) {
  context_.in_rounds = std::move(figures);
  baseline_limit_.take_rounds(context_.in_rounds.baseline);
  AuditFindings findings{.baseline_cores = untouched_.cores()};
  findings.max_abs_errors.resize(context_.prepared.implementations.size());
  if (findings.take(context_.schedule.take_fault())) return findings;
  findings.slowed_baseline = untouched_.after_rounds(context_.clock, context_.prepared, context_.schedule.timed(),
                                                     context_.in_rounds.baseline);
  context_.operands.kept_call.reset();
  context_.operands.round_seed.reset();
  check_operands();
  if (!context_.answers->checks()) return findings;
  // On changed operands, all outputs are wrong.
  if (context_.changed_operands.empty()) timed_calls_.check_last_outputs(audited_last_, findings);
  find_repeated_numbers(findings);
  inspect(findings);
  findings.notes = std::exchange(context_.notes, {});
  findings.keeps = std::exchange(context_.keeps, {});
  findings.objections = std::exchange(context_.objections, {});
  findings.on_unseen_values = std::exchange(context_.on_unseen_values, {});
  return findings;
}

/// Finds candidates whose timed calls repeat random numbers, with the baseline as the norm.
inline void AuditDriver::find_repeated_numbers(AuditFindings& findings) const {
  if (!context_.draws_anew()) return;
  const auto norm = repetitions_of(context_.baseline_index);
  for (const std::size_t index : context_.schedule.timed()) {
    if (index == context_.baseline_index || findings.drops(index)) continue;
    if (auto problem = describe_repetitions(norm, repetitions_of(index)); !problem.empty())
      findings.dropped.push_back({index, Outcome::wrong, std::move(problem)});
  }
}

/// Audits all remaining candidates, and finds which one caused a change.
inline void AuditDriver::inspect(AuditFindings& findings) {
  std::string noticed = context_.take_disturbance();
  const std::string changed = std::exchange(context_.changed_operands, {});
  if (noticed.empty()) noticed = changed;
  std::vector<std::size_t> remaining;
  if (!findings.drops(context_.baseline_index))
    for (const std::size_t index : context_.schedule.timed())
      if (!findings.drops(index)) remaining.push_back(index);
  const std::size_t dropped_before = findings.dropped.size();
  for (const std::size_t index : remaining) {
    // The baseline is checked only if operands were changed.
    if (index == context_.baseline_index && changed.empty()) continue;
    if (findings.drops(context_.baseline_index)) break;
    auto& implementation = *context_.prepared.implementations[index];
    context_.draw_unseen_values();
    auto problem = timed_calls_.find_fault(implementation);
    if (problem.empty() && context_.clock.modes() != nullptr)
      problem = timed_calls_.find_fault_of_replay(implementation);
    auto outcome = Outcome::wrong;
    if (context_.is_strict() && problem.empty() && index != context_.baseline_index)
      problem = after_rounds_.find_fault(index, outcome);
    if (!problem.empty()) findings.dropped.push_back({index, outcome, std::move(problem)});
  }
  if (noticed.empty()) return;
  if (findings.dropped.size() == dropped_before)  // none did it again
    for (const std::size_t index : remaining)
      if (index != context_.baseline_index)
        findings.dropped.push_back(
            {index, Outcome::wrong, (remaining.size() == 2 ? "" : "it or another candidate: ") + noticed});
  // Measuring again takes a baseline and a candidate.
  findings.measure_again =
      !findings.drops(context_.baseline_index) && remaining.size() > findings.dropped.size() - dropped_before + 1;
}

}  // namespace pace::detail
