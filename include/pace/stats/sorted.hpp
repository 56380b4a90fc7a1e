// sorted: numbers in ascending order, by the one std::sort of doubles that tests compile.
#pragma once

#include <algorithm>
#include <vector>

namespace pace::stats {

/// Returns the values in ascending order. None may be NaN.
[[nodiscard]] inline std::vector<double> sorted(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace pace::stats
