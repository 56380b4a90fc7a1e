// TimedCalls: whether calls like those of a sample are right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <ATen/core/ivalue.h>

#include "pace/audit/context.hpp"
#include "pace/audit/reused_outputs.hpp"
#include "pace/base/error.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/timing/clock.hpp"
#include "pace/unseen/answers.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/one_timed_call.hpp"

namespace pace::detail {

/// Checks calls made like timed ones. Returns faults as text, empty for none.
class TimedCalls {
 public:
  /// Both must outlive it.
  TimedCalls(AuditContext& context, OutputReuse& reuse) : context_(context), reuse_(reuse) {}

  [[nodiscard]] std::string find_fault(Implementation& implementation);
  [[nodiscard]] std::string find_fault_of_replay(Implementation& implementation);
  [[nodiscard]] std::string find_fault_of_output(const c10::IValue& output);
  /// `audited_last`: the implementation whose last output an audit after the last cycle has taken.
  void check_last_outputs(const std::optional<std::size_t>& audited_last, AuditFindings& findings);

 private:
  AuditContext& context_;
  OutputReuse& reuse_;
};

/// Makes calls on the values given, and some after unseen values have overwritten these. The last output must be right,
/// and stay during further calls. Nothing is kept before the judged calls, so they look like timed ones.
inline std::string TimedCalls::find_fault(Implementation& implementation) {
  const std::size_t set = context_.random.below(context_.operands.sets.size());
  const bool unseen = context_.answers->takes_unseen();
  const auto run_some = [&] {
    const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, context_.iterations));
    const auto calls = context_.calls_add_up() ? 1 : 1 + static_cast<std::int64_t>(context_.random.below(most));
    const Nanoseconds start = context_.clock.now();
    implementation.run(set, calls);
    auto& longest = context_.longest_audits[implementation.index];
    longest = std::max<Nanoseconds>(longest, context_.clock.now() - start);
  };
  // Earlier changes need not be its doing.
  context_.note_settings();
  context_.notice_changed_operands(set);
  context_.repair(set);
  implementation.prepare(set);
  run_some();
  if (auto problem = changed_operand(context_.operands, context_.operands.given, set); !problem.empty())
    return AuditContext::in_timed_call(problem);
  implementation.prepare(set);
  try {
    write_values(context_.operands, context_.answers->unseen_values(), set);
  } catch (const Error& error) {
    context_.repair(set);
    return AuditContext::in_timed_call(std::string("it changes what an operand is: ") + error.what());
  }
  reset_random_state(context_.seed_of(unseen));
  {
    const UnseenValuesInUse in_use = context_.unseen_in_use();
    run_some();
  }
  const auto last = ObservedCall::of(implementation.take_output());
  auto problem = unseen ? context_.judge_unseen(last, set) : context_.answers->judge(last, false, set);
  context_.repair(set);
  if (problem.empty() && reuse_.applies(implementation)) {
    // Several buffers may take turns in runs of one call.
    const int runs = context_.calls_add_up() ? 4 : 1;
    for (int run = 0; run < runs; ++run) {
      implementation.prepare(set);
      run_some();
    }
    problem = reuse_.find_fault(last, set);
    if (problem.empty()) problem = changed_operand(context_.operands, context_.operands.given, set);
    context_.repair(set);
  }
  if (problem.empty()) problem = context_.settings_changed();
  return problem.empty() ? problem : AuditContext::in_timed_call(problem);
}

/// For a clock that replays: takes a sample on set 0 after writing unseen values to the captured memory. Skips calls
/// that write to operands or draw random numbers, since a sample repeats them.
inline std::string TimedCalls::find_fault_of_replay(Implementation& implementation) {
  if (!context_.answers->takes_unseen() || context_.calls_add_up()) return {};
  write_values(context_.operands, context_.answers->unseen_values(), 0);
  {
    const UnseenValuesInUse in_use = context_.unseen_in_use();
    (void)timing::take_sample(context_.clock, implementation, 0, context_.iterations);
  }
  const auto last = ObservedCall::of(implementation.take_output());
  const auto problem = context_.answers->judge(last, true);
  context_.repair(0);
  return problem.empty() ? problem : AuditContext::in_timed_call(problem);
}

/// Judges the kept output of a timed call on the values given.
inline std::string TimedCalls::find_fault_of_output(const c10::IValue& output) {
  const Agreement agreement =
      agree(context_.answers->given, output, context_.operands, std::nullopt, context_.answers->options);
  if (agreement.correct) return {};
  // On changed operands, all outputs are wrong. AuditDriver::check_after_rounds() finds who changed them.
  for (std::size_t set = 0; set < context_.operands.sets.size(); ++set) context_.notice_changed_operands(set);
  if (!context_.changed_operands.empty() ||
      context_.rounding_explains(output, context_.answers->given, context_.operands.given, /*unseen=*/false))
    return {};
  return AuditContext::in_timed_call(agreement.message);
}

/// Checks the output of each implementation's last timed call. If calls add up, or rounds have values of their own,
/// that output is unknown: one more timed call from the first state stands in.
inline void TimedCalls::check_last_outputs(const std::optional<std::size_t>& audited_last, AuditFindings& findings) {
  for (const std::size_t index : context_.schedule.timed()) {
    auto& implementation = *context_.prepared.implementations[index];
    std::optional<std::size_t> set;
    // An audit after the last cycle has taken the output. Calls of the baseline for its answers leave its own alone.
    if (context_.calls_add_up() || context_.prepared.renew || audited_last == index) {
      set = 0;
      make_one_timed_call(context_.clock, implementation, context_.operands, context_.answers->given,
                          context_.options.seed);
    }
    const c10::IValue output = implementation.take_output();
    const Agreement agreement =
        agree(context_.answers->given, output, context_.operands, set, context_.answers->options);
    findings.max_abs_errors[index] = agreement.max_abs_error;
    if (agreement.correct ||
        (!context_.calls_add_up() &&
         context_.rounding_explains(output, context_.answers->given, context_.operands.given, /*unseen=*/false)))
      continue;
    findings.dropped.push_back(
        {index, Outcome::wrong, "correct at first, but not in the last timed call: " + agreement.message});
    if (index == context_.baseline_index) return;
  }
}
}  // namespace pace::detail
