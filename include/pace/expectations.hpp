// Expectations of implementations and matchers for results, without LibTorch.
//
//   comparison.expect("mine", pace::SpeedupAtLeast(1.2)).expect(pace::AtMost(pace::Count::allocations, 1));
#pragma once

#include "pace/gate/counts.hpp"
#include "pace/gate/energy.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/result_matchers.hpp"
#include "pace/gate/times.hpp"
