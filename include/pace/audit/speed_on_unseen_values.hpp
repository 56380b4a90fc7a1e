// SpeedOnUnseenValues: whether a candidate keeps answers from call to call, by its speed-up on unseen values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "pace/audit/baseline_limit.hpp"
#include "pace/audit/context.hpp"
#include "pace/audit/kept_operands.hpp"
#include "pace/audit/learn_baseline_limit.hpp"
#include "pace/audit/unseen_pairs.hpp"
#include "pace/audit/unseen_ratios.hpp"
#include "pace/audit/unseen_samples.hpp"
#include "pace/base/format.hpp"
#include "pace/base/spelling.hpp"
#include "pace/gate/excess.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/unseen/check.hpp"
#include "pace/values/unseen_values.hpp"

namespace pace::detail {

/// Measures the speed-up over the baseline on unseen values. A candidate that keeps results by address, version,
/// content or repetition loses its advantage there. A large loss is a fault. A smaller one may be what the processor
/// learns of values, such as branches: gates are held against the smaller figure.
class SpeedOnUnseenValues final : public Check {
 public:
  /// Both must outlive it. `baseline_limit`: how long the baseline may take.
  SpeedOnUnseenValues(AuditContext& context, const BaselineLimit& baseline_limit)
      : context_(context), baseline_limit_(baseline_limit) {}
  [[nodiscard]] std::string find_fault(Implementation& implementation) override;

 private:
  [[nodiscard]] bool gates_use(Implementation& implementation) const;
  [[nodiscard]] std::string find_slow_calls(Implementation& implementation, UnseenSamples& samples, UnseenPairs& pairs);
  [[nodiscard]] std::string judge(Implementation& implementation, UnseenPairs& pairs);
  void leave_out(std::size_t index, const UnseenPairs& pairs, bool has_figure);

  AuditContext& context_;
  const BaselineLimit& baseline_limit_;
};

/// If rounds have the user's values, so have these samples. A device's clock times them as in the rounds.
inline std::string SpeedOnUnseenValues::find_fault(Implementation& implementation) {
  const auto& answers = *context_.answers;
  if (!answers.takes_unseen()) {
    if (context_.lacks_unseen_values())
      context_.leave_out(implementation.index,
                         "whether it keeps answers from call to call, since the baseline takes no values of its "
                         "operands but those given",
                         "if these are the only valid ones, declare that: " +
                             spelled("check::CheckOptions::unseen_values = none in C++, --audit standard on a command "
                                     "line",
                                     "check(unseen_values=\"none\")"));
    return {};
  }
  if (!(context_.in_rounds.speedups.at(implementation.index) > 0)) return {};
  if (context_.slow_for_now == implementation.index) return {};
  const Nanoseconds usual = context_.shortest_of(implementation.index) + context_.shortest_of(context_.baseline_index);
  const std::size_t calls =
      std::min(calls_of_unseen_sample(context_, usual), static_cast<std::size_t>(context_.iterations));
  UnseenSamples samples(context_.clock, context_.operands, *answers.unseen().operands, calls, context_.iterations,
                        context_.random());
  if (context_.prepared.reuses_outputs(implementation.index) || !context_.reused_by_baseline.empty())
    samples.let_outputs_be_overwritten();
  const UnseenValuesInUse in_use =
      context_.prepared.renew ? UnseenValuesInUse(round_values, remedy_of_round_values) : context_.unseen_in_use();
  if (context_.clock.modes() != nullptr)
    for (Implementation* const each : {&implementation, &context_.baseline()}) samples.touch(*each);
  UnseenPairs pairs(context_, baseline_limit_, implementation, samples, context_.most_time_of_short_check());
  if (auto problem = find_slow_calls(implementation, samples, pairs); !problem.empty()) return problem;
  return judge(implementation, pairs);
}

/// Whether the figure is one for gates. A device's wall clock includes the wait for the device, which weighs more in
/// few calls. Its other clocks make an untimed step of a training first, which would see the values.
inline bool SpeedOnUnseenValues::gates_use(Implementation& implementation) const {
  if (context_.clock.modes() == nullptr) return true;
  const ClockChoice clock = context_.clock.modes()->selected();
  if (clock == ClockChoice::wall) return false;
  return implementation.phases() == nullptr || clock == ClockChoice::graph || clock == ClockChoice::cold;
}

/// Makes pairs of single calls first. Returns the fault of calls that are far slower than in the rounds, unlike the
/// baseline's: they leave no time for the figure. Otherwise they decide how many calls a sample has.
inline std::string SpeedOnUnseenValues::find_slow_calls(Implementation& implementation, UnseenSamples& samples,
                                                        UnseenPairs& pairs) {
  // One cheat was ten thousand times slower. The figure itself finds smaller factors, so this only has to save time.
  constexpr double times = 100;
  constexpr int trials = 3;
  // The user's function may have only as many values as there are rounds.
  if (context_.prepared.renew) return {};
  const Nanoseconds usual = context_.shortest_of(implementation.index);
  const std::size_t most_calls = samples.calls();
  for (int trial = 1;; ++trial) {
    samples.hold_calls_to(1);
    const Nanoseconds start = context_.clock.now();
    const auto pair = pairs.take(context_.operands.constant);
    if (!pair) return pairs.wrong();
    const Nanoseconds own = pair->own.on_unseen, of_baseline = pair->baseline.on_unseen;
    if (trial == 1) samples.hold_calls_to(std::min(most_calls, calls_of_unseen_sample(context_, own + of_baseline)));
    if (own <= times * std::max(usual, of_baseline)) return {};
    if (trial == trials)
      return "its calls take " + format_time(own) + " on unseen values, and took " + format_time(usual) +
             " in the rounds; the baseline's calls take " + format_time(of_baseline) +
             ": it is fast for few values alone" + AuditContext::keeps_hint();
    if (context_.clock.now() - start > time_left(context_.clock)) return {};
  }
}

inline std::string SpeedOnUnseenValues::judge(Implementation& implementation, UnseenPairs& pairs) {
  const std::size_t index = implementation.index;
  const double in_rounds = context_.in_rounds.speedups.at(index);
  const auto exceeds = [&](const UnseenSpeed& speed) {
    return is_exceeded_by(speed, in_rounds, context_.in_rounds.of_phases.at(index));
  };
  auto found = pairs.measure(context_.operands.constant);
  bool open = !found;
  if (!pairs.wrong().empty()) return pairs.wrong();
  if (pairs.work_afterwards() > most_work_afterwards)
    return "reading and releasing its output takes " + format_significant(pairs.work_afterwards()) +
           " times as long as the call, beyond the baseline's: work is left until after the timed call";
  if (found && exceeds(*found)) {
    // It may keep what it derives from operands, such as packed weights.
    std::optional<UnseenSpeed> beside_kept;
    const auto kept = find_kept_operands(context_, [&](std::span<const std::size_t> keeping) {
      const auto again = pairs.measure(keeping);
      open = open || !again;
      const bool shows = !again || exceeds(*again);
      if (!shows) beside_kept = again;
      return shows;
    });
    if (!pairs.wrong().empty()) return pairs.wrong();
    const bool explained = !kept.empty() && beside_kept.has_value();
    const double excess = gate::excess_of(in_rounds, in_rounds, found->speedup);
    const double most = explained ? AuditContext::most_undeclared_effect : most_excusable_excess;
    if (excess > most && (explained || !open))
      return describe_excess(in_rounds, found->speedup) +
             (explained ? ": it keeps what it derives from operand tensor " + listed(kept) + AuditContext::keeps_hint()
                        : ": it keeps answers, or is fast for few values alone" + AuditContext::keeps_hint() +
                              "; or give each round values of its own: .renew_each_round(function)");
    if (explained) {
      found = beside_kept;
      open = false;
      context_.notes.push_back(context_.note_on_kept_operands(implementation, kept));
      context_.keeps.push_back(index);
    }
  }
  if (found && gates_use(implementation)) {
    if (!found->note.empty()) context_.notes.push_back(found->note);
    // Without time to look for kept operands, the figure proves nothing. Gates that it fails are undecided.
    if (open) {
      found->speedup.interval.reset();
      found->phases.clear();
    }
    context_.on_unseen_values.push_back(*found);
  }
  if (open) leave_out(index, pairs, found.has_value());
  return {};
}

/// Notes why there is no figure, or why a kept operand may still explain it.
inline void SpeedOnUnseenValues::leave_out(std::size_t index, const UnseenPairs& pairs, bool has_figure) {
  const std::string what = has_figure ? "whether an operand that stays excuses that it is slower on unseen values"
                                      : "how fast it is on unseen values";
  if (!pairs.not_drawn().empty())
    context_.leave_out(index, what + ", since no values could be drawn: " + pairs.not_drawn(),
                       "let the function of .renew_each_round() write values as often as it is called");
  else if (pairs.is_untimed())
    context_.leave_out(index, what + ", since a sample took no time by the clock",
                       "a clock that is not set back while it times");
  else
    context_.leave_out_too_long(index, what, pairs.wanted());
}

}  // namespace pace::detail
