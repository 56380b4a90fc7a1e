// Spread of a sample, robust against outliers.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "pace/stats/quantile.hpp"

namespace pace::stats {

/// Median absolute deviation from the median of ascending `sorted`, times 1.4826 so that it estimates the standard
/// deviation of normal data (Rousseeuw and Croux, 1993). Same unit as the sample. Throws Error on an empty sample.
[[nodiscard]] inline double median_absolute_deviation(std::span<const double> sorted) {
  const double centre = median(sorted);
  std::vector<double> deviations;
  deviations.reserve(sorted.size());
  for (const double value : sorted) deviations.push_back(std::abs(value - centre));
  std::sort(deviations.begin(), deviations.end());
  return 1.4826 * median(deviations);
}

}  // namespace pace::stats
