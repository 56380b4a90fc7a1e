// Evidence: what the figures of one implementation say about one demand.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/stats/betting.hpp"
#include "pace/stats/cycle.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/replicate_test.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/sign_test.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/stats/spread.hpp"

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
[[nodiscard]] inline std::vector<double> observe(const Demand& demand, const ImplementationResult& row,
                                                 const ImplementationResult* reference = nullptr) {
  const std::size_t cycle = std::max<std::size_t>(row.context.rounds_per_cycle, 1);
  if (demand.quantity == Quantity::speedup)
    return reference == nullptr ? row.log_ratios : stats::paired_log_ratios(reference->samples, row.samples, cycle);
  auto times = stats::cycle_log_times(row.samples, cycle);
  for (auto& time : times) time = -time;
  return times;
}

/// What the longer side of each observation was timed for (see longer_side); empty where that is not known, and for
/// times, which are compared with nothing.
[[nodiscard]] inline std::vector<Nanoseconds> longer_sides(const Demand& demand, const ImplementationResult& row,
                                                           const std::vector<double>& observations) {
  const std::size_t cycle = std::max<std::size_t>(row.context.rounds_per_cycle, 1);
  if (demand.quantity != Quantity::speedup || row.context.iterations <= 0) return {};
  const auto log_times = stats::cycle_log_times(row.samples, cycle);
  // Cycles with a time of zero are left out of both, but not the same ones.
  if (log_times.size() != observations.size()) return {};
  std::vector<Nanoseconds> sides;
  for (std::size_t i = 0; i < observations.size(); ++i)
    sides.push_back(longer_side(log_times[i], observations[i], cycle, row.context.iterations));
  return sides;
}

/// A pure function of the numbers, in the order in which they were observed. `sides`: as longer_sides() has them; empty:
/// not known, so that no observation is slow.
[[nodiscard]] Evidence weigh(std::span<const double> observations, const auto& demand,
                             std::span<const Nanoseconds> sides = {}) {
  Evidence evidence;
  evidence.observations = observations.size();
  if (observations.empty()) return evidence;
  const auto ascending = stats::sorted({observations.begin(), observations.end()});
  evidence.centre = stats::median(ascending);
  evidence.deviation = stats::median_absolute_deviation(ascending);
  if (demand.method == Method::replicates) {
    stats::ReplicateTest test(demand.threshold);
    double squares = 0, mean = 0;
    for (const double each : observations) mean += each / static_cast<double>(observations.size());
    for (const double each : observations) {
      test.add(each);
      squares += (each - mean) * (each - mean);
    }
    // So few are described by the standard deviation that the test itself goes by.
    evidence.centre = mean;
    if (observations.size() > 1) evidence.deviation = std::sqrt(squares / static_cast<double>(observations.size() - 1));
    evidence.p_above = test.p_above();
    evidence.p_below = test.p_below();
  } else if (demand.method == Method::fixed_size) {
    const auto test = stats::sign_test(observations, demand.threshold);
    evidence.p_above = test.p_above;
    evidence.p_below = test.p_below;
  } else {
    stats::SequentialTest test(demand.threshold, demand.assumption());
    evidence.slow = !sides.empty();
    for (std::size_t i = 0; i < observations.size(); ++i) {
      const bool slow = i < sides.size() && sides[i] >= slow_side;
      test.add(observations[i], slow);
      evidence.slow = evidence.slow && slow;
    }
    evidence.p_above = test.p_above();
    evidence.p_below = test.p_below();
    evidence.p_above_by_interval = test.p_above_by_wealth();
    evidence.p_below_by_interval = test.p_below_by_wealth();
    evidence.far_above = test.far_above();
    evidence.far_below = test.far_below();
    return evidence;
  }
  evidence.p_above_by_interval = evidence.p_above;
  evidence.p_below_by_interval = evidence.p_below;
  return evidence;
}

/// Thresholds that the same evidence would neither have passed nor failed at these levels, so that the verdict can be
/// read off the interval. Infinite ends where there are too few observations.
[[nodiscard]] Interval<double> undecided_thresholds(std::span<const double> observations, const auto& demand,
                                                    double pass_level, double fail_level) {
  if (demand.method == Method::replicates) return stats::replicate_interval(observations, pass_level, fail_level);
  if (demand.method == Method::sequential) {
    const double share = demand.assumption() == stats::Assumption::symmetry ? stats::SequentialTest::wealth_share : 1;
    auto interval =
        stats::confidence_sequence(observations, share * pass_level, share * fail_level, demand.assumption());
    interval.confidence = 1 - pass_level - fail_level;
    return interval;
  }
  const auto ascending = stats::sorted({observations.begin(), observations.end()});
  const auto low = stats::median_interval_rank(ascending.size(), 1 - 2 * pass_level);
  const auto high = stats::median_interval_rank(ascending.size(), 1 - 2 * fail_level);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {low ? ascending[*low - 1] : -infinity, high ? ascending[ascending.size() - *high] : infinity,
          1 - pass_level - fail_level};
}

/// Fewest observations of one sign that decide at this level.
[[nodiscard]] inline std::size_t fewest_for_verdict(double level) {
  return stats::fewest_for_rejection(stats::SequentialTest::wealth_share * level);
}

/// Passed or failed where the evidence suffices for one of them. For both it can only suffice if the figures moved
/// across the threshold while they were taken, which proves neither.
[[nodiscard]] inline Verdict decide(double p_above, double p_below, double pass_level, double fail_level) {
  const bool passed = p_above <= pass_level, failed = p_below <= fail_level;
  if (passed == failed) return Verdict::undecided;
  return passed ? Verdict::passed : Verdict::failed;
}

}  // namespace pace::gate
