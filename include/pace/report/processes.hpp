// Processes: is code faster or slower than it was, judged by what several processes found then and now?
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/units.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"

namespace pace::report {

/// One number per process: ln of a speed, -ln(median time) or the median log ratio to the baseline of the same run.
struct Processes {
  std::vector<double> then, now;
};

/// Standard deviation of a process's number that is taken for granted where too few processes were measured to estimate
/// it. Generous: 0.4 to 2.2 % were seen with clocks pinned.
inline constexpr double assumed_spread = 0.05;

/// Degrees of freedom from which on the scatter is estimated: with fewer, Student's quantile at one in a thousand is
/// above ten deviations, and the assumption decides sooner.
inline constexpr std::size_t fewest_freedom = 3;

struct ProcessEvidence {
  /// ln of (time then / time now).
  double centre = 0;
  Interval<double> interval{};
  double p_above = 1, p_below = 1;
  /// What the error rates rest on.
  std::string guarantee;
};

/// Two-sample test of "the centre is at or below `threshold`" and "at or above". Within a process samples share one
/// placement, one layout, one state of the machine: the process is what is drawn at random, so it is the unit. With
/// `fewest_freedom` degrees of freedom Student's two-sample t-test for equal variances (exact for normal numbers);
/// with fewer, or if the user states a `spread`, a normal test with that spread. The number of processes must have been
/// fixed beforehand. Neither side may be empty.
[[nodiscard]] ProcessEvidence weigh(const Processes& processes, double threshold, double pass_level, double fail_level,
                                    const std::optional<double>& spread);

/// The verdict on one implementation. `what` names it, as in "'fused'"; `reference` is what it is held against.
[[nodiscard]] Judgement judge(const gate::Demand& demand, const std::string& what, const std::string& reference,
                              const Processes& processes, const gate::Rates& rates,
                              const std::optional<double>& spread);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/processes-inl.hpp"
#endif
