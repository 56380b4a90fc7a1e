// RecentMedian: the running median of the latest numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace pace::stats {

/// Median of the last `window` numbers. Takes constant memory and allocates nothing.
class RecentMedian {
 public:
  static constexpr std::size_t window = 63;  ///< most numbers kept

  /// Adds a number; not NaN.
  void add(double number) {
    if (size_ == window) {
      double* oldest = std::lower_bound(sorted_.data(), sorted_.data() + size_, in_order_[next_]);
      std::copy(oldest + 1, sorted_.data() + size_, oldest);
      --size_;
    }
    double* place = std::upper_bound(sorted_.data(), sorted_.data() + size_, number);
    std::copy_backward(place, sorted_.data() + size_, sorted_.data() + size_ + 1);
    *place = number;
    ++size_;
    in_order_[next_] = number;
    next_ = (next_ + 1) % window;
  }

  /// Count of the numbers kept.
  [[nodiscard]] std::size_t size() const { return size_; }
  /// The median; 0 without numbers.
  [[nodiscard]] double value() const { return size_ == 0 ? 0 : (sorted_[(size_ - 1) / 2] + sorted_[size_ / 2]) / 2; }

 private:
  std::array<double, window> sorted_{}, in_order_{};
  std::size_t size_ = 0, next_ = 0;
};

}  // namespace pace::stats
