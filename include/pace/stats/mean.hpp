// Means of numbers.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace pace::stats {

/// Arithmetic mean; NaN for an empty vector.
[[nodiscard]] inline double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// Geometric mean, by logarithms, so that no product overflows. 0 if a value is 0; NaN for an empty vector.
[[nodiscard]] inline double geometric_mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

/// A ratio with a confidence interval, all above 0.
struct RatioInterval {
  double ratio = 1;  ///< the estimate
  double low = 1;    ///< lower limit
  double high = 1;   ///< upper limit
};

/// Returns the geometric mean of independently measured ratios, with an interval of the same confidence; nothing for an
/// empty vector. In logarithms, the squared distances from the estimates to their limits add up: the MOVER method of G.
/// Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in
/// Medicine 27 (2008).
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

/// Geometric mean of `values`, with smaller ones raised to `least`.
[[nodiscard]] inline double clipped_geometric_mean_of(std::vector<double> values, double least) {
  for (double& value : values) value = std::max(value, least);
  return geometric_mean_of(values);
}

}  // namespace pace::stats
