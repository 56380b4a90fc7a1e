// The front door: comparisons, expectations, options and results. The other doors are beside it: training.hpp, kernels.hpp
// and record.hpp with their own Bazel targets, catch2.hpp for a Catch2 test, version.hpp for the preprocessor.
//
//   #include <pace/pace.hpp>
//   #include <pace/catch2.hpp>
//
//   const auto result = pace::compare("layer_norm", x)
//                           .baseline("eager", f)
//                           .candidate("fused", g)
//                           .expect("fused", pace::SpeedupAtLeast(1.2))
//                           .run();
//   CHECK_THAT(result, pace::AsExpected());
#pragma once

#include "pace/compare.hpp"
#include "pace/expectations.hpp"
#include "pace/options.hpp"
#include "pace/result.hpp"
#include "pace/version.hpp"
