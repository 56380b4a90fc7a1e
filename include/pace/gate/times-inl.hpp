// Demands behind the expectations of times.
#pragma once

#include "pace/gate/times.hpp"

#include <cmath>
#include <string_view>
#include <utility>

#include "pace/base/error.hpp"
#include "pace/base/spelling.hpp"

namespace pace {

namespace detail {

[[nodiscard]] inline double checked_factor(double factor, std::string_view expectation, const char* example) {
  if (!(factor > 0 && std::isfinite(factor)))
    throw Error(function_text(expectation) + ": the factor must be a finite number above 0, such as " + example);
  return factor;
}

}  // namespace detail

PACE_INLINE Expectation SpeedupAtLeast(double factor) {
  return Expectation(
      gate::Demand{.threshold = std::log(detail::checked_factor(factor, "SpeedupAtLeast", "1.20")), .limit = factor});
}

PACE_INLINE Expectation NoSlowerThan(double factor) {
  return Expectation(gate::Demand{.burden = gate::Burden::guard,
                                  .threshold = -std::log(detail::checked_factor(factor, "NoSlowerThan", "1.02")),
                                  .limit = factor,
                                  .about = gate::Statistic::median_and_mean});
}

PACE_INLINE Expectation MeanNoSlowerThan(double factor) {
  return Expectation(gate::Demand{.burden = gate::Burden::guard,
                                  .threshold = -std::log(detail::checked_factor(factor, "MeanNoSlowerThan", "1.02")),
                                  .limit = factor,
                                  .about = gate::Statistic::mean});
}

PACE_INLINE Expectation QuantileNoSlowerThan(double q, double factor) {
  if (!(q >= 0.5 && q <= 0.998))
    throw Error(function_text("QuantileNoSlowerThan") +
                ": the quantile must be a number from 0.5 to 0.998, such as 0.99");
  return Expectation(gate::Demand{.burden = gate::Burden::guard,
                                  .threshold = -std::log(detail::checked_factor(factor, "QuantileNoSlowerThan", "1.5")),
                                  .limit = factor,
                                  .about = gate::Statistic::quantile,
                                  .quantile = q});
}

PACE_INLINE Expectation FasterThan(std::string implementation, double factor) {
  if (implementation.empty())
    throw Error(function_text("FasterThan") + ": name the implementation that it is to be faster than");
  return Expectation(gate::Demand{.threshold = std::log(detail::checked_factor(factor, "FasterThan", "1.05")),
                                  .limit = factor,
                                  .reference = std::move(implementation)});
}

PACE_INLINE Expectation WithinTime(Nanoseconds time) {
  if (!(time.count() > 0 && std::isfinite(time.count())))
    throw Error(function_text("WithinTime") + ": the time must be above 0");
  return Expectation(
      gate::Demand{.quantity = gate::Quantity::time, .threshold = -std::log(time.count()), .limit = time.count()});
}

}  // namespace pace
