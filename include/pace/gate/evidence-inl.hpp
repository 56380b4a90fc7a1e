// How evidence is gathered and weighed.
#pragma once

#include "pace/gate/evidence.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "pace/stats/cycle.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/replicate_test.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/stats/spread.hpp"

namespace pace::gate {

PACE_INLINE std::vector<double> observe(const Demand& demand, const ImplementationResult& row,
                                        const ImplementationResult* reference) {
  const std::size_t cycle = std::max<std::size_t>(row.context.rounds_per_cycle, 1);
  if (demand.quantity == Quantity::speedup)
    return reference == nullptr ? row.log_ratios : stats::paired_log_ratios(reference->samples, row.samples, cycle);
  auto times = stats::cycle_log_times(row.samples, cycle);
  for (auto& time : times) time = -time;
  return times;
}

PACE_INLINE std::vector<Nanoseconds> longer_sides(const Demand& demand, const ImplementationResult& row,
                                                  const std::vector<double>& observations) {
  const std::size_t cycle = std::max<std::size_t>(row.context.rounds_per_cycle, 1);
  if (demand.quantity != Quantity::speedup || row.context.iterations <= 0) return {};
  const auto log_times = stats::cycle_log_times(row.samples, cycle);
  // Both leave out cycles with a time of zero, but not the same ones.
  if (log_times.size() != observations.size()) return {};
  std::vector<Nanoseconds> sides;
  for (std::size_t i = 0; i < observations.size(); ++i)
    sides.push_back(longer_side(log_times[i], observations[i], cycle, row.context.iterations));
  return sides;
}

namespace detail {

/// Returns evidence with only the number of observations, their median and their robust deviation.
[[nodiscard]] inline Evidence describe(std::span<const double> observations) {
  Evidence evidence;
  evidence.observations = observations.size();
  if (observations.empty()) return evidence;
  const auto ascending = stats::sorted({observations.begin(), observations.end()});
  evidence.centre = stats::median(ascending);
  evidence.deviation = stats::median_absolute_deviation(ascending);
  return evidence;
}

/// Returns the quantile of the own samples over the reference's; nothing without samples.
[[nodiscard]] inline std::optional<double> ratio_of_quantiles(const PairedSamples& pairs, double q) {
  if (pairs.own.empty()) return std::nullopt;
  const auto quantile_of = [&](std::span<const Nanoseconds> times) {
    std::vector<double> counts;
    for (const auto each : times) counts.push_back(each.count());
    return stats::quantile(stats::sorted(std::move(counts)), q);
  };
  const double reference = quantile_of(pairs.reference);
  if (!(reference > 0)) return std::nullopt;
  return quantile_of(pairs.own) / reference;
}

}  // namespace detail

PACE_INLINE Evidence weigh(std::span<const double> observations, const Demand& demand,
                           const stats::SequentialTest& test, const TailTests& tails, bool slow,
                           const PairedSamples& pairs) {
  Evidence evidence = detail::describe(observations);
  const Weights both = weigh_together(demand, {test.p_above(), test.p_below()}, tails);
  evidence.p_above = both.p_above;
  evidence.p_below = both.p_below;
  evidence.p_above_by_interval = test.p_above_by_wealth();
  evidence.p_below_by_interval = test.p_below_by_wealth();
  if (demand.about == Statistic::median_and_mean) evidence.p_below_by_interval /= median_share;
  evidence.p_slower = tails.p_slower();
  evidence.tail =
      demand.about == Statistic::quantile ? detail::ratio_of_quantiles(pairs, demand.quantile) : tails.mean_ratio();
  evidence.skewed = test.skewed();
  evidence.far_above = test.far_above();
  evidence.far_below = test.far_below();
  evidence.slow = slow;
  return evidence;
}

PACE_INLINE Evidence weigh(std::span<const double> observations, const Demand& demand,
                           std::span<const Nanoseconds> sides, const PairedSamples& pairs) {
  if (demand.method == Method::sequential) {
    stats::SequentialTest test(demand.threshold, demand.assumption());
    bool all_slow = !observations.empty() && !sides.empty();
    for (std::size_t i = 0; i < observations.size(); ++i) {
      const bool slow = i < sides.size() && sides[i] >= slow_side;
      test.add(observations[i], slow);
      all_slow = all_slow && slow;
    }
    TailTests tails(demand);
    tails.add(pairs);
    return weigh(observations, demand, test, tails, all_slow, pairs);
  }
  Evidence evidence = detail::describe(observations);
  if (observations.empty()) return evidence;
  if (demand.method == Method::replicates) {
    stats::ReplicateTest test(demand.threshold);
    double squares = 0, mean = 0;
    for (const double each : observations) mean += each / static_cast<double>(observations.size());
    for (const double each : observations) {
      test.add(each);
      squares += (each - mean) * (each - mean);
    }
    // So few are described by the standard deviation that the test uses.
    evidence.centre = mean;
    if (observations.size() > 1) evidence.deviation = std::sqrt(squares / static_cast<double>(observations.size() - 1));
    evidence.p_above = test.p_above();
    evidence.p_below = test.p_below();
  } else {
    const auto test = stats::sign_test(observations, demand.threshold);
    evidence.p_above = test.p_above;
    evidence.p_below = test.p_below;
  }
  evidence.p_above_by_interval = evidence.p_above;
  evidence.p_below_by_interval = evidence.p_below;
  return evidence;
}

PACE_INLINE Interval<double> undecided_thresholds(std::span<const double> observations, const Demand& demand,
                                                  double pass_level, double fail_level) {
  if (demand.method == Method::replicates) return stats::replicate_interval(observations, pass_level, fail_level);
  if (demand.method == Method::sequential) {
    const bool symmetry = demand.assumption() == stats::Assumption::symmetry;
    const double share = symmetry ? stats::SequentialTest::wealth_share : 1;
    const double of_median = demand.about == Statistic::median_and_mean ? median_share : 1;
    const double pass_share = share * pass_level, fail_share = share * of_median * fail_level;
    auto interval = stats::confidence_sequence(observations, pass_share, fail_share, demand.assumption());
    if (symmetry) {
      const auto test = stats::sequential_test(observations, demand.threshold);
      // The levels of both ends must add up to less than 1.
      const auto level = [&](double share) { return std::min(test.level_of_signs(share), 0.49); };
      const auto by_signs =
          stats::confidence_sequence(observations, level(pass_share), level(fail_share), stats::Assumption::median);
      interval.low = std::min(interval.low, by_signs.low);
      interval.high = std::max(interval.high, by_signs.high);
    }
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

PACE_INLINE double centre_within(const Interval<double>& interval, const Evidence& evidence) {
  return std::clamp(evidence.centre, interval.low, interval.high);
}

PACE_INLINE Verdict decide(double p_above, double p_below, double pass_level, double fail_level) {
  const bool passed = p_above <= pass_level, failed = p_below <= fail_level;
  if (passed == failed) return Verdict::undecided;
  return passed ? Verdict::passed : Verdict::failed;
}

}  // namespace pace::gate
