// QuantileTest: whether a high quantile of one side's samples is proven to be more than a multiple of the other's.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/stats/bounded_bets.hpp"

namespace pace::stats {

/// A sequential test of the quantile `q` of single samples, updated cycle by cycle. The threshold is the quantile q of
/// the reference's samples from earlier cycles. In each cycle, X is the share of own samples above `limit` times the
/// threshold minus the reference's share above it, from -1 to 1. If the own quantile is at most `limit` times the
/// reference's, X has a mean of at most 0, which BoundedBets tests; -X tests the contrary.
///
/// Both sides meet one threshold in the same cycles, so disturbances of both cancel. An estimate that is off moves the
/// compared quantile (98.5 % instead of 99 %) and no error rate.
///
/// Allocates memory only at the beginning.
class QuantileTest {
 public:
  static constexpr std::size_t window = 1024;  ///< number of samples that set the threshold

  /// Tests the ratio of the quantiles `q` in (0, 1) against `limit`.
  QuantileTest(double q, double limit) : q_(q), limit_(limit) {
    samples_.reserve(window);
    ascending_.reserve(window);
    next_update_ = std::min<std::size_t>(window, static_cast<std::size_t>(std::ceil(1 / (1 - q))));
  }

  /// Adds the samples of one cycle. The spans must be equally long.
  void add(std::span<const Nanoseconds> reference, std::span<const Nanoseconds> own) {
    if (threshold_ > 0) {
      double excess = 0;
      for (const auto each : own) excess += each.count() > limit_ * threshold_;
      for (const auto each : reference) excess -= each.count() > threshold_;
      excess /= static_cast<double>(own.size());
      slower_.add(excess);
      within_.add(-excess);
    }
    for (const auto each : reference) {
      if (samples_.size() < window)
        samples_.push_back(each.count());
      else
        samples_[seen_ % window] = each.count();
      ++seen_;
    }
    if (seen_ < next_update_) return;
    next_update_ = seen_ + std::min(seen_, window);
    ascending_.assign(samples_.begin(), samples_.end());
    const auto rank = static_cast<std::ptrdiff_t>(q_ * static_cast<double>(ascending_.size() - 1));
    std::nth_element(ascending_.begin(), ascending_.begin() + rank, ascending_.end());
    threshold_ = ascending_[static_cast<std::size_t>(rank)];
  }

  /// p-value of "the quantile is at most `limit` times the reference's", valid after every cycle.
  [[nodiscard]] double p_slower() const { return std::exp(-std::max(slower_.log_wealth(), 0.0)); }
  /// p-value of "the quantile is at least `limit` times the reference's", valid after every cycle.
  [[nodiscard]] double p_within() const { return std::exp(-std::max(within_.log_wealth(), 0.0)); }

 private:
  double q_, limit_;
  double threshold_ = 0;
  BoundedBets slower_, within_;
  std::vector<double> samples_, ascending_;
  std::size_t seen_ = 0, next_update_ = 1;
};

}  // namespace pace::stats
