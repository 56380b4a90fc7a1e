// Summaries of one implementation's samples, alone and paired with the baseline.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "pace/result/result.hpp"
#include "pace/stats/cycle.hpp"
#include "pace/stats/mean.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/stats/spread.hpp"

namespace pace::stats {

/// Returns quantiles, the interval of the median at `confidence`, and the spread of times per iteration. Throws Error
/// on an empty sample.
[[nodiscard]] inline TimeSummary summarize_times(std::span<const Nanoseconds> samples, double confidence) {
  std::vector<double> times;
  times.reserve(samples.size());
  for (const auto sample : samples) times.push_back(sample.count());
  const auto ascending = sorted(std::move(times));

  TimeSummary summary;
  summary.samples = ascending.size();
  summary.q20 = Nanoseconds(quantile(ascending, 0.2));
  summary.median = Nanoseconds(median(ascending));
  summary.q80 = Nanoseconds(quantile(ascending, 0.8));
  summary.min = Nanoseconds(ascending.front());
  summary.max = Nanoseconds(ascending.back());
  summary.q99 = Nanoseconds(quantile(ascending, 0.99));
  summary.mean = Nanoseconds(mean_of(ascending));
  if (const auto interval = median_interval(ascending, confidence))
    summary.interval.emplace() = {Nanoseconds(interval->low), Nanoseconds(interval->high), confidence};
  if (summary.median.count() > 0) summary.spread = median_absolute_deviation(ascending) / summary.median.count();
  return summary;
}

/// Returns the speed-up from log ratios, ln(baseline / candidate): quantiles 0.2, 0.5 and 0.8, and the interval of the
/// median at `confidence`. Throws Error on an empty sample.
[[nodiscard]] inline SpeedupSummary summarize_speedup(std::span<const double> log_ratios, double confidence) {
  const auto ascending = sorted({log_ratios.begin(), log_ratios.end()});

  SpeedupSummary summary;
  summary.observations = ascending.size();
  summary.ties = static_cast<std::size_t>(std::count(ascending.begin(), ascending.end(), 0.0));
  summary.q20 = std::exp(quantile(ascending, 0.2));
  summary.median = std::exp(median(ascending));
  summary.q80 = std::exp(quantile(ascending, 0.8));
  if (const auto interval = median_interval(ascending, confidence))
    summary.interval.emplace() = {std::exp(interval->low), std::exp(interval->high), confidence};
  return summary;
}

/// As summarize_speedup(), with an interval that is also valid if the data decided when to stop (see
/// confidence_sequence()). It is wider. It is absent with too few observations for both ends, or if the centre moved so
/// much that no interval fits all. With several modes, the median may lie outside of the sequence's interval; the
/// interval then extends to it, and holds at `confidence` all the more.
[[nodiscard]] inline SpeedupSummary summarize_watched_speedup(std::span<const double> log_ratios, double confidence) {
  SpeedupSummary summary = summarize_speedup(log_ratios, confidence);
  const double tail = (1 - confidence) / 2;
  const auto interval = confidence_sequence(log_ratios, tail, tail);
  summary.anytime = true;
  summary.interval.reset();
  if (std::isfinite(interval.low) && std::isfinite(interval.high) && interval.low <= interval.high)
    summary.interval.emplace() = {std::min(std::exp(interval.low), summary.median),
                                  std::max(std::exp(interval.high), summary.median), confidence};
  return summary;
}

}  // namespace pace::stats
