// error_multiplier: PyTorch's rule for how much worse than a reference in the same precision a result may be.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstdint>

#include "pace/check/same_options.hpp"

namespace pace::check {

/// Returns how many times the reference's error a result's error may be, by the rule of torch._dynamo.utils.same.
/// `elements` is the size of the float64 reference. `one_by_one`: the reference has four dimensions, the last two of
/// size 1.
[[nodiscard]] inline double error_multiplier(at::ScalarType result_dtype, std::int64_t elements, bool one_by_one,
                                             const SameOptions& options) {
  if (options.force_max_multiplier) return 10;
  const bool newest = options.multipliers == MultiplierSet::newest;
  const bool larger = options.use_larger_multiplier_for_smaller_tensor && (newest || options.tol >= 4e-2);
  if (larger && elements <= 10) return 10;
  if (larger && elements <= 500) return newest ? 8 : 5;
  if (elements < 1000 || one_by_one || options.tol >= 2e-2) return 3;
  return result_dtype == at::kHalf || result_dtype == at::kBFloat16 ? 3 : 2;
}

}  // namespace pace::check
