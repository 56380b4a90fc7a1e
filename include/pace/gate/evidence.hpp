// Evidence: summary of the observations of one implementation for one demand.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/tails.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/sign_test.hpp"

namespace pace::gate {

/// An observation is slow if the longer of its two sides was timed for at least this time within its cycle. A test by
/// signs alone needs a dozen observations, which would then exceed a budget. As disturbances (a time slice of another
/// process takes a few milliseconds) are small against a slow side, the size of a slow observation is also evidence
/// (see stats::LargeDeviationBet). The times of other implementations of the comparison do not matter.
inline constexpr Nanoseconds slow_side = std::chrono::milliseconds(100);

/// Returns the time of the longer side of an observation within its cycle. `log_time` is ln of the implementation's own
/// time per iteration in nanoseconds (mean over `rounds` samples of `iterations` each), `log_ratio` the observation.
[[nodiscard]] inline Nanoseconds longer_side(double log_time, double log_ratio, std::size_t rounds,
                                             std::int64_t iterations) {
  return Nanoseconds(std::exp(log_time + std::max(log_ratio, 0.0)) * static_cast<double>(rounds) *
                     static_cast<double>(iterations));
}

/// Summary of the observations for one demand, in the unit of Demand::quantity.
struct Evidence {
  std::size_t observations = 0;    ///< number of observations
  double centre = 0;               ///< median of the observations; mean for replicates
  double deviation = 0;            ///< robust standard deviation of the observations; standard deviation for replicates
  double p_above = 1;              ///< p-value of "the centre is at or below the threshold"
  double p_below = 1;              ///< p-value of "the centre is at or above the threshold"
  double p_above_by_interval = 1;  ///< `p_above` without stats::LargeDeviationBet, as undecided_thresholds() uses it
  double p_below_by_interval = 1;  ///< `p_below` without stats::LargeDeviationBet, as undecided_thresholds() uses it
  bool far_above = false;          ///< whether every observation won stats::LargeDeviationBet above the threshold
  bool far_below = false;          ///< whether every observation won stats::LargeDeviationBet below the threshold
  double p_slower = 1;             ///< p-value of the mean or quantile by its test of single times; 1 without one
  std::optional<double> tail = {};  ///< own mean or quantile over the reference's; absent if it is not known
  /// Whether stats::SequentialTest found the centre on one side, and too few observations on that side (see there).
  bool skewed = false;
  /// Whether every observation is slow (see slow_side). A Panel takes one that is not large for one that is not slow.
  bool slow = false;
};

/// Returns the observations for `demand`, in the order of cycles. `reference` is the row of the implementation that the
/// demand names, if that is not the baseline.
[[nodiscard]] std::vector<double> observe(const Demand& demand, const ImplementationResult& row,
                                          const ImplementationResult* reference = nullptr);

/// Returns the time of the longer side of each observation (see longer_side()); empty if it is unknown, and for demands
/// on times, which have one side.
[[nodiscard]] std::vector<Nanoseconds> longer_sides(const Demand& demand, const ImplementationResult& row,
                                                    const std::vector<double>& observations);

/// Returns the evidence of `observations`, in the order in which they were made, for `demand`. `sides` is the result of
/// longer_sides(); if it is empty, no observation is slow. `pairs` are the samples that the observations are of.
[[nodiscard]] Evidence weigh(std::span<const double> observations, const Demand& demand,
                             std::span<const Nanoseconds> sides = {}, const PairedSamples& pairs = {});

/// Returns the evidence of `observations` that `test` has got one by one, and of their samples `pairs`, which `tails`
/// has got; `slow` becomes Evidence::slow.
[[nodiscard]] Evidence weigh(std::span<const double> observations, const Demand& demand,
                             const stats::SequentialTest& test, const TailTests& tails, bool slow,
                             const PairedSamples& pairs);

/// Returns the interval of the thresholds for which the observations are undecided at these levels, so that the verdict
/// can be read off the interval. Its ends are infinite if there are too few observations.
[[nodiscard]] Interval<double> undecided_thresholds(std::span<const double> observations, const Demand& demand,
                                                    double pass_level, double fail_level);

/// Returns the centre that is printed with `interval`, the result of undecided_thresholds() with its ends in order. It
/// is Evidence::centre if that lies in the interval, as the median of cycles does. The mean of processes may lie
/// outside if it moved; it is then the nearest end.
[[nodiscard]] double centre_within(const Interval<double>& interval, const Evidence& evidence);

/// Returns the smallest number of observations of one sign that decide at this level.
[[nodiscard]] inline std::size_t fewest_for_verdict(double level) {
  return stats::fewest_for_rejection(stats::SequentialTest::wealth_share * level);
}

/// Returns `passed` or `failed` if the evidence suffices for exactly one of them, and `undecided` otherwise. It
/// suffices for both only if the figures of processes moved across the threshold, which proves neither.
[[nodiscard]] Verdict decide(double p_above, double p_below, double pass_level, double fail_level);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/evidence-inl.hpp"
#endif
