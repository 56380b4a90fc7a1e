// Quantiles of sorted samples.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>

#include "pace/base/error.hpp"

namespace pace::stats {

/// Quantile `q` in [0, 1] of ascending `sorted`, interpolated linearly between the two nearest ranks: type 7 of Hyndman
/// and Fan, "Sample Quantiles in Statistical Packages" (1996), the default of NumPy and torch.quantile. Throws Error on
/// an empty sample or q outside [0, 1].
[[nodiscard]] inline double quantile(std::span<const double> sorted, double q) {
  if (sorted.empty()) throw Error("quantile: the sample is empty");
  if (!(q >= 0 && q <= 1)) throw Error("quantile: q must lie in [0, 1]");
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const double fraction = rank - static_cast<double>(below);
  // Otherwise an infinity beside a finite value would lead to NaN.
  if (fraction == 0) return sorted[below];
  return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

/// Mean of the two middle elements (the usual median). Throws Error on an empty sample.
[[nodiscard]] inline double median(std::span<const double> sorted) { return quantile(sorted, 0.5); }

/// The lower of the two middle elements: `torch.median`. Throws Error on an empty sample.
[[nodiscard]] inline double median_lower(std::span<const double> sorted) {
  if (sorted.empty()) throw Error("median_lower: the sample is empty");
  return sorted[(sorted.size() - 1) / 2];
}

}  // namespace pace::stats
