// KeptAnswers: whether a candidate keeps answers from call to call, or is fast for few values alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pace/audit/context.hpp"
#include "pace/audit/kept_operands.hpp"
#include "pace/audit/speed_on_unseen_values.hpp"
#include "pace/audit/unseen_effect.hpp"
#include "pace/audit/unseen_samples.hpp"
#include "pace/base/format.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/check.hpp"

namespace pace::detail {

/// Times calls on values that the candidate has not seen beside calls on values that are repeated, and measures the
/// speed-up over the baseline there.
class KeptAnswers final : public Check {
 public:
  /// Both must outlive it.
  KeptAnswers(AuditContext& audit, SpeedOnUnseenValues& speed) : audit_(audit), speed_(speed) {}
  [[nodiscard]] std::string find_fault(Implementation& implementation) override;

 private:
  [[nodiscard]] std::string describe_slow_calls(Implementation& implementation, UnseenSamples& samples, CallTimes own,
                                                CallTimes of_baseline);

  AuditContext& audit_;
  SpeedOnUnseenValues& speed_;
};

/// Whether its calls take longer on unseen values than on the same ones again, or than where they
/// are repeated, and whether they are right there. What the processor may have learned of known values is no fault
/// where SpeedOnUnseenValues has a figure, against which gates hold it. The time for it is a share of the budget, or
/// up to most_time_of_question() where few calls take as long. One trial at a time may take up to
/// most_time_of_short_question().
inline std::string KeptAnswers::find_fault(Implementation& implementation) {
  constexpr double fewest_long_trials = 3, most_trials = 16, attempts = SpeedOnUnseenValues::attempts,
                   slack_in_resolutions = 20, calls_of_trial = 6, bytes_in_nanosecond = 4;
  constexpr auto question = "whether it keeps answers from call to call";
  if (!audit_.answers->takes_unseen()) {
    if (audit_.lacks_unseen_values())
      audit_.leave_out(implementation.index,
                       std::string(question) + ", since the baseline takes no values of its operands but those given",
                       "If these are the only valid ones, declare that: check::CheckOptions::unseen_values = none");
    return {};
  }
  const Nanoseconds usual = audit_.shortest_of(implementation.index) + audit_.shortest_of(audit_.baseline_index);
  const Nanoseconds time = AuditContext::audit_share * audit_.options.budget;
  const Nanoseconds most_time = audit_.most_time_of_question();
  // Few trials can be made of long calls, so that one without an effect ends the question.
  bool one_by_one = attempts * fewest_long_trials * calls_of_trial * usual > most_time;
  if (one_by_one && calls_of_trial * usual > audit_.most_time_of_short_question()) {
    audit_.leave_out_too_long(implementation.index, question, calls_of_trial * usual);
    return {};
  }
  // A step of a training has no spare operands. Where a device replays calls, samples do not repeat calls as they are
  // repeated here; where rounds have values of their own, what is kept for those given is of no use.
  const double calls = implementation.phases() != nullptr
                           ? 1
                           : std::min(speed_.calls_of_sample(usual), static_cast<double>(audit_.iterations));
  const std::int64_t repetitions = audit_.clock.modes() != nullptr ? 1 : audit_.iterations;
  const bool beside_given = audit_.clock.modes() == nullptr && !audit_.prepared.renew;
  UnseenSamples samples(audit_.clock, audit_.operands, *audit_.answers->unseen().operands, *audit_.source,
                        audit_.answers->unseen().renewal, static_cast<std::size_t>(std::max(1.0, calls)),
                        audit_.iterations, /*warm=*/!one_by_one, audit_.random());
  if (audit_.prepared.reuses_outputs(implementation.index) || !audit_.reused_by_baseline.empty())
    samples.let_outputs_be_overwritten();

  const OnOtherValues other = audit_.unseen_in_use();
  if (audit_.clock.modes() != nullptr)
    for (Implementation* const each : {&implementation, &audit_.baseline()}) samples.touch(*each);
  std::string wrong;
  Nanoseconds each = calls_of_trial * usual;
  CallTimes own_at_first, of_baseline_at_first;
  if (!one_by_one) {
    const Nanoseconds start = audit_.clock.now();
    own_at_first = samples.take(implementation, repetitions, beside_given, {});
    wrong = speed_.find_fault_of_sample(implementation, samples);
    of_baseline_at_first = samples.take(audit_.baseline(), repetitions, beside_given, {});
    each = audit_.clock.now() - start;
    // Calls that take longer than in the rounds may be those of an answer that was kept there.
    one_by_one = attempts * fewest_long_trials * each > most_time;
  }
  std::optional<UnseenEffect> effect;
  if (wrong.empty() && one_by_one && each > audit_.most_time_of_short_question()) {
    // Where its own calls on unseen values alone take the time, these are the answer.
    wrong = describe_slow_calls(implementation, samples, own_at_first, of_baseline_at_first);
    if (wrong.empty()) audit_.leave_out_too_long(implementation.index, question, each);
  } else if (wrong.empty()) {
    const bool few = SpeedOnUnseenValues::fewest_trials * each > most_time;
    const double trials = each.count() > 0 ? time / (attempts * each) : most_trials;
    const auto own = [&](std::span<const std::size_t> kept) -> std::optional<CallTimes> {
      samples.next_trial();
      const CallTimes times = samples.take(implementation, repetitions, beside_given, kept);
      wrong = speed_.find_fault_of_sample(implementation, samples);
      return wrong.empty() ? std::optional<CallTimes>(times) : std::nullopt;
    };
    // The speed-up on unseen values takes from gates what the processor may have learned, where there is one. Phases of
    // a step have gates of their own, a device learns nothing, and the figure beside samples on the values given is
    // less strict.
    bool excusing = speed_.measures(implementation) && implementation.phases() == nullptr &&
                    audit_.clock.modes() == nullptr && !samples.takes_given();
    const auto effect_with = [&](std::span<const std::size_t> kept) {
      effect = find_unseen_effect(
          one_by_one ? 1
                     : static_cast<std::size_t>(std::clamp(
                           trials, few ? fewest_long_trials : SpeedOnUnseenValues::fewest_trials, most_trials)),
          slack_in_resolutions * audit_.clock.resolution() / static_cast<double>(samples.calls()),
          Nanoseconds(bytes_of(audit_.operands.pristine) / bytes_in_nanosecond), [&] { return own(kept); },
          [&] { return std::optional<CallTimes>(samples.take(audit_.baseline(), repetitions, beside_given, kept)); },
          static_cast<std::size_t>(one_by_one ? attempts * fewest_long_trials : attempts));
      return (effect && !(excusing && effect->may_be_learned())) || !wrong.empty();
    };
    std::vector<std::size_t> keeps = audit_.operands.keeps;
    const auto enter_effect = [&](const UnseenEffect found) {
      const bool late = found.beside == UnseenEffect::Beside::afterwards;
      const auto kept = late ? std::vector<std::size_t>() : find_kept_operands(audit_, effect_with);
      if (late)
        wrong = found.describe();
      else if (wrong.empty() && (kept.empty() || found.factor > AuditContext::most_undeclared_effect))
        wrong =
            found.describe() +
            (!kept.empty()
                 ? ": it keeps what it derives from operand tensor " + listed(kept) + ". " + AuditContext::keeps_hint()
             : found.beside == UnseenEffect::Beside::given
                 ? ": it keeps an answer, or is fast for few values alone. If it rightly takes a "
                   "shorter way for the values given, give each round values of its own: .renew_each_round(function)"
                 : ": it keeps answers. " + AuditContext::keeps_hint());
      else if (wrong.empty()) {
        audit_.notes.push_back(audit_.note_on_kept_operands(implementation, kept));
        audit_.keeps.push_back(implementation.index);
        keeps.insert(keeps.end(), kept.begin(), kept.end());
      }
    };
    const bool shows = effect_with(audit_.operands.keeps);
    if (shows && wrong.empty()) enter_effect(*effect);
    const bool may_be_excused = excusing && effect.has_value();
    if (wrong.empty()) wrong = speed_.find_fault(implementation, samples, keeps);
    excusing = false;
    // Without a figure nothing takes from gates what was excused.
    if (wrong.empty() && may_be_excused && !speed_.has_figure(implementation.index) && effect_with(keeps) &&
        wrong.empty())
      enter_effect(*effect);
  }
  audit_.repair(0);
  return wrong;
}
/// Returns what is wrong with an implementation whose calls on unseen values take far longer than those of the rounds,
/// in a sample like `own` and in some single calls, though those of the baseline do not; empty if nothing is, or if no
/// time is left to know it.
inline std::string KeptAnswers::describe_slow_calls(Implementation& implementation, UnseenSamples& samples,
                                                    CallTimes own, CallTimes of_baseline) {
  constexpr double times = 100, calls_of_trial = 8;
  constexpr int trials = 3;
  // The calls of the rounds were on values of the user's, which these are not.
  if (audit_.prepared.renew) return {};
  const Nanoseconds usual = audit_.shortest_of(implementation.index);
  samples.make_single();
  for (int trial = 0; trial <= trials; ++trial) {
    if (trial > 0) {
      if (calls_of_trial * (own.on_unseen + of_baseline.on_unseen) > time_left(audit_.clock)) return {};
      of_baseline = samples.take(audit_.baseline(), 1, /*beside_given=*/false, audit_.operands.keeps);
      own = samples.take(implementation, 1, /*beside_given=*/false, audit_.operands.keeps);
    }
    if (own.on_unseen <= times * std::max(usual, of_baseline.on_unseen)) return {};
  }
  return "its calls take " + format_time(own.on_unseen) + " on unseen values, and took " + format_time(usual) +
         " in the rounds; those of the baseline take " + format_time(of_baseline.on_unseen) +
         ": it is fast for few values alone. " + AuditContext::keeps_hint();
}
}  // namespace pace::detail
