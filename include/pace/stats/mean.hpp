// Means of numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace pace::stats {

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

/// A ratio, all of it above 0, and what it lies in at some level of confidence.
struct RatioInterval {
  double ratio = 1, low = 1, high = 1;
};

/// The geometric mean of ratios that were measured apart from each other, and what it lies in at the level of theirs: the
/// distances to their limits add up by their squares, in logarithms (Zou and Donner, Construction of confidence limits
/// about effect measures: a general approach, Statistics in Medicine 27, 2008). None of none.
[[nodiscard]] inline std::optional<RatioInterval> geometric_mean_of(const std::vector<RatioInterval>& ratios) {
  if (ratios.empty()) return std::nullopt;
  double sum = 0, below = 0, above = 0;
  for (const auto& [ratio, low, high] : ratios) {
    sum += std::log(ratio);
    below += std::pow(std::log(ratio / low), 2);
    above += std::pow(std::log(high / ratio), 2);
  }
  const auto count = static_cast<double>(ratios.size());
  return RatioInterval{std::exp(sum / count), std::exp((sum - std::sqrt(below)) / count),
                       std::exp((sum + std::sqrt(above)) / count)};
}

/// The geometric mean of `values`, each of them taken for `least` if it is smaller.
[[nodiscard]] inline double clipped_geometric_mean_of(std::vector<double> values, double least) {
  for (double& value : values) value = std::max(value, least);
  return geometric_mean_of(values);
}

}  // namespace pace::stats
