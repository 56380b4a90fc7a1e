// ratio_of_sums: a ratio of two sums over the same parts, with its error.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include "pace/base/units.hpp"
#include "pace/stats/student.hpp"

namespace pace::stats {

/// A positive ratio and its error.
struct EstimatedRatio {
  double value = 0;           ///< the ratio
  double relative_error = 0;  ///< its standard error as a share of it
  std::size_t freedom = 0;    ///< degrees of freedom of that error; 0: the error is unknown

  /// The ratio of two independent ones.
  [[nodiscard]] friend EstimatedRatio operator/(const EstimatedRatio& top, const EstimatedRatio& bottom) {
    return {top.value / bottom.value, std::hypot(top.relative_error, bottom.relative_error),
            std::min(top.freedom, bottom.freedom)};
  }
  /// Interval by Student's t on a logarithmic scale. Absent if the error is unknown, or rests on fewer than seven
  /// degrees of freedom.
  [[nodiscard]] std::optional<Interval<double>> interval(double confidence) const {
    constexpr std::size_t fewest = 7;
    if (freedom < fewest) return std::nullopt;
    const double quantile = quantile_of_tail([&](double t) { return student_tail(t, freedom); }, (1 - confidence) / 2);
    const double factor = std::exp(quantile * relative_error);
    return Interval<double>{value / factor, value * factor, confidence};
  }
};

/// Returns the sum of `tops` over the sum of `bottoms`, of equal length, with the error of the ratio estimator (W. G.
/// Cochran, "Sampling Techniques", 1977, section 6.4). Errors of neighbouring parts that cancel, as of a border between
/// them, make the error look too large, never too small. The value is 0 without parts or with a sum of 0.
[[nodiscard]] inline EstimatedRatio ratio_of_sums(std::span<const double> tops, std::span<const double> bottoms) {
  double top = 0, bottom = 0, squares = 0;
  for (const double each : tops) top += each;
  for (const double each : bottoms) bottom += each;
  EstimatedRatio found;
  if (!(top > 0) || !(bottom > 0)) return found;
  found.value = top / bottom;
  if (tops.size() < 2) return found;
  for (std::size_t i = 0; i < tops.size(); ++i) {
    const double rest = tops[i] - found.value * bottoms[i];
    squares += rest * rest;
  }
  const auto count = static_cast<double>(tops.size());
  found.relative_error = std::sqrt(squares / (count * (count - 1))) / (top / count);
  found.freedom = tops.size() - 1;
  return found;
}

}  // namespace pace::stats
