// Expectations of times and speed-ups. Judged on proof, never on a point estimate.
#pragma once

#include <string>

#include "pace/core/config.hpp"
#include "pace/core/units.hpp"
#include "pace/gate/expectation.hpp"

namespace pace {

/// A claim: the speed-up over the baseline is at least `factor`. Passes only when proven. Throws Error unless
/// factor > 0.
[[nodiscard]] Expectation SpeedupAtLeast(double factor);

/// A guard: the implementation takes at most `factor` times as long as the baseline. Fails only when the contrary is
/// proven. For identical code that has at most probability alpha by design, whatever the machine does meanwhile; where one
/// side takes long, under the assumption of stats::LargeDeviationBet. Throws Error unless factor > 0.
[[nodiscard]] Expectation NoSlowerThan(double factor);

/// A claim: faster than the implementation of that name, by `factor` at least. The name may be the baseline's; any other
/// needs `.expect("mine", FasterThan("other"))`, since one row alone says nothing of the other. Throws Error if the name
/// is empty, and unless factor > 0.
[[nodiscard]] Expectation FasterThan(std::string implementation, double factor = 1);

/// A claim: the median time of one iteration is at most `time`, whatever the baseline takes. Times drift with the
/// machine and are skewed, so this is the weaker kind of gate. What is assumed: of each cycle's time, given those
/// before it, the median is on the same side of the limit. A machine that is slow for seconds at a stretch breaks that.
/// Throws Error unless time > 0.
[[nodiscard]] Expectation WithinTime(Nanoseconds time);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/times-inl.hpp"
#endif
