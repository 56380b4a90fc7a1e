// Expectations of times and speed-ups, which need a proof rather than point estimates.
#pragma once

#include <string>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/expectation.hpp"

namespace pace {

/// Claims a speed-up over the baseline of at least `factor`: passes only if that is proven. Throws Error unless factor
/// > 0.
[[nodiscard]] Expectation SpeedupAtLeast(double factor);

/// Guards that the implementation takes at most `factor` times the baseline's time, by the median and by the mean.
/// Fails only if one of them is proven to be longer. Identical code fails with probability alpha at most, under any
/// load of the machine. If one side takes long, this holds under the assumption of stats::LargeDeviationBet. Throws
/// Error unless factor > 0.
[[nodiscard]] Expectation NoSlowerThan(double factor);

/// Guards that the mean time is at most `factor` times the baseline's: fails only if the contrary is proven
/// (stats::MeanTest). Passes if the mean of all times is within the limit, and the mean of times winsorised at twice
/// the typical one is proven to be. Throws Error unless factor > 0.
[[nodiscard]] Expectation MeanNoSlowerThan(double factor);

/// Guards that the quantile `q` of single samples is at most `factor` times the baseline's: fails only if the contrary
/// is proven (stats::QuantileTest). A sample is the mean of several calls if one takes less than Options::min_sample.
/// Throws Error unless factor > 0 and q is from 0.5 to 0.998, which the samples that set the threshold can show.
[[nodiscard]] Expectation QuantileNoSlowerThan(double q, double factor);

/// Claims a speed-up over `implementation` of at least `factor`. Unless that is the baseline, state it in the
/// comparison (`.expect("mine", FasterThan("other"))`), since one row lacks the other's figures. Throws Error if the
/// name is empty, and unless factor > 0.
[[nodiscard]] Expectation FasterThan(std::string implementation, double factor = 1);

/// Claims a median time of one iteration of at most `time`, whatever the baseline takes. Weaker than a gate on a
/// speed-up, since times drift with the machine and are skewed. It assumes that the median time of each cycle, whatever
/// the cycles before, is on the same side of the limit. A machine that is slow for seconds violates that. Throws Error
/// unless time > 0.
[[nodiscard]] Expectation WithinTime(Nanoseconds time);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/times-inl.hpp"
#endif
