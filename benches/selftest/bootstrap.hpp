// Bootstrap tests of two means, as criterion.rs makes them (its book, "Analysis Process").
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "pace/base/random.hpp"
#include "pace/base/units.hpp"
#include "pace/stats/quantile.hpp"

namespace pace::benches::selftest {

inline constexpr int resamples = 1000;

struct Moments {
  double mean = 0;
  /// With n - 1 in the denominator.
  double variance = 0;
};

[[nodiscard]] inline Moments moments(std::span<const double> sample) {
  const auto count = static_cast<double>(sample.size());
  Moments result;
  for (const double each : sample) result.mean += each / count;
  for (const double each : sample)
    result.variance += (each - result.mean) * (each - result.mean) / std::max(count - 1, 1.0);
  return result;
}

/// Welch's t of b over a.
[[nodiscard]] inline double welch_t(std::span<const double> a, std::span<const double> b) {
  const auto one = moments(a), other = moments(b);
  return (other.mean - one.mean) /
         std::sqrt(one.variance / static_cast<double>(a.size()) + other.variance / static_cast<double>(b.size()));
}

inline void resample(std::span<const double> from, std::vector<double>& to, SplitMix64& random) {
  for (auto& each : to) each = from[random.below(from.size())];
}

/// Two-sided p-value of Welch's t among the t of resamples out of both samples together.
[[nodiscard]] inline double bootstrap_t_test(std::span<const double> a, std::span<const double> b, SplitMix64& random) {
  std::vector<double> both(a.begin(), a.end());
  both.insert(both.end(), b.begin(), b.end());
  const double found = welch_t(a, b);
  std::vector<double> one(a.size()), other(b.size());
  int below = 0;
  for (int i = 0; i < resamples; ++i) {
    resample(both, one, random);
    resample(both, other, random);
    below += welch_t(one, other) < found;
  }
  return 2.0 * std::min(below, resamples - below) / resamples;
}

/// Percentile interval of mean(b) / mean(a) - 1.
[[nodiscard]] inline Interval<double> bootstrap_change(std::span<const double> a, std::span<const double> b,
                                                       double confidence, SplitMix64& random) {
  std::vector<double> one(a.size()), other(b.size()), changes(resamples);
  for (auto& change : changes) {
    resample(a, one, random);
    resample(b, other, random);
    change = moments(other).mean / moments(one).mean - 1;
  }
  std::sort(changes.begin(), changes.end());
  const double tail = (1 - confidence) / 2;
  return {stats::quantile(changes, tail), stats::quantile(changes, 1 - tail), confidence};
}

}  // namespace pace::benches::selftest
