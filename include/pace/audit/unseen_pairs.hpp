// UnseenPairs: pairs of samples, one of each side, on the same unseen values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/audit/baseline_limit.hpp"
#include "pace/audit/context.hpp"
#include "pace/audit/time_pairs.hpp"
#include "pace/audit/unseen_ratios.hpp"
#include "pace/audit/unseen_samples.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Draws unseen values for `samples`, with the user's function if it writes those of rounds. May throw what that does.
inline void draw_unseen(AuditContext& context, UnseenSamples& samples, std::span<const std::size_t> keeping) {
  samples.draw_unseen(keeping, [&](OperandSet& operands, const std::vector<at::Tensor>& tensors) {
    if (!context.prepared.renew) return context.source->draw(context.answers->unseen().kind, tensors, keeping);
    const RandomStateKept generators;
    write_values(context.operands.given, tensors);
    reset_random_state(context.random());
    context.prepared.renew(operands);
  });
}

/// Takes pairs of one candidate and the baseline, and makes one speed-up of them. Nothing in a result without values, a
/// clock, or time: wrong(), not_drawn() and is_untimed() tell why.
class UnseenPairs {
 public:
  /// All must outlive it. All pairs together may take `most`.
  UnseenPairs(AuditContext& context, const BaselineLimit& baseline_limit, Implementation& implementation,
              UnseenSamples& samples, Nanoseconds most)
      : context_(context),
        baseline_limit_(baseline_limit),
        implementation_(implementation),
        samples_(samples),
        all_{.start = context.clock.now(), .most = most} {}

  /// Returns the speed-up while the operand tensors `keeping` keep their values. The baseline's time counts up to its
  /// limit.
  [[nodiscard]] std::optional<UnseenSpeed> measure(std::span<const std::size_t> keeping);
  /// Times a sample of each side, before measure(): its time counts apart.
  [[nodiscard]] std::optional<PairOnUnseenValues> take(std::span<const std::size_t> keeping) {
    Taken single;
    auto pair = take(keeping, single);
    all_.start = context_.clock.now();
    return pair;
  }

  /// The fault of outputs, and why no values could be drawn.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  [[nodiscard]] const std::string& not_drawn() const { return not_drawn_; }
  /// Whether the clock was set back in a sample.
  [[nodiscard]] bool is_untimed() const { return untimed_; }
  /// The time that the pairs wanted last would have taken.
  [[nodiscard]] Nanoseconds wanted() const { return std::max(all_.wanted, context_.clock.now() - all_.start); }
  /// How much longer its output takes to be read than the baseline's, in shares of a call's time: the lower quartile.
  [[nodiscard]] double work_afterwards() const {
    return afterwards_.size() < fewest_pairs ? 0 : stats::quantile(stats::sorted(afterwards_), 0.25);
  }

 private:
  /// Time taken since `start`, the limit, and the time with the pairs wanted last.
  struct Taken {
    Nanoseconds start{}, most{}, of_drawing{}, wanted{};
    std::size_t pairs = 0;
  };
  [[nodiscard]] HeldSpeed take_held(std::span<const std::size_t> keeping, Taken& taken,
                                    FunctionRef<Nanoseconds()> longest);
  [[nodiscard]] std::optional<PairOnUnseenValues> take(std::span<const std::size_t> keeping, Taken& taken);
  [[nodiscard]] bool time_is_left(std::size_t more, Taken& taken, bool suspicious) const;
  [[nodiscard]] std::string find_fault_of_sample();
  [[nodiscard]] PhasesInRounds phases_in_rounds() const;

  AuditContext& context_;
  const BaselineLimit& baseline_limit_;
  Implementation& implementation_;
  UnseenSamples& samples_;
  Taken all_;
  std::string wrong_, not_drawn_;
  bool untimed_ = false;
  std::vector<double> afterwards_;
};

inline std::optional<UnseenSpeed> UnseenPairs::measure(std::span<const std::size_t> keeping) {
  // A device's clock has no limit, since no other process could run beside it.
  if (context_.clock.modes() != nullptr) return take_held(keeping, all_, [] { return BaselineLimit::none; }).speed;
  auto found = take_held(keeping, all_, [&] { return baseline_limit_.longest(); });
  if (!found.decides) return found.speed;
  // If the machine has become slower, so has the untouched process.
  const UnseenRequest request(samples_.calls(), keeping);
  const bool untouched = baseline_limit_.longest_by_untouched(request, time_left(context_.clock)).has_value();
  Taken taken{.start = context_.clock.now(), .most = all_.most + BaselineLimit::time_beside_untouched};
  auto beside = take_held(keeping, taken, [&] {
    if (taken.pairs > 0) context_.clock.pause(pause_between_pairs);
    const auto there =
        untouched ? baseline_limit_.longest_by_untouched(request, time_left(context_.clock)) : std::nullopt;
    return there ? *there : baseline_limit_.longest_without_process();
  });
  if (!beside.speed) all_.wanted = taken.wanted;
  if (beside.speed && beside.mostly) beside.speed->note = BaselineLimit::note(untouched);
  return beside.speed;
}

/// Times of phases in the rounds, from the baseline's and the speed-ups.
inline PhasesInRounds UnseenPairs::phases_in_rounds() const {
  PhasesInRounds found{.baseline = context_.in_rounds.baseline_phases};
  const auto& speedups = context_.in_rounds.of_phases.at(implementation_.index);
  for (std::size_t i = 0; i < std::min(speedups.size(), found.baseline.size()); ++i)
    found.own.push_back(speedups[i] > 0 ? found.baseline[i] / speedups[i] : Nanoseconds());
  return found;
}

/// Takes pairs within `taken.most`. The baseline's time counts up to `longest()`.
inline HeldSpeed UnseenPairs::take_held(std::span<const std::size_t> keeping, Taken& taken,
                                        FunctionRef<Nanoseconds()> longest) {
  const std::size_t index = implementation_.index;
  const double in_rounds = context_.in_rounds.speedups.at(index);
  const bool beside_given = samples_.takes_given();
  const Nanoseconds usual = context_.shortest_of(context_.baseline_index), usual_own = context_.shortest_of(index);
  std::size_t held = 0;
  std::vector<double> as_seen;
  bool suspicious = false;
  PhasesOnUnseenValues phases(phases_in_rounds());
  const auto pair = [&]() -> std::optional<PairRatio> {
    const Nanoseconds most = longest();
    const auto times = take(keeping, taken);
    untimed_ = times && !times->is_timed(beside_given);
    if (!times || untimed_) return std::nullopt;
    // The baseline's phases are limited like its whole call.
    const Nanoseconds of_baseline = context_.in_rounds.baseline;
    phases.add(*times, of_baseline.count() > 0 ? most / of_baseline : std::numeric_limits<double>::infinity());
    // A slow-down that calls on the values given share is not due to unseen ones.
    const Nanoseconds limit =
        beside_given && of_baseline.count() > 0 ? std::max(1.0, times->baseline.on_given / of_baseline) * most : most;
    const auto log_ratio = [&](Nanoseconds on_unseen) {
      CallTimes counted = times->baseline;
      counted.on_unseen = on_unseen;
      return beside_given ? log_ratio_beside_given(counted, times->own, usual, usual_own, in_rounds)
                          : log_ratio_in_few_calls(on_unseen, times->own, usual, usual_own);
    };
    as_seen.push_back(log_ratio(times->baseline.on_unseen));
    held += times->baseline.on_unseen > limit;
    const auto& own_times = times->own;
    PairRatio ratio{.counted = log_ratio(std::min(times->baseline.on_unseen, limit)),
                    .seen = std::log(times->baseline.on_unseen / own_times.on_unseen)};
    if (own_times.on_given.count() > 0) ratio.beside_given = std::log(own_times.on_given / own_times.on_unseen);
    suspicious = std::exp(ratio.counted) * most_excusable_excess < in_rounds;
    return ratio;
  };
  HeldSpeed found;
  const auto speedup =
      speed_on_unseen_values(in_rounds, pair, [&](std::size_t more) { return time_is_left(more, taken, suspicious); });
  if (!speedup) return found;
  found.speed.emplace(UnseenSpeed{.index = index, .speedup = *speedup, .phases = phases.speedups()});
  found.mostly = 2 * held > as_seen.size();
  // If the limit alone makes the figure excessive, the machine may have become slower since the rounds.
  found.decides = held > 0 && looks_excessive(in_rounds, *speedup) &&
                  looks_excessive(std::exp(stats::median(stats::sorted(as_seen))), *speedup);
  return found;
}

/// Whether `more` pairs may follow. The fewest pairs may take several times the limit: after a first pair that is
/// `suspicious`, and for large operands, whose drawing takes the time.
inline bool UnseenPairs::time_is_left(std::size_t more, Taken& taken, bool suspicious) const {
  // Not measured: more takes time from the other candidates, less leaves more figures unknown.
  constexpr double patience = 4;
  const Nanoseconds elapsed = context_.clock.now() - taken.start,
                    needed = static_cast<double>(more) / static_cast<double>(taken.pairs) * elapsed;
  const bool few = taken.pairs == 1 && more < stats::fewest_for_median_interval(unseen_confidence) - 1;
  const bool patient = few && (suspicious || taken.of_drawing > elapsed / 2);
  taken.wanted = elapsed + needed;
  return taken.wanted < (patient ? patience : 1) * taken.most && needed < time_left(context_.clock);
}

inline std::optional<PairOnUnseenValues> UnseenPairs::take(std::span<const std::size_t> keeping, Taken& taken) {
  constexpr std::size_t looked_at = 2;  // checks the output of one pair in so many
  // Slack for the first reading of an output, whose type may differ from the baseline's.
  constexpr Nanoseconds most_afterwards{1e3}, least_work_afterwards{5e3};
  const Nanoseconds before = context_.clock.now();
  try {
    draw_unseen(context_, samples_, keeping);
  } catch (...) {
    if (!context_.prepared.renew || current_failure().device != Failure::Device::fine) throw;
    not_drawn_ = current_message();
    return std::nullopt;
  }
  taken.of_drawing += context_.clock.now() - before;
  PairOnUnseenValues times;
  const auto time = [&](Implementation& which, CallTimes& side, std::vector<Nanoseconds>& phases) {
    side = samples_.take_unseen(which, keeping);
    // On a device, writing leaves values in the cache, unlike in the rounds.
    if (which.phases() != nullptr && context_.clock.modes() == nullptr) phases = which.phases()->times();
  };
  const bool baseline_first = context_.random.below(2) == 0;
  if (baseline_first) time(context_.baseline(), times.baseline, times.baseline_phases);
  time(implementation_, times.own, times.own_phases);
  wrong_ = context_.settings_changed();
  if (wrong_.empty() && context_.random.below(looked_at) == 0) wrong_ = find_fault_of_sample();
  if (!baseline_first) time(context_.baseline(), times.baseline, times.baseline_phases);
  ++taken.pairs;
  if (!wrong_.empty()) return std::nullopt;
  // Work that a call leaves until its output is read belongs to it.
  const Nanoseconds later = times.own.afterwards - times.baseline.afterwards;
  if (times.own.on_unseen.count() > 0) afterwards_.push_back((later - least_work_afterwards) / times.own.on_unseen);
  times.own.on_unseen += std::max(later - most_afterwards, Nanoseconds(0));
  return times;
}

/// Judges output and operands of the last sample. Skips random ones.
inline std::string UnseenPairs::find_fault_of_sample() {
  const c10::IValue output = samples_.take_output();
  auto& answers = *context_.answers;
  if (answers.given.random || !answers.can_compute_more()) return {};
  const auto answered = answers.baseline_output_for(context_.baseline(), samples_.values(), answers.unseen().seed);
  if (!answered) return {};
  const auto problem = answers.judge_output(output, samples_.operands_after(), *answered);
  if (problem.empty() || (answers.operands_agree(samples_.operands_after(), *answered) &&
                          context_.rounding_explains(output, answered->expected, samples_.values(), /*unseen=*/true)))
    return {};
  return AuditContext::in_timed_call(problem);
}

}  // namespace pace::detail
