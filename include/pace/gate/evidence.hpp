// Evidence: what the figures of one implementation say about one demand.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "pace/core/algorithm.hpp"
#include "pace/core/later.hpp"
#include "pace/core/math.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/core/view.hpp"
#include "pace/gate/demand.hpp"
#include "pace/stats/cycle.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/replicate_test.hpp"
#include "pace/stats/sequential_test.hpp"
#include "pace/stats/sign_test.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/stats/spread.hpp"

namespace pace::gate {

/// Cycles from this length on are slow: the dozen that signs alone take would be longer than a budget, and what else a
/// machine does (a time slice of another process is a few milliseconds) does not make ten times as much of one. Then the
/// size of what is observed counts, too (see stats::Landslide).
inline constexpr Nanoseconds slow_cycle = std::chrono::milliseconds(100);

struct Evidence {
  std::size_t observations = 0;
  /// Median and robust standard deviation of the observations; of replicates, mean and standard deviation.
  double centre = 0, deviation = 0;
  /// P-values of "the centre is at or below the threshold" and of "at or above".
  double p_above = 1, p_below = 1;
};

/// The observations that `demand` is about, in the order of cycles. `reference` is the row of the implementation that
/// the demand names, where that is not the baseline.
template <class Row = ImplementationResult>
[[nodiscard]] std::vector<double> observe(const Demand& demand, const Later<Row>& row,
                                          const Later<Row>* reference = nullptr) {
  const std::size_t cycle = std::max<std::size_t>(row.context.rounds_per_cycle, 1);
  if (demand.quantity == Quantity::speedup)
    return reference == nullptr ? row.log_ratios : stats::paired_log_ratios(reference->samples, row.samples, cycle);
  auto times = stats::cycle_log_times(row.samples, cycle);
  for (auto& time : times) time = -time;
  return times;
}

/// A pure function of the numbers, in the order in which they were observed. `cycle`: the time that one took; 0: not
/// known.
[[nodiscard]] Evidence weigh(View<double> observations, const auto& demand, Nanoseconds cycle = {}) {
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
    // Of so few, the standard deviation that the test itself goes by.
    evidence.centre = mean;
    if (observations.size() > 1)
      evidence.deviation = math::sqrt(squares / static_cast<double>(observations.size() - 1));
    evidence.p_above = test.p_above();
    evidence.p_below = test.p_below();
  } else if (demand.method == Method::fixed_size) {
    const auto test = stats::sign_test(observations, demand.threshold);
    evidence.p_above = test.p_above;
    evidence.p_below = test.p_below;
  } else {
    const auto test = stats::sequential_test(observations, demand.threshold, demand.assumption());
    evidence.p_above = test.p_above(cycle >= slow_cycle);
    evidence.p_below = test.p_below(cycle >= slow_cycle);
  }
  return evidence;
}

/// Thresholds that the same evidence would neither have passed nor failed at these levels, so that the verdict can be
/// read off the interval. Infinite ends where there are too few observations.
[[nodiscard]] Interval<double> undecided_thresholds(View<double> observations, const auto& demand, double pass_level,
                                                    double fail_level) {
  if (demand.method == Method::replicates) return stats::replicate_interval(observations, pass_level, fail_level);
  if (demand.method == Method::sequential)
    return stats::confidence_sequence(observations, pass_level, fail_level, demand.assumption());
  const auto ascending = stats::sorted({observations.begin(), observations.end()});
  const auto low = stats::median_interval_rank(ascending.size(), 1 - 2 * pass_level);
  const auto high = stats::median_interval_rank(ascending.size(), 1 - 2 * fail_level);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return {low ? ascending[*low - 1] : -infinity, high ? ascending[ascending.size() - *high] : infinity,
          1 - pass_level - fail_level};
}

/// Passed or failed where the evidence suffices for one of them. For both it can only suffice if the figures moved
/// across the threshold while they were taken, which proves neither.
[[nodiscard]] inline Verdict decide(double p_above, double p_below, double pass_level, double fail_level) {
  const bool passed = p_above <= pass_level, failed = p_below <= fail_level;
  if (passed == failed) return Verdict::undecided;
  return passed ? Verdict::passed : Verdict::failed;
}

}  // namespace pace::gate
