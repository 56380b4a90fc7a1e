// Comparisons: pace::compare with its expectations, options and results.
//
//   const auto result = pace::compare("layer_norm", x)
//                           .baseline("eager", f)
//                           .candidate("mine", g)
//                           .expect("mine", pace::SpeedupAtLeast(1.2))
//                           .run();
#pragma once

// For `x * 0.5` on tensors. LibTorch's header includes all of its functions unless this macro is set: a test file takes
// 1.1 s more to compile without it, and 0.1 s with it.
#ifdef AT_PER_OPERATOR_HEADERS
#include <ATen/TensorOperators.h>
#else
#define AT_PER_OPERATOR_HEADERS
#include <ATen/TensorOperators.h>
#undef AT_PER_OPERATOR_HEADERS
#endif

#include "pace/compare/comparison.hpp"
#include "pace/expectations.hpp"
#include "pace/options.hpp"
#include "pace/result.hpp"
