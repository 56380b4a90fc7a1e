// Processes: verdicts on whether code became faster or slower, from figures of several processes then and now.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/result/verdict.hpp"

namespace pace::report {

/// One number per process: ln of a speed, -ln(median time) or the median log ratio to the baseline of the same run.
struct Processes {
  std::vector<double> then;  ///< numbers of the stored processes
  std::vector<double> now;   ///< numbers of the processes that are judged
};

/// Standard deviation of a process's number that is assumed where too few processes were measured to estimate it. It is
/// generous: 0.4 to 2.2 % were seen with clocks pinned.
inline constexpr double assumed_spread = 0.05;

/// Degrees of freedom from which on the scatter is estimated: with fewer, Student's quantile at one in a thousand is
/// above ten deviations, and the assumption decides sooner.
inline constexpr std::size_t fewest_freedom = 3;

/// Result of weigh(): the change, and how well it is known. Logarithms are natural.
struct ProcessEvidence {
  /// ln of (time then / time now).
  double centre = 0;
  /// Standard deviation of the processes of one side: estimated, stated or assumed.
  double deviation = 0;
  Interval<double> interval{};  ///< confidence interval of `centre`
  double p_above = 1;           ///< p-value of "the centre is at or below the threshold"; small: it is above
  double p_below = 1;           ///< p-value of "the centre is at or above the threshold"; small: it is below
  /// The assumptions that the error rates rest on, in words.
  std::string guarantee;
};

/// Two-sample test of "the centre is at or below `threshold`" and "at or above". Within a process samples share one
/// placement, one layout, one state of the machine: processes are drawn at random, so the process is the unit. With
/// `fewest_freedom` degrees of freedom Student's two-sample t-test for equal variances (exact for normal numbers);
/// with fewer, or if the user states a `spread`, a normal test with that spread. The number of processes must have been
/// fixed beforehand. Neither side may be empty.
[[nodiscard]] ProcessEvidence weigh(const Processes& processes, double threshold, double pass_level, double fail_level,
                                    const std::optional<double>& spread);

/// Most processes on a side that processes_for_verdict() counts.
inline constexpr std::size_t most_processes = 1000;

/// Returns how many processes on each side would give a verdict, if the centre and the scatter stayed as they are; none
/// if `most_processes` would not. The number has to be fixed before they are measured, so that it is about a
/// measurement of its own, not about processes that are added to these.
[[nodiscard]] std::optional<std::size_t> processes_for_verdict(const Processes& processes, double threshold,
                                                               double pass_level, double fail_level,
                                                               const std::optional<double>& spread);

/// A verdict with what it rests on.
struct ProcessVerdict {
  Judgement judgement;                           ///< the verdict, and its message
  std::optional<ProcessEvidence> evidence = {};  ///< absent where there were no figures to weigh
  /// Result of processes_for_verdict(); absent unless the verdict is undecided.
  std::optional<std::size_t> processes_needed = {};
};

/// Returns the limit of a demand on speed-ups, now over then: `1.20x`, or of a guard `0.980x (1 / 1.02x)`.
[[nodiscard]] std::string speedup_limit_text(const gate::Demand& demand);

/// Returns the verdict on one implementation. `what` names it in messages, as in "'fused'", and `reference` names what
/// it is compared with. `spread`: see weigh(). `of_speedups`: the processes' numbers are speed-ups, not times, and the
/// message says so.
[[nodiscard]] ProcessVerdict judge(const gate::Demand& demand, const std::string& what, const std::string& reference,
                                   const Processes& processes, const gate::Rates& rates,
                                   const std::optional<double>& spread, bool of_speedups = false);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/processes-inl.hpp"
#endif
