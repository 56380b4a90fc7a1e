// NewValueSpeed: the speed-up over the baseline where no call has seen its values before, beside that of the rounds,
// whose calls are repeated on the same values.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "pace/core/function_ref.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/summary.hpp"

namespace pace::detail {

/// The speed-up of one implementation where values are new.
struct NewValueSpeed {
  std::size_t index = 0;
  SpeedupSummary speedup = {};
};

/// Speed-ups of the rounds that are this many times as large are not held against an implementation: branches and
/// caches know the values of the rounds, too.
inline constexpr double least_flattery = 1.05;
/// Confidence of the interval of a speed-up on new values.
inline constexpr double new_value_confidence = 0.999;

/// Returns by which factor the median speed-up `in_rounds` is larger than any on new values that is likely; 1: it is
/// not proven that the speed-up of the rounds, which is at least `least_in_rounds`, is larger by a factor that counts.
[[nodiscard]] inline double flattery_of(double in_rounds, double least_in_rounds, const SpeedupSummary& on_new_values) {
  if (!on_new_values.interval || on_new_values.interval->high <= 0) return 1;
  const double largest = on_new_values.interval->high;
  return least_in_rounds > least_flattery * largest ? in_rounds / largest : 1;
}

/// Returns ln(time of the baseline / own time) of a sample of each on new values. `usual` is the baseline's time in the
/// rounds: what a call takes longer in so few calls, on memory that was written just before, is no share of its time
/// but about the same for both, so that it does not count where a share would allow less; but at most 2 us.
[[nodiscard]] inline double log_ratio_on_new_values(Nanoseconds baseline, Nanoseconds own, Nanoseconds usual) {
  constexpr Nanoseconds most{2e3};
  const Nanoseconds more = std::clamp(baseline - usual, Nanoseconds(0), most);
  const double by_share = baseline / own;
  return std::log(own > more ? std::max(by_share, (baseline - more) / (own - more)) : by_share);
}

/// Measures the speed-up on new values. `pair()` returns ln(time of the baseline / own time) of one sample of each, on
/// new values, or nothing, which ends the measurement without a result. `time_is_left(pairs)` is whether that many more
/// may be taken. More pairs follow the first ones only where their median is suspicious beside the speed-up
/// `in_rounds`, until the interval is narrow or there are `most` of them. Returns nothing if there is no time for an
/// interval.
[[nodiscard]] inline std::optional<SpeedupSummary> speed_on_new_values(double in_rounds,
                                                                       FunctionRef<std::optional<double>()> pair,
                                                                       FunctionRef<bool(std::size_t)> time_is_left) {
  constexpr std::size_t most = 88;
  constexpr double narrow = 1.02;
  std::vector<double> log_ratios;
  for (std::size_t wanted = stats::fewest_for_median_interval(new_value_confidence);; wanted *= 2) {
    if (!log_ratios.empty() && !time_is_left(wanted - log_ratios.size())) break;
    while (log_ratios.size() < wanted) {
      const auto next = pair();
      if (!next) return std::nullopt;
      log_ratios.push_back(*next);
      if (log_ratios.size() == 1 && !time_is_left(wanted - 1)) return std::nullopt;
    }
    const auto found = stats::summarize_speedup(log_ratios, new_value_confidence);
    const bool suspicious = found.median * least_flattery < in_rounds;
    if (!suspicious || found.interval->high < narrow * found.median || wanted >= most) break;
  }
  return stats::summarize_speedup(log_ratios, new_value_confidence);
}

}  // namespace pace::detail
