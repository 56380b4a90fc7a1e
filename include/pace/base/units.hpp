// Nanoseconds: time as a type of its own. Interval: an interval around an estimate.
#pragma once

#include <chrono>

namespace pace {

/// The type of all times. Fractions are meaningful, since times are averages over many iterations.
using Nanoseconds = std::chrono::duration<double, std::nano>;

/// A two-sided interval that holds the true value with probability `confidence` (0.95 is 95 %).
template <class T>
struct Interval {
  T low{};                ///< lower limit
  T high{};               ///< upper limit
  double confidence = 0;  ///< probability, from 0 to 1

  /// Whether `value` lies in the interval, limits included.
  [[nodiscard]] bool contains(const T& value) const { return low <= value && value <= high; }
};

}  // namespace pace
