// AuditDriver: the checks of one comparison beside its first calls, between its rounds and after them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/audit/call_counts.hpp"
#include "pace/audit/called_operators.hpp"
#include "pace/audit/checks_after_rounds.hpp"
#include "pace/audit/context.hpp"
#include "pace/audit/findings.hpp"
#include "pace/audit/repeated_numbers.hpp"
#include "pace/audit/reused_outputs.hpp"
#include "pace/audit/speed_on_unseen_values.hpp"
#include "pace/audit/timed_calls.hpp"
#include "pace/audit/timed_outputs.hpp"
#include "pace/base/format.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/measure/auditor.hpp"
#include "pace/measure/round_figures.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/answers.hpp"
#include "pace/verify/check.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/shortcuts.hpp"

namespace pace::detail {

/// Takes the correct outputs from the baseline, examines each implementation beside its first calls, audits candidates
/// between cycles as an observer of the rounds, and checks all implementations after them.
class AuditDriver final : public Auditor {
 public:
  /// Both must outlive it.
  AuditDriver(timing::Clock& clock, const Prepared& prepared)
      : audit_(clock, prepared), timed_outputs_(clock, audit_.random()) {}
  AuditDriver(const AuditDriver&) = delete;
  AuditDriver& operator=(const AuditDriver&) = delete;

  // The first calls.

  /// Before the first call of an implementation, and after the last of its calls before timing: leaves everything as
  /// start() found it.
  void start() { audit_.process.start(); }
  void finish() {
    repair(0);
    audit_.process.restore();
  }
  /// Gives the operands of a set their first values, whatever was done to them.
  void repair(std::size_t set) { audit_.repair(set); }
  /// Takes the correct outputs from the baseline, for the given values and for others. `add_reference` may change
  /// `check`.
  void learn(Implementation& baseline, const Expected& expected, const check::CheckOptions& check,
             const AddReference& add_reference);
  /// After the first calls of an implementation were found correct: calls it on unseen values and on the given ones,
  /// and counts what it does.
  [[nodiscard]] Examination examine(Implementation& implementation);
  [[nodiscard]] SpeedOnUnseenValues& speed_on_unseen_values() { return speed_; }
  /// In a process in which no candidate was called, after learn(): the time of a call of the baseline on unseen values.
  [[nodiscard]] Nanoseconds time_baseline_on_unseen_values(const UnseenQuestion& question) {
    return speed_.time_baseline(question);
  }
  /// Makes `check` after the rounds, before all others.
  void add_first_after_rounds(std::unique_ptr<Check> check) { after_rounds_.add_first(std::move(check)); }

  // The rounds.

  /// Before each pass of measuring: gives all operands their first values and forgets what an earlier pass has found,
  /// so that an implementation which has left since then accounts for nothing that is found later.
  void begin_pass();
  /// The rounds of these begin, with so many iterations a sample.
  void begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) override;
  /// In one round of four the output of a random call of each sample is kept instead of that of the last one. A graph
  /// has the same outputs whenever it is replayed.
  void round_started(std::size_t round) override;
  /// The output of the sample that begins takes the place of what the last audit has left.
  void sample_started() override { audited_last_.reset(); }
  /// Looks at the output that was kept of the sample of the implementation at this place among those that are timed.
  void sample_ended(std::size_t place) override;
  /// Judges outputs of timed calls of this cycle that have other bits than those that are known to be right.
  void judge_timed_outputs();
  /// Judges them, and audits one candidate between cycles, at moments that cannot be foreseen, for at most
  /// AuditContext::audit_share of the time.
  void cycle_ended(const timing::Rounds& so_far) override;
  [[nodiscard]] Nanoseconds took() const override { return audit_.schedule.took() + timed_outputs_.took(); }
  /// Returns whether an audit or the output of a timed call shows a fault, so that the rounds end.
  [[nodiscard]] bool found() const override { return audit_.schedule.found(); }
  /// Audits one candidate, whatever share of the time that takes. Returns what is wrong, as text; empty if nothing is.
  [[nodiscard]] std::string audit_one(std::size_t index);
  /// The rounds are timed in another process: they lasted for `elapsed`, and `shortest` has for each implementation of
  /// begin_rounds() the shortest time of a call in a sample.
  void take_times(Nanoseconds elapsed, std::vector<Nanoseconds> shortest) {
    audit_.schedule.take_times(elapsed, std::move(shortest));
  }
  /// See AuditContext::draws_anew().
  [[nodiscard]] bool draws_anew() const { return audit_.draws_anew(); }
  /// How often random numbers of timed calls of the implementation `index` were those of earlier ones, for each output
  /// tensor.
  [[nodiscard]] std::vector<Repetitions> repetitions_of(std::size_t index) const {
    const auto& timed = audit_.schedule.timed();
    return repeated_numbers_.of(static_cast<std::size_t>(std::ranges::find(timed, index) - timed.begin()));
  }
  /// Looks for operands that the baseline leaves alone and that do not hold the values of this round, or else their
  /// first ones, in all sets, and gives them their first values.
  void look_at_operands();

  // After the rounds.

  /// After the rounds of begin_rounds(): whether each was right in them, and is right and as fast where it does not
  /// expect to be looked at. `figures` are those of these rounds.
  [[nodiscard]] AuditFindings check(RoundFigures figures);

 private:
  void find_repeated_numbers(AuditFindings& findings) const;
  void inspect(AuditFindings& findings);

  AuditContext audit_;
  OutputReuse reuse_{audit_};
  TimedCalls timed_calls_{audit_, reuse_};
  SpeedOnUnseenValues speed_{audit_};
  ChecksAfterRounds after_rounds_{audit_, speed_};
  TimedOutputs timed_outputs_;
  RepeatedNumbers repeated_numbers_;
  /// The implementation whose last output was taken after the last cycle.
  std::optional<std::size_t> audited_last_;
};

inline void AuditDriver::learn(Implementation& baseline, const Expected& expected, const check::CheckOptions& check,
                               const AddReference& add_reference) {
  UnseenAnswers unseen;
  audit_.source.emplace(audit_.operands.pristine, audit_.random(),
                        KnownSizes(audit_.operands.pristine, expected.output, audit_.prepared.given->numbers()));
  const bool wanted = check.unseen_values != check::CheckOptions::UnseenValues::none &&
                      check.method != check::CheckOptions::Method::none;
  constexpr double copies = 4;
  if (wanted && are_large(audit_.operands.pristine) && !copies_fit(audit_.clock, audit_.prepared, copies))
    audit_.notes.push_back("No call was made on other values than those given: " + format_significant(copies) +
                           " more copies of the operands would not fit into memory.");
  else if (wanted)
    unseen = find_unseen_answers(baseline, audit_.operands, *audit_.prepared.given, expected, check, *audit_.source,
                                 add_reference);
  audit_.answers.emplace(audit_.operands, expected, std::move(unseen), check);
  CalledOperators called;
  audit_.answers->imitate(audit_.call(baseline, nullptr));
  audit_.process.learn(OperatorKernels(called.take()));
  audit_.repair(0);
}

inline Examination AuditDriver::examine(Implementation& implementation) {
  const bool is_baseline = implementation.index == audit_.baseline_index;
  Examination found{.problem = audit_.take_disturbance()};
  if (!found.problem.empty()) return found;
  // The values of the first examination are known to whatever the baseline shares with the others.
  if (!is_baseline) audit_.draw_unseen_values();
  const ObservedCall unseen = audit_.call(implementation, audit_.answers->unseen_values());
  if (audit_.answers->checks())
    found.problem =
        audit_.answers->takes_unseen() ? audit_.judge_unseen(unseen, 0) : audit_.answers->judge(unseen, false);
  if (!found.problem.empty()) return found;
  const ObservedCall given = audit_.call(implementation, nullptr);
  for (const auto found_in_one : shortcuts_of_each(given.output, audit_.operands.tensors[0]))
    found.repeats_outputs = found.repeats_outputs || (found_in_one & repeats) != 0;
  if (audit_.answers->checks())
    if (const auto problem = audit_.answers->judge(given, false); !problem.empty())
      found.problem = "correct at first, but not later: " + problem;
  if (!found.problem.empty()) return found;
  count_calls(audit_, implementation, unseen, given, found);
  if (reuse_.applies(implementation)) {
    if (is_baseline)
      reuse_.learn(unseen);
    else if (found.problem.empty())
      found.problem = reuse_.find_fault(unseen, 0);
  }
  if (found.problem.empty()) found.problem = audit_.take_disturbance();
  return found;
}

inline void AuditDriver::begin_pass() {
  audit_.process.begin_pass();
  audit_.changed_operands.clear();
  // Samples before the rounds are not looked at.
  audit_.schedule.clear();
  audit_.operands.renewed.clear();
  for (std::size_t set = 0; set < audit_.operands.sets.size(); ++set) {
    audit_.repair(set);
    if (audit_.operands.spares.empty()) continue;
    for (std::size_t spare = 0; spare < audit_.operands.spares[set].size(); ++spare)
      audit_.repair(audit_.operands.spares[set][spare], audit_.operands.spare_tensors[set][spare]);
  }
}

inline void AuditDriver::begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) {
  audit_.schedule.begin(timed);
  audit_.iterations = iterations;
  timed_outputs_.begin(timed.size());
  repeated_numbers_.begin(timed.size());
  audited_last_.reset();
  audit_.longest_audits.assign(audit_.prepared.implementations.size(), {});
}

inline void AuditDriver::round_started(std::size_t) {
  audit_.schedule.round_started(audit_.operands);
  if (audit_.clock.modes() != nullptr) audit_.operands.kept_call.reset();
  if (audit_.clock.modes() != nullptr || !audit_.draws_anew()) audit_.operands.round_seed.reset();
}

/// Where rounds have values of their own, or calls change what later ones return, the right output is not known; and
/// what is captured has the same output whenever it is replayed.
inline void AuditDriver::sample_ended(std::size_t place) {
  if (!audit_.is_strict() || audit_.schedule.timed().empty() || !audit_.answers->checks() ||
      audit_.clock.modes() != nullptr)
    return;
  const auto* const output = audit_.prepared.implementations[audit_.schedule.timed()[place]]->kept_output();
  if (output == nullptr) return;
  if (audit_.draws_anew())
    repeated_numbers_.look_at(place, *output);
  else if (!audit_.calls_add_up() && !audit_.prepared.renew)
    timed_outputs_.look_at(place, *output, audit_.answers->given.output);
}

inline void AuditDriver::judge_timed_outputs() {
  auto fault = timed_outputs_.judge(
      [&](std::size_t, const c10::IValue& output) { return timed_calls_.find_fault_of_output(output); });
  if (fault) audit_.schedule.enter(audit_.schedule.timed()[fault->place], std::move(fault->problem));
}

inline void AuditDriver::cycle_ended(const timing::Rounds& so_far) {
  audited_last_.reset();
  judge_timed_outputs();
  audit_.schedule.cycle_ended(so_far, audit_.operands, [&](std::size_t index) { return audit_one(index); });
}

inline std::string AuditDriver::audit_one(std::size_t index) {
  audit_.operands.kept_call.reset();
  audit_.operands.round_seed.reset();
  if (!audit_.answers->checks() || index == audit_.baseline_index || found()) return {};
  audit_.draw_unseen_values();
  audited_last_ = index;
  return timed_calls_.find_fault(*audit_.prepared.implementations[index]);
}

inline void AuditDriver::look_at_operands() {
  for (std::size_t set = 0; set < audit_.operands.sets.size(); ++set) {
    audit_.notice_changed_operands(set);
    audit_.repair(set);
  }
}

inline AuditFindings AuditDriver::check(RoundFigures figures) {
  audit_.in_rounds = std::move(figures);
  speed_.take_rounds(audit_.in_rounds.baseline);
  AuditFindings findings;
  findings.max_abs_errors.resize(audit_.prepared.implementations.size());
  if (findings.take(audit_.schedule.take_fault())) return findings;
  audit_.operands.kept_call.reset();
  audit_.operands.round_seed.reset();
  look_at_operands();
  if (!audit_.answers->checks()) return findings;
  // On operands that one implementation has changed, all are wrong.
  if (audit_.changed_operands.empty()) timed_calls_.check_last_outputs(audited_last_, findings);
  find_repeated_numbers(findings);
  if (audit_.options.audit != Audit::off || !audit_.changed_operands.empty()) inspect(findings);
  findings.notes = std::exchange(audit_.notes, {});
  findings.keeps = std::exchange(audit_.keeps, {});
  findings.objections = std::exchange(audit_.objections, {});
  findings.on_unseen_values = speed_.take_found();
  return findings;
}

/// Finds candidates whose random numbers in timed calls repeat those of earlier ones, with the baseline's as the norm.
inline void AuditDriver::find_repeated_numbers(AuditFindings& findings) const {
  if (!audit_.draws_anew()) return;
  const auto norm = repetitions_of(audit_.baseline_index);
  for (const std::size_t index : audit_.schedule.timed()) {
    const bool dropped = std::ranges::any_of(findings.dropped, [&](const Drop& each) { return each.index == index; });
    if (index == audit_.baseline_index || dropped) continue;
    if (auto problem = describe_repetitions(norm, repetitions_of(index)); !problem.empty())
      findings.dropped.push_back({index, Outcome::wrong, std::move(problem)});
  }
}

/// Audits all that remain, and finds the implementation that caused a change which affects all.
inline void AuditDriver::inspect(AuditFindings& findings) {
  std::string noticed = audit_.take_disturbance();
  const std::string changed = std::exchange(audit_.changed_operands, {});
  if (noticed.empty()) noticed = changed;
  const auto dropped = [&](std::size_t index) {
    return std::any_of(findings.dropped.begin(), findings.dropped.end(),
                       [&](const Drop& each) { return each.index == index; });
  };
  std::vector<std::size_t> remaining;
  if (!dropped(audit_.baseline_index))
    for (const std::size_t index : audit_.schedule.timed())
      if (!dropped(index)) remaining.push_back(index);
  const std::size_t dropped_before = findings.dropped.size();
  for (const std::size_t index : remaining) {
    // The baseline is checked only if something happened.
    if (index == audit_.baseline_index && changed.empty()) continue;
    if (dropped(audit_.baseline_index)) break;
    auto& implementation = *audit_.prepared.implementations[index];
    audit_.draw_unseen_values();
    auto problem = timed_calls_.find_fault(implementation);
    if (problem.empty() && audit_.clock.modes() != nullptr) problem = timed_calls_.find_fault_of_replay(implementation);
    auto outcome = Outcome::wrong;
    if (audit_.is_strict() && problem.empty() && index != audit_.baseline_index)
      problem = after_rounds_.find_fault(index, outcome);
    if (!problem.empty()) findings.dropped.push_back({index, outcome, std::move(problem)});
  }
  if (noticed.empty()) return;
  if (findings.dropped.size() == dropped_before)  // none did it again
    for (const std::size_t index : remaining)
      if (index != audit_.baseline_index)
        findings.dropped.push_back(
            {index, Outcome::wrong, (remaining.size() == 2 ? "" : "it or another candidate: ") + noticed});
  // Candidates without a baseline have no figures, and a baseline alone has nothing to be compared with.
  findings.measure_again =
      !dropped(audit_.baseline_index) && remaining.size() > findings.dropped.size() - dropped_before + 1;
}

}  // namespace pace::detail
