// Comparisons: pace::compare with its expectations, options and results.
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
