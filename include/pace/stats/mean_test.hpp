// MeanTest: whether the mean time of one side is proven to be more than a multiple of the other side's.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "pace/stats/bounded_bets.hpp"
#include "pace/stats/recent_median.hpp"

namespace pace::stats {

/// Two sequential tests of mean times, updated cycle by cycle: that the candidate's is more than `limit` times the
/// reference's, and that it is less. Times have no bound, and one stall of the machine outweighs a thousand calls. So
/// they are winsorised, on both sides alike: a cycle's mean time counts as at most `level` times the typical one.
/// Typical is the median of the reference's latest cycles before this one. Then
///
///     X = (min(own, limit * M) - limit * min(reference, M)) / (limit * M),  M = level * typical,
///
/// is at least -1, and BoundedBets tests that its mean is at most 0. No symmetry is assumed.
/// - **Slower** is the mean of six such wealths. Each level shows other violations: 2 shows calls that are all a little
///   slower, 2048 one call in thousands that takes a thousand times longer. Time of a call beyond 2048 times the
///   typical one does not count. The hypothesis is that at each level the winsorised mean is at most `limit` times the
///   reference's. It holds if all of a candidate's times are at most `limit` times as long. For identical code and a
///   limit of at least 1 it holds whatever the machine does, since a coin assigns the parts of a cycle to the sides.
/// - **Within** is the wealth of -X at level 2 alone. That proof ignores the time of a call beyond twice the typical
///   one: no number of calls proves that a rarer one takes no longer.
///
/// Allocates nothing.
class MeanTest {
 public:
  /// Multiples of the typical time beyond which times do not count.
  static constexpr std::array<double, 6> levels{2, 8, 32, 128, 512, 2048};

  /// Tests the ratio of the means against `limit`.
  explicit MeanTest(double limit) : limit_(limit) {}

  /// Adds the mean times of one cycle, in any unit. Leaves out a cycle with a time that is not finite.
  void add(double reference, double own) {
    if (!std::isfinite(reference) || !std::isfinite(own)) return;
    ++cycles_;
    own_ += own;
    reference_ += reference;
    if (const double typical = typical_.value(); typical > 0) {
      for (std::size_t i = 0; i < levels.size(); ++i) {
        const double most = levels[i] * typical;
        // The own time is cut off at `limit` times as much, so that times within the limit stay within it.
        const double excess = std::min(own, limit_ * most) - limit_ * std::min(reference, most);
        slower_[i].add(excess / (limit_ * most));
        if (i == 0) within_.add(-excess / (limit_ * most));
      }
    }
    typical_.add(reference);
  }

  /// p-value of "at each level the mean is at most `limit` times the reference's", valid after every cycle.
  [[nodiscard]] double p_slower() const {
    double wealth = 0;
    for (const auto& each : slower_) wealth += std::exp(each.log_wealth()) / static_cast<double>(levels.size());
    return 1 / std::max(wealth, 1.0);
  }
  /// p-value of "at the lowest level the mean is at least `limit` times the reference's", valid after every cycle.
  [[nodiscard]] double p_within() const { return std::exp(-std::max(within_.log_wealth(), 0.0)); }
  /// Own mean of all cycles over the reference's, without winsorising; 1 before the first.
  [[nodiscard]] double ratio() const { return reference_ > 0 ? own_ / reference_ : 1; }
  /// Number of cycles so far.
  [[nodiscard]] std::size_t cycles() const { return cycles_; }
  /// Limit of the ratio.
  [[nodiscard]] double limit() const { return limit_; }

 private:
  double limit_;
  double own_ = 0, reference_ = 0;
  std::size_t cycles_ = 0;
  std::array<BoundedBets, levels.size()> slower_{};
  BoundedBets within_;
  RecentMedian typical_;
};

}  // namespace pace::stats
