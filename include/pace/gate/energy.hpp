// EnergyAtMost: an expectation of the energy of one call on a GPU.
#pragma once

#include "pace/base/config.hpp"
#include "pace/gate/expectation.hpp"

namespace pace {

/// Expects one call to take at most `ratio` times the baseline's energy (ImplementationResult::energy). The verdict is
/// `passed` or `failed` if the interval of the ratio lies on one side of it. It is `undecided` if the interval holds
/// `ratio`, if the counter moved too seldom for one, or if the rounds were disturbed. Without an energy it is
/// `invalid`. Throws Error unless `ratio` is a positive number.
[[nodiscard]] Expectation EnergyAtMost(double ratio);

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/energy-inl.hpp"
#endif
