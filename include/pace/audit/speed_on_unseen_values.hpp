// SpeedOnUnseenValues: the speed-up over the baseline on unseen values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/audit/context.hpp"
#include "pace/audit/kept_operands.hpp"
#include "pace/audit/time_pairs.hpp"
#include "pace/audit/unseen_effect.hpp"
#include "pace/audit/unseen_norm.hpp"
#include "pace/audit/unseen_samples.hpp"
#include "pace/audit/unseen_speed.hpp"
#include "pace/base/error.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/base/random.hpp"
#include "pace/result/options.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/stats/summary.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/timing/clock.hpp"
#include "pace/values/unseen_values.hpp"

namespace pace::detail {

/// Times pairs of samples, one of each side, on the same unseen values. The room `judge` holds gates against the
/// figure.
class SpeedOnUnseenValues {
 public:
  /// Trials of a check, samples of a trial, and attempts: they limit the calls of a sample.
  static constexpr double fewest_trials = 6, samples_of_trial = 7, attempts = 2;

  /// `context` must outlive it.
  explicit SpeedOnUnseenValues(AuditContext& context) : context_(context) {}

  /// Learns the norm: how much longer the baseline's calls take on unseen values than repeated ones. Call it after
  /// AuditContext::learn() and before any candidate. `options` limit its samples.
  void learn_norm(const Options& options);
  /// Sets how a process without candidates times the baseline on unseen values.
  void time_untouched_by(UnseenNorm::TimeUntouched time) { norm_.time_untouched_by(std::move(time)); }
  /// The median time of a call of the baseline in the rounds.
  void take_rounds(Nanoseconds baseline) { norm_.take_rounds(baseline); }
  /// In such a process: times a call of the baseline on unseen values.
  [[nodiscard]] Nanoseconds time_baseline(const UnseenRequest& request);

  /// Calls of a sample on unseen values, if one call of each side takes `usual` together.
  [[nodiscard]] double calls_of_sample(Nanoseconds usual) const {
    const double affordable =
        AuditContext::audit_share * context_.options.budget / (samples_of_trial * attempts * fewest_trials * usual);
    const double fitting = most_bytes / std::max(1.0, bytes_of(context_.operands.pristine));
    return std::max(1.0, std::min({affordable, fitting, most_calls}));
  }
  /// Whether find_fault() measures the speed-up of the implementation.
  [[nodiscard]] bool measures(Implementation& implementation) const {
    if (!(context_.in_rounds.speedups.at(implementation.index) > 0)) return false;
    if (context_.clock.modes() == nullptr) return true;
    const ClockChoice clock = context_.clock.modes()->selected();
    // Its wall clock includes the wait for the device, which weighs more in few calls.
    if (clock == ClockChoice::wall) return false;
    // Other clocks of a device make an untimed step first, which would see the values.
    return implementation.phases() == nullptr || clock == ClockChoice::graph || clock == ClockChoice::cold;
  }
  /// Whether it has found that speed-up.
  [[nodiscard]] bool has_figure(std::size_t index) const {
    const auto found = std::ranges::find(found_, index, &UnseenSpeed::index);
    return found != found_.end() && found->speedup.interval.has_value();
  }
  /// Moves out the speed-ups that were found.
  [[nodiscard]] std::vector<UnseenSpeed> take_found() { return std::exchange(found_, {}); }
  /// Measures the speed-up while the operand tensors `kept` have the values given. Returns the fault of outputs.
  [[nodiscard]] std::string find_fault(Implementation& implementation, UnseenSamples& samples,
                                       std::span<const std::size_t> kept);
  /// Judges the output of the last sample on unseen values.
  [[nodiscard]] std::string find_fault_of_sample(Implementation& implementation, UnseenSamples& samples);

 private:
  static constexpr double most_calls = 16, most_bytes = 1 << 20;

  /// The pairs of samples of one implementation.
  struct Pairs {
    /// Time taken since `start`, the limit, and the time with the pairs wanted last.
    struct Taken {
      Nanoseconds start{}, most{}, of_drawing{}, wanted{};
      std::size_t pairs = 0;
    };
    Implementation& implementation;
    UnseenSamples& samples;
    Taken all = {};
    /// The fault of outputs, and why no values could be drawn.
    std::string wrong = {}, not_drawn = {};
    /// The clock was set back in a sample; no time was left beside the untouched process.
    bool untimed = false, cut_short = false;
  };
  [[nodiscard]] std::optional<UnseenSpeed> measure(Pairs& pairs, std::span<const std::size_t> keeping);
  [[nodiscard]] HeldSpeed take_pairs_held(Pairs& pairs, std::span<const std::size_t> keeping, Pairs::Taken& taken,
                                          FunctionRef<Nanoseconds()> longest);
  [[nodiscard]] std::optional<PairOnUnseenValues> take_pair(Pairs& pairs, std::span<const std::size_t> keeping,
                                                            Pairs::Taken& taken);
  [[nodiscard]] PhasesInRounds phases_in_rounds(std::size_t index) const;
  void draw(UnseenSamples& samples, std::span<const std::size_t> keeping);
  void leave_out(const Pairs& pairs, bool has_figure);

  AuditContext& context_;
  UnseenNorm norm_;
  std::vector<UnseenSpeed> found_;
};

/// Measures the speed-up on unseen values. A candidate that keeps results by address, version, content or repetition
/// loses its advantage here. If rounds have the user's values, so have these samples. A device's clock times them as in
/// the rounds, except for its wall clock.
inline std::string SpeedOnUnseenValues::find_fault(Implementation& implementation, UnseenSamples& samples,
                                                   std::span<const std::size_t> kept) {
  if (!measures(implementation)) return {};
  std::optional<UnseenValuesInUse> by_user;
  if (context_.prepared.renew) by_user.emplace(renewed_values, remedy_of_renewed_values);
  Pairs pairs{.implementation = implementation,
              .samples = samples,
              .all = {.start = context_.clock.now(), .most = context_.most_time_of_short_check()}};
  auto found = measure(pairs, kept);
  bool open = !found;
  const auto exceeds = [&](const UnseenSpeed& speed) {
    return is_exceeded_by(speed, context_.in_rounds.speedups.at(implementation.index),
                          context_.in_rounds.of_phases.at(implementation.index));
  };
  if (found && exceeds(*found)) {
    // It may keep what it derives from operands, such as packed weights.
    std::optional<UnseenSpeed> beside_kept;
    const auto keeps = find_kept_operands(context_, [&](std::span<const std::size_t> keeping) {
      const auto again = measure(pairs, keeping);
      open = open || !again;
      const bool shows = !again || exceeds(*again);
      if (!shows) beside_kept = again;
      return shows;
    });
    if (!keeps.empty() && pairs.wrong.empty() && beside_kept) {
      found = beside_kept;
      open = false;
      context_.notes.push_back(context_.note_on_kept_operands(implementation, keeps));
      context_.keeps.push_back(implementation.index);
    }
  }
  if (!pairs.wrong.empty()) return pairs.wrong;
  if (found) {
    if (!found->note.empty()) context_.notes.push_back(found->note);
    // Without time to look for kept operands, the figure proves nothing. Gates that it fails are undecided.
    if (open) {
      found->speedup.interval.reset();
      found->phases.clear();
    }
    found_.push_back(*found);
  }
  if (open) leave_out(pairs, found.has_value());
  return {};
}

/// Notes why there is no figure, or why a kept operand may still explain it.
inline void SpeedOnUnseenValues::leave_out(const Pairs& pairs, bool has_figure) {
  const std::size_t index = pairs.implementation.index;
  const std::string what = has_figure ? "whether an operand that stays excuses that it is slower on unseen values"
                                      : "how fast it is on unseen values";
  const Nanoseconds elapsed = context_.clock.now() - pairs.all.start;
  if (!pairs.not_drawn.empty())
    context_.leave_out(index, what + ", since no values could be drawn: " + pairs.not_drawn,
                       "let the function of .renew_each_round() write values as often as it is called");
  else if (pairs.untimed)
    context_.leave_out(index, what + ", since a sample took no time by the clock",
                       "a clock that is not set back while it times");
  // Calls took the time, perhaps only outside of samples, so this is an objection.
  else if (has_figure || pairs.cut_short || pairs.all.of_drawing < elapsed / 2)
    context_.leave_out_too_long(index, what, std::max(pairs.all.wanted, elapsed));
  else
    context_.notes.push_back('\'' + context_.prepared.result.implementations[index].name + "': it was not checked " +
                             what + ", since its operands take too long to be drawn (--budget).");
}

/// Returns the speed-up while the operand tensors `keeping` keep their values. The baseline's time counts up to its
/// norm.
inline std::optional<UnseenSpeed> SpeedOnUnseenValues::measure(Pairs& pairs, std::span<const std::size_t> keeping) {
  // A device's clock has no norm, since no other process could run beside it.
  if (context_.clock.modes() != nullptr)
    return take_pairs_held(pairs, keeping, pairs.all, [] { return UnseenNorm::none; }).speed;
  auto found = take_pairs_held(pairs, keeping, pairs.all, [&] { return norm_.longest(); });
  if (!found.decides) return found.speed;
  // If the machine has become slower, so has the untouched process.
  const UnseenRequest request(pairs.samples.calls(), keeping);
  const bool untouched = norm_.longest_by_untouched(request, time_left(context_.clock)).has_value();
  Pairs::Taken taken{.start = context_.clock.now(), .most = pairs.all.most + UnseenNorm::time_beside_untouched};
  auto beside = take_pairs_held(pairs, keeping, taken, [&] {
    if (taken.pairs > 0) context_.clock.pause(pause_between_pairs);
    const auto there = untouched ? norm_.longest_by_untouched(request, time_left(context_.clock)) : std::nullopt;
    return there ? *there : norm_.longest_without_process();
  });
  pairs.cut_short = !beside.speed;
  if (pairs.cut_short) pairs.all.wanted = taken.wanted;
  if (beside.speed && beside.mostly) beside.speed->note = UnseenNorm::note(untouched);
  return beside.speed;
}

/// Times of phases in the rounds, from the baseline's and the speed-ups.
inline PhasesInRounds SpeedOnUnseenValues::phases_in_rounds(std::size_t index) const {
  PhasesInRounds found{.baseline = context_.in_rounds.baseline_phases};
  const auto& speedups = context_.in_rounds.of_phases.at(index);
  for (std::size_t i = 0; i < std::min(speedups.size(), found.baseline.size()); ++i)
    found.own.push_back(speedups[i] > 0 ? found.baseline[i] / speedups[i] : Nanoseconds());
  return found;
}

/// Takes pairs within `taken.most`. The baseline's time counts up to `longest()`.
inline HeldSpeed SpeedOnUnseenValues::take_pairs_held(Pairs& pairs, std::span<const std::size_t> keeping,
                                                      Pairs::Taken& taken, FunctionRef<Nanoseconds()> longest) {
  // Drawing the fewest pairs may take so many times the limit: large operands have no figure otherwise.
  constexpr double patience = 4;
  const std::size_t index = pairs.implementation.index;
  const double in_rounds = context_.in_rounds.speedups.at(index);
  const bool beside_given = pairs.samples.takes_given();
  const Nanoseconds usual = context_.shortest_of(context_.baseline_index), usual_own = context_.shortest_of(index);
  std::size_t held = 0;
  std::vector<double> as_seen;
  PhasesOnUnseenValues phases(phases_in_rounds(index));
  const auto pair = [&]() -> std::optional<PairRatio> {
    const Nanoseconds most = longest();
    const auto times = take_pair(pairs, keeping, taken);
    pairs.untimed = times && !times->is_timed(beside_given);
    if (!times || pairs.untimed) return std::nullopt;
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
    return ratio;
  };
  const auto time_is_left = [&](std::size_t more) {
    const Nanoseconds elapsed = context_.clock.now() - taken.start,
                      needed = static_cast<double>(more) / static_cast<double>(taken.pairs) * elapsed;
    const bool few = taken.pairs == 1 && more < stats::fewest_for_median_interval(unseen_confidence) - 1;
    const bool of_drawing_alone = taken.of_drawing > elapsed / 2;
    taken.wanted = elapsed + needed;
    return taken.wanted < (few && of_drawing_alone ? patience : 1) * taken.most && needed < time_left(context_.clock);
  };
  HeldSpeed found;
  const auto speedup = speed_on_unseen_values(in_rounds, pair, time_is_left);
  if (!speedup) return found;
  found.speed.emplace(UnseenSpeed{.index = index, .speedup = *speedup, .phases = phases.speedups()});
  found.mostly = 2 * held > as_seen.size();
  // If the limit alone makes the figure excessive, the machine may have become slower since the rounds.
  found.decides = held > 0 && looks_excessive(in_rounds, *speedup) &&
                  looks_excessive(std::exp(stats::median(stats::sorted(as_seen))), *speedup);
  return found;
}

/// Times a sample of each side on the same unseen values; nothing if none could be drawn, or for a fault.
inline std::optional<PairOnUnseenValues> SpeedOnUnseenValues::take_pair(Pairs& pairs,
                                                                        std::span<const std::size_t> keeping,
                                                                        Pairs::Taken& taken) {
  constexpr std::size_t looked_at = 2;  // checks the output of one pair in so many
  // Slack for the first reading of an output, whose type may differ from the baseline's.
  constexpr Nanoseconds most_afterwards{1e3};
  const Nanoseconds before = context_.clock.now();
  try {
    draw(pairs.samples, keeping);
  } catch (...) {
    if (!context_.prepared.renew || current_failure().device != Failure::Device::fine) throw;
    pairs.not_drawn = current_message();
    return std::nullopt;
  }
  taken.of_drawing += context_.clock.now() - before;
  PairOnUnseenValues times;
  const auto time = [&](Implementation& which, CallTimes& side, std::vector<Nanoseconds>& phases) {
    side = pairs.samples.take_unseen(which, keeping);
    // On a device, writing leaves values in the cache, unlike in the rounds.
    if (which.phases() != nullptr && context_.clock.modes() == nullptr) phases = which.phases()->times();
  };
  const bool baseline_first = context_.random.below(2) == 0;
  if (baseline_first) time(context_.baseline(), times.baseline, times.baseline_phases);
  time(pairs.implementation, times.own, times.own_phases);
  pairs.wrong = context_.settings_changed();
  if (pairs.wrong.empty() && context_.random.below(looked_at) == 0)
    pairs.wrong = find_fault_of_sample(pairs.implementation, pairs.samples);
  if (!baseline_first) time(context_.baseline(), times.baseline, times.baseline_phases);
  ++taken.pairs;
  if (!pairs.wrong.empty()) return std::nullopt;
  // Work that a call leaves until its output is read belongs to it.
  times.own.on_unseen += std::max(times.own.afterwards - times.baseline.afterwards - most_afterwards, Nanoseconds(0));
  return times;
}

/// Draws unseen values, with the user's function if it writes those of rounds.
inline void SpeedOnUnseenValues::draw(UnseenSamples& samples, std::span<const std::size_t> keeping) {
  samples.draw_unseen(keeping, [&](OperandSet& operands, const std::vector<at::Tensor>& tensors) {
    if (!context_.prepared.renew) return context_.source->draw(context_.answers->unseen().renewal, tensors, keeping);
    const RandomStateKept generators;
    write_values(context_.operands.pristine, tensors);
    reset_random_state(context_.random());
    context_.prepared.renew(operands);
  });
}

/// Takes a hundredth of the budget, or one sample. If calls are too long, those on unseen values count as repeated
/// ones. Does not call the user's function, which may have only as many values as there are rounds.
inline void SpeedOnUnseenValues::learn_norm(const Options& options) {
  constexpr double share = 0.01, most_iterations = 1 << 10;
  constexpr int most_samples = 5;
  if (context_.clock.modes() != nullptr || context_.prepared.renew) return;
  if (!context_.answers || !context_.answers->checks() || !context_.answers->takes_unseen()) return;
  // The time decides how many samples there are, but must not decide what --check-seed repeats.
  SplitMix64 random(~context_.options.check_seed);
  UnseenValues source = context_.source->with_seed(random());
  try {
    (void)timing::take_sample(context_.clock, context_.baseline(), 0, 1);
    const Nanoseconds took = timing::take_sample(context_.clock, context_.baseline(), 0, 1),
                      most = share * context_.options.budget;
    if (took.count() <= 0) return;
    const double limit = options.max_iterations > 0 ? static_cast<double>(options.max_iterations) : most_iterations;
    const Nanoseconds wanted =
        std::max<Nanoseconds>(options.min_sample, options.resolutions_per_sample * context_.clock.resolution());
    const double repeated = std::clamp(wanted / took, 1.0, std::min(limit, most_iterations));
    // A step of a training has no spare operands.
    const double calls = context_.baseline().phases() != nullptr ? 1 : std::min(calls_of_sample(2 * took), limit);
    if ((3 * calls + repeated) * took > most) return;
    // Other work on the machine only adds to times.
    Nanoseconds on_unseen = UnseenNorm::none, on_known = UnseenNorm::none;
    int samples = 0;
    {
      UnseenSamples taken(context_.clock, context_.operands, *context_.answers->unseen().operands, source,
                          context_.answers->unseen().renewal, static_cast<std::size_t>(calls), /*repeated=*/1,
                          /*warm=*/false, random());
      const UnseenValuesInUse in_use = context_.unseen_in_use();
      for (const Nanoseconds start = context_.clock.now();
           samples < most_samples && (samples == 0 || context_.clock.now() - start < most); ++samples) {
        taken.draw_unseen(context_.operands.keeps, [&](OperandSet&, const std::vector<at::Tensor>& tensors) {
          source.draw(context_.answers->unseen().renewal, tensors, context_.operands.keeps);
        });
        on_unseen = std::min(on_unseen, taken.take_unseen(context_.baseline(), context_.operands.keeps).on_unseen);
      }
    }
    context_.repair(0);
    // Last, so that the baseline keeps what the values given leave.
    const auto iterations = static_cast<std::int64_t>(repeated);
    for (int i = 0; i < samples; ++i)
      on_known =
          std::min<Nanoseconds>(on_known, timing::take_sample(context_.clock, context_.baseline(), 0, iterations) /
                                              static_cast<double>(iterations));
    norm_.learn(on_unseen, on_known);
  } catch (...) {
    // It does not take these values, or memory ran out, which checks after the rounds handle. Until then, calls on
    // unseen values count as repeated ones.
    context_.repair(0);
  }
}

/// The median of some samples, after one that warms code and memory.
inline Nanoseconds SpeedOnUnseenValues::time_baseline(const UnseenRequest& request) {
  constexpr int samples = 3;
  if (!context_.answers->takes_unseen()) throw Error("the baseline takes no unseen values");
  const auto kept = request.kept_operands();
  UnseenSamples taken(context_.clock, context_.operands, *context_.answers->unseen().operands, *context_.source,
                      context_.answers->unseen().renewal, request.calls, /*repeated=*/1, /*warm=*/false,
                      context_.random());
  const auto take = [&] {
    draw(taken, kept);
    return taken.take_unseen(context_.baseline(), kept).on_unseen.count();
  };
  (void)take();
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) times.push_back(take());
  return Nanoseconds(stats::median(stats::sorted(std::move(times))));
}

/// Judges output and operands of the last sample on unseen values. Skips random ones.
inline std::string SpeedOnUnseenValues::find_fault_of_sample(Implementation& implementation, UnseenSamples& samples) {
  const c10::IValue output = samples.take_output();
  if (context_.answers->given.random || !context_.answers->can_compute_more() ||
      implementation.index == context_.baseline_index)
    return {};
  const auto answered =
      context_.answers->baseline_output_for(context_.baseline(), samples.values(), context_.answers->unseen().seed);
  if (!answered) return {};
  const auto problem = context_.answers->judge_output(output, samples.operands_after(), *answered);
  if (problem.empty() || (context_.answers->operands_agree(samples.operands_after(), *answered) &&
                          context_.rounding_explains(output, answered->expected, samples.values(), /*renewed=*/true)))
    return {};
  return AuditContext::in_timed_call(problem);
}
}  // namespace pace::detail
