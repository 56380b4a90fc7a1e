// UnseenSpeed: the speed-up over the baseline on unseen values, beside that in the rounds.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/excess.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sign_test.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/stats/summary.hpp"
#include "pace/verify/candidate_audit.hpp"

namespace pace::detail {

/// Largest factor between the speed-ups in the rounds and on unseen values that the processor may have learned, as
/// branches that it predicts. Honest rectifiers of some rows became up to 4.8 times as fast.
inline constexpr double most_excusable_excess = 8;
/// Work that is left until after a call is a fault above this share of its time.
inline constexpr double most_work_afterwards = 0.5;
/// Pairs whose extremes are a figure.
inline constexpr std::size_t fewest_pairs = 3;

/// Whether speed-ups of the rounds are proven to exceed those on unseen values.
[[nodiscard]] inline bool is_exceeded_by(const UnseenSpeed& unseen, double whole,
                                         const std::vector<double>& of_phases) {
  if (gate::excess_of(whole, whole, unseen.speedup) > 1) return true;
  for (std::size_t i = 0; i < std::min(unseen.phases.size(), of_phases.size()); ++i)
    if (unseen.phases[i] && gate::excess_of(of_phases[i], of_phases[i], *unseen.phases[i]) > 1) return true;
  return false;
}

/// Times of one call, each the mean over a sample on operands of their own.
struct CallTimes {
  /// On values that no call has seen.
  Nanoseconds on_unseen{};
  /// Reading the output of a call on unseen values, beyond a second reading, and releasing it.
  Nanoseconds afterwards{};
  /// On the values given, otherwise as on unseen ones; 0 if not measured.
  Nanoseconds on_given{};
};

/// Times of a sample of each side on the same unseen values.
struct PairOnUnseenValues {
  CallTimes baseline = {}, own = {};
  /// The times of the phases of a step.
  std::vector<Nanoseconds> baseline_phases = {}, own_phases = {};

  /// Whether the clock has advanced in all samples, with `beside_given` also on the values given.
  [[nodiscard]] bool is_timed(bool beside_given) const {
    return baseline.on_unseen.count() > 0 && own.on_unseen.count() > 0 &&
           (!beside_given || (baseline.on_given.count() > 0 && own.on_given.count() > 0));
  }
};

/// Confidence of the interval, for a fixed number of pairs.
inline constexpr double unseen_confidence = 0.999;

/// The first calls after a write take longer by up to this time, on both sides alike.
inline constexpr Nanoseconds longer_in_few_calls{2e3};

/// Returns ln(time of the baseline / own time) on unseen values. `usual` and `usual_own` are times in the rounds. The
/// first calls after a write take longer by a time, not by a share. So up to `most` is subtracted from both if that
/// raises the ratio; own time stays at least the time in the rounds.
[[nodiscard]] inline double log_ratio_on_unseen_values(Nanoseconds baseline, Nanoseconds own, Nanoseconds usual,
                                                       Nanoseconds usual_own, Nanoseconds most = longer_in_few_calls) {
  const Nanoseconds more = std::clamp(baseline - usual, Nanoseconds(0), most);
  const Nanoseconds least = std::min(own, usual_own);
  const double by_share = baseline / own;
  if (least.count() <= 0) return std::log(by_share);
  return std::log(std::max(by_share, (baseline - more) / std::max(own - more, least)));
}

/// Returns ln(speed-up) of a pair with samples on the values given: `in_rounds` times its change with the values. An
/// implementation that recognises those samples, and is slow there, gains at most a factor of two.
[[nodiscard]] inline double log_ratio_beside_given(const CallTimes& baseline, const CallTimes& own, Nanoseconds usual,
                                                   Nanoseconds usual_own, double in_rounds) {
  // On an H100, operands in the cache lowered the ratio of softmax by steps from 5.4 to 3.5, a factor of 1.5. Two
  // leaves room for such effects, and limits the gain of a cheat.
  constexpr double most_beyond = 2;
  const double on_unseen = log_ratio_on_unseen_values(baseline.on_unseen, own.on_unseen, usual, usual_own);
  const double on_given = log_ratio_on_unseen_values(baseline.on_given, own.on_given, usual, usual_own);
  return std::min(std::log(in_rounds) + on_unseen - on_given, on_unseen + std::log(most_beyond));
}

/// Returns ln(speed-up) of a pair. A sample on the values given limits how much longer few calls take, so that work on
/// unseen values still counts. `baseline` is its time as it counts.
[[nodiscard]] inline double log_ratio_in_few_calls(Nanoseconds baseline, const CallTimes& own, Nanoseconds usual,
                                                   Nanoseconds usual_own) {
  const Nanoseconds longer = own.on_given.count() > 0
                                 ? std::clamp(own.on_given - usual_own, Nanoseconds(0), longer_in_few_calls)
                                 : longer_in_few_calls;
  return log_ratio_on_unseen_values(baseline, own.on_unseen, usual, usual_own, longer);
}

/// The log ratios of a pair.
struct PairRatio {
  double counted = 0;  ///< time of the baseline / own time, as it counts
  double seen = 0;     ///< the same, as measured
  /// Own time on the values given, at the same moment / own time.
  std::optional<double> beside_given = {};
};

/// Samples that took far longer than others of their kind.
struct SlowSamples {
  /// Slow-downs of the implementation's slow samples.
  std::vector<double> factors = {};
  std::size_t of_others = 0;

  /// By log ratios of other samples to these.
  [[nodiscard]] static SlowSamples of(const std::vector<double>& log_ratios) {
    const double median = stats::median(stats::sorted(log_ratios)), slow = std::log(1.5);
    SlowSamples found;
    for (const double each : log_ratios) {
      if (each < median - slow) found.factors.push_back(std::exp(median - each));
      found.of_others += each > median + slow;
    }
    return found;
  }
  [[nodiscard]] bool are_mostly_own() const { return factors.size() > of_others; }
};

/// Mean / median of an implementation's time on unseen values, if some samples are slow.
struct MeanOverMedian {
  double likely = 1;  ///< by their share of these pairs
  double proven = 1;  ///< at least

  /// By log ratios of other samples to the implementation's. Both are 1 if the others are slow about as often: work
  /// beside them slows all samples, long ones more often.
  [[nodiscard]] static MeanOverMedian beside(const std::vector<double>& log_ratios) {
    constexpr double error_of_likely = 0.05, error_of_proven = 1e-3;
    auto slow = SlowSamples::of(log_ratios);
    const std::size_t own = slow.factors.size();
    if (!slow.are_mostly_own()) return {};
    const double of_time = 1 / (1 + std::exp(stats::median(stats::sorted(log_ratios))));
    const double by_chance =
        stats::upper_tail_of_binomial(own + slow.of_others, own, std::clamp(of_time, 0.5, 1 - 1e-6));
    const std::size_t more = own - slow.of_others;
    const double longer = stats::quantile(stats::sorted(std::move(slow.factors)), 0.25) - 1;
    const double pairs = static_cast<double>(log_ratios.size());
    MeanOverMedian found;
    if (by_chance <= error_of_likely) found.likely += longer * static_cast<double>(more) / pairs;
    if (by_chance <= error_of_proven) {
      // Other work slows as many of these as of the others, and more by chance.
      const double all = static_cast<double>(own + slow.of_others);
      const double least_more = all * (2 * stats::least_share(own + slow.of_others, own, error_of_proven) - 1);
      found.proven +=
          longer * std::clamp(least_more / pairs, 0.0, stats::least_share(log_ratios.size(), more, error_of_proven));
    }
    return found;
  }

  /// By samples slow beside the baseline's and beside those on the values given. On a busy machine, waking its own
  /// threads slows the latter, too.
  [[nodiscard]] static MeanOverMedian of(const std::vector<double>& seen, const std::vector<double>& beside_given) {
    MeanOverMedian found = beside(seen);
    if (beside_given.empty()) return found;
    const MeanOverMedian other = beside(beside_given);
    return {.likely = std::min(found.likely, other.likely), .proven = std::min(found.proven, other.proven)};
  }
};

/// Returns `found` with speed-ups of the mean.
[[nodiscard]] inline SpeedupSummary slower_in_mean(const MeanOverMedian& factors, SpeedupSummary found) {
  for (double* const each : {&found.q20, &found.median, &found.q80}) *each /= factors.likely;
  if (found.interval)
    found.interval = {found.interval->low / factors.likely, found.interval->high / factors.proven,
                      found.interval->confidence};
  return found;
}

/// Returns the summary of pairs, by ln(time of the baseline / own time). If they are too few for an interval, it has
/// their extremes, with a confidence of 0.
[[nodiscard]] inline SpeedupSummary summarize_pairs(const std::vector<double>& log_ratios) {
  auto found = stats::summarize_speedup(log_ratios, unseen_confidence);
  const auto [low, high] = std::ranges::minmax(log_ratios);
  if (!found.interval) found.interval.emplace() = {std::exp(low), std::exp(high), 0};
  return found;
}

/// The figure for a message.
[[nodiscard]] inline std::string describe_excess(double in_rounds, const SpeedupSummary& on_unseen_values) {
  return "it is " + format_factor(in_rounds) + " as fast as the baseline in the rounds, and on unseen values " +
         format_factor(on_unseen_values.interval->high) + " at most";
}

/// Times of the phases of a step in the rounds.
struct PhasesInRounds {
  std::vector<Nanoseconds> baseline = {}, own = {};
};

/// Speed-ups of the phases of a step on unseen values.
class PhasesOnUnseenValues {
 public:
  explicit PhasesOnUnseenValues(PhasesInRounds usual) : usual_(std::move(usual)), log_ratios_(usual_.own.size()) {}

  /// Each phase of the baseline counts up to `most` times its time in the rounds.
  void add(const PairOnUnseenValues& pair, double most) {
    for (std::size_t i = 0; i < std::min(log_ratios_.size(), pair.own_phases.size()); ++i) {
      const Nanoseconds usual = usual_.baseline[i], own = pair.own_phases[i];
      const auto baseline = std::min<Nanoseconds>(pair.baseline_phases[i], most * usual);
      if (baseline.count() > 0 && own.count() > 0)
        log_ratios_[i].push_back(
            log_ratio_on_unseen_values(baseline, own, usual, usual_.own[i], longer_in_single_steps));
    }
  }
  /// Returns those of all phases; nothing for one that takes no time.
  [[nodiscard]] std::vector<std::optional<SpeedupSummary>> speedups() const {
    std::vector<std::optional<SpeedupSummary>> found(log_ratios_.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!log_ratios_[i].empty()) found[i] = summarize_pairs(log_ratios_[i]);
    return found;
  }

 private:
  /// As `longer_in_few_calls`, for each phase of a single step.
  static constexpr Nanoseconds longer_in_single_steps{4e3};
  PhasesInRounds usual_;
  std::vector<std::vector<double>> log_ratios_;
};

/// Measures the speed-up on unseen values. `pair()` returns the ratios of a pair; nothing ends the measurement.
/// `time_is_left(pairs)` tells whether that many more may be taken. More pairs follow only if the median is suspicious
/// beside `in_rounds`, until the interval is narrow or there are `most`, or if some own samples are slow. Without time
/// for an interval, three pairs or more have their extremes, with a confidence of 0; fewer return nothing.
[[nodiscard]] inline std::optional<SpeedupSummary> speed_on_unseen_values(double in_rounds,
                                                                          FunctionRef<std::optional<PairRatio>()> pair,
                                                                          FunctionRef<bool(std::size_t)> time_is_left) {
  constexpr std::size_t most = 88, most_where_some_are_slow = 176;
  constexpr double narrow = 1.02;
  const std::size_t for_interval = stats::fewest_for_median_interval(unseen_confidence);
  std::vector<double> log_ratios, seen, beside_given;
  const auto some_are_slow = [&] {
    return SlowSamples::of(seen).are_mostly_own() &&
           (beside_given.empty() || SlowSamples::of(beside_given).are_mostly_own());
  };
  for (std::size_t wanted = for_interval;; wanted *= 2) {
    if (!log_ratios.empty() && !time_is_left(wanted - log_ratios.size())) break;
    while (log_ratios.size() < wanted) {
      const auto next = pair();
      if (!next) return std::nullopt;
      log_ratios.push_back(next->counted);
      seen.push_back(next->seen);
      if (next->beside_given) beside_given.push_back(*next->beside_given);
      if (log_ratios.size() == 1 && !time_is_left(wanted - 1)) {
        wanted = fewest_pairs;
        if (!time_is_left(wanted - 1)) return std::nullopt;
      }
    }
    if (wanted == fewest_pairs) break;
    const auto found = summarize_pairs(log_ratios);
    const bool suspicious = found.median * gate::least_excess < in_rounds;
    const bool open = suspicious && found.interval->high >= narrow * found.median && wanted < most;
    if (!open && !(some_are_slow() && wanted < most_where_some_are_slow)) break;
  }
  return slower_in_mean(MeanOverMedian::of(seen, beside_given), summarize_pairs(log_ratios));
}

}  // namespace pace::detail
