// Spread of a sample, robust against outliers.
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"

namespace pace::stats {

/// Returns the median absolute deviation from the median of `ascending` numbers, in their unit. The factor 1.4826 makes
/// it estimate the standard deviation of normal data (P. J. Rousseeuw and C. Croux, "Alternatives to the median
/// absolute deviation", 1993). Throws Error on an empty sample.
[[nodiscard]] inline double median_absolute_deviation(std::span<const double> ascending) {
  const double centre = median(ascending);
  std::vector<double> deviations;
  deviations.reserve(ascending.size());
  for (const double value : ascending) deviations.push_back(std::abs(value - centre));
  return 1.4826 * median(sorted(std::move(deviations)));
}

}  // namespace pace::stats
