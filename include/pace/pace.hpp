// The front door: compare implementations of one computation, and say what you expect of them.
//
//   #include <pace/pace.hpp>
//   #include <pace/catch2.hpp>
//
//   const auto result = pace::compare("layer_norm", x).baseline("eager", f).candidate("fused", g).run();
//   REQUIRE_THAT(result, pace::Correct());
//   CHECK_THAT(result["fused"], pace::SpeedupAtLeast(1.2));
#pragma once

#include "pace/compare/comparison.hpp"
#include "pace/gate/correct.hpp"
#include "pace/gate/expectation.hpp"
