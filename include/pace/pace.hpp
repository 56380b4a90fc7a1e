// Comparisons, expectations, options and results. Further public headers are training.hpp, kernels.hpp and record.hpp
// with Bazel targets of their own, catch2.hpp for Catch2 tests, and version.hpp for the preprocessor.
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
