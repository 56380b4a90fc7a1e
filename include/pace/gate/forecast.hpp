// Forecast: estimate of the measurements that a verdict still needs.
#pragma once

#include "pace/base/config.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/result/result.hpp"

namespace pace::gate {

/// Measurements that a verdict still needs.
struct Forecast {
  /// Mean number of missing observations (cycles or processes) if centre and noise stay the same.
  double more = 0;
  /// Whether the centre is so near the threshold that a hundred times the observations so far would not suffice.
  bool hopeless = false;
  /// Smallest relative difference from the threshold that ten times the observations so far would prove.
  double within_reach = 0;
};

/// Returns the forecast by mean sample numbers, from the effect and the noise so far.
[[nodiscard]] Forecast forecast(const Evidence& evidence, const Demand& demand, double pass_level, double fail_level);

/// Adds to `message` how to settle the verdict, or why nothing would.
void add_forecast(const Forecast& forecast, const Evidence& evidence, const Demand& demand, const GateContext& context,
                  MessageParts& message);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/forecast-inl.hpp"
#endif
