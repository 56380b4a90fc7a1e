// Summaries of the samples of one implementation, alone and paired with the baseline.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/spread.hpp"

namespace pace::stats {

/// Quantiles, interval and spread of times per iteration. Throws Error on an empty sample.
[[nodiscard]] inline TimeSummary summarize_times(std::span<const Nanoseconds> samples, double confidence) {
  std::vector<double> sorted;
  sorted.reserve(samples.size());
  for (const auto sample : samples) sorted.push_back(sample.count());
  std::ranges::sort(sorted);

  TimeSummary summary;
  summary.samples = sorted.size();
  summary.q20 = Nanoseconds(quantile(sorted, 0.2));
  summary.median = Nanoseconds(median(sorted));
  summary.q80 = Nanoseconds(quantile(sorted, 0.8));
  summary.min = Nanoseconds(sorted.front());
  summary.max = Nanoseconds(sorted.back());
  if (const auto interval = median_interval(sorted, confidence))
    summary.interval = {Nanoseconds(interval->low), Nanoseconds(interval->high), confidence};
  if (summary.median.count() > 0) summary.spread = median_absolute_deviation(sorted) / summary.median.count();
  return summary;
}

/// One observation per crossover cycle: the mean of ln(baseline / candidate) over the rounds of the cycle, in which
/// each side has held each place in the order and each operand set once, so that both effects cancel before the
/// median is taken (a median of single rounds would fall between the two modes that placement makes).
/// `rounds_per_cycle` consecutive rounds form a cycle; an unfinished last cycle is dropped, as is a cycle with a time
/// of zero, which has no logarithm. Throws Error if the two sides differ in length.
[[nodiscard]] inline std::vector<double> paired_log_ratios(std::span<const Nanoseconds> baseline,
                                                           std::span<const Nanoseconds> candidate,
                                                           std::size_t rounds_per_cycle) {
  if (baseline.size() != candidate.size()) throw Error("paired_log_ratios: the two sides differ in length");
  if (rounds_per_cycle == 0) throw Error("paired_log_ratios: a cycle has at least one round");
  std::vector<double> ratios;
  ratios.reserve(baseline.size() / rounds_per_cycle);
  for (std::size_t first = 0; first + rounds_per_cycle <= baseline.size(); first += rounds_per_cycle) {
    double sum = 0;
    for (std::size_t round = first; round < first + rounds_per_cycle; ++round)
      sum += std::log(baseline[round].count() / candidate[round].count());
    if (std::isfinite(sum)) ratios.push_back(sum / static_cast<double>(rounds_per_cycle));
  }
  return ratios;
}

/// Speed-up from log ratios: quantiles 0.2, 0.5, 0.8 and the interval of the median. Throws Error on an empty sample.
[[nodiscard]] inline SpeedupSummary summarize_speedup(std::span<const double> log_ratios, double confidence) {
  std::vector<double> sorted(log_ratios.begin(), log_ratios.end());
  std::ranges::sort(sorted);

  SpeedupSummary summary;
  summary.observations = sorted.size();
  summary.ties = static_cast<std::size_t>(std::ranges::count(sorted, 0.0));
  summary.q20 = std::exp(quantile(sorted, 0.2));
  summary.median = std::exp(median(sorted));
  summary.q80 = std::exp(quantile(sorted, 0.8));
  if (const auto interval = median_interval(sorted, confidence))
    summary.interval = {std::exp(interval->low), std::exp(interval->high), confidence};
  return summary;
}

}  // namespace pace::stats
