// Speed-ups over the samples of one operator: quantiles, ratios of two back ends, mean times.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"

namespace pace::benches::operators {

/// Times of one operator, `times[sample][model]`, in any one unit: quotients have none, means have that one.
using SampleTimes = std::vector<std::vector<double>>;

struct Quantiles {
  double q20 = 0, q50 = 0, q80 = 0;
};

namespace detail {

/// As NumPy and torch.quantile compute it. stats::quantile is the same but for rounding: they interpolate from the
/// nearer neighbour, which the last digit of a number that is printed in full shows. `sorted` holds one value at least.
[[nodiscard]] inline double interpolated(std::span<const double> sorted, double q) {
  const double rank = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(rank);
  const double fraction = rank - static_cast<double>(below);
  if (fraction == 0) return sorted[below];  // as NumPy would, except that infinities stay, where NumPy gives NaN
  const double low = sorted[below], high = sorted[below + 1];
  return fraction < 0.5 ? low + fraction * (high - low) : high - (high - low) * (1 - fraction);
}

[[nodiscard]] inline double time_of(const std::vector<double>& row, std::size_t model) {
  if (model >= row.size())
    throw Error("times of " + std::to_string(row.size()) + " models in a sample; expected one of model " +
                std::to_string(model));
  return row[model];
}

}  // namespace detail

/// The quantiles 0.2, 0.5 and 0.8, by linear interpolation; NaN if one of the values is. Throws Error without values.
[[nodiscard]] inline Quantiles quantiles(std::vector<double> values) {
  if (values.empty()) throw Error("quantiles of no values; expected one or more");
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  if (std::ranges::any_of(values, [](double value) { return std::isnan(value); })) return {nan, nan, nan};
  std::ranges::sort(values);
  return {detail::interpolated(values, 0.2), detail::interpolated(values, 0.5), detail::interpolated(values, 0.8)};
}

/// Quantiles over the samples of time(a) / time(b). Throws Error without samples, or where one lacks a time.
[[nodiscard]] inline Quantiles time_ratio(const SampleTimes& times, std::size_t a, std::size_t b) {
  std::vector<double> ratios;
  for (const auto& row : times) ratios.push_back(detail::time_of(row, a) / detail::time_of(row, b));
  return quantiles(std::move(ratios));
}

/// Quantiles over the samples of how many times as fast as model 0 a model is. Throws as time_ratio() does.
[[nodiscard]] inline Quantiles speedup(const SampleTimes& times, std::size_t model) {
  return time_ratio(times, 0, model);
}

/// The mean over the samples for each model, in the unit of the times. Throws as time_ratio() does.
[[nodiscard]] inline std::vector<double> mean_times(const SampleTimes& times) {
  if (times.empty()) throw Error("mean times of no samples; expected one or more");
  std::vector<double> means(times.front().size());
  for (std::size_t model = 0; model < means.size(); ++model) {
    for (const auto& row : times) means[model] += detail::time_of(row, model);
    means[model] /= static_cast<double>(times.size());
  }
  return means;
}

}  // namespace pace::benches::operators
