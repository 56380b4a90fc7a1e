// Tails: tests for calls that are seldom slow. The mean and high quantiles of times show these, a median does not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>

#include "pace/base/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/mean_test.hpp"
#include "pace/stats/quantile_test.hpp"

namespace pace::gate {

/// The median's share of the error rate of a guard of median and mean; the mean has the rest (Bonferroni). With it, a
/// dozen cycles of one sign still suffice at 0.1 %.
inline constexpr double median_share = 0.8;
/// The mean's share of that error rate.
inline constexpr double mean_share = 1 - median_share;

/// p-value at which a mean or quantile is suspect: so unlikely within its limit that the demand does not pass.
inline constexpr double suspicion = 0.1;

/// Samples of two sides, round by round; empty if one side's are unknown.
struct PairedSamples {
  std::span<const Nanoseconds> reference = {};  ///< samples of the reference
  std::span<const Nanoseconds> own = {};        ///< samples of the implementation
  std::size_t rounds = 1;                       ///< rounds per cycle
};

/// Returns the samples of `row` and of `reference`, or of the baseline if that is null.
[[nodiscard]] inline PairedSamples paired_samples(const ImplementationResult& row,
                                                  const ImplementationResult* reference) {
  PairedSamples pairs{.own = row.samples, .rounds = std::max<std::size_t>(row.context.rounds_per_cycle, 1)};
  if (reference != nullptr)
    pairs.reference = reference->samples;
  else if (row.context.baseline_samples != nullptr)
    pairs.reference = *row.context.baseline_samples;
  if (pairs.reference.size() != pairs.own.size()) return {};
  return pairs;
}

/// Tests of single times that a demand needs, beside or instead of the test of log ratios.
class TailTests {
 public:
  /// Makes the tests for `demand`; none if it is about a median alone.
  explicit TailTests(const Demand& demand) {
    if (demand.method != Method::sequential) return;
    if (demand.about == Statistic::mean || demand.about == Statistic::median_and_mean) mean_.emplace(demand.limit);
    if (demand.about == Statistic::quantile) quantile_.emplace(demand.quantile, demand.limit);
  }

  /// Adds the samples of one cycle; the spans must be equally long.
  void add_cycle(std::span<const Nanoseconds> reference, std::span<const Nanoseconds> own) {
    if (mean_) mean_->add(mean_of(reference), mean_of(own));
    if (quantile_) quantile_->add(reference, own);
  }
  /// Adds all whole cycles of `pairs`.
  void add(const PairedSamples& pairs) {
    for (std::size_t first = 0; first + pairs.rounds <= pairs.own.size(); first += pairs.rounds)
      add_cycle(pairs.reference.subspan(first, pairs.rounds), pairs.own.subspan(first, pairs.rounds));
  }

  /// Returns the p-value of "the mean or the quantile is at most the limit times the reference's".
  [[nodiscard]] double p_slower() const { return mean_ ? mean_->p_slower() : quantile_ ? quantile_->p_slower() : 1; }
  /// Returns the p-value of the contrary. Also 1 if the mean of all times is beyond the limit, proven or not.
  [[nodiscard]] double p_within() const {
    if (mean_) return mean_beyond() ? 1 : mean_->p_within();
    return quantile_ ? quantile_->p_within() : 1;
  }
  /// Returns whether the mean of all times is beyond the limit, by however little or by a single call.
  [[nodiscard]] bool mean_beyond() const { return mean_ && mean_->ratio() > mean_->limit(); }
  /// Returns the own mean of all times over the reference's; nothing without a test of means or without samples.
  [[nodiscard]] std::optional<double> mean_ratio() const {
    return mean_ && mean_->cycles() > 0 ? std::optional(mean_->ratio()) : std::nullopt;
  }

 private:
  [[nodiscard]] static double mean_of(std::span<const Nanoseconds> times) {
    double sum = 0;
    for (const auto each : times) sum += each.count();
    return sum / static_cast<double>(times.size());
  }

  std::optional<stats::MeanTest> mean_;
  std::optional<stats::QuantileTest> quantile_;
};

/// P-values of a demand.
struct Weights {
  double p_above = 1;  ///< of "the centre is at or below the threshold", or "times are beyond the limit"
  double p_below = 1;  ///< of "the centre is at or above the threshold", or "times are within the limit"
};

/// Combines the p-values of the test of log ratios with the tests of single times. A guard of median and mean fails by
/// either, at its share of the error rate. It passes by the median, unless the mean is suspect.
[[nodiscard]] inline Weights weigh_together(const Demand& demand, const Weights& of_ratios, const TailTests& tails) {
  if (demand.method != Method::sequential || demand.about == Statistic::median) return of_ratios;
  const double slower = tails.p_slower();
  const bool suspect = slower <= suspicion;
  if (demand.about != Statistic::median_and_mean) return {suspect ? 1 : tails.p_within(), slower};
  return {suspect ? 1 : of_ratios.p_above, std::min({1.0, of_ratios.p_below / median_share, slower / mean_share})};
}

}  // namespace pace::gate
