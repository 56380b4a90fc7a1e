// RecentSpread: the running spread of the latest observations about any centre.
#pragma once

#include <cmath>

#include "pace/stats/recent_median.hpp"

namespace pace::stats {

/// Median of the last absolute differences between consecutive observations, scaled to the standard deviation of normal
/// data. Differences do not depend on the centre, so one spread serves every threshold. A median does not depend on the
/// size of outliers. With RecentMedian's 63 differences the spread is off by about 10 %, which costs a bet 1 % of its
/// growth. A change of the noise is forgotten after 63 cycles.
class RecentSpread {
 public:
  /// Adds an observation, in the unit of the spread; not NaN.
  void add(double observation) {
    if (any_) differences_.add(std::abs(observation - last_));
    any_ = true;
    last_ = observation;
  }

  /// The spread; 0 with fewer than three differences.
  [[nodiscard]] double value() const {
    if (differences_.size() < 3) return 0;
    // 0.6745 is the upper quartile of the normal distribution; a difference of two has sqrt(2) of its deviation.
    constexpr double scale = 1 / (0.6744897501960817 * 1.4142135623730951);
    return scale * differences_.value();
  }

 private:
  RecentMedian differences_;
  bool any_ = false;
  double last_ = 0;
};

}  // namespace pace::stats
