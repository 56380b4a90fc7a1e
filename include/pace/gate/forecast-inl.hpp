// How a forecast is computed and worded.
#pragma once

#include "pace/gate/forecast.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <numbers>

#include "pace/base/format.hpp"
#include "pace/base/spelling.hpp"
#include "pace/result/options.hpp"
#include "pace/stats/sample_number.hpp"

namespace pace::gate {

PACE_INLINE Forecast forecast(const Evidence& evidence, const Demand& demand, double pass_level, double fail_level) {
  const double effect = evidence.centre - demand.threshold, level = effect > 0 ? pass_level : fail_level;
  // Fewer than a dozen observations estimate the noise too poorly to call it hopeless.
  const double so_far = static_cast<double>(evidence.observations), base = std::max(so_far, 12.0);
  const bool by_sign = demand.assumption() == stats::Assumption::median || demand.method == Method::fixed_size;
  // The sign test has the relative efficiency 2/pi for normal observations.
  const double deviation = evidence.deviation * (by_sign ? std::sqrt(std::numbers::pi / 2) : 1);
  const double needed = demand.method == Method::replicates
                            ? stats::replicates_to_reject(effect, deviation, level)
                            : std::max(stats::observations_to_reject(effect, deviation, level),
                                       static_cast<double>(fewest_for_verdict(level)));
  // It may have been unlucky so far: the missing evidence must come at the same rate.
  const double p_value = effect > 0 ? evidence.p_above : evidence.p_below;
  const double missing = needed * std::clamp(std::log(p_value / level) / std::log(1 / level), 0.05, 1.0);
  Forecast result;
  result.more = std::ceil(std::max(needed - so_far, missing));
  result.hopeless = !(needed <= 100 * base);
  result.within_reach = std::expm1(stats::effect_within_reach(10 * base, deviation, level));
  return result;
}

PACE_INLINE void add_forecast(const Forecast& forecast, const Evidence& evidence, const Demand& demand,
                              const GateContext& context, MessageParts& message) {
  const bool by_process = demand.method == Method::replicates;
  if (forecast.hopeless)
    return message.add_why("it is too near the threshold to settle at today's noise: ten times the " +
                           std::string(by_process ? "processes" : "rounds") + " would tell a difference of " +
                           format_significant(100 * forecast.within_reach, 2) + " %");
  // Rounded up to two digits, its precision.
  const auto whole = [](double value) {
    const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(std::max(value, 1.0))) - 1));
    return std::to_string(static_cast<long long>(std::ceil(value / unit) * unit));
  };
  const std::string at_noise = " would settle it at today's noise";
  if (by_process) return message.add_remedy("about " + whole(forecast.more) + " more processes, which" + at_noise);
  const double rounds = static_cast<double>(std::max<std::size_t>(context.rounds_per_cycle, 1));
  const std::string more = "about " + whole(forecast.more * rounds) + " more rounds";
  // A fifth more than the mean, so that it probably suffices.
  const double cycles = 1.2 * (static_cast<double>(evidence.observations) + forecast.more);
  if (cycles * rounds > static_cast<double>(most_rounds))
    return message.add_why(more + at_noise + ", more than " + option_text("max-rounds") + " allows (" +
                           std::to_string(most_rounds) + ')');
  if (context.cycle.count() <= 0) return message.add_remedy(more + ", which" + at_noise);
  std::string options =
      option_text("budget", format_significant(std::chrono::duration<double>(cycles * context.cycle).count(), 2));
  if (cycles * rounds > static_cast<double>(Options().max_rounds))
    options += ' ' + option_text("max-rounds", whole(cycles * rounds));
  message.add_remedy(options + ", since " + more + " (" + format_time(forecast.more * context.cycle) + ')' + at_noise);
}

}  // namespace pace::gate
