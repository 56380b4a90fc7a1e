// Means of numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace pace::families::models {

/// NaN of none.
[[nodiscard]] inline double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// By logarithms, so that nothing overflows. 0 if any value is 0, NaN of none.
[[nodiscard]] inline double geometric_mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

/// Of values that are at least `least`, which smaller ones are taken for.
[[nodiscard]] inline double clipped_geometric_mean_of(std::vector<double> values, double least) {
  for (double& value : values) value = std::max(value, least);
  return geometric_mean_of(values);
}

}  // namespace pace::families::models
