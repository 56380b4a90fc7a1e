// Excess: how much larger a speed-up is in the rounds than on unseen values.
#pragma once

#include "pace/result/result.hpp"

namespace pace::gate {

/// Tolerated ratio of the speed-up in the rounds to the one on unseen values.
inline constexpr double least_excess = 1.05;
/// The same with too few pairs for an interval, where the extremes replace it.
inline constexpr double least_excess_of_few = 1.3;

/// Returns the speed-up in the rounds, `in_rounds`, over the largest one that is likely on unseen values. 1 if no
/// factor that counts is proven. `least_in_rounds` is the lower end of the interval of `in_rounds`.
[[nodiscard]] inline double excess_of(double in_rounds, double least_in_rounds,
                                      const SpeedupSummary& on_unseen_values) {
  if (!on_unseen_values.interval || on_unseen_values.interval->high <= 0) return 1;
  const double largest = on_unseen_values.interval->high;
  const double counts = on_unseen_values.interval->confidence > 0 ? least_excess : least_excess_of_few;
  return least_in_rounds > counts * largest ? in_rounds / largest : 1;
}

/// Returns `in_rounds` over the median on unseen values; 1: no factor that counts.
[[nodiscard]] inline double likely_excess_of(double in_rounds, const SpeedupSummary& on_unseen_values) {
  return on_unseen_values.median > 0 && in_rounds > least_excess * on_unseen_values.median
             ? in_rounds / on_unseen_values.median
             : 1;
}

/// The same as excess_of(), for the speed-up of `row` over `reference`, which is not the baseline.
[[nodiscard]] inline double excess_over(const ImplementationResult& row, const ImplementationResult& reference) {
  if (!row.speedup || !reference.speedup || !row.on_unseen_values || !reference.on_unseen_values) return 1;
  const auto& own = *row.on_unseen_values;
  const auto& other = *reference.on_unseen_values;
  if (!own.interval || !other.interval || other.interval->low <= 0) return 1;
  SpeedupSummary beside = own;
  beside.interval->high = own.interval->high / other.interval->low;
  const double in_rounds = row.speedup->median / reference.speedup->median;
  return excess_of(in_rounds, in_rounds, beside);
}

/// The same as likely_excess_of(), for the speed-up of `row` over `reference`, which is not the baseline.
[[nodiscard]] inline double likely_excess_over(const ImplementationResult& row, const ImplementationResult& reference) {
  if (!row.speedup || !reference.speedup || !row.on_unseen_values || !reference.on_unseen_values) return 1;
  if (reference.on_unseen_values->median <= 0) return 1;
  SpeedupSummary beside;
  beside.median = row.on_unseen_values->median / reference.on_unseen_values->median;
  return likely_excess_of(row.speedup->median / reference.speedup->median, beside);
}

}  // namespace pace::gate
