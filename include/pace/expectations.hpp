// The door to the gate: what may be expected of an implementation, and the matchers of a result. Without LibTorch.
//
//   comparison.expect("mine", pace::SpeedupAtLeast(1.2)).expect(pace::AtMost(pace::Count::allocations, 1));
#pragma once

#include "pace/gate/counts.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/result_matchers.hpp"
#include "pace/gate/times.hpp"
