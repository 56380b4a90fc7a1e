// Definitions of processes.hpp; see base/config.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/report/processes.hpp"
#include "pace/result/verdict.hpp"
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
    evidence.deviation = spread.value_or(assumed_spread);
    conclude(evidence.deviation * scale, stats::normal_tail);
    evidence.guarantee = sides + (spread ? "stated" : "assumed") + " to scatter by at most " +
                         format_percent(spread.value_or(assumed_spread));
    if (!spread) evidence.guarantee += ", since fewer than five were measured";
    return evidence;
  }
  double squares = 0;
  for (const double each : processes.then) squares += (each - then) * (each - then);
  for (const double each : processes.now) squares += (each - now) * (each - now);
  evidence.deviation = std::sqrt(squares / static_cast<double>(freedom));
  conclude(evidence.deviation * scale, [&](double t) { return stats::student_tail(t, freedom); });
  evidence.guarantee = sides + "which scatter by " + format_percent(std::round(evidence.deviation * 1e5) / 1e5) +
                       ", normally as is assumed";
  return evidence;
}

PACE_INLINE std::optional<std::size_t> processes_for_verdict(const Processes& processes, double threshold,
                                                             double pass_level, double fail_level,
                                                             const std::optional<double>& spread) {
  const auto evidence = weigh(processes, threshold, pass_level, fail_level, spread);
  const double distance = std::abs(evidence.centre - threshold);
  const double level = evidence.centre > threshold ? pass_level : fail_level;
  for (std::size_t count = 1; count <= most_processes; ++count) {
    const double error = evidence.deviation * std::sqrt(2 / static_cast<double>(count));
    if (!(error > 0)) return distance > 0 ? std::optional(count) : std::nullopt;
    const std::size_t freedom = 2 * count - 2;
    const bool estimated = !spread && freedom >= fewest_freedom;
    const double t = distance / error;
    if ((estimated ? stats::student_tail(t, freedom) : stats::normal_tail(t)) <= level) return count;
  }
  return std::nullopt;
}

PACE_INLINE std::string speedup_limit_text(const gate::Demand& demand) {
  if (demand.burden == gate::Burden::claim) return demand.limit_text();
  return format_factor(std::exp(demand.threshold)) + " (1 / " + demand.limit_text() + ')';
}

PACE_INLINE ProcessVerdict judge(const gate::Demand& demand, const std::string& what, const std::string& reference,
                                 const Processes& processes, const gate::Rates& rates,
                                 const std::optional<double>& spread, bool of_speedups) {
  const double pass_level = demand.pass_level(rates), fail_level = demand.fail_level(rates);
  const auto evidence = weigh(processes, demand.threshold, pass_level, fail_level, spread);
  std::optional<std::size_t> needed;
  Judgement judgement{.verdict = gate::decide(evidence.p_above, evidence.p_below, pass_level, fail_level)};
  // A guard is stated as a time, which grows where the speed falls. Speed-ups are shown as they are.
  const bool as_time = demand.burden == gate::Burden::guard && !of_speedups;
  const double sign = as_time ? -1 : 1;
  const std::string limit = of_speedups ? speedup_limit_text(demand) : demand.limit_text();
  const double one = std::exp(sign * evidence.interval.low), other = std::exp(sign * evidence.interval.high);
  const auto [verb, quantity] = of_speedups ? std::pair(" has ", " the speed-up of ")
                                : as_time   ? std::pair(" takes ", " the time of ")
                                            : std::pair(" is ", " as fast as ");
  MessageParts said{what + verb + format_factor(std::exp(sign * evidence.centre)) + quantity + reference + ' ' +
                    format_interval(Interval<double>{std::min(one, other), std::max(one, other), 0}) + " at " +
                    format_percent(evidence.interval.confidence)};
  const std::string rest = " (wrongly passed: " + format_percent(pass_level) +
                           ", wrongly failed: " + format_percent(fail_level) + "; " + evidence.guarantee + ')';
  if (judgement.verdict == Verdict::undecided) {
    needed = processes_for_verdict(processes, demand.threshold, pass_level, fail_level, spread);
    said.what += ", which holds " + limit + rest;
    if (needed) {
      said.remedy = "about " + std::to_string(*needed) + " processes on each side, a number to fix before you measure";
    } else {
      said.why = "it is too near the limit for " + std::to_string(most_processes) +
                 " processes on each side to settle at this scatter";
      said.remedy = "allow more";
    }
  } else {
    said.what += std::string(", all of it ") +
                 ((judgement.verdict == Verdict::passed) == as_time ? "below " : "above ") + limit + rest;
  }
  if (judgement.verdict == Verdict::undecided)
    demand.leave_open(judgement);
  else
    judgement.acceptable = judgement.verdict == Verdict::passed;
  judgement.message = said.text();
  return {std::move(judgement), evidence, needed};
}

}  // namespace pace::report
