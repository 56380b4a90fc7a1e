// AuditContext: what the checks of one comparison share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/base/random.hpp"
#include "pace/base/spelling.hpp"
#include "pace/check/restore.hpp"
#include "pace/check/tolerance.hpp"
#include "pace/measure/audit_schedule.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/options.hpp"
#include "pace/settings/process_watch.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/unseen/answers.hpp"
#include "pace/unseen/oracle.hpp"
#include "pace/unseen/rounding.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/one_timed_call.hpp"
#include "pace/verify/round_figures.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// What checks of a comparison know and have found. Text that functions return is a fault; empty text is none.
struct AuditContext {
  /// Both must outlive it.
  AuditContext(timing::Clock& its_clock, const Prepared& its_operands);
  AuditContext(const AuditContext&) = delete;  // checks refer to it
  AuditContext& operator=(const AuditContext&) = delete;

  /// Share of the budget that a check after the rounds takes, unless a few calls take longer.
  static constexpr double audit_share = AuditSchedule::share;
  /// Largest share of the budget, or of longer rounds, for checks of long calls.
  static constexpr double most_share = 0.25;
  /// Largest factor that calls may gain from an undeclared kept operand.
  static constexpr double most_undeclared_effect = 10;

  timing::Clock& clock;
  const Prepared& prepared;
  OperandSets& operands;
  const Options& options;
  std::size_t baseline_index;
  /// Chooses the set and the number of calls of an audit.
  SplitMix64 random;
  AuditSchedule schedule;

  /// Absent before learn(), as the answers are.
  std::optional<UnseenValues> source;
  std::optional<Answers> answers;
  ProcessWatch process;
  /// Indices of the output tensors of the baseline that its later calls overwrite.
  std::set<std::size_t> reused_by_baseline;

  /// Iterations of a sample, the medians of the rounds, and each implementation's longest calls of an audit since they
  /// began.
  std::int64_t iterations = 1;
  RoundFigures in_rounds;
  std::vector<Nanoseconds> longest_audits;

  /// A fault that any implementation may have caused.
  std::string changed_operands;
  std::vector<std::string> notes;
  /// Indices of the implementations that keep what they derive from an operand.
  std::vector<std::size_t> keeps;
  std::vector<RowObjection> objections;
  std::vector<UnseenSpeed> on_unseen_values;
  /// The implementation that is slow after the rounds, without time to see whether that lasts: its times prove nothing.
  std::optional<std::size_t> slow_for_now;

  [[nodiscard]] Implementation& baseline() const { return *prepared.implementations[baseline_index]; }
  [[nodiscard]] bool is_strict() const { return options.audit == Audit::strict; }

  // Calls and operands.

  /// Gives the operands of a set their first values.
  void repair(std::size_t set) { detail::repair(prepared, set); }
  /// Learns the baseline's outputs on unseen values, and its operators. `complete` adds references and tolerances, and
  /// may change `check`.
  void learn(Implementation& of_baseline, const Expected& expected, const check::CheckOptions& check,
             const AddReference& complete);
  /// A call on set 0 with these values; null: with the values given.
  [[nodiscard]] ObservedCall call(Implementation& implementation, const std::vector<at::Tensor>* values) {
    const UnseenValuesInUse in_use = values != nullptr ? unseen_in_use() : UnseenValuesInUse();
    return observe_call(implementation, operands, values, seed_of(values != nullptr), answers->given.output);
  }
  [[nodiscard]] std::uint64_t seed_of(bool unseen) const {
    return unseen && answers->takes_unseen() ? answers->unseen().seed : options.seed;
  }
  /// Keep the result alive during calls on unseen values.
  [[nodiscard]] UnseenValuesInUse unseen_in_use() const {
    return answers->takes_unseen() ? answers->unseen().in_use() : UnseenValuesInUse();
  }
  /// Draws values that no call has had.
  void draw_unseen_values();
  /// Enters into `changed_operands` if operands of a set hold wrong values.
  void notice_changed_operands(std::size_t set);
  /// Whether a call changes the next one's output: it writes to operands or draws random numbers.
  [[nodiscard]] bool calls_add_up() const { return detail::calls_add_up(operands, answers->given); }
  /// Whether outputs are random, and compared by their distribution alone. Each round then has a seed of its own.
  [[nodiscard]] bool draws_anew() const {
    return answers->given.random && answers->options.method == check::CheckOptions::Method::random;
  }
  /// Whether no output shows its values: it is random, compared by its distribution, and the baseline takes no unseen
  /// values, though the options allow them.
  [[nodiscard]] bool lacks_unseen_values() const {
    return answers->options.method == check::CheckOptions::Method::random && !answers->takes_unseen() &&
           answers->options.unseen_values != check::CheckOptions::UnseenValues::none && bytes_of(operands.given) > 0;
  }

  // Faults.

  [[nodiscard]] std::string judge_unseen(const ObservedCall& made, std::size_t set);
  [[nodiscard]] bool rounding_explains(const c10::IValue& output, const Expected& expected,
                                       const std::vector<at::Tensor>& values, bool unseen);
  /// Settings changed since ProcessWatch::start(), which it restores.
  [[nodiscard]] std::string settings_changed() { return process.take_settings(repeated_draw()); }
  /// The same, with exchanged kernels of operators and threads that go on.
  [[nodiscard]] std::string take_disturbance() { return process.take_all(repeated_draw()); }
  /// Keeps changes found before a candidate's call, which need not be its doing.
  void note_settings() {
    if (!process.has_noted()) process.note(settings_changed());
  }
  [[nodiscard]] static std::string in_timed_call(const std::string& problem) {
    return "correct at first, but not in a timed call: " + problem;
  }
  [[nodiscard]] static std::string keeps_hint() {
    return "; try: declare an operand that stays the same between calls where the code is used, such as packed "
           "weights, counted from 0: " +
           declaration_text(".constant(operand)", "--constant OPERAND");
  }
  [[nodiscard]] std::string note_on_kept_operands(const Implementation& implementation,
                                                  const std::vector<std::size_t>& kept) const {
    return '\'' + prepared.result.implementations[implementation.index].name +
           "' keeps what it derives from operand tensor " + listed(kept) +
           " (counted from 0): its time is for calls between which " +
           (kept.size() == 1 ? "that one does" : "these do") + " not change.";
  }
  /// Whether it was found to keep something derived from an operand.
  [[nodiscard]] bool keeps_something(std::size_t index) const {
    return prepared.result.implementations[index].context.keeps || std::ranges::find(keeps, index) != keeps.end();
  }

  // Time.

  /// The shortest time of a call in a sample of the rounds.
  [[nodiscard]] Nanoseconds shortest_of(std::size_t index) const { return schedule.shortest_of(index); }
  [[nodiscard]] Nanoseconds longest_of_rounds() const {
    return std::max<Nanoseconds>(options.budget, schedule.elapsed());
  }
  /// The time limit of a check after the rounds, if it takes longer than audit_share of the budget. Short rounds count
  /// as long as the default budget.
  [[nodiscard]] Nanoseconds most_time_of_check() const {
    return std::min<Nanoseconds>(time_by_budget(), time_left(clock));
  }
  /// The time limit of a check's shortest form, for long calls: as long as the rounds, whose interval takes more calls.
  [[nodiscard]] Nanoseconds most_time_of_short_check() const {
    return std::min<Nanoseconds>(short_time_by_budget(), time_left(clock));
  }

  // What was left out.

  /// Enters that a check was left out. `what` ends "it was not checked ...", with the reason; `remedy` is a sentence
  /// without its end.
  void leave_out(std::size_t index, const std::string& what, std::string remedy) {
    std::string why = "it was not checked " + what;
    notes.push_back('\'' + prepared.result.implementations[index].name + "': " + why + '.');
    objections.push_back({index, {Severity::unchecked, std::move(why), std::move(remedy)}});
  }
  /// The same for a check whose shortest form takes too long, `needed`.
  void leave_out_too_long(std::size_t index, const std::string& what, Nanoseconds needed) {
    if (needed > short_time_by_budget())
      leave_out(index, what + ", since that would take too long", "measure longer (" + option_text("budget") + ')');
    else
      leave_out(index, what + ", since too little time was left for that", more_time());
  }
  [[nodiscard]] static std::string more_time() {
    const auto remedy = MessageParts::of("", deadline_reason()).remedy;
    return "give the program more time" + (remedy.empty() ? "" : ": " + remedy);
  }

 private:
  /// most_time_of_check(), whatever time is left.
  [[nodiscard]] Nanoseconds time_by_budget() const {
    return most_share * std::max<Nanoseconds>(Options().budget, longest_of_rounds());
  }
  [[nodiscard]] Nanoseconds short_time_by_budget() const {
    return std::max<Nanoseconds>(time_by_budget(), longest_of_rounds());
  }
  /// The fault that unseen values came again, as from an exchanged generator; empty for none.
  [[nodiscard]] std::string repeated_draw() {
    const auto repeated = source ? source->take_repeated_draw() : std::nullopt;
    if (!repeated) return {};
    return "what draws unseen values (operand tensor " + std::to_string(*repeated) + " was given earlier ones again)";
  }
};

inline AuditContext::AuditContext(timing::Clock& its_clock, const Prepared& its_operands)
    : clock(its_clock),
      prepared(its_operands),
      operands(*its_operands.operands),
      options(its_operands.options),
      baseline_index(its_operands.participants.baseline()),
      random(its_operands.options.check_seed),
      schedule(its_clock, random(), its_operands.options.audit),
      longest_audits(its_operands.implementations.size()) {}

inline void AuditContext::learn(Implementation& of_baseline, const Expected& expected, const check::CheckOptions& check,
                                const AddReference& complete) {
  UnseenAnswers unseen;
  const Oracle oracle{of_baseline, operands, *prepared.given, expected, check};
  source.emplace(oracle.unseen_values(random()));
  const bool wanted = check.unseen_values != check::CheckOptions::UnseenValues::none &&
                      check.method != check::CheckOptions::Method::none;
  constexpr int copies = 4;
  if (wanted && are_large(operands.given) && !copies_fit(clock, prepared, copies))
    notes.push_back("No call was made on unseen values: " + std::to_string(copies) +
                    " more copies of the operands would not fit into memory.");
  else if (wanted)
    unseen = find_unseen_answers(oracle, *source, complete);
  answers.emplace(operands, expected, std::move(unseen), check);
  CalledOperators called;
  answers->imitate(call(of_baseline, nullptr));
  process.learn(OperatorKernels(called.take()));
  repair(0);
}

inline void AuditContext::draw_unseen_values() {
  if (!answers->takes_unseen()) return;
  // The draw overwrites changes of the operands.
  notice_changed_operands(0);
  answers->draw(baseline(), *source);
  repair(0);
  if (!answers->takes_unseen())
    notes.push_back("No more calls were made on unseen values: the baseline took none of those that were drawn last.");
}

inline void AuditContext::notice_changed_operands(std::size_t set) {
  if (!changed_operands.empty()) return;
  const auto changed = changed_operand(operands, operands.values(), set);
  if (!changed.empty()) changed_operands = in_timed_call(changed);
}

/// Judges a call on unseen values. Rounding is no fault: correct implementations differ where the output depends on the
/// last digits.
inline std::string AuditContext::judge_unseen(const ObservedCall& made, std::size_t set) {
  auto problem = answers->judge(made, true, set);
  const auto& unseen = answers->unseen();
  if (!problem.empty() && answers->only_output_differs(made, set) &&
      rounding_explains(made.at_return, unseen.expected, unseen.values, /*unseen=*/true))
    problem.clear();
  return problem;
}

/// See rounding_explains() of rounding.hpp. `expected` is the baseline's on `values`. Learns tolerances for these
/// values: earlier ones belong to elements that were other numbers. So they allow the baseline's own errors at the
/// wrong places, as of a vectorised erf where gelu is nearly zero.
inline bool AuditContext::rounding_explains(const c10::IValue& output, const Expected& expected,
                                            const std::vector<at::Tensor>& values, bool unseen) {
  const auto& of_check = answers->options;
  if (!may_be_rounding(output, of_check)) return false;
  Expected here = expected;
  if (unseen && !expected.learned.empty()) {
    const auto set = prepared.given->clone();
    const auto tensors = set->tensors();
    for (std::size_t i = 0; i < tensors.size(); ++i) check::restore_tensor(values[i], tensors[i]);
    const at::ScalarType number_dtype = of_check.number_dtype.value_or(check::detail::widest_floating_type(values));
    Sensitivity(baseline(), operands, *set, seed_of(unseen), of_check.reduction_length, number_dtype).learn(here, {});
    if (here.learned.empty()) here.learned = expected.learned;
  }
  const bool explains =
      detail::rounding_explains(output, {values, here, seed_of(unseen)},
                                {baseline(), operands, *prepared.given, answers->given, of_check}, *source);
  repair(0);
  return explains;
}

}  // namespace pace::detail
