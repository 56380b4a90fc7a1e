// Expectations of times and speed-ups, which are judged by proof rather than by point estimates.
#pragma once

#include <string>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/expectation.hpp"

namespace pace {

/// Returns the claim that the speed-up over the baseline is at least `factor`, which passes only if it is proven.
/// Throws Error unless factor > 0.
[[nodiscard]] Expectation SpeedupAtLeast(double factor);

/// Returns the guard that the implementation takes at most `factor` times the time of the baseline, by the median and
/// by the mean, which fails only if the contrary is proven of one of them. By design identical code fails with
/// probability alpha at most under any load of the machine; if one side takes long, this holds under the assumption of
/// stats::LargeDeviationBet. Throws Error unless factor > 0.
[[nodiscard]] Expectation NoSlowerThan(double factor);

/// Returns the guard that the mean time is at most `factor` times that of the baseline, which fails only if the
/// contrary is proven (stats::MeanTest). It passes if the mean of times winsorised at twice the typical one is proven
/// to be within the limit, and the mean of all times is. Throws Error unless factor > 0.
[[nodiscard]] Expectation MeanNoSlowerThan(double factor);

/// Returns the guard that the quantile `q` of single samples is at most `factor` times that of the baseline, which
/// fails only if the contrary is proven (stats::QuantileTest). A sample is the mean of several calls where one takes
/// less than Options::min_sample. Throws Error unless factor > 0 and q is from 0.5 to 0.998, which the samples that set
/// the threshold can show.
[[nodiscard]] Expectation QuantileNoSlowerThan(double q, double factor);

/// Returns the claim that the speed-up over `implementation` is at least `factor`. For a name other than the baseline's
/// it must be stated in the comparison (`.expect("mine", FasterThan("other"))`), since one row does not hold the
/// other's figures. Throws Error if the name is empty, and unless factor > 0.
[[nodiscard]] Expectation FasterThan(std::string implementation, double factor = 1);

/// Returns the claim that the median time of one iteration is at most `time`, whatever the baseline takes. Times drift
/// with the machine and are skewed, so that this gate is weaker than one on a speed-up. It assumes that the median time
/// of each cycle, given the cycles before, is on the same side of the limit; a machine that is slow for seconds
/// violates that. Throws Error unless time > 0.
[[nodiscard]] Expectation WithinTime(Nanoseconds time);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/times-inl.hpp"
#endif
