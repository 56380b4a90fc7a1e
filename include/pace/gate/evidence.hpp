// Evidence: summary of one implementation's observations for one demand.
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

/// An observation is slow if its longer side took at least this time within its cycle. A dozen of these, as a test by
/// signs needs, would exceed a budget. Disturbances are short against it: a time slice of another process takes a few
/// milliseconds. So the size of a slow observation is evidence, too (stats::LargeDeviationBet).
inline constexpr Nanoseconds slow_side = std::chrono::milliseconds(100);

/// Returns the time of an observation's longer side within its cycle. `log_time` is ln of the own time per iteration in
/// nanoseconds (mean over `rounds` samples of `iterations` each), `log_ratio` the observation.
[[nodiscard]] inline Nanoseconds longer_side(double log_time, double log_ratio, std::size_t rounds,
                                             std::int64_t iterations) {
  return Nanoseconds(std::exp(log_time + std::max(log_ratio, 0.0)) * static_cast<double>(rounds) *
                     static_cast<double>(iterations));
}

/// Summary of the observations for one demand, in the unit of Demand::quantity.
struct Evidence {
  std::size_t observations = 0;     ///< number of observations
  double centre = 0;                ///< median of the observations; mean for replicates
  double deviation = 0;             ///< robust standard deviation; standard deviation for replicates
  double p_above = 1;               ///< p-value of "the centre is at or below the threshold"
  double p_below = 1;               ///< p-value of "the centre is at or above the threshold"
  double p_above_by_interval = 1;   ///< `p_above` without stats::LargeDeviationBet, for undecided_thresholds()
  double p_below_by_interval = 1;   ///< `p_below` without stats::LargeDeviationBet, for undecided_thresholds()
  bool far_above = false;           ///< whether every observation won stats::LargeDeviationBet above the threshold
  bool far_below = false;           ///< whether every observation won stats::LargeDeviationBet below the threshold
  double p_slower = 1;              ///< p-value of the test of single times by mean or quantile; 1 without one
  std::optional<double> tail = {};  ///< own mean or quantile over the reference's; absent if unknown
  /// Whether stats::SequentialTest found the centre on one side, but too few observations there.
  bool skewed = false;
  /// Whether every observation is slow (slow_side). A Panel counts one that is not large as not slow.
  bool slow = false;
};

/// Returns the observations for `demand`, in the order of cycles. `reference` is the row of the implementation that the
/// demand names, unless that is the baseline.
[[nodiscard]] std::vector<double> observe(const Demand& demand, const ImplementationResult& row,
                                          const ImplementationResult* reference = nullptr);

/// Returns the time of each observation's longer side (longer_side()). Empty if unknown, and for demands on times,
/// which have one side.
[[nodiscard]] std::vector<Nanoseconds> longer_sides(const Demand& demand, const ImplementationResult& row,
                                                    const std::vector<double>& observations);

/// Returns the evidence of `observations`, in the order of time, for `demand`. `sides` comes from longer_sides(); if
/// empty, no observation is slow. `pairs` are the samples behind the observations.
[[nodiscard]] Evidence weigh(std::span<const double> observations, const Demand& demand,
                             std::span<const Nanoseconds> sides = {}, const PairedSamples& pairs = {});

/// The same for a `test` that already has the `observations` and `tails` that have their samples `pairs`. `slow`
/// becomes Evidence::slow.
[[nodiscard]] Evidence weigh(std::span<const double> observations, const Demand& demand,
                             const stats::SequentialTest& test, const TailTests& tails, bool slow,
                             const PairedSamples& pairs);

/// Returns the interval of thresholds for which the observations are undecided at these levels: the verdict can be read
/// off it. Its ends are infinite with too few observations.
[[nodiscard]] Interval<double> undecided_thresholds(std::span<const double> observations, const Demand& demand,
                                                    double pass_level, double fail_level);

/// Returns the centre to print with `interval`, from undecided_thresholds() with its ends in order: Evidence::centre,
/// or the nearest end. Only a mean of processes that moved may lie outside.
[[nodiscard]] double centre_within(const Interval<double>& interval, const Evidence& evidence);

/// Returns the smallest number of observations of one sign that decide at this level.
[[nodiscard]] inline std::size_t fewest_for_verdict(double level) {
  return stats::fewest_for_rejection(stats::SequentialTest::wealth_share * level);
}

/// Returns `passed` or `failed` if the evidence suffices for exactly one, `undecided` otherwise. It suffices for both
/// only if the figures of processes moved across the threshold, which proves neither.
[[nodiscard]] Verdict decide(double p_above, double p_below, double pass_level, double fail_level);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/evidence-inl.hpp"
#endif
