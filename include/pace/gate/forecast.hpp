// Forecast: how much longer an open question would have to be measured.
#pragma once

#include <string>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"

namespace pace::gate {

struct Forecast {
  /// Observations (cycles, or processes) that are still missing, on average, if centre and noise stay what they are.
  double more = 0;
  /// The centre lies so near the threshold that a hundred times the observations so far would not do.
  bool hopeless = false;
  /// Difference from the threshold, as a share, that ten times as many observations as so far would tell.
  double within_reach = 0;
};

/// Mean sample numbers, for what is estimated of effect and noise so far.
[[nodiscard]] Forecast forecast(const Evidence& evidence, const Demand& demand, double pass_level, double fail_level);

/// The forecast as a sentence.
[[nodiscard]] std::string forecast_text(const Forecast& forecast, const Evidence& evidence, const Demand& demand,
                                        const GateContext& context);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/forecast-inl.hpp"
#endif
