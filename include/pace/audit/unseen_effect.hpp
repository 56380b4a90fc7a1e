// UnseenEffect: whether calls take longer on unseen values, or leave work for after them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/stats/sorted.hpp"

namespace pace::detail {

/// Times of one call, each the mean over a sample on operands of their own.
struct CallTimes {
  /// On values that no call has seen.
  Nanoseconds on_unseen{};
  /// The same calls again, just after.
  Nanoseconds on_known{};
  /// Calls repeated on the same values, as in the timed samples.
  Nanoseconds repeated{};
  /// Reading the output of a call on unseen values, beyond a second reading, and releasing it.
  Nanoseconds afterwards{};
  /// On the values given, otherwise as on unseen ones; 0 if not measured.
  Nanoseconds on_given{};
};

/// Smallest factor of an effect. The CPU learns branches on values seen before: an honest top-k of a few thousand
/// elements became up to twice as fast.
inline constexpr double least_unseen_effect = 2;
/// Largest factor that learned branches may explain, if gates discount it. Honest rectifiers of some rows became 2.3 to
/// 2.8 and 4.8 times as fast.
inline constexpr double most_learned_effect = 8;
/// Smallest factor beside the values given, for which code may have a shorter way.
inline constexpr double least_effect_beside_given = 3;
/// Work left until after a call is a fault above this share of its time.
inline constexpr double most_work_afterwards = 0.5;
/// Slack for reading and releasing an output, whose type may differ from the baseline's.
inline constexpr Nanoseconds least_work_afterwards{5e3};

/// How much longer calls take on unseen values.
struct UnseenEffect {
  /// Calls that those on unseen values are compared with.
  enum class Beside { the_same_again, repeated, afterwards, given };
  Beside beside = Beside::the_same_again;
  double factor = 1;
  Nanoseconds on_unseen{}, other{};

  /// Whether learned branches may explain it.
  [[nodiscard]] bool may_be_learned() const { return beside != Beside::afterwards && factor <= most_learned_effect; }
  [[nodiscard]] std::string describe() const {
    if (beside == Beside::afterwards)
      return "its output takes " + format_time(other) +
             " more to be read for the first time and released than the "
             "baseline's, after calls of " +
             format_time(on_unseen) + ": work is left until after the timed call";
    return "its calls take " + format_significant(factor) + " times as long on unseen values (" +
           format_time(on_unseen) + ", and " + format_time(other) +
           (beside == Beside::repeated ? " where the same values are repeated)"
            : beside == Beside::given  ? " on the values given)"
                                       : " on the same values again)");
  }
};

namespace unseen_effect {

/// Times of an implementation and of the baseline, in turn.
struct Trials {
  std::vector<CallTimes> own = {}, of_baseline = {};
};

[[nodiscard]] inline double ratio(Nanoseconds a, Nanoseconds b) { return b.count() > 0 ? a / b : 1; }

/// The lower quartile, since interruptions only add to times.
[[nodiscard]] inline Nanoseconds quartile_of(const std::vector<CallTimes>& times, Nanoseconds CallTimes::* which) {
  std::vector<double> values;
  for (const auto& each : times) values.push_back((each.*which).count());
  return Nanoseconds(stats::sorted(std::move(values))[times.size() / 4]);
}

/// Lower quartiles of the times of an implementation.
[[nodiscard]] inline CallTimes quartiles_of(const std::vector<CallTimes>& times) {
  const auto of = [&](Nanoseconds CallTimes::* which) { return quartile_of(times, which); };
  return {of(&CallTimes::on_unseen), of(&CallTimes::on_known), of(&CallTimes::repeated), of(&CallTimes::afterwards),
          of(&CallTimes::on_given)};
}

[[nodiscard]] inline std::optional<UnseenEffect> effect_of(UnseenEffect::Beside beside, double factor, double limit,
                                                           Nanoseconds on_unseen, Nanoseconds other) {
  return factor > limit ? std::optional(UnseenEffect{beside, factor, on_unseen, other}) : std::nullopt;
}

/// Returns the effect against the same calls again.
[[nodiscard]] inline std::optional<UnseenEffect> against_known(const CallTimes& own, const CallTimes& norm,
                                                               Nanoseconds slack) {
  const double factor =
      ratio(own.on_unseen - slack, own.on_known) / std::max(1.0, ratio(norm.on_unseen, norm.on_known));
  return effect_of(UnseenEffect::Beside::the_same_again, factor, least_unseen_effect, own.on_unseen, own.on_known);
}

/// Returns the effect against calls that are repeated on the same values.
[[nodiscard]] inline std::optional<UnseenEffect> against_repeated(const CallTimes& own, const CallTimes& norm,
                                                                  Nanoseconds slack, Nanoseconds of_other_memory) {
  const Nanoseconds more = std::max(norm.on_unseen - norm.repeated, Nanoseconds(0));
  const double times = std::max(1.0, ratio(norm.on_unseen, norm.repeated));
  const double factor =
      ratio(own.on_unseen - slack - of_other_memory, std::max(own.repeated + more, times * own.repeated));
  return effect_of(UnseenEffect::Beside::repeated, factor, least_unseen_effect, own.on_unseen, own.repeated);
}

/// Returns the effect against calls on the values given, if measured.
[[nodiscard]] inline std::optional<UnseenEffect> against_given(const CallTimes& own, const CallTimes& norm,
                                                               Nanoseconds slack) {
  const double factor =
      ratio(own.on_unseen - slack, own.on_given) / std::max(1.0, ratio(norm.on_unseen, norm.on_given));
  return effect_of(UnseenEffect::Beside::given, factor, least_effect_beside_given, own.on_unseen, own.on_given);
}

/// Returns the smaller effect of two attempts; nothing if one has none.
[[nodiscard]] inline std::optional<UnseenEffect> smaller_of(const std::optional<UnseenEffect>& one,
                                                            const std::optional<UnseenEffect>& other) {
  if (!one || !other) return std::nullopt;
  return one->factor < other->factor ? one : other;
}

/// Returns the work left until after a call, if three quarters of the trials show it.
[[nodiscard]] inline std::optional<UnseenEffect> left_until_afterwards(const Trials& trials, Nanoseconds slack) {
  std::vector<double> parts, more;
  for (std::size_t i = 0; i < trials.own.size(); ++i) {
    const Nanoseconds later = trials.own[i].afterwards - trials.of_baseline[i].afterwards;
    more.push_back(later.count());
    parts.push_back(ratio(later - slack - least_work_afterwards, trials.own[i].on_unseen));
  }
  const auto lower_quartile = [](const std::vector<double>& of) { return stats::sorted(of)[of.size() / 4]; };
  return effect_of(UnseenEffect::Beside::afterwards, lower_quartile(parts), most_work_afterwards,
                   quartile_of(trials.own, &CallTimes::on_unseen), Nanoseconds(lower_quartile(more)));
}

}  // namespace unseen_effect

/// Compares calls on unseen values with the same calls again, with calls repeated on one of these values, and with
/// calls on the values given. Only in the last comparison do values differ, so it has a larger limit. `own()` and
/// `of_baseline()` take times; nothing ends the comparison without a result.
///
/// The baseline shows how much longer samples on other operands take, by a difference or a ratio, whichever allows
/// more. Times within `slack` are equal. Calls on other memory may take `of_other_memory` more than repeated ones.
///
/// Times are lower quartiles of `trials` trials. An effect must show in each of `attempts` attempts, and the smallest
/// counts. If one call in ten is interrupted, twice six trials find one by chance with a probability below 10^-7, and
/// six times one with 10^-6. Effects that the processor may have learned come last.
[[nodiscard]] inline std::optional<UnseenEffect> find_unseen_effect(std::size_t trials, Nanoseconds slack,
                                                                    Nanoseconds of_other_memory,
                                                                    FunctionRef<std::optional<CallTimes>()> own,
                                                                    FunctionRef<std::optional<CallTimes>()> of_baseline,
                                                                    std::size_t attempts = 2) {
  std::optional<UnseenEffect> known, repeated, afterwards, given;
  for (std::size_t attempt = 0; attempt < attempts; ++attempt) {
    const bool first = attempt == 0;
    unseen_effect::Trials taken;
    for (std::size_t i = 0; i < trials; ++i) {
      const auto mine = own(), norm = mine ? of_baseline() : std::nullopt;
      if (!norm) return std::nullopt;
      taken.own.push_back(*mine);
      taken.of_baseline.push_back(*norm);
    }
    const CallTimes mine = unseen_effect::quartiles_of(taken.own),
                    norm = unseen_effect::quartiles_of(taken.of_baseline);
    const auto take = [&](std::optional<UnseenEffect>& so_far, const std::optional<UnseenEffect>& now) {
      so_far = first ? now : unseen_effect::smaller_of(so_far, now);
    };
    take(known, unseen_effect::against_known(mine, norm, slack));
    take(repeated, unseen_effect::against_repeated(mine, norm, slack, of_other_memory));
    take(afterwards, unseen_effect::left_until_afterwards(taken, slack));
    take(given, unseen_effect::against_given(mine, norm, slack));
    if (!known && !repeated && !afterwards && !given) return std::nullopt;
  }
  std::optional<UnseenEffect> learned;
  for (const auto& each : {afterwards, known, repeated, given}) {
    if (each && !each->may_be_learned()) return each;
    if (!learned) learned = each;
  }
  return learned;
}

}  // namespace pace::detail
