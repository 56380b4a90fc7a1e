// Exact confidence interval of a median by order statistics; assumes only independence.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace::stats {

/// Returns the largest k in [1, n/2] for which the k-th smallest and the k-th largest of n values enclose the median
/// with probability `confidence`. Nothing if even the extremes do not (fewer than 6 values at 95 %).
///
/// They enclose it unless fewer than k values lie on one side of it. The number on one side is binomial with p = 1/2
/// (W. J. Conover, "Practical Nonparametric Statistics", 3.4). Throws Error unless 0 < confidence < 1.
[[nodiscard]] inline std::optional<std::size_t> median_interval_rank(std::size_t n, double confidence) {
  if (!(confidence > 0 && confidence < 1)) throw Error("median_interval_rank: confidence must lie between 0 and 1");
  const double tail = (1 - confidence) / 2;
  const double count = static_cast<double>(n);
  // ln P(X = 0); further terms by P(X = i + 1) = P(X = i) (n - i) / (i + 1). In logarithms, since 2^-n underflows from
  // n = 1075 on.
  double log_probability = -count * std::log(2.0);
  double cumulative = 0;
  std::size_t rank = 0;
  for (std::size_t i = 0; 2 * i < n; ++i) {
    cumulative += std::exp(log_probability);
    if (cumulative > tail) break;
    rank = i + 1;
    const double index = static_cast<double>(i);
    log_probability += std::log((count - index) / (index + 1));
  }
  if (rank == 0) return std::nullopt;
  return rank;
}

/// Returns a confidence interval of the median of the ascending numbers `sorted` with at least this confidence; nothing
/// if there are too few. Throws Error unless 0 < confidence < 1.
[[nodiscard]] inline std::optional<Interval<double>> median_interval(std::span<const double> sorted,
                                                                     double confidence) {
  const auto rank = median_interval_rank(sorted.size(), confidence);
  if (!rank) return std::nullopt;
  return Interval<double>{sorted[*rank - 1], sorted[sorted.size() - *rank], confidence};
}

/// Fewest values n with a median_interval() at this confidence: 2 (1/2)^n <= 1 - confidence.
[[nodiscard]] inline std::size_t fewest_for_median_interval(double confidence) {
  std::size_t n = 1;
  while (!median_interval_rank(n, confidence)) ++n;
  return n;
}

}  // namespace pace::stats
