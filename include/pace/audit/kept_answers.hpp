// KeptAnswers: whether a candidate keeps answers from call to call, or is fast on few values alone.
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

/// Times calls on unseen values beside the same calls repeated, and measures the speed-up over the baseline there.
class KeptAnswers final : public Check {
 public:
  /// Both must outlive it.
  KeptAnswers(AuditContext& context, SpeedOnUnseenValues& speed) : context_(context), speed_(speed) {}
  [[nodiscard]] std::string find_fault(Implementation& implementation) override;

 private:
  static constexpr double attempts = SpeedOnUnseenValues::attempts, fewest_long_trials = 3, most_trials = 16,
                          calls_of_trial = 6;
  static constexpr auto checked = "whether it keeps answers from call to call";

  /// The trials of one implementation, and their findings.
  struct Trials {
    Implementation& implementation;
    UnseenSamples& samples;
    std::int64_t repetitions = 1;
    /// Whether samples on the values given stand beside them.
    bool beside_given = false;
    /// Calls are too long for several trials, so one without an effect ends the check.
    bool one_by_one = false;
    /// The time of one trial, and the limit for all.
    Nanoseconds each{}, most_time{};
    /// Whether effects that the processor may have learned are left to gates.
    bool excusing = false;
    std::optional<UnseenEffect> effect = {};
    std::string wrong = {};
    /// Operands that keep their values when the speed-up is measured.
    std::vector<std::size_t> keeps = {};
  };

  [[nodiscard]] std::size_t calls_of_sample(Implementation& implementation, Nanoseconds usual) const;
  void make(Trials& trials);
  void make_several(Trials& trials);
  [[nodiscard]] bool shows_effect(Trials& trials, std::span<const std::size_t> kept);
  void enter_effect(Trials& trials);
  [[nodiscard]] std::string describe_slow_calls(Implementation& implementation, UnseenSamples& samples, CallTimes own,
                                                CallTimes of_baseline);

  AuditContext& context_;
  SpeedOnUnseenValues& speed_;
};

/// Long calls may take up to most_time_of_check(), or one trial at a time up to most_time_of_short_check().
inline std::string KeptAnswers::find_fault(Implementation& implementation) {
  if (!context_.answers->takes_unseen()) {
    if (context_.lacks_unseen_values())
      context_.leave_out(implementation.index,
                         std::string(checked) + ", since the baseline takes no values of its operands but those given",
                         "if these are the only valid ones, declare that: check::CheckOptions::unseen_values = none in "
                         "C++, --audit standard on a command line");
    return {};
  }
  const Nanoseconds usual = context_.shortest_of(implementation.index) + context_.shortest_of(context_.baseline_index);
  const Nanoseconds most_time = context_.most_time_of_check();
  const bool one_by_one = attempts * fewest_long_trials * calls_of_trial * usual > most_time;
  if (one_by_one && calls_of_trial * usual > context_.most_time_of_short_check()) {
    context_.leave_out_too_long(implementation.index, checked, calls_of_trial * usual);
    return {};
  }
  const auto& unseen = context_.answers->unseen();
  UnseenSamples samples(context_.clock, context_.operands, *unseen.operands, *context_.source, unseen.renewal,
                        calls_of_sample(implementation, usual), context_.iterations, /*warm=*/!one_by_one,
                        context_.random());
  if (context_.prepared.reuses_outputs(implementation.index) || !context_.reused_by_baseline.empty())
    samples.let_outputs_be_overwritten();
  // A device's samples do not repeat calls. Answers kept for the values given gain nothing if rounds have their own.
  const bool on_device = context_.clock.modes() != nullptr;
  Trials trials{.implementation = implementation,
                .samples = samples,
                .repetitions = on_device ? 1 : context_.iterations,
                .beside_given = !on_device && !context_.prepared.renew,
                .one_by_one = one_by_one,
                .each = calls_of_trial * usual,
                .most_time = most_time,
                .keeps = context_.operands.keeps};
  const UnseenValuesInUse in_use = context_.unseen_in_use();
  if (on_device)
    for (Implementation* const each : {&implementation, &context_.baseline()}) samples.touch(*each);
  make(trials);
  return trials.wrong;
}

/// A training step has no spare operands.
inline std::size_t KeptAnswers::calls_of_sample(Implementation& implementation, Nanoseconds usual) const {
  if (implementation.phases() != nullptr) return 1;
  return static_cast<std::size_t>(
      std::max(1.0, std::min(speed_.calls_of_sample(usual), static_cast<double>(context_.iterations))));
}

/// A first trial shows how long trials take. Calls longer than in the rounds may have kept answers there.
inline void KeptAnswers::make(Trials& trials) {
  CallTimes own_at_first, of_baseline_at_first;
  auto& samples = trials.samples;
  if (!trials.one_by_one) {
    const Nanoseconds start = context_.clock.now();
    own_at_first = samples.take(trials.implementation, trials.repetitions, trials.beside_given, {});
    trials.wrong = speed_.find_fault_of_sample(trials.implementation, samples);
    of_baseline_at_first = samples.take(context_.baseline(), trials.repetitions, trials.beside_given, {});
    trials.each = context_.clock.now() - start;
    trials.one_by_one = attempts * fewest_long_trials * trials.each > trials.most_time;
  }
  if (!trials.wrong.empty()) return;
  if (!trials.one_by_one || trials.each <= context_.most_time_of_short_check()) return make_several(trials);
  // If only its own calls take that long, they are the fault.
  trials.wrong = describe_slow_calls(trials.implementation, samples, own_at_first, of_baseline_at_first);
  if (trials.wrong.empty()) context_.leave_out_too_long(trials.implementation.index, checked, trials.each);
}

/// Gates discount effects that the processor may have learned, by the speed-up on unseen values. Without that figure
/// they are a fault. So they are for phases, which have gates of their own; on a device, which learns nothing; and
/// beside the values given, where the figure is less strict.
inline void KeptAnswers::make_several(Trials& trials) {
  auto& implementation = trials.implementation;
  trials.excusing = speed_.measures(implementation) && implementation.phases() == nullptr &&
                    context_.clock.modes() == nullptr && !trials.samples.takes_given();
  const bool shows = shows_effect(trials, context_.operands.keeps);
  if (shows && trials.wrong.empty()) enter_effect(trials);
  const bool may_be_excused = trials.excusing && trials.effect.has_value();
  if (trials.wrong.empty()) trials.wrong = speed_.find_fault(implementation, trials.samples, trials.keeps);
  trials.excusing = false;
  if (trials.wrong.empty() && may_be_excused && !speed_.has_figure(implementation.index) &&
      shows_effect(trials, trials.keeps) && trials.wrong.empty())
    enter_effect(trials);
}

/// Whether calls are slower or wrong on unseen values, while the operand tensors `kept` keep theirs.
inline bool KeptAnswers::shows_effect(Trials& trials, std::span<const std::size_t> kept) {
  constexpr double slack_in_resolutions = 20, bytes_in_nanosecond = 4;
  const bool few = SpeedOnUnseenValues::fewest_trials * trials.each > trials.most_time;
  const Nanoseconds time = AuditContext::audit_share * context_.options.budget;
  const double affordable = trials.each.count() > 0 ? time / (attempts * trials.each) : most_trials;
  const double several =
      std::clamp(affordable, few ? fewest_long_trials : SpeedOnUnseenValues::fewest_trials, most_trials);
  const auto take = [&](Implementation& which) {
    return trials.samples.take(which, trials.repetitions, trials.beside_given, kept);
  };
  const auto own = [&]() -> std::optional<CallTimes> {
    trials.samples.next_trial();
    const CallTimes times = take(trials.implementation);
    trials.wrong = speed_.find_fault_of_sample(trials.implementation, trials.samples);
    return trials.wrong.empty() ? std::optional<CallTimes>(times) : std::nullopt;
  };
  trials.effect = find_unseen_effect(
      trials.one_by_one ? 1 : static_cast<std::size_t>(several),
      slack_in_resolutions * context_.clock.resolution() / static_cast<double>(trials.samples.calls()),
      Nanoseconds(bytes_of(context_.operands.pristine) / bytes_in_nanosecond), own,
      [&] { return std::optional<CallTimes>(take(context_.baseline())); },
      static_cast<std::size_t>(trials.one_by_one ? attempts * fewest_long_trials : attempts));
  return (trials.effect && !(trials.excusing && trials.effect->may_be_learned())) || !trials.wrong.empty();
}

/// An effect is a fault, unless an operand is kept, which becomes a note.
inline void KeptAnswers::enter_effect(Trials& trials) {
  const UnseenEffect found = *trials.effect;
  if (found.beside == UnseenEffect::Beside::afterwards) {
    trials.wrong = found.describe();
    return;
  }
  const auto kept =
      find_kept_operands(context_, [&](std::span<const std::size_t> keeping) { return shows_effect(trials, keeping); });
  if (!trials.wrong.empty()) return;
  if (!kept.empty() && found.factor <= AuditContext::most_undeclared_effect) {
    context_.notes.push_back(context_.note_on_kept_operands(trials.implementation, kept));
    context_.keeps.push_back(trials.implementation.index);
    trials.keeps.insert(trials.keeps.end(), kept.begin(), kept.end());
    return;
  }
  std::string what = ": it keeps answers" + AuditContext::keeps_hint();
  if (!kept.empty())
    what = ": it keeps what it derives from operand tensor " + listed(kept) + AuditContext::keeps_hint();
  else if (found.beside == UnseenEffect::Beside::given)
    what =
        ": it keeps an answer, or is fast for few values alone. If it rightly takes a shorter way for the values "
        "given, give each round values of its own: .renew_each_round(function)";
  trials.wrong = found.describe() + what;
}

/// Returns the fault of calls far slower on unseen values than in the rounds, unlike the baseline's, both in a sample
/// like `own` and in single calls. Empty for none, or if no time is left.
inline std::string KeptAnswers::describe_slow_calls(Implementation& implementation, UnseenSamples& samples,
                                                    CallTimes own, CallTimes of_baseline) {
  constexpr double times = 100, calls_of_trial = 8;
  constexpr int trials = 3;
  // The rounds had the user's values, which these are not.
  if (context_.prepared.renew) return {};
  const Nanoseconds usual = context_.shortest_of(implementation.index);
  samples.make_single();
  for (int trial = 0; trial <= trials; ++trial) {
    if (trial > 0) {
      if (calls_of_trial * (own.on_unseen + of_baseline.on_unseen) > time_left(context_.clock)) return {};
      of_baseline = samples.take(context_.baseline(), 1, /*beside_given=*/false, context_.operands.keeps);
      own = samples.take(implementation, 1, /*beside_given=*/false, context_.operands.keeps);
    }
    if (own.on_unseen <= times * std::max(usual, of_baseline.on_unseen)) return {};
  }
  return "its calls take " + format_time(own.on_unseen) + " on unseen values, and took " + format_time(usual) +
         " in the rounds; those of the baseline take " + format_time(of_baseline.on_unseen) +
         ": it is fast for few values alone" + AuditContext::keeps_hint();
}
}  // namespace pace::detail
