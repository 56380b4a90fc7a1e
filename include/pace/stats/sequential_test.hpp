// SequentialTest: whether the centre is proven to lie above a threshold, or below it, after each observation.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/stats/betting.hpp"
#include "pace/stats/recent_median.hpp"
#include "pace/stats/recent_spread.hpp"
#include "pace/stats/sorted.hpp"

namespace pace::stats {

/// Assumption on the distribution of each observation, given those before it.
enum class Assumption {
  /// Symmetric about its centre. For log ratios of identical code this holds by design: a fair coin assigns the parts
  /// of a crossover cycle to the two sides (see timing::Schedule). So a ratio and its inverse are equally likely
  /// whatever the machine does. For different code it is assumed.
  symmetry,
  /// Its median is the centre. Suits times, which are skewed, and needs 1.5 times the observations.
  median,
};

/// Larger scores, in deviations, count as this many: Huber's psi. It loses 1 % of the information in normal data and
/// keeps outliers from deciding.
inline constexpr double largest_score = 2;

/// Returns the score of an observation for Wealth::bet(): `deviation`, the observation minus the threshold, in units of
/// `spread`, limited to +-largest_score. If the spread is 0 or only the median is assumed, its sign. `spread` is the
/// RecentSpread of earlier observations alone.
[[nodiscard]] inline double score(double deviation, double spread, Assumption assumption) {
  // A tie is no evidence that the median lies above.
  if (assumption == Assumption::median) return deviation > 0 ? 1 : -1;
  if (spread > 0) return std::clamp(deviation / spread, -largest_score, largest_score);
  return deviation > 0 ? 1 : deviation < 0 ? -1 : 0;
}

/// A bet on the size of deviations, for observations too slow to make the dozen that Wealth needs. Does not assume
/// symmetry. It assumes, for each observation whose centre is not on the far side of the threshold, whatever came
/// before,
///
///     P(the observation is slow AND lies beyond the threshold, on the far side, by more than ln 10 | the past) <= 1 %.
///
/// The probability is of both together, since only its value shows that an observation is slow: a stall makes it slow
/// and large at once. (That 1 % of the slow observations are so large would suffice, too, but is a stronger
/// assumption.)
///
/// A bet that pays a hundredfold if both hold, and else nothing, then has a mean of at most 1 given the past. The whole
/// wealth is bet each time, so it is a nonnegative supermartingale that begins with 1. It is 100^n after n such
/// observations in a row from the first on, and 0 after any other. By Ville's inequality it ever reaches 100^n with
/// probability at most 100^-n.
class LargeDeviationBet {
 public:
  /// Smallest deviation that wins: ln 10.
  static constexpr double least = 2.302585092994046;
  /// Assumed largest probability of an observation that is slow and large.
  static constexpr double by_chance = 0.01;

  /// Adds an observation beyond the threshold by `deviation`, a log ratio. `slow`: it took long enough for the
  /// assumption.
  void add(double deviation, bool slow) {
    unbroken_ = unbroken_ && slow && deviation > least;
    p_value_ = unbroken_ ? p_value_ * by_chance : 1;
  }
  /// p-value of the hypothesis by all observations, valid after each; at most 1.
  [[nodiscard]] double p_value() const { return p_value_; }
  /// Whether there are observations, all of them slow and large.
  [[nodiscard]] bool won() const { return p_value_ < 1; }

 private:
  bool unbroken_ = true;
  double p_value_ = 1;
};

/// Whether observations are skewed: whether the numbers far above and far below the middle of those before differ. Far
/// is more than two spreads, beyond which scores do not grow. Takes constant memory.
class FarObservations {
 public:
  /// Standard deviations of a fair coin that the two numbers differ by in skewed observations; six to none suffice.
  /// Symmetric ones differ by that with a probability of 2 % at one moment.
  static constexpr double least = 2.33;

  /// Adds an observation; `spread` is the RecentSpread of those before it.
  void add(double observation, double spread) {
    if (spread > 0) {
      const double distance = observation - middle_.value();
      above_ += distance > largest_score * spread;
      below_ += distance < -largest_score * spread;
    }
    middle_.add(observation);
  }

  /// Whether the two numbers differ by that much.
  [[nodiscard]] bool skewed() const {
    const auto above = static_cast<double>(above_), below = static_cast<double>(below_);
    return above_ + below_ > 0 && std::abs(above - below) >= least * std::sqrt(above + below);
  }

 private:
  RecentMedian middle_;
  std::size_t above_ = 0, below_ = 0;
};

/// Two sequential tests by betting, updated by each observation: that the centre lies above the threshold (the
/// hypothesis is "at or below"), and that it lies below (the hypothesis is "at or above"). Wealth explains why they are
/// valid at any time. Centres may differ between observations, if each is on the side of the hypothesis. Allocates
/// nothing.
///
/// Under Assumption::symmetry the test is about the centre of the scores. If noise is skewed, the median may lie on the
/// other side of the threshold. So a Wealth alone proves nothing at p. A second one that scores only signs, which is
/// about the median, must prove the same at sqrt(p), or at p once FarObservations are skewed. This only lowers error
/// rates. For symmetric noise it costs little: signs have two thirds of the information and need half of the evidence.
/// At 0.1 %, twelve observations of one sign prove as much by signs as by scores.
///
/// Under Assumption::symmetry, each test is a Wealth and a LargeDeviationBet, which has its own assumption. They have
/// 99 % and 1 % of its error rate (Bonferroni). Under Assumption::median it is a Wealth alone. At an error rate of 0.1
/// %, three large deviations decide, or twelve observations of one sign, as many as without sharing.
class SequentialTest {
 public:
  static constexpr double wealth_share = 0.99;           ///< Wealth's share of the error rate, under symmetry
  static constexpr double large_deviation_share = 0.01;  ///< LargeDeviationBet's share of the error rate

  /// Tests the centre of observations against `threshold`, in the unit of the observations.
  explicit SequentialTest(double threshold, Assumption assumption = Assumption::symmetry)
      : threshold_(threshold), assumption_(assumption) {}

  /// Adds an observation; leaves out one that is not finite. `slow`: it took long enough for the assumption of
  /// LargeDeviationBet.
  void add(double observation, bool slow = false) {
    if (!std::isfinite(observation)) return;
    ++observations_;
    const double deviation = observation - threshold_, spread = spread_.value();
    above_.bet(score(deviation, spread, assumption_));
    below_.bet(score(-deviation, spread, assumption_));
    if (assumption_ == Assumption::symmetry) {
      signs_above_.bet(score(deviation, spread, Assumption::median));
      signs_below_.bet(score(-deviation, spread, Assumption::median));
      far_.add(observation, spread);
    }
    far_above_.add(deviation, slow);
    far_below_.add(-deviation, slow);
    spread_.add(observation);
  }

  /// Number of finite observations so far.
  [[nodiscard]] std::size_t observations() const { return observations_; }
  /// Evidence that the centre lies above the threshold.
  [[nodiscard]] const Wealth& above() const { return above_; }
  /// Evidence that the centre lies below the threshold.
  [[nodiscard]] const Wealth& below() const { return below_; }

  /// p-value of "the centre is at or below the threshold", valid after every observation.
  [[nodiscard]] double p_above() const { return p_value(above_, signs_above_, far_above_); }
  /// p-value of "the centre is at or above the threshold", valid after every observation.
  [[nodiscard]] double p_below() const { return p_value(below_, signs_below_, far_below_); }
  /// As p_above(), by Wealth alone at its share of the error rate, as in confidence_sequence().
  [[nodiscard]] double p_above_by_wealth() const { return p_by_wealth(above_, signs_above_); }
  /// As p_below(), by Wealth alone at its share of the error rate, as in confidence_sequence().
  [[nodiscard]] double p_below_by_wealth() const { return p_by_wealth(below_, signs_below_); }
  /// Whether a Wealth alone would reject at 1 %, but signs give too little evidence for that.
  [[nodiscard]] bool skewed() const {
    return assumption_ == Assumption::symmetry && ((above_.p_value() <= 0.01 && p_above_by_wealth() > 0.01) ||
                                                   (below_.p_value() <= 0.01 && p_below_by_wealth() > 0.01));
  }
  /// Level that signs must reject at for a rejection by Wealth at `level` to count.
  [[nodiscard]] double level_of_signs(double level) const { return far_.skewed() ? level : std::sqrt(level); }
  /// Whether every observation won the LargeDeviationBet above the threshold; false under Assumption::median.
  [[nodiscard]] bool far_above() const { return assumption_ == Assumption::symmetry && far_above_.won(); }
  /// Whether every observation won the LargeDeviationBet below the threshold; false under Assumption::median.
  [[nodiscard]] bool far_below() const { return assumption_ == Assumption::symmetry && far_below_.won(); }

 private:
  [[nodiscard]] double p_by_wealth(const Wealth& wealth, const Wealth& signs) const {
    if (assumption_ != Assumption::symmetry) return wealth.p_value();
    const double by_signs = far_.skewed() ? signs.p_value() : signs.p_value() * signs.p_value();
    return std::min(1.0, std::max(wealth.p_value(), by_signs) / wealth_share);
  }
  [[nodiscard]] double p_value(const Wealth& wealth, const Wealth& signs, const LargeDeviationBet& bet) const {
    if (assumption_ != Assumption::symmetry) return wealth.p_value();
    return std::min(p_by_wealth(wealth, signs), bet.p_value() / large_deviation_share);
  }

  double threshold_;
  Assumption assumption_;
  Wealth above_, below_, signs_above_, signs_below_;
  FarObservations far_;
  LargeDeviationBet far_above_, far_below_;
  RecentSpread spread_;
  std::size_t observations_ = 0;
};

/// Returns a SequentialTest after all `observations`, in the order of time.
[[nodiscard]] inline SequentialTest sequential_test(std::span<const double> observations, double threshold,
                                                    Assumption assumption = Assumption::symmetry) {
  SequentialTest test(threshold, assumption);
  for (const double observation : observations) test.add(observation);
  return test;
}

namespace detail {

/// Whether a Wealth against "at or below `threshold`" (`side` 1) or "at or above" (`side` -1) rejects at `alpha`.
[[nodiscard]] inline bool rejected_by_all(std::span<const double> observations, std::span<const double> spreads,
                                          double threshold, double side, double alpha, Assumption assumption) {
  Wealth wealth;
  for (std::size_t i = 0; i < observations.size(); ++i)
    wealth.bet(score(side * (observations[i] - threshold), spreads[i], assumption));
  return wealth.p_value() <= alpha;
}

}  // namespace detail

/// Returns the threshold where the scores of all finite observations add up to 0: the centre that a SequentialTest is
/// about. Under Assumption::symmetry it is Huber's M-estimate, under Assumption::median a median. With two modes it
/// lies between them, while the median is in one. Throws Error if there is no finite observation.
[[nodiscard]] inline double centre_of_scores(std::span<const double> observations,
                                             Assumption assumption = Assumption::symmetry) {
  RecentSpread spread;
  std::vector<double> known, spreads;
  for (const double observation : observations) {
    if (!std::isfinite(observation)) continue;
    known.push_back(observation);
    spreads.push_back(spread.value());
    spread.add(observation);
  }
  if (known.empty()) throw Error("centre_of_scores: there is no finite observation; expected one or more");
  double low = *std::min_element(known.begin(), known.end()), high = *std::max_element(known.begin(), known.end());
  // The sum falls as the threshold rises.
  for (int halving = 0; halving < 50; ++halving) {
    const double middle = low + (high - low) / 2;
    double sum = 0;
    for (std::size_t i = 0; i < known.size(); ++i) sum += score(known[i] - middle, spreads[i], assumption);
    (sum > 0 ? low : high) = middle;
  }
  return low + (high - low) / 2;
}

/// Returns the interval of thresholds that Wealth rejects on neither side by all observations. `low` is the highest
/// threshold that the centre is proven to exceed at `alpha_low`, `high` the lowest that it is proven to stay below at
/// `alpha_high`. An end is infinite with too few observations. The interval contains centre_of_scores(), where neither
/// side gains. It may widen again if later observations differ from earlier ones.
///
/// It is a confidence sequence (D. A. Darling and H. Robbins, "Confidence sequences for mean, variance, and median",
/// 1967). For a constant centre, the intervals after all numbers of observations hold together with probability 1 -
/// alpha_low - alpha_high, so the data may decide when to stop. Wealth falls as the threshold rises, so bisection finds
/// the ends. Throws Error unless both alphas are above 0 and add up to less than 1.
[[nodiscard]] inline Interval<double> confidence_sequence(std::span<const double> observations, double alpha_low,
                                                          double alpha_high,
                                                          Assumption assumption = Assumption::symmetry) {
  if (!(alpha_low > 0 && alpha_high > 0 && alpha_low + alpha_high < 1))
    throw Error("confidence_sequence: both alphas must be above 0 and add up to less than 1");
  constexpr double infinity = std::numeric_limits<double>::infinity();
  RecentSpread spread;
  std::vector<double> known, spreads;
  known.reserve(observations.size());
  spreads.reserve(observations.size());
  double least = infinity, most = -infinity, widest = 0;
  for (const double observation : observations) {
    if (!std::isfinite(observation)) continue;
    known.push_back(observation);
    spreads.push_back(spread.value());
    widest = std::max(widest, spread.value());
    least = std::min(least, observation);
    most = std::max(most, observation);
    spread.add(observation);
  }
  // At this distance every score, and so the evidence, is the largest possible.
  const double margin = 2 * largest_score * widest + std::abs(least) * 1e-9 + 1e-12;
  const auto end = [&](double side, double alpha) {
    double rejected = side > 0 ? least - margin : most + margin, kept = side > 0 ? most : least;
    const auto rejects = [&](double threshold) {
      return detail::rejected_by_all(known, spreads, threshold, side, alpha, assumption);
    };
    if (known.empty() || !rejects(rejected)) return -side * infinity;
    for (int halving = 0; halving < 40; ++halving) {
      const double middle = (rejected + kept) / 2;
      (rejects(middle) ? rejected : kept) = middle;
    }
    return rejected;
  };
  return {end(1, alpha_low), end(-1, alpha_high), 1 - alpha_low - alpha_high};
}

}  // namespace pace::stats
