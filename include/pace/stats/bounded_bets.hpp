// BoundedBets: wealth against the hypothesis that the mean of bounded observations is at most 0.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace pace::stats {

/// A test by betting of the hypothesis that observations of at least -1 each have a mean of at most 0, given those
/// before. The wealth starts with 1, divided among three bets with fixed stakes below 1. Each observation multiplies a
/// bet by 1 + stake * observation, which is above 0 and has a mean of at most 1. So the wealth is a nonnegative
/// supermartingale whatever the distribution, its skew and its drift. By Ville's inequality it ever reaches 1/alpha
/// with probability at most alpha (I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by
/// betting", JRSS B, 2023). So does a mean of such wealths with fixed weights.
class BoundedBets {
 public:
  /// Shares of the wealth at stake. The largest suits observations that are seldom below 0, the others noise.
  static constexpr std::array<double, 3> stakes{0.9, 0.25, 0.06};

  /// Adds an observation, at least -1.
  void add(double observation) {
    for (std::size_t i = 0; i < stakes.size(); ++i) logs_[i] += std::log1p(stakes[i] * observation);
  }
  /// Natural logarithm of the present wealth.
  [[nodiscard]] double log_wealth() const {
    const double most = *std::max_element(logs_.begin(), logs_.end());
    double sum = 0;
    for (const double each : logs_) sum += std::exp(each - most);
    return most + std::log(sum / static_cast<double>(stakes.size()));
  }

 private:
  std::array<double, stakes.size()> logs_{};
};

}  // namespace pace::stats
