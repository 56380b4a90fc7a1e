// Exact interval of a median by order statistics: no assumption on the distribution but independence.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include "pace/core/error.hpp"
#include "pace/core/units.hpp"

namespace pace::stats {

/// The k-th smallest and k-th largest of n values enclose the median unless fewer than k of them fall on one side of
/// it, and how many do is binomial with p = 1/2 (the sign test: Conover, "Practical Nonparametric Statistics", 3.4).
/// Returns the largest k in [1, n/2] for which the two tails together have at most probability 1 - confidence; none
/// if even the extremes of the sample are too narrow (fewer than 6 values at 95 %).
[[nodiscard]] inline std::optional<std::size_t> median_interval_rank(std::size_t n, double confidence) {
  if (!(confidence > 0 && confidence < 1)) throw Error("median_interval_rank: confidence must lie between 0 and 1");
  const double tail = (1 - confidence) / 2;
  const double count = static_cast<double>(n);
  // ln P(X = 0); further terms by the recurrence P(X = i + 1) = P(X = i) (n - i) / (i + 1). In logarithms, since 2^-n
  // underflows from n = 1075 on.
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

/// Interval of the median of ascending `sorted` with at least the confidence asked for; none if there are too few.
[[nodiscard]] inline std::optional<Interval<double>> median_interval(std::span<const double> sorted,
                                                                     double confidence) {
  const auto rank = median_interval_rank(sorted.size(), confidence);
  if (!rank) return std::nullopt;
  return Interval<double>{sorted[*rank - 1], sorted[sorted.size() - *rank], confidence};
}

/// Fewest values for which median_interval exists at this confidence: 2 (1/2)^n <= 1 - confidence.
[[nodiscard]] inline std::size_t fewest_for_median_interval(double confidence) {
  std::size_t n = 1;
  while (!median_interval_rank(n, confidence)) ++n;
  return n;
}

}  // namespace pace::stats
