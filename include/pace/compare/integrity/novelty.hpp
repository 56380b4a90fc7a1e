// Novelty: whether calls take longer on values that are new, which shows that an implementation keeps earlier results, or
// leave work until after them.
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
  /// Where calls are repeated on the same values, as in the timed samples.
  Nanoseconds repeated{};
  /// After a call on new values, for its output: the first reading beyond a second one, and the release.
  Nanoseconds afterwards{};
  /// On the values given, otherwise as on new ones; 0 where it is not asked.
  Nanoseconds on_given{};
};

/// How much longer calls take on new values.
struct NoveltyEffect {
  /// What calls on new values are compared with.
  enum class Beside { the_same_again, repeated, afterwards, given };
  Beside beside = Beside::the_same_again;
  /// The median of the ratios by which it was found.
  double factor = 1;
  Nanoseconds on_new{}, other{};

  [[nodiscard]] std::string describe() const {
    if (beside == Beside::afterwards)
      return "its output takes " + format_time(other) +
             " more to be read for the first time and released than the "
             "baseline's, after calls of " +
             format_time(on_new) + ": work is left until after the timed call";
    return "its calls take " + format_significant(factor) + " times as long on values that it has not seen before (" +
           format_time(on_new) + ", and " + format_time(other) +
           (beside == Beside::repeated ? " where the same values are repeated)"
            : beside == Beside::given  ? " on the values given)"
                                       : " on the same values again)");
  }
};

/// Calls must take more than so many times as long. Branches that depend on values, as of a sort, are predicted on known
/// ones, which made an honest top-k of a few thousand elements up to twice as fast.
inline constexpr double least_novelty_effect = 2;
/// ... than on the values given, for which code may have a shorter way.
inline constexpr double least_effect_beside_given = 3;
/// Work left until after a call is a fault from this part of its time on. Outputs that leave the caches between the call
/// and the reading take as long as the baseline's.
inline constexpr double most_work_afterwards = 0.5;
/// Reading and releasing an output may take so much more than the baseline's in any case, since their types differ.
inline constexpr Nanoseconds least_work_afterwards{5e3};

namespace novelty {

/// Times of `trials` samples each of an implementation and of the baseline, in turn.
struct Trials {
  std::vector<CallTimes> own = {}, of_baseline = {};
};

[[nodiscard]] inline double ratio(Nanoseconds a, Nanoseconds b) { return b.count() > 0 ? a / b : 1; }

[[nodiscard]] inline Nanoseconds median_of(const std::vector<CallTimes>& times, Nanoseconds CallTimes::* which) {
  std::vector<double> values;
  for (const auto& each : times) values.push_back((each.*which).count());
  return Nanoseconds(stats::sorted(std::move(values))[times.size() / 2]);
}

/// Returns the effect of one ratio for each trial, if three quarters of them exceed `limit`.
[[nodiscard]] inline std::optional<NoveltyEffect> effect_of(NoveltyEffect::Beside beside, std::vector<double> ratios,
                                                            double limit, const Trials& trials, Nanoseconds other) {
  const auto ordered = stats::sorted(std::move(ratios));
  if (ordered[ordered.size() / 4] <= limit) return std::nullopt;
  return NoveltyEffect{beside, ordered[ordered.size() / 2], median_of(trials.own, &CallTimes::on_new), other};
}

/// Returns the effect against the same calls again.
[[nodiscard]] inline std::optional<NoveltyEffect> against_known(const Trials& trials, Nanoseconds slack) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < trials.own.size(); ++i)
    ratios.push_back(ratio(trials.own[i].on_new - slack, trials.own[i].on_known) /
                     std::max(1.0, ratio(trials.of_baseline[i].on_new, trials.of_baseline[i].on_known)));
  return effect_of(NoveltyEffect::Beside::the_same_again, std::move(ratios), least_novelty_effect, trials,
                   median_of(trials.own, &CallTimes::on_known));
}

/// Returns the effect against calls that are repeated on the same values.
[[nodiscard]] inline std::optional<NoveltyEffect> against_repeated(const Trials& trials, Nanoseconds slack,
                                                                   Nanoseconds of_other_memory) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < trials.own.size(); ++i) {
    const auto& norm = trials.of_baseline[i];
    const Nanoseconds repeated = trials.own[i].repeated;
    const Nanoseconds more = std::max(norm.on_new - norm.repeated, Nanoseconds(0));
    const double times = std::max(1.0, ratio(norm.on_new, norm.repeated));
    ratios.push_back(
        ratio(trials.own[i].on_new - slack - of_other_memory, std::max(repeated + more, times * repeated)));
  }
  return effect_of(NoveltyEffect::Beside::repeated, std::move(ratios), least_novelty_effect, trials,
                   median_of(trials.own, &CallTimes::repeated));
}

/// Returns the effect against calls on the values given, where they were asked for.
[[nodiscard]] inline std::optional<NoveltyEffect> against_given(const Trials& trials, Nanoseconds slack) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < trials.own.size(); ++i)
    ratios.push_back(ratio(trials.own[i].on_new - slack, trials.own[i].on_given) /
                     std::max(1.0, ratio(trials.of_baseline[i].on_new, trials.of_baseline[i].on_given)));
  return effect_of(NoveltyEffect::Beside::given, std::move(ratios), least_effect_beside_given, trials,
                   median_of(trials.own, &CallTimes::on_given));
}

/// Returns the work that is left until after a call.
[[nodiscard]] inline std::optional<NoveltyEffect> left_until_afterwards(const Trials& trials, Nanoseconds slack) {
  std::vector<double> ratios;
  const auto more = [](const CallTimes& own, const CallTimes& norm) { return own.afterwards - norm.afterwards; };
  for (std::size_t i = 0; i < trials.own.size(); ++i)
    ratios.push_back(
        ratio(more(trials.own[i], trials.of_baseline[i]) - slack - least_work_afterwards, trials.own[i].on_new));
  return effect_of(
      NoveltyEffect::Beside::afterwards, std::move(ratios), most_work_afterwards, trials,
      median_of(trials.own, &CallTimes::afterwards) - median_of(trials.of_baseline, &CallTimes::afterwards));
}

}  // namespace novelty

/// Compares calls on new values with the same calls again, with calls that are repeated on one of these values, and with
/// calls on the values given. Values are equal in the first three, so that work that depends on them is none of their
/// effects; the last one has a larger limit. `own()` and `of_baseline()` take
/// the times of the implementation in question and of the baseline; nothing ends the comparison without a result. What
/// samples on other operands cost more is taken from the baseline: its difference or its ratio to its own repeated calls,
/// whichever allows more. What comes after a call is compared with the baseline's. There is an effect if three quarters
/// of `trials` ratios exceed their limit, and do so again in as many trials more: where calls without an effect are
/// interrupted one time in ten, six trials find one with a probability below 10^-7. Times within `slack` of each other
/// are equal, and calls on other memory may take `of_other_memory` more than repeated ones.
[[nodiscard]] inline std::optional<NoveltyEffect> find_novelty_effect(
    std::size_t trials, Nanoseconds slack, Nanoseconds of_other_memory, FunctionRef<std::optional<CallTimes>()> own,
    FunctionRef<std::optional<CallTimes>()> of_baseline) {
  std::optional<NoveltyEffect> known, repeated, afterwards, given;
  for (const bool first : {true, false}) {
    novelty::Trials taken;
    for (std::size_t i = 0; i < trials; ++i) {
      const auto mine = own(), norm = mine ? of_baseline() : std::nullopt;
      if (!norm) return std::nullopt;
      taken.own.push_back(*mine);
      taken.of_baseline.push_back(*norm);
    }
    if (first || known) known = novelty::against_known(taken, slack);
    if (first || repeated) repeated = novelty::against_repeated(taken, slack, of_other_memory);
    if (first || afterwards) afterwards = novelty::left_until_afterwards(taken, slack);
    if (first || given) given = novelty::against_given(taken, slack);
    if (!known && !repeated && !afterwards && !given) return std::nullopt;
  }
  return afterwards ? afterwards : known ? known : repeated ? repeated : given;
}

}  // namespace pace::detail
