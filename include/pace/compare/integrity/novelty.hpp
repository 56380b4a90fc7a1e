// Novelty: whether calls take longer on values that are new, which shows that an implementation keeps earlier results.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/format.hpp"
#include "pace/core/function_ref.hpp"
#include "pace/core/units.hpp"
#include "pace/stats/sorted.hpp"

namespace pace::detail {

/// Times of one call, each the mean over a sample of calls on operands of their own.
struct CallTimes {
  /// Where no call has seen the values before.
  Nanoseconds on_new{};
  /// Where the same calls were made just before.
  Nanoseconds on_known{};
};

/// Times of a call in the timed samples, which repeat calls on the same values.
struct RepeatedTimes {
  Nanoseconds own{}, of_baseline{};
};

/// How much longer calls take on new values.
struct NoveltyEffect {
  /// The median of the ratios by which it was found.
  double factor = 1;
  Nanoseconds on_new{}, otherwise{};
  /// Whether `otherwise` is the time of a call in the timed samples, or else that of the same calls again.
  bool while_repeated = false;

  [[nodiscard]] std::string describe() const {
    return "its calls take " + format_significant(factor) + " times as long on values that it has not seen before (" +
           format_time(on_new) + ", and " + format_time(otherwise) +
           (while_repeated ? " in the samples, which repeat them)" : " on the same values again)");
  }
};

/// Calls must take more than so many times as long. Branches that depend on values, as of a sort, are predicted on known
/// ones, which made an honest top-k of a few thousand elements up to twice as fast.
inline constexpr double least_novelty_effect = 2;

namespace novelty {

/// Times of `trials` samples each of an implementation and of the baseline, in turn.
struct Trials {
  std::vector<CallTimes> own = {}, of_baseline = {};
};

[[nodiscard]] inline double ratio(Nanoseconds a, Nanoseconds b) { return b.count() > 0 ? a / b : 1; }

/// Returns the effect by the ratios of `on_new` to `otherwise`, if three quarters of them exceed least_novelty_effect.
[[nodiscard]] inline std::optional<NoveltyEffect> effect_of(std::vector<double> ratios, Nanoseconds on_new,
                                                            Nanoseconds otherwise, bool while_repeated) {
  const auto ordered = stats::sorted(std::move(ratios));
  if (ordered[ordered.size() / 4] <= least_novelty_effect) return std::nullopt;
  return NoveltyEffect{ordered[ordered.size() / 2], on_new, otherwise, while_repeated};
}

[[nodiscard]] inline Nanoseconds median_of(const std::vector<CallTimes>& times, Nanoseconds CallTimes::*which) {
  std::vector<double> values;
  for (const auto& each : times) values.push_back((each.*which).count());
  return Nanoseconds(stats::sorted(std::move(values))[times.size() / 2]);
}

/// Returns the effect against the same calls again.
[[nodiscard]] inline std::optional<NoveltyEffect> against_known(const Trials& trials, Nanoseconds slack) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < trials.own.size(); ++i)
    ratios.push_back(ratio(trials.own[i].on_new - slack, trials.own[i].on_known) /
                     std::max(1.0, ratio(trials.of_baseline[i].on_new, trials.of_baseline[i].on_known)));
  return effect_of(std::move(ratios), median_of(trials.own, &CallTimes::on_new),
                   median_of(trials.own, &CallTimes::on_known), false);
}

/// Returns the effect against the timed samples.
[[nodiscard]] inline std::optional<NoveltyEffect> against_repeated(const Trials& trials, const RepeatedTimes& repeated,
                                                                   Nanoseconds slack) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < trials.own.size(); ++i) {
    const Nanoseconds norm = trials.of_baseline[i].on_new;
    const Nanoseconds more = std::max(norm - repeated.of_baseline, Nanoseconds(0));
    const double times = std::max(1.0, ratio(norm, repeated.of_baseline));
    ratios.push_back(ratio(trials.own[i].on_new - slack, std::max(repeated.own + more, times * repeated.own)));
  }
  return effect_of(std::move(ratios), median_of(trials.own, &CallTimes::on_new), repeated.own, true);
}

}  // namespace novelty

/// Compares calls on new values with the same calls again and, where `repeated` is known, with those of the timed samples.
/// `own()` and `of_baseline()` take the times of the implementation in question and of the baseline; nothing ends the
/// comparison without a result. What samples on other operands cost more is taken from the baseline: its difference or its
/// ratio to its own repeated calls, whichever allows more. There is an effect if three quarters of `trials` ratios exceed
/// least_novelty_effect, and do so again in as many trials more: where calls without an effect are interrupted one time
/// in ten, six trials find one with a probability below 10^-7. Times within `slack` of each other are equal.
[[nodiscard]] inline std::optional<NoveltyEffect> find_novelty_effect(
    std::size_t trials, const std::optional<RepeatedTimes>& repeated, Nanoseconds slack,
    FunctionRef<std::optional<CallTimes>()> own, FunctionRef<std::optional<CallTimes>()> of_baseline) {
  std::optional<NoveltyEffect> known, in_samples;
  for (const bool first : {true, false}) {
    novelty::Trials taken;
    for (std::size_t i = 0; i < trials; ++i) {
      const auto mine = own(), norm = mine ? of_baseline() : std::nullopt;
      if (!norm) return std::nullopt;
      taken.own.push_back(*mine);
      taken.of_baseline.push_back(*norm);
    }
    if (first || known) known = novelty::against_known(taken, slack);
    if (repeated && (first || in_samples)) in_samples = novelty::against_repeated(taken, *repeated, slack);
    if (!known && !in_samples) return std::nullopt;
  }
  return known ? known : in_samples;
}

}  // namespace pace::detail
