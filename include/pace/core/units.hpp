// Units: time as a type of its own, and intervals around an estimate.
#pragma once

#include <chrono>

namespace pace {

/// Every time in pace. A fraction of a nanosecond is meaningful: times are averages over many iterations.
using Nanoseconds = std::chrono::duration<double, std::nano>;

/// A two-sided interval that holds the true value with probability `confidence` (0.95 is 95 %).
template <class T>
struct Interval {
  T low{};
  T high{};
  double confidence = 0;

  [[nodiscard]] bool contains(const T& value) const { return low <= value && value <= high; }
};

}  // namespace pace
