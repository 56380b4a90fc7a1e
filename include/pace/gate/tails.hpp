// Tails: what seldom takes long, as the mean and high quantiles of times show it and a median does not.
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

/// Share of the error rate of a guard of median and mean that is the median's; the rest is the mean's (Bonferroni). It
/// is as large as leaves a dozen cycles of one sign enough at 0.1 %.
inline constexpr double median_share = 0.8;
/// Share of the error rate of a guard of median and mean that is the mean's.
inline constexpr double mean_share = 1 - median_share;

/// A mean or quantile that is as unlikely as that under the hypothesis that it is within its limit is not let pass.
inline constexpr double suspicion = 0.1;

/// Samples of two sides, round by round, in cycles of `rounds` rounds; empty if those of one side are unknown.
struct PairedSamples {
  std::span<const Nanoseconds> reference = {};  ///< what the implementation is held against
  std::span<const Nanoseconds> own = {};        ///< the implementation's
  std::size_t rounds = 1;                       ///< rounds of a cycle
};

/// Returns the samples of `row` and of what `demand` holds it against, which is `reference` if that is not null.
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

/// The tests of single times that a demand asks for, beside or instead of that of log ratios.
class TailTests {
 public:
  /// Makes the tests for `demand`; none for one that is about a median alone.
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

  /// The p-value of "the mean or the quantile is at most the limit times the reference's".
  [[nodiscard]] double p_slower() const { return mean_ ? mean_->p_slower() : quantile_ ? quantile_->p_slower() : 1; }
  /// The p-value of the contrary; 1 also if the mean of all times is beyond the limit, though it is not proven to be.
  [[nodiscard]] double p_within() const {
    if (mean_) return mean_beyond() ? 1 : mean_->p_within();
    return quantile_ ? quantile_->p_within() : 1;
  }
  /// Whether the mean of all times so far is beyond the limit, by little or by a single call.
  [[nodiscard]] bool mean_beyond() const { return mean_ && mean_->ratio() > mean_->limit(); }
  /// The own mean of all times over the reference's; nothing if that is not tested or there are no samples.
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

/// Returns the p-values of `demand` from those of its test of log ratios and those of its tests of single times. A
/// guard of median and mean fails by either of them, at its share of the error rate, and passes by the median, unless
/// the mean is suspect.
[[nodiscard]] inline Weights weigh_together(const Demand& demand, const Weights& of_ratios, const TailTests& tails) {
  if (demand.method != Method::sequential || demand.about == Statistic::median) return of_ratios;
  const double slower = tails.p_slower();
  const bool suspect = slower <= suspicion;
  if (demand.about != Statistic::median_and_mean) return {suspect ? 1 : tails.p_within(), slower};
  return {suspect ? 1 : of_ratios.p_above, std::min({1.0, of_ratios.p_below / median_share, slower / mean_share})};
}

}  // namespace pace::gate
