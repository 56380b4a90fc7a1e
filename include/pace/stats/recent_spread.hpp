// RecentSpread: how much observations vary, known after each of them, whatever they vary about.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace pace::stats {

/// Median of the absolute differences between consecutive observations, of the last `window` of them, scaled to the
/// standard deviation of normal data. Differences do not depend on the centre, so one spread serves every threshold;
/// the median does not depend on how far outliers lie out. Constant memory, no allocation.
class RecentSpread {
 public:
  /// Its own error is about 10 %, which costs a bet 1 % of its growth; old noise is forgotten after as many cycles.
  static constexpr std::size_t window = 63;

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

  /// 0 while there are fewer than three differences.
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
