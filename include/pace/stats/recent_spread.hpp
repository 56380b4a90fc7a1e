// RecentSpread: the spread of the latest observations about any centre, updated by each of them.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace pace::stats {

/// The median of the last `window` absolute differences between consecutive observations, scaled to the standard
/// deviation of normal data. Differences do not depend on the centre, so that one spread serves every threshold, and
/// the median does not depend on the size of outliers. Takes constant memory and allocates nothing.
class RecentSpread {
 public:
  /// Number of differences. With 63 the spread has an error of about 10 %, by which a bet loses 1 % of its growth; a
  /// change of the noise is forgotten after 63 cycles.
  static constexpr std::size_t window = 63;

  /// Adds an observation, in the unit of the spread; not NaN.
  void add(double observation) {
    if (count_++ > 0) {
      const double difference = std::abs(observation - last_);
      if (size_ == window) {
        double* oldest = std::lower_bound(sorted_.data(), sorted_.data() + size_, in_order_[next_]);
        std::copy(oldest + 1, sorted_.data() + size_, oldest);
        --size_;
      }
      double* place = std::upper_bound(sorted_.data(), sorted_.data() + size_, difference);
      std::copy_backward(place, sorted_.data() + size_, sorted_.data() + size_ + 1);
      *place = difference;
      ++size_;
      in_order_[next_] = difference;
      next_ = (next_ + 1) % window;
    }
    last_ = observation;
  }

  /// The spread; 0 while there are fewer than three differences.
  [[nodiscard]] double value() const {
    if (size_ < 3) return 0;
    // 0.6745 is the upper quartile of the normal distribution; a difference of two has sqrt(2) of its deviation.
    constexpr double scale = 1 / (0.6744897501960817 * 1.4142135623730951);
    return scale * (sorted_[(size_ - 1) / 2] + sorted_[size_ / 2]) / 2;
  }

 private:
  std::array<double, window> sorted_{}, in_order_{};
  std::size_t size_ = 0, next_ = 0, count_ = 0;
  double last_ = 0;
};

}  // namespace pace::stats
