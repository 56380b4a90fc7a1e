// Evidence: what the figures of one implementation say about one demand.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/demand.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/sign_test.hpp"

namespace pace::gate {

/// An observation is slow where the longer of the two sides that it compares was timed for so long within its cycle. The
/// dozen that signs alone take would be longer than a budget, and what else a machine does (a time slice of another
/// process is a few milliseconds) does not make so much of a tenth of it. Then the size of what is observed counts, too
/// (see stats::LargeDeviationBet). What other implementations of the comparison take says nothing of the pair.
inline constexpr Nanoseconds slow_side = std::chrono::milliseconds(100);

/// What the longer side of an observation was timed for within a cycle: `log_time` is that of the implementation's own
/// time per iteration (ln of nanoseconds, mean over `rounds` samples), `log_ratio` the observation.
[[nodiscard]] inline Nanoseconds longer_side(double log_time, double log_ratio, std::size_t rounds,
                                             std::int64_t iterations) {
  return Nanoseconds(std::exp(log_time + std::max(log_ratio, 0.0)) * static_cast<double>(rounds) *
                     static_cast<double>(iterations));
}

struct Evidence {
  std::size_t observations = 0;
  /// Median and robust standard deviation of the observations; of replicates, mean and standard deviation.
  double centre = 0, deviation = 0;
  /// P-values of "the centre is at or below the threshold" and of "at or above".
  double p_above = 1, p_below = 1;
  /// The same without stats::LargeDeviationBet: what undecided_thresholds() goes by.
  double p_above_by_interval = 1, p_below_by_interval = 1;
  /// So many observations, from the first one on, won that bet on either side.
  std::size_t far_above = 0, far_below = 0;
  /// Every observation is slow.
  bool slow = false;
};

/// The observations that `demand` is about, in the order of cycles. `reference` is the row of the implementation that
/// the demand names, where that is not the baseline.
[[nodiscard]] std::vector<double> observe(const Demand& demand, const ImplementationResult& row,
                                          const ImplementationResult* reference = nullptr);

/// What the longer side of each observation was timed for (see longer_side); empty where that is not known, and for
/// times, which are compared with nothing.
[[nodiscard]] std::vector<Nanoseconds> longer_sides(const Demand& demand, const ImplementationResult& row,
                                                    const std::vector<double>& observations);

/// A pure function of the numbers, in the order in which they were observed. `sides`: as longer_sides() has them; empty:
/// not known, so that no observation is slow.
[[nodiscard]] Evidence weigh(std::span<const double> observations, const Demand& demand,
                             std::span<const Nanoseconds> sides = {});

/// Thresholds that the same evidence would neither have passed nor failed at these levels, so that the verdict can be
/// read off the interval. Infinite ends where there are too few observations.
[[nodiscard]] Interval<double> undecided_thresholds(std::span<const double> observations, const Demand& demand,
                                                    double pass_level, double fail_level);

/// Fewest observations of one sign that decide at this level.
[[nodiscard]] inline std::size_t fewest_for_verdict(double level) {
  return stats::fewest_for_rejection(stats::SequentialTest::wealth_share * level);
}

/// Passed or failed where the evidence suffices for one of them. For both it can only suffice if the figures moved
/// across the threshold while they were taken, which proves neither.
[[nodiscard]] Verdict decide(double p_above, double p_below, double pass_level, double fail_level);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/evidence-inl.hpp"
#endif
