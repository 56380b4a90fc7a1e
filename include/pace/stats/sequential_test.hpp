// SequentialTest: is the centre above a threshold, below it, or is neither proven yet?
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/units.hpp"
#include "pace/stats/betting.hpp"
#include "pace/stats/recent_spread.hpp"

namespace pace::stats {

/// What is taken for granted of each observation, given those before it.
enum class Assumption {
  /// It is symmetric about its centre. For log ratios of identical code this holds by design: which of the two gets
  /// which part of a crossover cycle is a fair coin (see timing::Schedule), so a ratio and its inverse are equally
  /// likely whatever the machine did. Of different code it is assumed.
  symmetry,
  /// Only that its median is the centre. For times, which are skewed. Needs half as many observations again.
  median,
};

/// Scores of more than this many deviations count as this many: Huber's psi, which loses 1 % of the information in
/// normal data and keeps outliers from deciding.
inline constexpr double largest_score = 2;

/// What Wealth is to bet on that the observation lies above the threshold, from which it deviates by `deviation`.
/// `spread` must come from earlier observations only. Without one, the sign is scored, which needs none.
[[nodiscard]] inline double score(double deviation, double spread, Assumption assumption) {
  // A tie is no evidence that the median lies above.
  if (assumption == Assumption::median) return deviation > 0 ? 1 : -1;
  if (spread > 0) return std::clamp(deviation / spread, -largest_score, largest_score);
  return deviation > 0 ? 1 : deviation < 0 ? -1 : 0;
}

/// A bet on the size of deviations, for observations that each take so long that a dozen of them, the fewest by which
/// Wealth decides anything, are more than can be had. It does not need symmetry. What it assumes instead, of each
/// observation whose centre is not on the far side of the threshold: whatever came before,
///
///     P(the observation is slow AND lies beyond the threshold, on the far side, by more than ln 10 | the past) <= 1 %.
///
/// The probability is that of both together, since whether an observation is slow is known only with its value: a stall
/// makes it slow and large at once. (That 1 % of the slow ones are so large would do, too, but is more than is needed.)
/// Then the stake, which is paid a hundredfold if both hold and is lost otherwise, has a mean of at most 1 given the past,
/// so that a wealth that is staked whole each time is a nonnegative supermartingale that begins with 1: 100^n after n
/// such observations in a row from the first one on, and nothing once there is another one. By Ville's inequality it
/// ever reaches 100^n with probability at most 100^-n, so that the p-value may keep the most that the wealth ever was.
class LargeDeviationBet {
 public:
  /// ln 10.
  static constexpr double least = 2.302585092994046;
  static constexpr double by_chance = 0.01;

  /// By how much an observation lies beyond the threshold, and whether it took long enough for the assumption.
  void add(double deviation, bool slow) {
    unbroken_ = unbroken_ && slow && deviation > least;
    if (!unbroken_) return;
    p_value_ *= by_chance;
    ++won_;
  }
  /// Holds at every moment: at most 1.
  [[nodiscard]] double p_value() const { return p_value_; }
  /// The observations that were slow and large, from the first one on.
  [[nodiscard]] std::size_t won() const { return won_; }

 private:
  bool unbroken_ = true;
  double p_value_ = 1;
  std::size_t won_ = 0;
};

/// Two tests by betting at once, fed with one observation at a time: that the centre lies above the threshold (against
/// "at or below"), and that it lies below (against "at or above"). See Wealth for what they prove; centres may move
/// from observation to observation, as long as each is on the side that the hypothesis says. No allocation.
///
/// Under Assumption::symmetry, each of the two is a Wealth and a LargeDeviationBet (which has an assumption of its own),
/// which share its error rate (Bonferroni): 99 % of it and 1 %. Under Assumption::median it is a Wealth alone. At a rate of 0.1 %, three large deviations decide, or twelve observations of one
/// sign, as many as without sharing.
class SequentialTest {
 public:
  /// Shares of the error rate, for observations that are symmetric.
  static constexpr double wealth_share = 0.99, large_deviation_share = 0.01;

  explicit SequentialTest(double threshold, Assumption assumption = Assumption::symmetry)
      : threshold_(threshold), assumption_(assumption) {}

  /// What is not finite says nothing and is left out. `slow`: it took long enough for a LargeDeviationBet.
  void add(double observation, bool slow = false) {
    if (!std::isfinite(observation)) return;
    ++observations_;
    const double deviation = observation - threshold_, spread = spread_.value();
    above_.bet(score(deviation, spread, assumption_));
    below_.bet(score(-deviation, spread, assumption_));
    far_above_.add(deviation, slow);
    far_below_.add(-deviation, slow);
    spread_.add(observation);
  }

  [[nodiscard]] std::size_t observations() const { return observations_; }
  /// Evidence that the centre lies above the threshold.
  [[nodiscard]] const Wealth& above() const { return above_; }
  /// Evidence that the centre lies below the threshold.
  [[nodiscard]] const Wealth& below() const { return below_; }

  /// P-values of "the centre is at or below the threshold" and of "at or above".
  [[nodiscard]] double p_above() const { return p_value(above_, far_above_); }
  [[nodiscard]] double p_below() const { return p_value(below_, far_below_); }
  /// The same of Wealth alone, at its share of the error rate: what confidence_sequence() goes by.
  [[nodiscard]] double p_above_by_wealth() const { return p_by_wealth(above_); }
  [[nodiscard]] double p_below_by_wealth() const { return p_by_wealth(below_); }
  /// Observations that won the LargeDeviationBet on either side; 0 where none is made.
  [[nodiscard]] std::size_t far_above() const { return assumption_ == Assumption::symmetry ? far_above_.won() : 0; }
  [[nodiscard]] std::size_t far_below() const { return assumption_ == Assumption::symmetry ? far_below_.won() : 0; }

 private:
  [[nodiscard]] double p_by_wealth(const Wealth& wealth) const {
    return assumption_ == Assumption::symmetry ? std::min(1.0, wealth.p_value() / wealth_share) : wealth.p_value();
  }
  [[nodiscard]] double p_value(const Wealth& wealth, const LargeDeviationBet& bet) const {
    if (assumption_ != Assumption::symmetry) return wealth.p_value();
    return std::min(p_by_wealth(wealth), bet.p_value() / large_deviation_share);
  }

  double threshold_;
  Assumption assumption_;
  Wealth above_, below_;
  LargeDeviationBet far_above_, far_below_;
  RecentSpread spread_;
  std::size_t observations_ = 0;
};

/// Feeds all observations, in the order in which they were made.
[[nodiscard]] inline SequentialTest sequential_test(std::span<const double> observations, double threshold,
                                                    Assumption assumption = Assumption::symmetry) {
  SequentialTest test(threshold, assumption);
  for (const double observation : observations) test.add(observation);
  return test;
}

namespace detail {

/// Whether a test of "at or below `threshold`" ever rejected at `alpha`. `side` -1 turns everything upside down.
[[nodiscard]] inline bool ever_rejected(std::span<const double> observations, std::span<const double> spreads,
                                        double threshold, double side, double alpha, Assumption assumption) {
  Wealth wealth;
  for (std::size_t i = 0; i < observations.size(); ++i) {
    wealth.bet(score(side * (observations[i] - threshold), spreads[i], assumption));
    if (wealth.p_value() <= alpha) return true;
  }
  return false;
}

}  // namespace detail

/// Thresholds that neither side of SequentialTest has ever rejected: `low` is the highest that the centre is proven to
/// exceed at `alpha_low`, `high` the lowest that it is proven to stay below at `alpha_high`; infinite while there are
/// too few observations. All the intervals over time hold together with probability 1 - alpha_low - alpha_high for a
/// centre that stays put, so it does not matter that the data decided when to stop: a confidence sequence (Darling and
/// Robbins, 1967). Wealth falls as the threshold rises, so bisection finds the ends. Throws Error unless both alphas
/// are above 0 and add up to less than 1.
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
  // Where every score is the largest that there is, there is no stronger evidence.
  const double margin = 2 * largest_score * widest + std::abs(least) * 1e-9 + 1e-12;
  const auto end = [&](double side, double alpha) {
    double rejected = side > 0 ? least - margin : most + margin, kept = side > 0 ? most : least;
    const auto rejects = [&](double threshold) {
      return detail::ever_rejected(known, spreads, threshold, side, alpha, assumption);
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
