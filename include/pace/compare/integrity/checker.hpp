// IntegrityChecker: finds, outside of the timed code, implementations that are correct or fast only in the expected
// sequence of calls. Each check is in a file of its own in this folder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/outputs.hpp"
#include "pace/compare/call_counter.hpp"
#include "pace/compare/expected.hpp"
#include "pace/compare/implementation.hpp"
#include "pace/compare/integrity/answers.hpp"
#include "pace/compare/integrity/background.hpp"
#include "pace/compare/integrity/novelty.hpp"
#include "pace/compare/integrity/observed_call.hpp"
#include "pace/compare/integrity/process_settings.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/participants.hpp"
#include "pace/compare/prepare.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/core/random.hpp"
#include "pace/core/result.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"

namespace pace::detail {

/// Result of the additional calls of one implementation beside its first calls.
struct Examination {
  /// What is wrong, in words; empty if nothing is.
  std::string problem = {};
  /// What one call counts; none unless two calls on the same operands counted the same.
  std::optional<CallCounts> counts = {};
  std::string why_uncounted = {};
};

/// Result of the audits in the rounds and of the checks after them.
struct IntegrityFindings {
  std::vector<Drop> dropped = {};
  /// For each implementation of the comparison: of the outputs of its last timed calls.
  std::vector<double> max_abs_errors = {};
  /// One that was dropped spoilt the samples of the others.
  bool measure_again = false;
};

/// Integrity checks of one comparison. It takes the correct outputs from the baseline, examines each implementation
/// beside its first calls, audits candidates between cycles as an observer of the rounds, and checks all
/// implementations after the rounds. Faults are returned as text, which is empty if there is none.
class IntegrityChecker final : public timing::RoundObserver {
 public:
  /// `prepared` must outlive it.
  IntegrityChecker(timing::Clock& clock, const Prepared& prepared);

  /// Before the first call of an implementation, and after the last of its calls before timing: leaves everything as
  /// start() found it.
  void start();
  void finish();
  /// Gives the operands of a set their first values, whatever was done to them.
  void repair(std::size_t set);

  /// Takes the correct outputs from the baseline, for the given values and for others. `add_reference` may change
  /// `check`.
  void learn(Implementation& baseline, const Expected& expected, const check::CheckOptions& check,
             const AddReference& add_reference);

  /// After the first calls of an implementation were found correct: calls it on fresh values and on the given ones, and
  /// counts what it does.
  [[nodiscard]] Examination examine(Implementation& implementation);

  /// Before each pass of measuring: gives all operands their first values and forgets what an earlier pass has found,
  /// so that an implementation which has left since then accounts for nothing that is found later.
  void begin_pass();
  /// The rounds of these begin, with so many iterations a sample.
  void begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations);
  /// Between cycles, at moments that cannot be foreseen, audits one candidate; for at most `audit_share` of the time.
  void cycle_ended(const timing::Rounds& so_far) override;
  [[nodiscard]] Nanoseconds took() const override { return took_; }
  /// Returns whether an audit found a fault, so that the rounds end.
  [[nodiscard]] bool found() const { return found_.has_value(); }
  /// Looks for operands that the baseline leaves alone and that do not hold the values of this round, or else their
  /// first ones, in all sets, and gives them their first values.
  void look_at_operands();

  /// After the rounds of begin_rounds(): whether each was right in them, and is right and as fast where it does not
  /// expect to be looked at.
  [[nodiscard]] IntegrityFindings check();

  /// Share of the time of the rounds for audits; each candidate takes half of that again after the rounds.
  static constexpr double audit_share = 0.05;

 private:
  // The questions.
  [[nodiscard]] std::string audit(Implementation& implementation);
  [[nodiscard]] std::string audit_replay(Implementation& implementation);
  [[nodiscard]] std::string ask_for_novelty(Implementation& implementation, Nanoseconds time);
  [[nodiscard]] std::string take_disturbance();
  void verify_last_outputs(IntegrityFindings& findings);
  void inspect(IntegrityFindings& findings);

  [[nodiscard]] ObservedCall call(Implementation& implementation, const std::vector<at::Tensor>* values) {
    return observe_call(implementation, operands_, values, seed_of(values != nullptr), answers_->given.output);
  }
  void repair(std::unique_ptr<OperandSet>& operands, std::vector<at::Tensor>& tensors);
  void count(Implementation& implementation, const ObservedCall& fresh, const ObservedCall& given, Examination& found);
  [[nodiscard]] std::string settings_changed();
  void notice_changed_operands(std::size_t set);
  [[nodiscard]] std::uint64_t seed_of(bool renewed) const { return options_.seed + (renewed ? 1 : 0); }
  /// Whether one call more changes what the next one returns: it writes to operands or draws random numbers.
  [[nodiscard]] bool calls_add_up() const { return !operands_.mutated.empty() || answers_->given.random; }
  [[nodiscard]] static std::string in_timed_call(const std::string& problem) {
    return "correct at first, but not in a timed call: " + problem;
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  OperandSets& operands_;
  const Options& options_;
  std::size_t baseline_;
  /// Which candidate is audited, and when; on which set, and by how many calls.
  SplitMix64 moments_, calls_;

  std::optional<Answers> answers_;
  ProcessSettings settings_ = ProcessSettings::now();
  bool busy_before_ = false, measured_before_ = false;
  /// Faults that another implementation may have caused; check() audits all implementations for them.
  std::string changed_operands_, changed_settings_;

  std::vector<std::size_t> timed_;
  std::int64_t iterations_ = 1;
  Nanoseconds took_{}, longest_{};
  /// The implementation that was audited after the last cycle.
  std::optional<std::size_t> audited_last_;
  std::optional<Drop> found_;
};

inline IntegrityChecker::IntegrityChecker(timing::Clock& clock, const Prepared& prepared)
    : clock_(clock),
      prepared_(prepared),
      operands_(*prepared.operands),
      options_(prepared.options),
      baseline_(prepared.participants.baseline()),
      moments_(prepared.options.seed),
      calls_(prepared.options.seed) {}

// The first calls.

inline void IntegrityChecker::start() {
  settings_ = ProcessSettings::now();
  busy_before_ = background_work_goes_on();
}

inline void IntegrityChecker::finish() {
  repair(0);
  settings_.restore();
}

inline void IntegrityChecker::repair(std::size_t set) { repair(operands_.sets[set], operands_.tensors[set]); }

inline void IntegrityChecker::repair(std::unique_ptr<OperandSet>& operands, std::vector<at::Tensor>& tensors) {
  try {
    operands_.restore_all(tensors);
  } catch (...) {  // of another shape, or without memory
    operands = prepared_.given->clone();
    tensors = operands->tensors();
  }
}

inline void IntegrityChecker::learn(Implementation& baseline, const Expected& expected,
                                    const check::CheckOptions& check, const AddReference& add_reference) {
  FreshAnswers fresh;
  if (check.fresh_values && check.method != check::CheckOptions::Method::none)
    fresh = find_fresh_answers(baseline, operands_, *prepared_.given, expected, check, seed_of(true), add_reference);
  answers_.emplace(operands_, expected, std::move(fresh), check);
  answers_->imitate(call(baseline, nullptr));
  repair(0);
}

inline Examination IntegrityChecker::examine(Implementation& implementation) {
  Examination found{.problem = take_disturbance()};
  if (!found.problem.empty()) return found;
  const ObservedCall fresh = call(implementation, answers_->fresh_values());
  if (answers_->checks()) found.problem = answers_->judge(fresh, answers_->renews());
  if (!found.problem.empty()) return found;
  const ObservedCall given = call(implementation, nullptr);
  if (answers_->checks())
    if (const auto problem = answers_->judge(given, false); !problem.empty())
      found.problem = "correct at first, but not later: " + problem;
  if (!found.problem.empty()) return found;
  count(implementation, fresh, given, found);
  if (found.problem.empty()) found.problem = take_disturbance();
  return found;
}

/// Counts of one call, if they are the same whenever the operands are.
inline void IntegrityChecker::count(Implementation& implementation, const ObservedCall& fresh,
                                    const ObservedCall& given, Examination& found) {
  const auto text_of = [](const CallCounts& counts) {
    return std::to_string(counts.operator_calls) + " operator calls and " + std::to_string(counts.bytes_allocated) +
           " bytes allocated";
  };
  found.counts = given.counts;
  if (fresh.counts == given.counts) return;
  const ObservedCall again = call(implementation, nullptr);
  if (again.counts != given.counts) {
    found.counts.reset();
    found.why_uncounted =
        "its calls differ on the same operands (" + text_of(given.counts) + ", then " + text_of(again.counts) + ')';
  }
  if (!answers_->renews()) return;
  // More on fresh values, every time, and less as soon as they are known: part of the answer is kept.
  const auto values = answers_->fresh.operands->clone();
  const auto tensors = values->tensors();
  CallCounts first, second;
  for (int trial = 0; trial < 3; ++trial) {
    halve(tensors);
    first = call(implementation, &tensors).counts;
    second = call(implementation, &tensors).counts;
    const bool more = first.operator_calls > second.operator_calls || first.bytes_allocated > second.bytes_allocated;
    if (!more) return;
  }
  found.problem = "it does less on values that it has seen before (" + text_of(first) + " on fresh values, " +
                  text_of(second) + " on the same ones again): it keeps answers";
}

// The rounds.

inline void IntegrityChecker::begin_pass() {
  settings_.restore();
  // Threads that go on since the first calls are for the first pass to find.
  if (std::exchange(measured_before_, true)) busy_before_ = background_work_goes_on();
  changed_operands_.clear();
  changed_settings_.clear();
  operands_.renewed.clear();
  for (std::size_t set = 0; set < operands_.sets.size(); ++set) {
    repair(set);
    if (operands_.spares.empty()) continue;
    for (std::size_t spare = 0; spare < operands_.spares[set].size(); ++spare)
      repair(operands_.spares[set][spare], operands_.spare_tensors[set][spare]);
  }
}

inline void IntegrityChecker::begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) {
  timed_ = timed;
  iterations_ = iterations;
  took_ = {};
  audited_last_.reset();
  found_.reset();
}

inline void IntegrityChecker::cycle_ended(const timing::Rounds& so_far) {
  audited_last_.reset();
  if (!answers_->checks() || timed_.size() < 2) return;
  const Nanoseconds cycle = timing::time_of_cycle(so_far, timed_.size());
  if (took_ + std::max(cycle, longest_) > audit_share * so_far.elapsed || moments_.below(4) != 0) return;
  const std::size_t index = timed_[moments_.below(timed_.size())];
  if (index == baseline_) return;
  const Nanoseconds start = clock_.now();
  if (auto problem = audit(*prepared_.implementations[index]); !problem.empty())
    found_ = Drop{index, Outcome::wrong, std::move(problem)};
  audited_last_ = index;
  const Nanoseconds took = clock_.now() - start;
  took_ += took;
  longest_ = std::max(longest_, took);
}

inline void IntegrityChecker::look_at_operands() {
  for (std::size_t set = 0; set < operands_.sets.size(); ++set) {
    notice_changed_operands(set);
    repair(set);
  }
}

inline void IntegrityChecker::notice_changed_operands(std::size_t set) {
  if (!changed_operands_.empty()) return;
  const auto changed = changed_operand(operands_, operands_.values(), set);
  if (!changed.empty()) changed_operands_ = in_timed_call(changed);
}

// After the rounds.

inline IntegrityFindings IntegrityChecker::check() {
  IntegrityFindings findings;
  findings.max_abs_errors.resize(prepared_.implementations.size());
  if (found_) {
    findings.dropped.push_back(*std::exchange(found_, std::nullopt));
    findings.measure_again = true;
    return findings;
  }
  look_at_operands();
  if (!answers_->checks()) return findings;
  // On operands that one implementation has changed, all are wrong.
  if (changed_operands_.empty()) verify_last_outputs(findings);
  inspect(findings);
  return findings;
}

/// Checks the output of the last timed call of each implementation. The output is unknown if the call writes to operands
/// or draws random numbers, since the last sample then applied it many times over, and if rounds have values of their
/// own. One more timed call from the first state then stands in for it.
inline void IntegrityChecker::verify_last_outputs(IntegrityFindings& findings) {
  for (const std::size_t index : timed_) {
    auto& implementation = *prepared_.implementations[index];
    std::optional<std::size_t> set;
    // After an audit in the last cycle there is no such output any more.
    if (calls_add_up() || prepared_.renew || audited_last_ == index) {
      set = 0;
      operands_.restore_all(*set);
      reset_random_state(options_.seed);
      // A clock may make calls of its own, which draw random numbers.
      if (answers_->given.random) {
        implementation.prepare(*set);
        implementation.run(*set, 1);
      } else {
        (void)timing::take_sample(clock_, implementation, *set, 1);
      }
    }
    const c10::IValue output = implementation.take_output();
    const Agreement agreement = agree(answers_->given, output, operands_, set, answers_->options);
    findings.max_abs_errors[index] = agreement.max_abs_error;
    if (agreement.correct) continue;
    findings.dropped.push_back(
        {index, Outcome::wrong, "correct at first, but not in the last timed call: " + agreement.message});
    if (index == baseline_) return;
  }
}

/// Audits all that remain, and finds the implementation that caused a change which affects all.
inline void IntegrityChecker::inspect(IntegrityFindings& findings) {
  std::string noticed = take_disturbance();
  const std::string changed = std::exchange(changed_operands_, {});
  if (noticed.empty()) noticed = changed;
  const auto dropped = [&](std::size_t index) {
    return std::any_of(findings.dropped.begin(), findings.dropped.end(),
                       [&](const Drop& each) { return each.index == index; });
  };
  std::vector<std::size_t> remaining;
  if (!dropped(baseline_))
    for (const std::size_t index : timed_)
      if (!dropped(index)) remaining.push_back(index);
  const std::size_t dropped_before = findings.dropped.size();
  for (const std::size_t index : remaining) {
    // The baseline is not suspected of anything unless something happened.
    if (index == baseline_ && changed.empty()) continue;
    if (dropped(baseline_)) break;
    auto& implementation = *prepared_.implementations[index];
    auto problem = audit(implementation);
    if (problem.empty() && clock_.modes() != nullptr) problem = audit_replay(implementation);
    if (problem.empty() && index != baseline_)
      problem = ask_for_novelty(implementation, 0.5 * audit_share * options_.budget);
    if (!problem.empty()) findings.dropped.push_back({index, Outcome::wrong, std::move(problem)});
  }
  if (noticed.empty()) return;
  if (findings.dropped.size() == dropped_before)  // none did it again
    for (const std::size_t index : remaining)
      if (index != baseline_)
        findings.dropped.push_back(
            {index, Outcome::wrong, (remaining.size() == 2 ? "" : "it or another candidate: ") + noticed});
  // Candidates without a baseline have no figures, and a baseline alone has nothing to be compared with.
  findings.measure_again = !dropped(baseline_) && remaining.size() > findings.dropped.size() - dropped_before + 1;
}

// The checks.

/// One or more calls as they are timed, on the values given, and as many after these were overwritten by fresh ones:
/// the last one's output must be that of the fresh ones.
inline std::string IntegrityChecker::audit(Implementation& implementation) {
  const std::size_t set = calls_.below(operands_.sets.size());
  const bool renewed = answers_->renews();
  const auto run_some = [&] {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, iterations_ / 2));
    implementation.run(set, calls_add_up() ? 1 : 1 + static_cast<std::int64_t>(calls_.below(most)));
  };
  // What was done before is noted, but need not be this one's doing.
  if (changed_settings_.empty()) changed_settings_ = settings_changed();
  notice_changed_operands(set);
  repair(set);
  implementation.prepare(set);
  run_some();
  if (auto problem = changed_operand(operands_, operands_.pristine, set); !problem.empty())
    return in_timed_call(problem);
  implementation.prepare(set);
  try {
    write_values(operands_, answers_->fresh_values(), set);
  } catch (const Error& error) {
    repair(set);
    return in_timed_call(std::string("it changes what an operand is: ") + error.what());
  }
  reset_random_state(seed_of(renewed));
  run_some();
  ObservedCall last;
  {
    const CallCounter converting;
    last.output = implementation.take_output();
    last.late = converting.counts();
  }
  last.at_return = check::clone_ivalue(last.output);
  auto problem = answers_->judge(last, renewed, set);
  repair(set);
  if (problem.empty()) problem = settings_changed();
  return problem.empty() ? problem : in_timed_call(problem);
}

/// For a clock that replays what it captured: takes a sample on set 0, whose output must be that of the fresh values,
/// which lie in the memory that was captured. Calls that write to operands or draw random numbers are not checked,
/// since a sample repeats them.
inline std::string IntegrityChecker::audit_replay(Implementation& implementation) {
  if (!answers_->renews() || calls_add_up()) return {};
  write_values(operands_, answers_->fresh_values(), 0);
  (void)timing::take_sample(clock_, implementation, 0, iterations_);
  ObservedCall last;
  last.output = implementation.take_output();
  last.at_return = check::clone_ivalue(last.output);
  const auto problem = answers_->judge(last, true);
  repair(0);
  return problem.empty() ? problem : in_timed_call(problem);
}

/// Whether its calls take longer on values that it has not seen before: single calls, at most `time` long together.
inline std::string IntegrityChecker::ask_for_novelty(Implementation& implementation, Nanoseconds time) {
  if (!answers_->renews()) return {};
  const auto values = answers_->fresh.operands->clone();
  const auto tensors = values->tensors();
  const auto timed_call = [&] {
    implementation.prepare(0);
    write_values(operands_, &tensors, 0);
    return clock_.time([&] { implementation.run(0, 1); });
  };
  const Nanoseconds start = clock_.now();
  (void)timed_call();
  const std::size_t pairs = affordable_pairs(time, clock_.now() - start);
  auto problem = pairs == 0 ? std::string() : find_novelty_effect(clock_, pairs, timed_call, [&] { halve(tensors); });
  repair(0);
  return problem;
}

/// Returns what was changed for all implementations since start(), by settings or by threads that go on working, and
/// forgets it: settings are restored, and the next call does not return them again.
inline std::string IntegrityChecker::take_disturbance() {
  if (auto problem = settings_changed(); !problem.empty()) return problem;
  if (!changed_settings_.empty()) return std::exchange(changed_settings_, {});
  if (!busy_before_ && background_work_goes_on())
    return "threads go on computing after its calls have returned, which slows whatever is timed beside it";
  return {};
}

inline std::string IntegrityChecker::settings_changed() {
  const std::string changes = settings_.changes_to(ProcessSettings::now());
  if (changes.empty()) return {};
  settings_.restore();
  return "it changes what all implementations share, and leaves it so: " + changes;
}

}  // namespace pace::detail
