// IntegrityChecker: finds, outside of the timed code, implementations that are correct or fast only in the expected
// sequence of calls. Each check is in a file of its own in this folder.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/audit/audit_schedule.hpp"
#include "pace/audit/called_operators.hpp"
#include "pace/audit/new_tensors.hpp"
#include "pace/audit/new_value_norm.hpp"
#include "pace/audit/new_value_samples.hpp"
#include "pace/audit/new_value_speed.hpp"
#include "pace/audit/novelty.hpp"
#include "pace/audit/persistence.hpp"
#include "pace/audit/process_settings.hpp"
#include "pace/audit/repeated_numbers.hpp"
#include "pace/audit/reused_outputs.hpp"
#include "pace/audit/time_pairs.hpp"
#include "pace/audit/timed_outputs.hpp"
#include "pace/base/format.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/base/random.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/outputs.hpp"
#include "pace/check/restore.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/gate/known_values.hpp"
#include "pace/measure/auditor.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/stats/summary.hpp"
#include "pace/subject/background.hpp"
#include "pace/subject/call_counter.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/values/fresh_values.hpp"
#include "pace/verify/answers.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/rounding.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// Result of the additional calls of one implementation beside its first calls.
struct Examination {
  /// What is wrong, in words; empty if nothing is.
  std::string problem = {};
  /// What one call counts; none unless two calls on the same operands counted the same.
  std::optional<CallCounts> counts = {};
  std::string why_uncounted = {};
  /// That it keeps what it derives from operands, which a reader of its time must know; empty if it does not.
  std::string note = {};
  /// Whether an output repeats elements in memory.
  bool repeats_outputs = false;
};

/// A question that one implementation was not asked.
struct Unasked {
  std::size_t index = 0;
  /// The question, and why it was left out, as the end of a sentence.
  std::string what = {};
  /// What makes it possible to ask, as a sentence without its end.
  std::string advice = {};

  /// Returns all of it, as sentences without the last end.
  [[nodiscard]] std::string describe() const { return "it was not asked " + what + ". " + advice; }
};

/// Returns the question that is reported of the implementation `index`, which is the first one that it was not asked;
/// null if it was asked all.
[[nodiscard]] inline const Unasked* first_unasked(std::span<const Unasked> all, std::size_t index) {
  const auto found = std::ranges::find(all, index, &Unasked::index);
  return found == all.end() ? nullptr : &*found;
}

/// What the rounds have shown.
struct RoundFigures {
  /// Median speed-ups by implementation of the comparison; 0: unknown.
  std::vector<double> speedups = {};
  /// Those of the phases of a step, by implementation; empty without phases.
  std::vector<std::vector<double>> of_phases = {};
  /// Median time of a call of the baseline, and of its phases; 0: unknown.
  Nanoseconds baseline{};
  std::vector<Nanoseconds> baseline_phases = {};
};

/// Result of the audits in the rounds and of the checks after them.
struct IntegrityFindings {
  std::vector<Drop> dropped = {};
  /// For each implementation of the comparison: of the outputs of its last timed calls.
  std::vector<double> max_abs_errors = {};
  /// What readers of the times must know.
  std::vector<std::string> notes = {};
  /// Indices of the implementations that keep what they derive from an operand.
  std::vector<std::size_t> keeps = {};
  std::vector<Unasked> unasked = {};
  /// The speed-ups on new values of the candidates that have one.
  std::vector<NewValueSpeed> on_new_values = {};
  /// One that was dropped spoilt the samples of the others.
  bool measure_again = false;

  /// Enters the fault that ended the rounds. Returns whether there is one.
  bool take(std::optional<Drop> fault) {
    if (!fault) return false;
    dropped.push_back(*std::move(fault));
    return measure_again = true;
  }
};

/// Integrity checks of one comparison. It takes the correct outputs from the baseline, examines each implementation
/// beside its first calls, audits candidates between cycles as an observer of the rounds, and checks all
/// implementations after the rounds. Faults are returned as text, which is empty if there is none.
class IntegrityChecker final : public Auditor {
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

  /// Before any candidate is called, and after learn(): how much longer calls of the baseline take on new values than
  /// where they are repeated, which is its norm after the rounds. `options`: those that limit its samples.
  void learn_norm_on_new_values(const Options& options);
  /// Sets how a process in which no candidate was called is asked for the baseline's time on new values.
  void ask_untouched_by(NewValueNorm::AskUntouched ask) { norm_.ask_untouched_by(std::move(ask)); }
  /// In such a process, after learn(): the time of a call of the baseline on new values.
  [[nodiscard]] Nanoseconds time_baseline_on_new_values(const NewValueQuestion& question);

  /// After the first calls of an implementation were found correct: calls it on fresh values and on the given ones, and
  /// counts what it does.
  [[nodiscard]] Examination examine(Implementation& implementation);

  /// Sets how each candidate is asked once more after the rounds for what it was asked beside its first calls. It
  /// returns what is wrong, as text; empty if nothing is.
  void ask_again_by(std::function<std::string(Implementation&)> question) { ask_again_ = std::move(question); }

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
  /// `audit_share` of the time.
  void cycle_ended(const timing::Rounds& so_far) override;
  [[nodiscard]] Nanoseconds took() const override { return schedule_.took() + timed_outputs_.took(); }
  /// Returns whether an audit or the output of a timed call shows a fault, so that the rounds end.
  [[nodiscard]] bool found() const override { return schedule_.found(); }
  /// Audits one candidate, whatever share of the time that takes. Returns what is wrong, as text; empty if nothing is.
  [[nodiscard]] std::string audit_one(std::size_t index);
  /// The rounds are timed in another process: they lasted for `elapsed`, and `shortest` has for each implementation of
  /// begin_rounds() the shortest time of a call in a sample.
  void take_times(Nanoseconds elapsed, std::vector<Nanoseconds> shortest) {
    schedule_.take_times(elapsed, std::move(shortest));
  }
  /// Whether outputs are random numbers of which the distribution alone is compared, so that each round has a seed of
  /// its own.
  [[nodiscard]] bool draws_anew() const {
    return answers_->given.random && answers_->options.method == check::CheckOptions::Method::random;
  }
  /// How often random numbers of timed calls of the implementation `index` were those of earlier ones, for each output
  /// tensor.
  [[nodiscard]] std::vector<Repetitions> repetitions_of(std::size_t index) const {
    const auto& timed = schedule_.timed();
    return repeated_numbers_.of(static_cast<std::size_t>(std::ranges::find(timed, index) - timed.begin()));
  }
  /// Looks for operands that the baseline leaves alone and that do not hold the values of this round, or else their
  /// first ones, in all sets, and gives them their first values.
  void look_at_operands();

  /// After the rounds of begin_rounds(): whether each was right in them, and is right and as fast where it does not
  /// expect to be looked at. `figures` are those of these rounds.
  [[nodiscard]] IntegrityFindings check(RoundFigures figures);

  /// Share of the budget for a question after the rounds, which has a further limit: see most_time_of_question().
  static constexpr double audit_share = AuditSchedule::share;
  /// Largest share of the budget, or of longer rounds, for one where few calls take as long.
  static constexpr double most_share = 0.25;
  /// What is kept of operands may make calls so many times as fast without being declared.
  static constexpr double most_undeclared_effect = 10;

 private:
  // Sizes of the samples on new values.
  /// The calls in a row that are asked of the baseline at first, and beside those of two audits before a candidate is
  /// blamed.
  static constexpr std::int64_t calls_to_learn_reuse = 8, calls_to_blame = 32;
  static constexpr double fewest_trials = 6, samples_of_trial = 7, attempts_for_novelty = 2,
                          most_calls_on_new_values = 16, most_bytes_on_new_values = 1 << 20;

  // The questions.
  [[nodiscard]] std::string audit(Implementation& implementation);
  [[nodiscard]] std::string audit_replay(Implementation& implementation);
  [[nodiscard]] std::string judge_timed_output(const c10::IValue& output);
  [[nodiscard]] std::string ask_after_rounds(Implementation& implementation);
  [[nodiscard]] std::string ask_for_more(std::size_t index, Outcome& outcome);
  /// What has thrown in the questions after the rounds.
  struct Thrown {
    std::string message = {};
    bool by_baseline = false, by_candidate = false, out_of_memory = false;

    /// The baseline does not take the values either, or memory ran out in none of the candidate's calls: otherwise the
    /// candidate is to blame.
    [[nodiscard]] bool blames_candidate() const { return !by_baseline && (by_candidate || !out_of_memory); }
  };
  [[nodiscard]] Thrown take_exception(std::size_t index);
  [[nodiscard]] std::string out_of_time(std::size_t index);
  [[nodiscard]] std::string ask_for_novelty(Implementation& implementation);
  /// How many calls a sample on new values has, where one call of each side takes `usual` together.
  [[nodiscard]] double calls_on_new_values(Nanoseconds usual) const {
    const double affordable =
        audit_share * options_.budget / (samples_of_trial * attempts_for_novelty * fewest_trials * usual);
    const double fitting = most_bytes_on_new_values / std::max(1.0, bytes_of(operands_.pristine));
    return std::max(1.0, std::min({affordable, fitting, most_calls_on_new_values}));
  }
  void draw_new_values(NewValueSamples& samples, std::span<const std::size_t> keeping);
  [[nodiscard]] std::string judge_new_sample(Implementation& implementation, NewValueSamples& samples);
  /// The state of the pairs of samples on new values of one implementation.
  struct NewValuePairs {
    /// What pairs have taken of the time `most`, from `start` on, and what those that were wanted last would take.
    struct Taken {
      Nanoseconds start{}, most{}, of_drawing{}, wanted{};
      std::size_t pairs = 0;
    };
    Implementation& implementation;
    NewValueSamples& samples;
    Taken all = {};
    /// What is wrong with outputs, and why no values could be drawn.
    std::string wrong = {}, not_drawn = {};
    /// The clock was set back in a sample; no time was left for pairs beside the untouched process.
    bool untimed = false, cut_short = false;
  };
  [[nodiscard]] std::string describe_slow_calls(Implementation& implementation, NewValueSamples& samples, CallTimes own,
                                                CallTimes of_baseline);
  [[nodiscard]] std::string ask_after_pauses(Implementation& implementation);
  [[nodiscard]] std::string ask_on_new_tensors(Implementation& implementation);
  [[nodiscard]] std::string time_on_new_values(Implementation& implementation, NewValueSamples& samples,
                                               std::span<const std::size_t> kept);
  [[nodiscard]] std::optional<NewValueSpeed> measure_on_new_values(NewValuePairs& pairs,
                                                                   std::span<const std::size_t> keeping);
  [[nodiscard]] HeldSpeed take_pairs_held(NewValuePairs& pairs, std::span<const std::size_t> keeping,
                                          NewValuePairs::Taken& taken, FunctionRef<Nanoseconds()> longest);
  [[nodiscard]] PhasesInRounds phases_in_rounds(std::size_t index) const;
  [[nodiscard]] std::optional<PairOnNewValues> take_pair(NewValuePairs& pairs, std::span<const std::size_t> keeping,
                                                         NewValuePairs::Taken& taken);
  void leave_new_values_unasked(const NewValuePairs& pairs, bool has_figure);
  /// Whether time_on_new_values() asks for the speed-up of the implementation, and whether it has found that.
  [[nodiscard]] bool measures_speed_on_new_values(Implementation& implementation) const {
    if (!(in_rounds_.speedups.at(implementation.index) > 0)) return false;
    if (clock_.modes() == nullptr) return true;
    const ClockChoice clock = clock_.modes()->selected();
    // The wait for the device is a part of the time by its wall clock, and of few calls a larger one.
    if (clock == ClockChoice::wall) return false;
    // Other clocks of a device make an untimed step before those of a sample, which would see the values first.
    return implementation.phases() == nullptr || clock == ClockChoice::graph || clock == ClockChoice::cold;
  }
  [[nodiscard]] bool has_speed_on_new_values(std::size_t index) const {
    const auto found = std::ranges::find(on_new_values_, index, &NewValueSpeed::index);
    return found != on_new_values_.end() && found->speedup.interval.has_value();
  }
  [[nodiscard]] std::string take_disturbance();
  void verify_last_outputs(IntegrityFindings& findings);
  void find_repeated_numbers(IntegrityFindings& findings) const;
  void inspect(IntegrityFindings& findings);

  [[nodiscard]] ObservedCall call(Implementation& implementation, const std::vector<at::Tensor>* values) {
    const OnOtherValues other = values != nullptr ? on_fresh_values() : OnOtherValues();
    return observe_call(implementation, operands_, values, seed_of(values != nullptr), answers_->given.output);
  }
  [[nodiscard]] bool is_strict() const { return options_.audit == Audit::strict; }
  [[nodiscard]] Implementation& baseline() { return *prepared_.implementations[baseline_]; }
  /// To be kept while calls are made on fresh values.
  [[nodiscard]] OnOtherValues on_fresh_values() const {
    return answers_->renews() ? answers_->fresh().in_use() : OnOtherValues();
  }
  /// Draws values that no call has seen before.
  void draw_fresh_values() {
    if (!answers_->renews()) return;
    // What was done to the operands before is noted, since the values of the draw take its place.
    notice_changed_operands(0);
    answers_->draw(baseline(), *source_);
    repair(0);
    if (!answers_->renews())
      notes_.push_back(
          "No more calls were made on other values: the baseline took none of those that were drawn last.");
  }
  [[nodiscard]] std::string judge_fresh(const ObservedCall& made, std::size_t set);
  [[nodiscard]] bool rounding_explains(const c10::IValue& output, const Expected& expected,
                                       const std::vector<at::Tensor>& values, bool renewed);
  [[nodiscard]] std::vector<std::size_t> find_kept_operands(
      FunctionRef<bool(std::span<const std::size_t>)> effect_with);
  [[nodiscard]] bool answer_changes_beside(std::span<const std::size_t> kept);
  [[nodiscard]] std::string note_on_kept_operands(const Implementation& implementation,
                                                  const std::vector<std::size_t>& kept) const {
    return '\'' + prepared_.result.implementations[implementation.index].name +
           "' keeps what it derives from operand tensor " + listed(kept) +
           " (counted from 0): its time is that of calls between which " +
           (kept.size() == 1 ? "that one does" : "these do") + " not change.";
  }
  /// What one question to one implementation may take after the rounds, whatever time is left, if it takes longer than
  /// audit_share of the budget. After short rounds it may take as long as after those of the default budget.
  [[nodiscard]] Nanoseconds time_by_budget() const {
    return most_share * std::max<Nanoseconds>(Options().budget, longest_of_rounds());
  }
  /// The same within the time that is left.
  [[nodiscard]] Nanoseconds most_time_of_question() const {
    return std::min<Nanoseconds>(time_by_budget(), time_left(clock_));
  }
  /// What the shortest form of a question may take, whatever time is left, where calls are too long for any other: as
  /// long as the rounds, of which an interval takes more than this form has calls.
  [[nodiscard]] Nanoseconds short_time_by_budget() const {
    return std::max<Nanoseconds>(time_by_budget(), longest_of_rounds());
  }
  /// The same within the time that is left.
  [[nodiscard]] Nanoseconds most_time_of_short_question() const {
    return std::min<Nanoseconds>(short_time_by_budget(), time_left(clock_));
  }
  [[nodiscard]] Nanoseconds longest_of_rounds() const {
    return std::max<Nanoseconds>(options_.budget, schedule_.elapsed());
  }
  /// Notes a question that an implementation was not asked.
  void leave_unasked(Unasked question) {
    notes_.push_back('\'' + prepared_.result.implementations[question.index].name + "' was not asked " + question.what +
                     '.');
    unasked_.push_back(std::move(question));
  }
  [[nodiscard]] static std::string more_time() { return "Give the program more time: " + deadline_reason(); }
  /// Notes that the shortest form of a question, which takes `needed`, takes longer than it may.
  void leave_too_long(std::size_t index, const std::string& question, Nanoseconds needed) {
    if (needed > short_time_by_budget())
      leave_unasked({index, question + ", since that would take too long", "Measure longer (--budget)"});
    else
      leave_unasked({index, question + ", since too little time was left for that", more_time()});
  }
  /// The shortest time of a call in a sample of the rounds.
  [[nodiscard]] Nanoseconds shortest_of(std::size_t index) const { return schedule_.shortest_of(index); }
  void repair(std::unique_ptr<OperandSet>& operands, std::vector<at::Tensor>& tensors);
  /// Whether outputs must stay as they are in later calls. A step of a training has gradients, which the next one adds
  /// to or clears.
  [[nodiscard]] bool checks_reuse(Implementation& implementation) const {
    return options_.audit != Audit::off && answers_->checks() && !prepared_.reuses_outputs(implementation.index) &&
           implementation.phases() == nullptr;
  }
  [[nodiscard]] std::string describe_reuse(const ObservedCall& made, std::size_t set);
  [[nodiscard]] std::set<std::size_t> find_reuse_by_baseline(const ObservedCall& made, std::int64_t most_calls);
  void count(Implementation& implementation, const ObservedCall& fresh, const ObservedCall& given, Examination& found);
  [[nodiscard]] std::string settings_changed();
  void notice_changed_operands(std::size_t set);
  [[nodiscard]] std::uint64_t seed_of(bool renewed) const {
    return renewed && answers_->renews() ? answers_->fresh().seed : options_.seed;
  }
  [[nodiscard]] static std::string keeps_hint() {
    return "If it derives something from an operand that stays the same between calls where the code is used, such as "
           "packed weights, declare that operand, counted from 0: .keeps(operand) (//benches/files: --keeps "
           "OPERAND)";
  }
  /// Whether the baseline takes no other values, which are not excluded, where random numbers are compared by their
  /// distribution alone, so that no output shows for which values they were drawn.
  [[nodiscard]] bool lacks_fresh_values() const {
    return answers_->options.method == check::CheckOptions::Method::random && !answers_->renews() &&
           answers_->options.fresh_values != check::CheckOptions::FreshValues::none && bytes_of(operands_.pristine) > 0;
  }
  /// Whether it was found to keep what it derives from an operand.
  [[nodiscard]] bool keeps_something(std::size_t index) const {
    return prepared_.result.implementations[index].context.keeps || std::ranges::find(keeps_, index) != keeps_.end();
  }
  /// Whether one call more changes what the next one returns: it writes to operands or draws random numbers.
  [[nodiscard]] bool calls_add_up() const { return !operands_.mutated.empty() || answers_->given.random; }
  [[nodiscard]] static std::string in_timed_call(const std::string& problem) {
    return "correct at first, but not in a timed call: " + problem;
  }
  [[nodiscard]] static std::string leaves_changed(const std::string& what) {
    return "it changes what all implementations share, and leaves it so: " + what;
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  OperandSets& operands_;
  const Options& options_;
  std::size_t baseline_;
  /// How candidates are audited: on which set, and by how many calls.
  SplitMix64 random_;
  AuditSchedule schedule_;

  std::optional<FreshValues> source_;
  std::optional<Answers> answers_;
  ProcessSettings settings_ = ProcessSettings::now();
  OperatorKernels kernels_of_baseline_;
  bool busy_before_ = false, measured_before_ = false;
  /// Indices of the output tensors of the baseline that its later calls overwrite.
  std::set<std::size_t> reused_by_baseline_;
  /// Faults that another implementation may have caused; check() audits all implementations for them.
  std::string changed_operands_, changed_settings_;

  std::int64_t iterations_ = 1;
  TimedOutputs timed_outputs_;
  RepeatedNumbers repeated_numbers_;
  /// The implementation whose last output was taken after the last cycle.
  std::optional<std::size_t> audited_last_;
  /// For each implementation, the longest time of the calls in a row of an audit since the rounds began.
  std::vector<Nanoseconds> longest_audits_;
  std::vector<std::string> notes_;
  std::vector<std::size_t> keeps_;
  std::vector<Unasked> unasked_;
  /// Median speed-ups of the rounds, by implementation.
  RoundFigures in_rounds_;
  std::vector<NewValueSpeed> on_new_values_;
  NewValueNorm norm_;
  std::function<std::string(Implementation&)> ask_again_;
};

inline IntegrityChecker::IntegrityChecker(timing::Clock& clock, const Prepared& prepared)
    : clock_(clock),
      prepared_(prepared),
      operands_(*prepared.operands),
      options_(prepared.options),
      baseline_(prepared.participants.baseline()),
      random_(prepared.options.check_seed),
      schedule_(clock, random_(), prepared.options.audit),
      timed_outputs_(clock, random_()),
      longest_audits_(prepared.implementations.size()) {}

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
  source_.emplace(operands_.pristine, random_(),
                  KnownSizes(operands_.pristine, expected.output, prepared_.given->numbers()));
  const bool wanted =
      check.fresh_values != check::CheckOptions::FreshValues::none && check.method != check::CheckOptions::Method::none;
  constexpr double copies = 4;
  if (wanted && are_large(operands_.pristine) && !copies_fit(clock_, prepared_, copies))
    notes_.push_back("No call was made on other values than those given: " + format_significant(copies) +
                     " more copies of the operands would not fit into memory.");
  else if (wanted)
    fresh = find_fresh_answers(baseline, operands_, *prepared_.given, expected, check, *source_, add_reference);
  answers_.emplace(operands_, expected, std::move(fresh), check);
  CalledOperators called;
  answers_->imitate(call(baseline, nullptr));
  kernels_of_baseline_ = OperatorKernels(called.take());
  repair(0);
}

inline Examination IntegrityChecker::examine(Implementation& implementation) {
  const bool is_baseline = implementation.index == baseline_;
  Examination found{.problem = take_disturbance()};
  if (!found.problem.empty()) return found;
  // The values of the first examination are known to whatever the baseline shares with the others.
  if (!is_baseline) draw_fresh_values();
  const ObservedCall fresh = call(implementation, answers_->fresh_values());
  if (answers_->checks()) found.problem = answers_->renews() ? judge_fresh(fresh, 0) : answers_->judge(fresh, false);
  if (!found.problem.empty()) return found;
  const ObservedCall given = call(implementation, nullptr);
  for (const auto found_in_one : shortcuts_of_each(given.output, operands_.tensors[0]))
    found.repeats_outputs = found.repeats_outputs || (found_in_one & repeats) != 0;
  if (answers_->checks())
    if (const auto problem = answers_->judge(given, false); !problem.empty())
      found.problem = "correct at first, but not later: " + problem;
  if (!found.problem.empty()) return found;
  count(implementation, fresh, given, found);
  if (checks_reuse(implementation)) {
    if (is_baseline)
      reused_by_baseline_ = find_reuse_by_baseline(fresh, calls_to_learn_reuse);
    else if (found.problem.empty())
      found.problem = describe_reuse(fresh, 0);
  }
  if (found.problem.empty()) found.problem = take_disturbance();
  return found;
}

/// Makes up to so many calls of the baseline on the values given, after a call on others whose output was kept. Returns
/// the indices of its output tensors that later calls overwrite, or whose memory later outputs have, though it is kept.
/// Memory may be used again in turn, and a later output may have the bits of an earlier one.
inline std::set<std::size_t> IntegrityChecker::find_reuse_by_baseline(const ObservedCall& made,
                                                                      std::int64_t most_calls) {
  std::set<std::size_t> reused;
  const std::size_t outputs = check::tensors_of(made.output).size();
  const Nanoseconds start = clock_.now();
  write_values(operands_, nullptr, 0);
  // Long calls are made once.
  for (std::int64_t call = 0; call < most_calls && reused.size() < outputs; ++call) {
    if (call > 0 && clock_.now() - start > audit_share * options_.budget) break;
    if (call > 0 && !operands_.mutated.empty()) write_values(operands_, nullptr, 0);
    add_shared_outputs(made.output, call_in_a_row(baseline(), 1), operands_.tensors[0], reused);
  }
  reused.merge(overwritten_outputs(made, operands_.tensors[0]));
  return reused;
}

/// Returns what is wrong with the output of `made`, a call on set `set` whose output was kept while others were made;
/// empty if nothing is, or if the baseline does the same in as many calls.
inline std::string IntegrityChecker::describe_reuse(const ObservedCall& made, std::size_t set) {
  const auto overwritten = overwritten_outputs(made, operands_.tensors[set]);
  if (describe_overwritten(reused_by_baseline_, overwritten).empty()) return {};
  const ObservedCall of_baseline = call(baseline(), answers_->fresh_values());
  reused_by_baseline_.merge(find_reuse_by_baseline(of_baseline, 2 * iterations_ + calls_to_blame));
  repair(0);
  return describe_overwritten(reused_by_baseline_, overwritten);
}

/// Counts of one call, if they are the same whenever the operands are.
inline void IntegrityChecker::count(Implementation& implementation, const ObservedCall& fresh,
                                    const ObservedCall& given, Examination& found) {
  const auto text_of = [](const CallCounts& counts) {
    return std::to_string(counts.operator_calls) + " operator calls and " + std::to_string(counts.bytes_allocated) +
           " bytes allocated";
  };
  found.counts = given.counts;
  if (fresh.counts != given.counts) {
    const ObservedCall again = call(implementation, nullptr);
    if (again.counts != given.counts) {
      found.counts.reset();
      found.why_uncounted =
          "its calls differ on the same operands (" + text_of(given.counts) + ", then " + text_of(again.counts) + ')';
    }
  }
  if (found.counts && !calls_add_up()) {
    // Calls that come back to back can be told apart from single ones.
    const auto calls = 2 + static_cast<std::int64_t>(random_.below(3));
    write_values(operands_, nullptr, 0);
    const CallCounts all = count_in_a_row(implementation, calls);
    if (all != calls * given.counts) {
      found.counts.reset();
      found.why_uncounted = "a single call counts " + text_of(given.counts) + ", and " + std::to_string(calls) +
                            " calls in a row " + text_of(all);
    }
  }
  if (!answers_->renews() || !is_strict()) return;
  // More on fresh values, every time, and less as soon as they are known: part of the answer is kept.
  const auto values = answers_->fresh().operands->clone();
  const auto tensors = values->tensors();
  CallCounts first, second;
  const auto counts_of_call = [&](std::span<const std::size_t> kept) {
    write_values(tensors, operands_.tensors[0], kept);
    const OnOtherValues other = on_fresh_values();
    return observe_call(implementation, seed_of(true), answers_->given.output).counts;
  };
  // An honest implementation may take turns between algorithms: of up to four, one of the calls after takes the turn of
  // the call on new values. A random number of calls lies between the trials for those that take more.
  const auto does_less_with = [&](std::span<const std::size_t> kept) {
    constexpr int trials = 3, calls_after = 4;
    for (int trial = 0; trial < trials; ++trial) {
      for (std::size_t between = random_.below(5); between > 0; --between) (void)counts_of_call(kept);
      source_->draw(answers_->fresh().renewal, tensors, kept);
      first = counts_of_call(kept);
      for (int after = 0; after < calls_after; ++after) {
        second = counts_of_call(kept);
        if (first.operator_calls <= second.operator_calls && first.bytes_allocated <= second.bytes_allocated)
          return false;
      }
    }
    return true;
  };
  if (!does_less_with(operands_.keeps)) return;
  const std::string on_both =
      " (" + text_of(first) + " on fresh values, " + text_of(second) + " on the same ones again)";
  if (const auto kept = find_kept_operands(does_less_with); !kept.empty())
    found.note = note_on_kept_operands(implementation, kept);
  else
    found.problem = "it does less on values that it has seen before" + on_both + ": it keeps answers. " + keeps_hint();
}

/// An implementation may keep what it derives from some operands, such as packed weights, since its calls on other
/// values of the others have to compute. `effect_with(kept)` is whether an effect of new values shows if these operands
/// keep theirs. Returns the indices of a set of operands, beside the declared ones, without whose new values the effect
/// is gone, and as few of them as it takes; nothing if there is none. With one operand, or where the others do not
/// change the answer, keeping what is derived from them is keeping the answer.
inline std::vector<std::size_t> IntegrityChecker::find_kept_operands(
    FunctionRef<bool(std::span<const std::size_t>)> effect_with) {
  constexpr std::size_t most_tried = 8;
  std::vector<std::size_t> undeclared;
  for (const std::size_t each : source_->positions())
    if (std::ranges::find(operands_.keeps, each) == operands_.keeps.end()) undeclared.push_back(each);
  // What calls write to has other values after each of them.
  const auto may_stay = [&](std::vector<std::size_t> of) {
    std::erase_if(of, [&](std::size_t each) { return operands_.may_change(each); });
    return of;
  };
  const auto shows_with = [&](std::vector<std::size_t> kept) {
    kept.insert(kept.end(), operands_.keeps.begin(), operands_.keeps.end());
    return effect_with(kept);
  };
  const auto all_but = [](std::vector<std::size_t> of, std::size_t one) {
    std::erase(of, one);
    return of;
  };
  if (undeclared.size() < 2) return {};
  for (std::size_t tried = 0; tried < std::min(undeclared.size(), most_tried); ++tried) {
    auto kept = may_stay(all_but(undeclared, undeclared[tried]));
    if (kept.empty() || shows_with(kept)) continue;
    for (const std::size_t each : undeclared)
      if (kept.size() > 1 && kept.size() <= most_tried && !shows_with(all_but(kept, each))) kept = all_but(kept, each);
    // As of calls that only write to the other operands.
    if (!answer_changes_beside(kept)) return {};
    return kept;
  }
  return {};
}

/// Whether the baseline's answers on two draws of new values differ, though operand tensors of the indices `kept` have
/// the same values in both; true where the baseline cannot be asked.
inline bool IntegrityChecker::answer_changes_beside(std::span<const std::size_t> kept) {
  std::optional<FreshAnswers> first;
  for (const bool again : {false, true}) {
    const auto values = answers_->fresh().operands->clone();
    auto tensors = values->tensors();
    source_->draw(answers_->fresh().renewal, tensors, kept);
    auto asked = answers_->ask(baseline(), tensors, answers_->fresh().seed);
    repair(0);
    if (!asked) return true;
    if (!again) {
      first = std::move(asked);
      continue;
    }
    const auto options = without_reference(answers_->options);
    if (!check::outputs_match(first->expected.output, asked->expected.output, options).correct) return true;
    for (const std::size_t each : operands_.mutated)
      if (!check::outputs_match(first->expected.operands[each], asked->expected.operands[each], options).correct)
        return true;
  }
  return false;
}

// The rounds.

inline void IntegrityChecker::begin_pass() {
  settings_.restore();
  // Threads that go on since the first calls are for the first pass to find.
  if (std::exchange(measured_before_, true)) busy_before_ = background_work_goes_on();
  changed_operands_.clear();
  changed_settings_.clear();
  // Samples before the rounds are not looked at.
  schedule_.clear();
  operands_.renewed.clear();
  for (std::size_t set = 0; set < operands_.sets.size(); ++set) {
    repair(set);
    if (operands_.spares.empty()) continue;
    for (std::size_t spare = 0; spare < operands_.spares[set].size(); ++spare)
      repair(operands_.spares[set][spare], operands_.spare_tensors[set][spare]);
  }
}

inline void IntegrityChecker::begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) {
  schedule_.begin(timed);
  iterations_ = iterations;
  timed_outputs_.begin(timed.size());
  repeated_numbers_.begin(timed.size());
  audited_last_.reset();
  longest_audits_.assign(prepared_.implementations.size(), {});
}

inline void IntegrityChecker::round_started(std::size_t) {
  schedule_.round_started(operands_);
  if (clock_.modes() != nullptr) operands_.kept_call.reset();
  if (clock_.modes() != nullptr || !draws_anew()) operands_.round_seed.reset();
}

/// Where rounds have values of their own, or calls change what later ones return, the right output is not known; and
/// what is captured has the same output whenever it is replayed.
inline void IntegrityChecker::sample_ended(std::size_t place) {
  if (!is_strict() || schedule_.timed().empty() || !answers_->checks() || clock_.modes() != nullptr) return;
  const auto* const output = prepared_.implementations[schedule_.timed()[place]]->kept_output();
  if (output == nullptr) return;
  if (draws_anew())
    repeated_numbers_.look_at(place, *output);
  else if (!calls_add_up() && !prepared_.renew)
    timed_outputs_.look_at(place, *output, answers_->given.output);
}

inline void IntegrityChecker::judge_timed_outputs() {
  auto fault = timed_outputs_.judge([&](std::size_t, const c10::IValue& output) { return judge_timed_output(output); });
  if (fault) schedule_.enter(schedule_.timed()[fault->place], std::move(fault->problem));
}

inline void IntegrityChecker::cycle_ended(const timing::Rounds& so_far) {
  audited_last_.reset();
  judge_timed_outputs();
  schedule_.cycle_ended(so_far, operands_, [&](std::size_t index) { return audit_one(index); });
}

inline std::string IntegrityChecker::audit_one(std::size_t index) {
  operands_.kept_call.reset();
  operands_.round_seed.reset();
  if (!answers_->checks() || index == baseline_ || found()) return {};
  draw_fresh_values();
  audited_last_ = index;
  return audit(*prepared_.implementations[index]);
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

inline IntegrityFindings IntegrityChecker::check(RoundFigures figures) {
  in_rounds_ = std::move(figures);
  norm_.take_rounds(in_rounds_.baseline);
  IntegrityFindings findings;
  findings.max_abs_errors.resize(prepared_.implementations.size());
  if (findings.take(schedule_.take_fault())) return findings;
  operands_.kept_call.reset();
  operands_.round_seed.reset();
  look_at_operands();
  if (!answers_->checks()) return findings;
  // On operands that one implementation has changed, all are wrong.
  if (changed_operands_.empty()) verify_last_outputs(findings);
  find_repeated_numbers(findings);
  if (options_.audit != Audit::off || !changed_operands_.empty()) inspect(findings);
  findings.notes = std::exchange(notes_, {});
  findings.keeps = std::exchange(keeps_, {});
  findings.unasked = std::exchange(unasked_, {});
  findings.on_new_values = std::exchange(on_new_values_, {});
  return findings;
}

/// Checks the output of the last timed call of each implementation. The output is unknown if the call writes to
/// operands or draws random numbers, since the last sample then applied it many times over, and if rounds have values
/// of their own. One more timed call from the first state then stands in for it.
inline void IntegrityChecker::verify_last_outputs(IntegrityFindings& findings) {
  for (const std::size_t index : schedule_.timed()) {
    auto& implementation = *prepared_.implementations[index];
    std::optional<std::size_t> set;
    // After an audit in the last cycle there is no such output any more. Calls of the baseline, which is asked for its
    // answers then, leave its output alone.
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
    if (agreement.correct ||
        (!calls_add_up() && rounding_explains(output, answers_->given, operands_.pristine, /*renewed=*/false)))
      continue;
    findings.dropped.push_back(
        {index, Outcome::wrong, "correct at first, but not in the last timed call: " + agreement.message});
    if (index == baseline_) return;
  }
}

/// Finds candidates whose random numbers in timed calls repeat those of earlier ones, with the baseline's as the norm.
inline void IntegrityChecker::find_repeated_numbers(IntegrityFindings& findings) const {
  if (!draws_anew()) return;
  const auto norm = repetitions_of(baseline_);
  for (const std::size_t index : schedule_.timed()) {
    const bool dropped = std::ranges::any_of(findings.dropped, [&](const Drop& each) { return each.index == index; });
    if (index == baseline_ || dropped) continue;
    if (auto problem = describe_repetitions(norm, repetitions_of(index)); !problem.empty())
      findings.dropped.push_back({index, Outcome::wrong, std::move(problem)});
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
    for (const std::size_t index : schedule_.timed())
      if (!dropped(index)) remaining.push_back(index);
  const std::size_t dropped_before = findings.dropped.size();
  for (const std::size_t index : remaining) {
    // The baseline is not suspected of anything unless something happened.
    if (index == baseline_ && changed.empty()) continue;
    if (dropped(baseline_)) break;
    auto& implementation = *prepared_.implementations[index];
    draw_fresh_values();
    auto problem = audit(implementation);
    if (problem.empty() && clock_.modes() != nullptr) problem = audit_replay(implementation);
    auto outcome = Outcome::wrong;
    if (is_strict() && problem.empty() && index != baseline_) problem = ask_for_more(index, outcome);
    if (!problem.empty()) findings.dropped.push_back({index, outcome, std::move(problem)});
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

/// What is wrong with a candidate that audits found nothing wrong with; sets `outcome` if it is not Outcome::wrong.
inline std::string IntegrityChecker::ask_for_more(std::size_t index, Outcome& outcome) {
  auto& implementation = *prepared_.implementations[index];
  constexpr double copies = 12;
  if (are_large(operands_.pristine) && !copies_fit(clock_, prepared_, copies)) {
    leave_unasked({index,
                   "for more after the rounds, since " + format_significant(copies) +
                       " copies of its operands would not fit into memory",
                   "Give it more memory, or choose --audit standard"});
    return {};
  }
  // Memory may run out once by what others have left, and the baseline need not take what is drawn each time.
  constexpr int attempts = 3;
  for (int attempt = 1; attempt <= attempts; ++attempt) {
    if (time_left(clock_).count() <= 0) return out_of_time(index);
    try {
      if (auto problem = ask_after_rounds(implementation); !problem.empty()) return problem;
      if (auto problem = ask_after_pauses(implementation); !problem.empty()) return problem;
      // Before the calls on new values, of which the tensors may lie in the same places.
      const auto on_new_tensors = ask_on_new_tensors(implementation);
      if (time_left(clock_).count() <= 0 && on_new_tensors.empty()) return out_of_time(index);
      if (time_left(clock_).count() > 0)
        if (auto problem = ask_for_novelty(implementation); !problem.empty()) return problem;
      // What it keeps for an operand is made anew for another one.
      return keeps_something(index) ? std::string() : on_new_tensors;
    } catch (...) {
      const Thrown thrown = take_exception(index);
      if (attempt < attempts && (thrown.by_baseline || thrown.out_of_memory)) continue;
      if (thrown.blames_candidate()) {
        outcome = Outcome::threw;
        return "after the rounds: " + thrown.message;
      }
      leave_unasked({index,
                     "for everything after the rounds, since " +
                         std::string(thrown.by_baseline ? "the baseline threw: " : "") + thrown.message,
                     thrown.out_of_memory ? "Give it more memory"
                                          : "If the baseline takes few values, declare which ones it may be given "
                                            "(check::CheckOptions::fresh_values, .renew_each_round(function))"});
    }
  }
  return {};
}

/// What is said of a candidate that cannot be asked for more, since the deadline has passed: a note, or a fault if
/// calls of its own that no sample timed have taken the time.
inline std::string IntegrityChecker::out_of_time(std::size_t index) {
  constexpr Nanoseconds long_time = std::chrono::seconds(1);
  constexpr double times = 100;
  const Nanoseconds longest = longest_audits_[index], usual = static_cast<double>(iterations_) * shortest_of(index);
  if (usual.count() > 0 && longest > long_time && longest > times * usual)
    return "calls that no sample timed took " + format_time(longest) + ", and those of a sample about " +
           format_time(usual) +
           ", so that it could not be asked for more before the time limit: it is fast only while "
           "it is timed";
  leave_unasked({index, "for more after the rounds, since the time limit had passed", more_time()});
  return {};
}

// The checks.

/// One or more calls as they are timed, on the values given, and some after these were overwritten by fresh ones: the
/// last one's output must be that of the fresh ones. It must stay as it is while further calls are made on the values
/// given. Before these, nothing is kept that is not kept in the rounds, so that the calls that are judged look like
/// timed ones.
inline std::string IntegrityChecker::audit(Implementation& implementation) {
  const std::size_t set = random_.below(operands_.sets.size());
  const bool renewed = answers_->renews();
  const auto run_some = [&] {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, iterations_));
    const auto calls = calls_add_up() ? 1 : 1 + static_cast<std::int64_t>(random_.below(most));
    const Nanoseconds start = clock_.now();
    implementation.run(set, calls);
    auto& longest = longest_audits_[implementation.index];
    longest = std::max<Nanoseconds>(longest, clock_.now() - start);
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
  {
    const OnOtherValues other = on_fresh_values();
    run_some();
  }
  const auto last = ObservedCall::of(implementation.take_output());
  auto problem = renewed ? judge_fresh(last, set) : answers_->judge(last, false, set);
  repair(set);
  if (problem.empty() && checks_reuse(implementation)) {
    // Where a run is one call, several take the turns of several buffers.
    const int runs = calls_add_up() ? 4 : 1;
    for (int run = 0; run < runs; ++run) {
      implementation.prepare(set);
      run_some();
    }
    problem = describe_reuse(last, set);
    if (problem.empty()) problem = changed_operand(operands_, operands_.pristine, set);
    repair(set);
  }
  if (problem.empty()) problem = settings_changed();
  return problem.empty() ? problem : in_timed_call(problem);
}

/// For a clock that replays what it captured: takes a sample on set 0, whose output must be that of the fresh values,
/// which lie in the memory that was captured. Calls that write to operands or draw random numbers are not checked,
/// since a sample repeats them.
inline std::string IntegrityChecker::audit_replay(Implementation& implementation) {
  if (!answers_->renews() || calls_add_up()) return {};
  write_values(operands_, answers_->fresh_values(), 0);
  {
    const OnOtherValues other = on_fresh_values();
    (void)timing::take_sample(clock_, implementation, 0, iterations_);
  }
  const auto last = ObservedCall::of(implementation.take_output());
  const auto problem = answers_->judge(last, true);
  repair(0);
  return problem.empty() ? problem : in_timed_call(problem);
}

/// Judges a call on the fresh values. What rounding explains is no fault: at values at which the output depends on the
/// last digits of the operands, correct implementations differ.
inline std::string IntegrityChecker::judge_fresh(const ObservedCall& made, std::size_t set) {
  auto problem = answers_->judge(made, true, set);
  const auto& fresh = answers_->fresh();
  if (!problem.empty() && answers_->only_output_differs(made, set) &&
      rounding_explains(made.at_return, fresh.expected, fresh.values, /*renewed=*/true))
    problem.clear();
  return problem;
}

/// See rounding_explains() of rounding.hpp; `expected` is the baseline's on `values`. Tolerances are learned anew for
/// these values: those of the first fresh values hold for elements that were other numbers then, so that an error of
/// the baseline itself, as of a vectorised erf where gelu is nearly zero, was allowed at other places.
inline bool IntegrityChecker::rounding_explains(const c10::IValue& output, const Expected& expected,
                                                const std::vector<at::Tensor>& values, bool renewed) {
  const auto& options = answers_->options;
  if (!may_be_rounding(output, options)) return false;
  Expected here = expected;
  if (renewed && !expected.learned.empty()) {
    const auto set = prepared_.given->clone();
    const auto tensors = set->tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) check::restore_tensor(values[i], tensors[i]);
    const at::ScalarType number_dtype = options.number_dtype.value_or(check::detail::widest_floating_type(values));
    Sensitivity(baseline(), operands_, *set, seed_of(renewed), options.reduction_length, number_dtype).learn(here, {});
    if (here.learned.empty()) here.learned = expected.learned;
  }
  const bool explains = detail::rounding_explains(output, {values, here, seed_of(renewed)}, baseline(), operands_,
                                                  *prepared_.given, *source_, options);
  repair(0);
  return explains;
}

/// Whether the output that was kept of a timed call on the values given is right.
inline std::string IntegrityChecker::judge_timed_output(const c10::IValue& output) {
  const Agreement agreement = agree(answers_->given, output, operands_, std::nullopt, answers_->options);
  if (agreement.correct) return {};
  // On operands that one implementation has changed, all are wrong; check() finds which one.
  for (std::size_t set = 0; set < operands_.sets.size(); ++set) notice_changed_operands(set);
  if (!changed_operands_.empty() || rounding_explains(output, answers_->given, operands_.pristine, /*renewed=*/false))
    return {};
  return in_timed_call(agreement.message);
}

/// Takes the exception being handled, from the questions after the rounds to the implementation of this index. Rethrows
/// it if the device is lost.
inline IntegrityChecker::Thrown IntegrityChecker::take_exception(std::size_t index) {
  Thrown found;
  try {
    throw;
  } catch (const ImplementationThrew& thrown) {
    found.by_baseline = thrown.index == baseline_;
    found.by_candidate = thrown.index == index;
  } catch (...) {  // its message follows
  }
  const Failure failure = current_failure();
  if (failure.device != Failure::Device::fine) throw;
  repair(0);
  found.message = failure.message;
  found.out_of_memory = failure.out_of_memory;
  return found;
}

/// Whether it still is what it was in the first calls and in the rounds: right on other values, and as fast in samples
/// like those of the rounds, with the baseline as the norm for what the machine does.
inline std::string IntegrityChecker::ask_after_rounds(Implementation& implementation) {
  if (ask_again_)
    if (const auto problem = ask_again_(implementation); !problem.empty())
      return "correct at first, but not after the rounds: " + problem;
  repair(0);
  // Where each round has values of its own, the shortest sample was on other ones: samples on new values, which the
  // function writes, too, show whether it has become slower.
  if (clock_.modes() != nullptr || prepared_.renew) return {};
  constexpr double most_times = 2, slack_in_resolutions = 20;
  const Nanoseconds usual = shortest_of(implementation.index) + shortest_of(baseline_);
  // A clock that has been set back in a sample gives no norm.
  if (shortest_of(implementation.index).count() <= 0 || shortest_of(baseline_).count() <= 0) return {};
  // Long samples are interrupted as often as a few short ones together.
  const Nanoseconds of_samples = tries_at_once * static_cast<double>(iterations_) * usual;
  const int samples = 4 * of_samples > most_time_of_question() ? 1 : 4;
  if (samples * of_samples > most_time_of_short_question()) {
    leave_too_long(implementation.index, "whether it is as fast after the rounds", samples * of_samples);
    return {};
  }
  Nanoseconds own{};
  std::size_t tries = 0;
  const auto is_slow = [&] {
    const std::size_t set = tries++ % operands_.sets.size();
    const auto shortest_now = [&](Implementation& which) {
      Nanoseconds shortest(std::numeric_limits<double>::infinity());
      for (int sample = 0; sample < samples; ++sample)
        shortest = std::min<Nanoseconds>(shortest, timing::take_sample(clock_, which, set, iterations_));
      return shortest / static_cast<double>(iterations_);
    };
    own = shortest_now(implementation);
    const Nanoseconds before = shortest_of(baseline_);
    const double norm = std::max(1.0, shortest_now(baseline()) / before);
    const Nanoseconds slack = slack_in_resolutions * clock_.resolution() / static_cast<double>(iterations_);
    return own > most_times * norm * shortest_of(implementation.index) + slack;
  };
  const auto persistence = persistence_of(clock_, is_slow, [&] { return time_left(clock_); });
  if (persistence == Persistence::unknown)
    leave_unasked({implementation.index,
                   "whether it stays as slow as it was for a moment after the rounds, since too "
                   "little time was left for that",
                   more_time()});
  if (persistence != Persistence::persists) return {};
  return "its calls take " + format_time(own) + " after the rounds, and took " +
         format_time(shortest_of(implementation.index)) + " in them: it is fast only while it is timed";
}

/// Whether its calls take longer on values that it has not seen before than on the same ones again, or than where they
/// are repeated, and whether they are right there. What the processor may have learned of known values is no fault
/// where time_on_new_values() has a figure, against which gates hold it. The time for it is a share of the budget, or
/// up to most_time_of_question() where few calls take as long. One trial at a time may take up to
/// most_time_of_short_question().
inline std::string IntegrityChecker::ask_for_novelty(Implementation& implementation) {
  constexpr double fewest_long_trials = 3, most_trials = 16, attempts = attempts_for_novelty, slack_in_resolutions = 20,
                   calls_of_trial = 6, bytes_in_nanosecond = 4;
  constexpr auto question = "whether it keeps answers from call to call";
  if (!answers_->renews()) {
    if (lacks_fresh_values())
      leave_unasked({implementation.index,
                     std::string(question) + ", since the baseline takes no values of its operands but those given",
                     "If these are the only valid ones, declare that: check::CheckOptions::fresh_values = none"});
    return {};
  }
  const Nanoseconds usual = shortest_of(implementation.index) + shortest_of(baseline_);
  const Nanoseconds time = audit_share * options_.budget;
  const Nanoseconds most_time = most_time_of_question();
  // Few trials can be made of long calls, so that one without an effect ends the question.
  bool one_by_one = attempts * fewest_long_trials * calls_of_trial * usual > most_time;
  if (one_by_one && calls_of_trial * usual > most_time_of_short_question()) {
    leave_too_long(implementation.index, question, calls_of_trial * usual);
    return {};
  }
  // A step of a training has no spare operands. Where a device replays calls, samples do not repeat calls as they are
  // repeated here; where rounds have values of their own, what is kept for those given is of no use.
  const double calls =
      implementation.phases() != nullptr ? 1 : std::min(calls_on_new_values(usual), static_cast<double>(iterations_));
  const std::int64_t repetitions = clock_.modes() != nullptr ? 1 : iterations_;
  const bool beside_given = clock_.modes() == nullptr && !prepared_.renew;
  NewValueSamples samples(clock_, operands_, *answers_->fresh().operands, *source_, answers_->fresh().renewal,
                          static_cast<std::size_t>(std::max(1.0, calls)), iterations_, /*warm=*/!one_by_one, random_());
  if (prepared_.reuses_outputs(implementation.index) || !reused_by_baseline_.empty())
    samples.let_outputs_be_overwritten();

  const OnOtherValues other = on_fresh_values();
  if (clock_.modes() != nullptr)
    for (Implementation* const each : {&implementation, &baseline()}) samples.touch(*each);
  std::string wrong;
  Nanoseconds each = calls_of_trial * usual;
  CallTimes own_at_first, of_baseline_at_first;
  if (!one_by_one) {
    const Nanoseconds start = clock_.now();
    own_at_first = samples.take(implementation, repetitions, beside_given, {});
    wrong = judge_new_sample(implementation, samples);
    of_baseline_at_first = samples.take(baseline(), repetitions, beside_given, {});
    each = clock_.now() - start;
    // Calls that take longer than in the rounds may be those of an answer that was kept there.
    one_by_one = attempts * fewest_long_trials * each > most_time;
  }
  std::optional<NoveltyEffect> effect;
  if (wrong.empty() && one_by_one && each > most_time_of_short_question()) {
    // Where its own calls on new values alone take the time, these are the answer.
    wrong = describe_slow_calls(implementation, samples, own_at_first, of_baseline_at_first);
    if (wrong.empty()) leave_too_long(implementation.index, question, each);
  } else if (wrong.empty()) {
    const bool few = fewest_trials * each > most_time;
    const double trials = each.count() > 0 ? time / (attempts * each) : most_trials;
    const auto own = [&](std::span<const std::size_t> kept) -> std::optional<CallTimes> {
      samples.next_trial();
      const CallTimes times = samples.take(implementation, repetitions, beside_given, kept);
      wrong = judge_new_sample(implementation, samples);
      return wrong.empty() ? std::optional<CallTimes>(times) : std::nullopt;
    };
    // The speed-up on new values takes from gates what the processor may have learned, where there is one. Phases of a
    // step have gates of their own, a device learns nothing, and the figure beside samples on the values given is less
    // strict.
    bool excusing = measures_speed_on_new_values(implementation) && implementation.phases() == nullptr &&
                    clock_.modes() == nullptr && !samples.takes_given();
    const auto effect_with = [&](std::span<const std::size_t> kept) {
      effect = find_novelty_effect(
          one_by_one
              ? 1
              : static_cast<std::size_t>(std::clamp(trials, few ? fewest_long_trials : fewest_trials, most_trials)),
          slack_in_resolutions * clock_.resolution() / static_cast<double>(samples.calls()),
          Nanoseconds(bytes_of(operands_.pristine) / bytes_in_nanosecond), [&] { return own(kept); },
          [&] { return std::optional<CallTimes>(samples.take(baseline(), repetitions, beside_given, kept)); },
          static_cast<std::size_t>(one_by_one ? attempts * fewest_long_trials : attempts));
      return (effect && !(excusing && effect->may_be_learned())) || !wrong.empty();
    };
    std::vector<std::size_t> keeps = operands_.keeps;
    const auto blame_for = [&](const NoveltyEffect found) {
      const bool late = found.beside == NoveltyEffect::Beside::afterwards;
      const auto kept = late ? std::vector<std::size_t>() : find_kept_operands(effect_with);
      if (late)
        wrong = found.describe();
      else if (wrong.empty() && (kept.empty() || found.factor > most_undeclared_effect))
        wrong =
            found.describe() +
            (!kept.empty() ? ": it keeps what it derives from operand tensor " + listed(kept) + ". " + keeps_hint()
             : found.beside == NoveltyEffect::Beside::given
                 ? ": it keeps an answer, or is fast for few values alone. If it rightly takes a "
                   "shorter way for the values given, give each round values of its own: .renew_each_round(function)"
                 : ": it keeps answers. " + keeps_hint());
      else if (wrong.empty()) {
        notes_.push_back(note_on_kept_operands(implementation, kept));
        keeps_.push_back(implementation.index);
        keeps.insert(keeps.end(), kept.begin(), kept.end());
      }
    };
    const bool shows = effect_with(operands_.keeps);
    if (shows && wrong.empty()) blame_for(*effect);
    const bool may_be_excused = excusing && effect.has_value();
    if (wrong.empty()) wrong = time_on_new_values(implementation, samples, keeps);
    excusing = false;
    // Without a figure nothing takes from gates what was excused.
    if (wrong.empty() && may_be_excused && !has_speed_on_new_values(implementation.index) && effect_with(keeps) &&
        wrong.empty())
      blame_for(*effect);
  }
  repair(0);
  return wrong;
}

/// Returns what is wrong with an implementation whose calls on new values take far longer than those of the rounds, in
/// a sample like `own` and in some single calls, though those of the baseline do not; empty if nothing is, or if no
/// time is left to know it.
inline std::string IntegrityChecker::describe_slow_calls(Implementation& implementation, NewValueSamples& samples,
                                                         CallTimes own, CallTimes of_baseline) {
  constexpr double times = 100, calls_of_trial = 8;
  constexpr int trials = 3;
  // The calls of the rounds were on values of the user's, which these are not.
  if (prepared_.renew) return {};
  const Nanoseconds usual = shortest_of(implementation.index);
  samples.make_single();
  for (int trial = 0; trial <= trials; ++trial) {
    if (trial > 0) {
      if (calls_of_trial * (own.on_new + of_baseline.on_new) > time_left(clock_)) return {};
      of_baseline = samples.take(baseline(), 1, /*beside_given=*/false, operands_.keeps);
      own = samples.take(implementation, 1, /*beside_given=*/false, operands_.keeps);
    }
    if (own.on_new <= times * std::max(usual, of_baseline.on_new)) return {};
  }
  return "its calls take " + format_time(own.on_new) + " on values that they have not seen, and took " +
         format_time(usual) + " in the rounds; those of the baseline take " + format_time(of_baseline.on_new) +
         ": it is fast for few values alone. " + keeps_hint();
}

/// Whether single calls take as long as those of a sample where some time passes before them, in which other code may
/// run. Long calls lie apart anyway, and values of the user's have other times than those given. What caches, clocks
/// and sleeping threads cost after a pause takes less than a millisecond.
inline std::string IntegrityChecker::ask_after_pauses(Implementation& implementation) {
  constexpr double most_times = 10, millisecond = 1e6;
  constexpr std::size_t shortest_pause = 10, more = 8;
  constexpr Nanoseconds slack = std::chrono::milliseconds(1);
  constexpr int tries = 5;
  const Nanoseconds usual = shortest_of(implementation.index), of_baseline = shortest_of(baseline_);
  const bool is_long = 4 * (usual + of_baseline) > audit_share * options_.budget;
  if (clock_.modes() != nullptr || prepared_.renew || is_long) return {};
  const auto time_alone = [&](Implementation& which) {
    clock_.pause(Nanoseconds(millisecond * static_cast<double>(shortest_pause + random_.below(more))));
    which.prepare(0);
    return clock_.time_prepared(which, 0, 1);
  };
  Nanoseconds own{}, norm{};
  for (int i = 0; i < tries; ++i) {
    if (time_left(clock_).count() <= 0) return {};
    own = time_alone(implementation);
    if (own <= most_times * std::max<Nanoseconds>(usual, of_baseline) + slack) return {};
    norm = std::max(norm, time_alone(baseline()));
    if (own <= most_times * norm + slack) return {};
  }
  return "a call takes " + format_time(own) + " after a pause, and took " + format_time(usual) +
         " in the rounds; that of the baseline takes " + format_time(norm) + ": it is fast only in calls in a row";
}

/// Whether single calls take as long on tensors that no call has had as on those of the rounds, where the values are
/// new to both: see NewTensorTimes. Large operands would take too long to be copied.
inline std::string IntegrityChecker::ask_on_new_tensors(Implementation& implementation) {
  constexpr int tries = 12, for_all_but_one = 11;
  constexpr double slack_in_resolutions = 40, most_bytes = 64 << 20;
  const Nanoseconds usual = shortest_of(implementation.index) + shortest_of(baseline_);
  // On values that are known, what is kept for them would be made anew on new tensors alone. A step of a training has
  // its tensors from the model.
  if (clock_.modes() != nullptr || !operands_.keeps.empty() || prepared_.renew || !answers_->renews() ||
      operands_.pristine.empty() || bytes_of(operands_.pristine) > most_bytes || implementation.phases() != nullptr ||
      4 * usual > audit_share * options_.budget)
    return {};
  const Nanoseconds start = clock_.now(), slack = slack_in_resolutions * clock_.resolution();
  NewTensorTimes::Times own, of_baseline;
  int slower = 0;
  {
    const OnOtherValues other = on_fresh_values();
    NewTensorTimes times(clock_, operands_, *prepared_.given, [&](const std::vector<at::Tensor>& tensors) {
      source_->draw(answers_->fresh().renewal, tensors, {});
    });
    for (int i = 0; i < tries && slower >= i - (tries - for_all_but_one); ++i) {
      // Work on new tensors alone may have taken the time.
      if (i > 0 && clock_.now() - start > longest_of_rounds()) break;
      if (time_left(clock_).count() <= 0) break;
      of_baseline = times.take(baseline());
      own = times.take(implementation);
      slower += NewTensorTimes::is_slow(own, of_baseline, slack);
    }
  }
  repair(0);
  if (slower < for_all_but_one) return {};
  return "a call on tensors that none has had takes " + format_time(own.on_new) + ", and one on those of the rounds " +
         format_time(own.on_known) + ", both on new values; those of the baseline take " +
         format_time(of_baseline.on_new) + " and " + format_time(of_baseline.on_known) +
         ": it is fast on the tensors of the rounds alone. " + keeps_hint();
}

/// Measures the speed-up over the baseline where all values but those of the operand tensors `kept` are new, which is
/// what remains of that of the rounds without anything that is kept from call to call, whatever it is kept by: address,
/// version, content, or that calls are repeated. Returns what is wrong with the outputs. Where rounds have values of
/// the user's, so have these samples. The clock of a device times them as it times those of the rounds, but for its
/// wall clock.
inline std::string IntegrityChecker::time_on_new_values(Implementation& implementation, NewValueSamples& samples,
                                                        std::span<const std::size_t> kept) {
  if (!measures_speed_on_new_values(implementation)) return {};
  std::optional<OnOtherValues> by_user;
  if (prepared_.renew) by_user.emplace(renewed_values, remedy_of_renewed_values);
  NewValuePairs pairs{.implementation = implementation,
                      .samples = samples,
                      .all = {.start = clock_.now(), .most = most_time_of_short_question()}};
  auto found = measure_on_new_values(pairs, kept);
  bool open = !found;
  const auto is_exceeded = [&](const NewValueSpeed& speed) {
    return speed.is_exceeded_by(in_rounds_.speedups.at(implementation.index),
                                in_rounds_.of_phases.at(implementation.index));
  };
  if (found && is_exceeded(*found)) {
    // It may keep what it derives from operands, such as packed weights.
    std::optional<NewValueSpeed> beside_kept;
    const auto keeps = find_kept_operands([&](std::span<const std::size_t> keeping) {
      const auto again = measure_on_new_values(pairs, keeping);
      open = open || !again;
      const bool shows = !again || is_exceeded(*again);
      if (!shows) beside_kept = again;
      return shows;
    });
    if (!keeps.empty() && pairs.wrong.empty() && beside_kept) {
      found = beside_kept;
      open = false;
      notes_.push_back(note_on_kept_operands(implementation, keeps));
      keeps_.push_back(implementation.index);
    }
  }
  if (!pairs.wrong.empty()) return pairs.wrong;
  if (found) {
    if (!found->note.empty()) notes_.push_back(found->note);
    // Where there was no time to look for operands that excuse it, it proves nothing: gates that it does not meet are
    // undecided.
    if (open) {
      found->speedup.interval.reset();
      found->phases.clear();
    }
    on_new_values_.push_back(*found);
  }
  if (open) leave_new_values_unasked(pairs, found.has_value());
  return {};
}

/// Notes why pairs on new values have shown nothing, or, if there is a figure, not whether an operand excuses it.
inline void IntegrityChecker::leave_new_values_unasked(const NewValuePairs& pairs, bool has_figure) {
  const std::size_t index = pairs.implementation.index;
  const std::string question = has_figure ? "whether an operand that stays excuses that it is slower on new values"
                                          : "how fast it is on values that no call has seen";
  const Nanoseconds elapsed = clock_.now() - pairs.all.start;
  if (!pairs.not_drawn.empty())
    leave_unasked({index, question + ", since no values could be drawn: " + pairs.not_drawn,
                   "Let the function of .renew_each_round() write values as often as it is called"});
  else if (pairs.untimed)
    leave_unasked({index, question + ", since a sample took no time by the clock",
                   "Expected is a clock that is not set back while it times"});
  // Where the calls took the time, these may be those of no sample.
  else if (has_figure || pairs.cut_short || pairs.all.of_drawing < elapsed / 2)
    leave_too_long(index, question, std::max(pairs.all.wanted, elapsed));
  else
    notes_.push_back('\'' + prepared_.result.implementations[index].name + "' was not asked " + question +
                     ", since its operands take too long to be drawn (--budget).");
}

/// The speed-up on new values but for those of the operand tensors `keeping`; nothing if there was no time for it. The
/// baseline's time counts as far as its norm.
inline std::optional<NewValueSpeed> IntegrityChecker::measure_on_new_values(NewValuePairs& pairs,
                                                                            std::span<const std::size_t> keeping) {
  // There is no norm by the clock of a device, beside which no other process could run.
  if (clock_.modes() != nullptr)
    return take_pairs_held(pairs, keeping, pairs.all, [] { return NewValueNorm::none; }).speed;
  auto found = take_pairs_held(pairs, keeping, pairs.all, [&] { return norm_.longest(); });
  if (!found.decides) return found.speed;
  // The machine may have become slower, which the untouched process is, too.
  const NewValueQuestion question(pairs.samples.calls(), keeping);
  const bool untouched = norm_.ask(question, time_left(clock_)).has_value();
  NewValuePairs::Taken taken{.start = clock_.now(), .most = pairs.all.most + NewValueNorm::time_beside_untouched};
  auto beside = take_pairs_held(pairs, keeping, taken, [&] {
    if (taken.pairs > 0) clock_.pause(pause_between_pairs);
    const auto there = untouched ? norm_.ask(question, time_left(clock_)) : std::nullopt;
    return there ? *there : norm_.longest_without_process();
  });
  pairs.cut_short = !beside.speed;
  if (pairs.cut_short) pairs.all.wanted = taken.wanted;
  if (beside.speed && beside.mostly) beside.speed->note = NewValueNorm::note(untouched);
  return beside.speed;
}

/// The times of the phases of an implementation in the rounds, of which the speed-ups are known; none without phases.
inline PhasesInRounds IntegrityChecker::phases_in_rounds(std::size_t index) const {
  PhasesInRounds found{.baseline = in_rounds_.baseline_phases};
  const auto& speedups = in_rounds_.of_phases.at(index);
  for (std::size_t i = 0; i < std::min(speedups.size(), found.baseline.size()); ++i)
    found.own.push_back(speedups[i] > 0 ? found.baseline[i] / speedups[i] : Nanoseconds());
  return found;
}

/// The pairs of a measurement that has the time `taken.most`, in which the baseline's time counts up to `longest()`.
inline HeldSpeed IntegrityChecker::take_pairs_held(NewValuePairs& pairs, std::span<const std::size_t> keeping,
                                                   NewValuePairs::Taken& taken, FunctionRef<Nanoseconds()> longest) {
  // Drawing the fewest pairs may take so many times the time of a question: large operands have no figure otherwise.
  constexpr double patience = 4;
  const std::size_t index = pairs.implementation.index;
  const double in_rounds = in_rounds_.speedups.at(index);
  const bool beside_given = pairs.samples.takes_given();
  const Nanoseconds usual = shortest_of(baseline_), usual_own = shortest_of(index);
  std::size_t held = 0;
  std::vector<double> as_seen;
  PhasesOnNewValues phases(phases_in_rounds(index));
  const auto pair = [&]() -> std::optional<PairRatio> {
    const Nanoseconds most = longest();
    const auto times = take_pair(pairs, keeping, taken);
    pairs.untimed = times && !times->is_timed(beside_given);
    if (!times || pairs.untimed) return std::nullopt;
    // The baseline's phases count as far as its whole call does beside the rounds.
    const Nanoseconds of_baseline = in_rounds_.baseline;
    phases.add(*times, of_baseline.count() > 0 ? most / of_baseline : std::numeric_limits<double>::infinity());
    // What makes the calls on the values given slower, too, is no doing of new ones.
    const Nanoseconds limit =
        beside_given && of_baseline.count() > 0 ? std::max(1.0, times->baseline.on_given / of_baseline) * most : most;
    const auto log_ratio = [&](Nanoseconds on_new) {
      CallTimes counted = times->baseline;
      counted.on_new = on_new;
      return beside_given ? log_ratio_beside_given(counted, times->own, usual, usual_own, in_rounds)
                          : log_ratio_in_few_calls(on_new, times->own, usual, usual_own);
    };
    as_seen.push_back(log_ratio(times->baseline.on_new));
    held += times->baseline.on_new > limit;
    const auto& own_times = times->own;
    PairRatio ratio{.counted = log_ratio(std::min(times->baseline.on_new, limit)),
                    .seen = std::log(times->baseline.on_new / own_times.on_new)};
    if (own_times.on_given.count() > 0) ratio.beside_given = std::log(own_times.on_given / own_times.on_new);
    return ratio;
  };
  const auto time_is_left = [&](std::size_t more) {
    const Nanoseconds elapsed = clock_.now() - taken.start,
                      needed = static_cast<double>(more) / static_cast<double>(taken.pairs) * elapsed;
    const bool few = taken.pairs == 1 && more < stats::fewest_for_median_interval(new_value_confidence) - 1;
    const bool of_drawing_alone = taken.of_drawing > elapsed / 2;
    taken.wanted = elapsed + needed;
    return taken.wanted < (few && of_drawing_alone ? patience : 1) * taken.most && needed < time_left(clock_);
  };
  HeldSpeed found;
  const auto speedup = speed_on_new_values(in_rounds, pair, time_is_left);
  if (!speedup) return found;
  found.speed.emplace(NewValueSpeed{.index = index, .speedup = *speedup, .phases = phases.speedups()});
  found.mostly = 2 * held > as_seen.size();
  // What the machine became slower by since the rounds may be held against a candidate where the limit alone
  // makes the figure smaller by what counts.
  found.decides = held > 0 && looks_excessive(in_rounds, *speedup) &&
                  looks_excessive(std::exp(stats::median(stats::sorted(as_seen))), *speedup);
  return found;
}

/// Times a sample of each side on the same new values; nothing if none could be drawn, or something is wrong.
inline std::optional<PairOnNewValues> IntegrityChecker::take_pair(NewValuePairs& pairs,
                                                                  std::span<const std::size_t> keeping,
                                                                  NewValuePairs::Taken& taken) {
  constexpr std::size_t looked_at = 2;  // the output of one pair of so many
  // The first reading of an output may take so much more than the baseline's, since their types differ.
  constexpr Nanoseconds most_afterwards{1e3};
  const Nanoseconds before = clock_.now();
  try {
    draw_new_values(pairs.samples, keeping);
  } catch (...) {
    if (!prepared_.renew || current_failure().device != Failure::Device::fine) throw;
    pairs.not_drawn = current_message();
    return std::nullopt;
  }
  taken.of_drawing += clock_.now() - before;
  PairOnNewValues times;
  const auto time = [&](Implementation& which, CallTimes& side, std::vector<Nanoseconds>& phases) {
    side = pairs.samples.take_new(which, keeping);
    // What writing leaves in a device's cache is no part of a phase's time in the rounds.
    if (which.phases() != nullptr && clock_.modes() == nullptr) phases = which.phases()->times();
  };
  const bool baseline_first = random_.below(2) == 0;
  if (baseline_first) time(baseline(), times.baseline, times.baseline_phases);
  time(pairs.implementation, times.own, times.own_phases);
  pairs.wrong = settings_changed();
  if (pairs.wrong.empty() && random_.below(looked_at) == 0)
    pairs.wrong = judge_new_sample(pairs.implementation, pairs.samples);
  if (!baseline_first) time(baseline(), times.baseline, times.baseline_phases);
  ++taken.pairs;
  if (!pairs.wrong.empty()) return std::nullopt;
  // What a call leaves until its output is read is a part of it.
  times.own.on_new += std::max(times.own.afterwards - times.baseline.afterwards - most_afterwards, Nanoseconds(0));
  return times;
}

/// Draws new values for samples: by the user's function where that writes the values of rounds.
inline void IntegrityChecker::draw_new_values(NewValueSamples& samples, std::span<const std::size_t> keeping) {
  samples.draw_new(keeping, [&](OperandSet& operands, const std::vector<at::Tensor>& tensors) {
    if (!prepared_.renew) return source_->draw(answers_->fresh().renewal, tensors, keeping);
    const RandomStateKept generators;
    write_values(operands_.pristine, tensors);
    reset_random_state(random_());
    prepared_.renew(operands);
  });
}

/// Takes a hundredth of the budget, or one sample if that is longer. Where calls are too long for that, those on new
/// values count as those that are repeated. The function that writes the values of rounds is not called, since it may
/// have as many values as there are rounds.
inline void IntegrityChecker::learn_norm_on_new_values(const Options& options) {
  constexpr double share = 0.01, most_iterations = 1 << 10;
  constexpr int most_samples = 5;
  if (clock_.modes() != nullptr || prepared_.renew) return;
  if (!answers_ || !answers_->checks() || !answers_->renews()) return;
  // How many samples there are depends on the time, and must not decide what --check-seed repeats.
  SplitMix64 random(~options_.check_seed);
  FreshValues source = source_->with_seed(random());
  try {
    (void)timing::take_sample(clock_, baseline(), 0, 1);
    const Nanoseconds took = timing::take_sample(clock_, baseline(), 0, 1), most = share * options_.budget;
    if (took.count() <= 0) return;
    const double limit = options.max_iterations > 0 ? static_cast<double>(options.max_iterations) : most_iterations;
    const Nanoseconds wanted =
        std::max<Nanoseconds>(options.min_sample, options.resolutions_per_sample * clock_.resolution());
    const double repeated = std::clamp(wanted / took, 1.0, std::min(limit, most_iterations));
    // A step of a training has no spare operands.
    const double calls = baseline().phases() != nullptr ? 1 : std::min(calls_on_new_values(2 * took), limit);
    if ((3 * calls + repeated) * took > most) return;
    // The shortest time of each, which other work on the machine does not make longer.
    Nanoseconds on_new = NewValueNorm::none, on_known = NewValueNorm::none;
    int samples = 0;
    {
      NewValueSamples taken(clock_, operands_, *answers_->fresh().operands, source, answers_->fresh().renewal,
                            static_cast<std::size_t>(calls), /*repeated=*/1, /*warm=*/false, random());
      const OnOtherValues other = on_fresh_values();
      for (const Nanoseconds start = clock_.now();
           samples < most_samples && (samples == 0 || clock_.now() - start < most); ++samples) {
        taken.draw_new(operands_.keeps, [&](OperandSet&, const std::vector<at::Tensor>& tensors) {
          source.draw(answers_->fresh().renewal, tensors, operands_.keeps);
        });
        on_new = std::min(on_new, taken.take_new(baseline(), operands_.keeps).on_new);
      }
    }
    repair(0);
    // Last, so that what the baseline keeps from call to call is as the values given leave it.
    const auto iterations = static_cast<std::int64_t>(repeated);
    for (int i = 0; i < samples; ++i)
      on_known = std::min<Nanoseconds>(
          on_known, timing::take_sample(clock_, baseline(), 0, iterations) / static_cast<double>(iterations));
    norm_.learn(on_new, on_known);
  } catch (...) {
    // It does not take these values, or memory ran out: after the rounds that has consequences. Until then calls on
    // new values count as repeated ones.
    repair(0);
  }
}

/// The median of some samples, after one by which code and memory are as warm as between those of a pair.
inline Nanoseconds IntegrityChecker::time_baseline_on_new_values(const NewValueQuestion& question) {
  constexpr int samples = 3;
  if (!answers_->renews()) throw Error("the baseline takes no new values");
  const auto kept = question.kept_operands();
  NewValueSamples taken(clock_, operands_, *answers_->fresh().operands, *source_, answers_->fresh().renewal,
                        question.calls, /*repeated=*/1, /*warm=*/false, random_());
  const auto take = [&] {
    draw_new_values(taken, kept);
    return taken.take_new(baseline(), kept).on_new.count();
  };
  (void)take();
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) times.push_back(take());
  return Nanoseconds(stats::median(stats::sorted(std::move(times))));
}

/// Whether the output of the last sample on new values is right, and what it has written to operands. That of calls
/// that draw random numbers is not known.
inline std::string IntegrityChecker::judge_new_sample(Implementation& implementation, NewValueSamples& samples) {
  const c10::IValue output = samples.take_output();
  if (answers_->given.random || !answers_->can_ask() || implementation.index == baseline_) return {};
  const auto asked = answers_->ask(baseline(), samples.values(), answers_->fresh().seed);
  if (!asked) return {};
  const auto problem = answers_->judge_output(output, samples.operands_after(), *asked);
  if (problem.empty() || (answers_->operands_agree(samples.operands_after(), *asked) &&
                          rounding_explains(output, asked->expected, samples.values(), /*renewed=*/true)))
    return {};
  return in_timed_call(problem);
}

/// Returns what was changed for all implementations since start(), by settings or by threads that go on working, and
/// forgets it: settings are restored, and the next call does not return them again.
inline std::string IntegrityChecker::take_disturbance() {
  if (auto problem = settings_changed(); !problem.empty()) return problem;
  if (!changed_settings_.empty()) return std::exchange(changed_settings_, {});
  // Not in each audit, for which it takes long.
  if (const auto operators = kernels_of_baseline_.take_changed(); !operators.empty())
    return leaves_changed("the kernels of operators that the baseline calls (" + operators + ')');
  if (!busy_before_ && background_work_goes_on())
    return "threads or processes go on computing after its calls have returned, which slows whatever is timed beside "
           "it";
  return {};
}

inline std::string IntegrityChecker::settings_changed() {
  std::string changes = settings_.changes_to(ProcessSettings::now());
  const auto add = [&](const std::string& change) { changes += (changes.empty() ? "" : ", ") + change; };
  if (const auto repeated = source_ ? source_->take_repeated_draw() : std::nullopt)
    add("what draws new values (operand tensor " + std::to_string(*repeated) + " was given earlier ones again)");
  if (changes.empty()) return {};
  settings_.restore();
  // What cannot be restored is no fault of those that are called next.
  settings_ = ProcessSettings::now();
  return leaves_changed(changes);
}

}  // namespace pace::detail
