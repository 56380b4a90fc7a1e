// Rearranged values: other values that have the structure of those given. A list of families; the first that fits
// decides.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "pace/base/random.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/rearranged_matrices.hpp"
#include "pace/values/rearranged_rows.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

/// Whether all values on one side of the diagonal are zeros.
[[nodiscard]] inline bool is_triangular(const at::Tensor& values) {
  return values.dim() >= 2 && (holds_for_all(values.eq(values.tril())) || holds_for_all(values.eq(values.triu())));
}

/// Permutes the slices of each dimension, but not coordinates.
inline void permute_slices(at::Tensor& values, SplitMix64& random) {
  for (std::int64_t dim = 0; dim < values.dim(); ++dim)
    if (values.size(dim) > 1 && !has_coordinates(values, dim))
      values.copy_(values.index_select(dim, draw_order(values.size(dim), random, values.device())));
}

/// Gives `values`, a view of an operand, others in place that have the same `structure`. Returns false, and leaves
/// them, where only scaled values have it. `factor` scales those that have no length of their own.
[[nodiscard]] inline bool rearrange_values(at::Tensor& values, const ValueStructure& structure, double factor,
                                           SplitMix64& random) {
  if (values.dim() == 0) return false;
  // Logarithms of zeros are infinite, and stay so.
  if (structure.infinite) return structure.log_probabilities && vary_unit_rows(values, structure, random);
  const bool toeplitz = is_toeplitz(values);
  if (structure.symmetric && toeplitz) return vary_symmetric_toeplitz(values, structure, factor, random);
  if (structure.symmetric) return rearrange_symmetric(values, structure, random);
  if (values.is_complex()) return false;
  if (toeplitz && (structure.sorted || !structure.whole)) return vary_toeplitz(values, structure, random);
  if (structure.sorted) return rearrange_sorted(values, structure, random);
  if (are_equal(values) || is_triangular(values)) return false;
  if (vary_unit_rows(values, structure, random)) return true;
  if (structure.is_centred() && !structure.ties) {
    values.copy_(centred(varied(values, random), structure));
    return true;
  }
  permute_slices(values, random);
  if (!structure.whole && !structure.has_unit_rows()) values.mul_(factor);
  return true;
}

}  // namespace pace::detail
