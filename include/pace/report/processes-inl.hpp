// Definitions of processes.hpp; see core/config.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "pace/core/format.hpp"
#include "pace/core/units.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/report/processes.hpp"
#include "pace/stats/student.hpp"

namespace pace::report {

PACE_INLINE ProcessEvidence weigh(const Processes& processes, double threshold, double pass_level, double fail_level,
                                  const std::optional<double>& spread) {
  const auto mean = [](const std::vector<double>& values) {
    double sum = 0;
    for (const double each : values) sum += each;
    return sum / static_cast<double>(values.size());
  };
  const double then = mean(processes.then), now = mean(processes.now);
  const std::size_t count = processes.then.size() + processes.now.size(), freedom = count - 2;
  const double scale =
      std::sqrt(1 / static_cast<double>(processes.then.size()) + 1 / static_cast<double>(processes.now.size()));
  ProcessEvidence evidence;
  evidence.centre = now - then;
  const auto conclude = [&](double error, auto tail) {
    const double distance = evidence.centre - threshold;
    evidence.p_above = error > 0 ? tail(distance / error) : distance > 0 ? 0 : 1;
    evidence.p_below = error > 0 ? tail(-distance / error) : distance < 0 ? 0 : 1;
    evidence.interval = {evidence.centre - error * stats::quantile_of_tail(tail, pass_level),
                         evidence.centre + error * stats::quantile_of_tail(tail, fail_level),
                         1 - pass_level - fail_level};
  };
  const std::string sides =
      std::to_string(processes.then.size()) + " + " + std::to_string(processes.now.size()) + " processes, ";
  if (spread || freedom < fewest_freedom) {
    conclude(spread.value_or(assumed_spread) * scale, stats::normal_tail);
    evidence.guarantee = sides + (spread ? "stated" : "assumed") + " to scatter by at most " +
                         format_percent(spread.value_or(assumed_spread));
    if (!spread) evidence.guarantee += ", since fewer than five were measured";
    return evidence;
  }
  double squares = 0;
  for (const double each : processes.then) squares += (each - then) * (each - then);
  for (const double each : processes.now) squares += (each - now) * (each - now);
  const double deviation = std::sqrt(squares / static_cast<double>(freedom));
  conclude(deviation * scale, [&](double t) { return stats::student_tail(t, freedom); });
  evidence.guarantee =
      sides + "which scatter by " + format_percent(std::round(deviation * 1e5) / 1e5) + ", normally as is assumed";
  return evidence;
}

PACE_INLINE Judgement judge(const gate::Demand& demand, const std::string& what, const std::string& reference,
                            const Processes& processes, const gate::Rates& rates, const std::optional<double>& spread) {
  const double pass_level = demand.pass_level(rates), fail_level = demand.fail_level(rates);
  const auto evidence = weigh(processes, demand.threshold, pass_level, fail_level, spread);
  Judgement judgement{.verdict = gate::decide(evidence.p_above, evidence.p_below, pass_level, fail_level)};
  const bool guard = demand.burden == gate::Burden::guard;
  const double sign = guard ? -1 : 1;
  const double one = std::exp(sign * evidence.interval.low), other = std::exp(sign * evidence.interval.high);
  judgement.message = what + (guard ? " takes " : " is ") + format_factor(std::exp(sign * evidence.centre)) +
                      (guard ? " the time of " : " as fast as ") + reference + ' ' +
                      format_interval(Interval<double>{std::min(one, other), std::max(one, other), 0}) + " at " +
                      format_percent(evidence.interval.confidence);
  const std::string rest = " (wrongly passed: " + format_percent(pass_level) +
                           ", wrongly failed: " + format_percent(fail_level) + "; " + evidence.guarantee + ')';
  if (judgement.verdict == Verdict::undecided)
    judgement.message +=
        ", which holds " + demand.limit_text() + rest + ". Measure more processes on each side, or allow more";
  else
    judgement.message += std::string(", all of it ") +
                         ((judgement.verdict == Verdict::passed) == guard ? "below " : "above ") + demand.limit_text() +
                         rest;
  if (judgement.verdict == Verdict::undecided)
    demand.leave_open(judgement);
  else
    judgement.acceptable = judgement.verdict == Verdict::passed;
  return judgement;
}

}  // namespace pace::report
