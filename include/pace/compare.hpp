// The door to comparisons: pace::compare, everything that may be expected of one, its options and its result.
//
//   const auto result = pace::compare("layer_norm", x)
//                           .baseline("eager", f)
//                           .candidate("mine", g)
//                           .expect("mine", pace::SpeedupAtLeast(1.2))
//                           .run();
#pragma once

#include "pace/compare/comparison.hpp"
#include "pace/expectations.hpp"
#include "pace/options.hpp"
#include "pace/result.hpp"
