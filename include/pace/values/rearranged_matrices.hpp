// Rearranged matrices: other matrices that stay symmetric, positive definite, Toeplitz or circulant.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>

#include "pace/base/random.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/rearranged_rows.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

/// Whether all elements along each diagonal of matrices are equal.
[[nodiscard]] inline bool is_toeplitz(const at::Tensor& values) {
  if (values.dim() < 2) return false;
  const std::int64_t height = values.size(-2), width = values.size(-1);
  const auto inner = [&](std::int64_t first) {
    return values.narrow(-1, first, width - 1).narrow(-2, first, height - 1);
  };
  return height > 1 && width > 1 && holds_for_all(inner(0).eq(inner(1)));
}

/// The values on the diagonals of Toeplitz matrices, from the lower left to the upper right, as rows.
[[nodiscard]] inline at::Tensor diagonals_of(const at::Tensor& values) {
  return at::cat({values.select(-1, 0).flip(-1), values.select(-2, 0).narrow(-1, 1, values.size(-1) - 1)}, -1);
}

/// Writes the Toeplitz matrices of these diagonals to `values`.
inline void write_diagonals(at::Tensor& values, const at::Tensor& diagonals) {
  const std::int64_t height = values.size(-2), width = values.size(-1);
  const auto options = values.options().dtype(at::kLong).requires_grad(false);
  const at::Tensor places = at::arange(width, options).sub(at::arange(height, options).unsqueeze(1)).add(height - 1);
  values.copy_(diagonals.index_select(-1, places.flatten()).view(values.sizes()));
}

/// Whether all values but zeros are equal, as in a mask.
[[nodiscard]] inline bool has_one_value(const at::Tensor& values) {
  const at::Tensor sizes = values.abs();
  return holds_for_all(
      sizes.eq(0).logical_or(values.eq(values.flatten().select(0, sizes.argmax().item<std::int64_t>()))));
}

/// Gives Toeplitz matrices other values on each diagonal: other steps where these are in order, random factors
/// otherwise. Circulant matrices stay such. Returns false, and leaves them, for whole numbers, rows of length or sum 1,
/// and for zeros and one other value.
[[nodiscard]] inline bool vary_toeplitz(at::Tensor& values, const ValueStructure& structure, SplitMix64& random) {
  if (structure.whole || structure.has_unit_rows() || has_one_value(values)) return false;
  const std::int64_t width = values.size(-1);
  at::Tensor diagonals = diagonals_of(values).contiguous();
  const at::Tensor steps = diagonals.diff();
  if (holds_for_all(steps.ge(0)) || holds_for_all(steps.le(0))) {
    vary_steps(diagonals, random);
  } else {
    // The diagonals of a circulant matrix repeat each other.
    const at::Tensor lower = diagonals.narrow(-1, 0, width - 1);
    const bool circulant = values.size(-2) == width && holds_for_all(lower.eq(diagonals.narrow(-1, width, width - 1)));
    multiply_each(diagonals.view({-1}), random, /*signs=*/false);
    if (circulant) lower.copy_(diagonals.narrow(-1, width, width - 1));
  }
  write_diagonals(values, diagonals);
  return true;
}

/// Multiplies the diagonals of symmetric Toeplitz matrices by factors in (0, 1). Positive definite ones stay such. The
/// factors are a positive definite function of the distance from the main diagonal, and the product of such matrices by
/// elements is positive definite (Schur). The function is a mixture of exp(c (cos t - 1)) for c in [1/2, 1). The angle
/// t is a whole turn for all n diagonals, so that circulant matrices stay such.
inline void vary_by_distance(at::Tensor& values, double factor, SplitMix64& random) {
  constexpr int terms = 4;
  constexpr double full_turn = 6.283185307179586;
  const std::int64_t width = values.size(-1);
  const at::Tensor heights = at::arange(width, at::kDouble).mul(full_turn / static_cast<double>(width)).cos().sub(1);
  at::Tensor factors = at::zeros({width}, at::kDouble);
  for (int i = 0; i < terms; ++i) factors.add_(heights.mul(draw_factor(random)).exp(), factor / terms);
  const at::Tensor both = at::cat({factors.flip(0), factors.narrow(0, 1, width - 1)});
  at::Tensor matrix = at::empty({width, width}, real_options_of(values));
  write_diagonals(matrix, both.to(matrix.options()));
  values.mul_(matrix);
}

/// Gives a multiple of the identity another diagonal, and other symmetric Toeplitz matrices factors as in
/// vary_by_distance(). Returns false, and leaves them, as vary_toeplitz() does.
[[nodiscard]] inline bool vary_symmetric_toeplitz(at::Tensor& values, const ValueStructure& structure, double factor,
                                                  SplitMix64& random) {
  const std::int64_t width = values.size(-1);
  const at::Tensor diagonal = values.diagonal(0, -2, -1);
  const at::Tensor off = at::eye(width, values.options().dtype(at::kBool)).logical_not();
  if (holds_for_all(values.masked_select(off).eq(0)) && !holds_for_all(diagonal.eq(0))) {
    const at::Tensor factors = at::ones({width}, real_options_of(values));
    multiply_each(factors, random, /*signs=*/false);
    diagonal.mul_(factors);
    return true;
  }
  if (structure.whole || structure.has_unit_rows() || has_one_value(values)) return false;
  vary_by_distance(values, factor, random);
  return true;
}

/// Gives symmetric matrices A the values of B = D A D for a diagonal matrix D of random numbers in [0.7, 1). That keeps
/// signs, zeros and positive definiteness. Without zeros off the diagonal they become (1 - c) B + c P B P^T for a
/// random permutation P and c in [0.1, 0.2): the inverse of that is no scaled one of A. A constant diagonal gets its
/// values back by another D. Where that would take a property away, the matrices become P A P^T. Returns whether any
/// value has changed.
[[nodiscard]] inline bool rearrange_symmetric(at::Tensor& values, const ValueStructure& structure, SplitMix64& random) {
  const std::int64_t width = values.size(-1);
  const at::Tensor given = values.clone(), diagonal = given.diagonal(0, -2, -1);
  const at::Tensor order = draw_order(width, random, values.device());
  const auto moved = [&](const at::Tensor& from) { return from.index_select(-1, order).index_select(-2, order); };
  const bool constant = holds_for_all(diagonal.eq(diagonal.narrow(-1, 0, 1)));
  // Zeros off the diagonal would not stay.
  const bool dense = holds_for_all(given.ne(0).logical_or(at::eye(width, given.options().dtype(at::kBool))));
  if (structure.whole || structure.has_unit_rows() || (constant && !dense)) {
    values.copy_(moved(given));
    return !holds_for_all(values.eq(given));
  }
  std::vector<double> drawn(static_cast<std::size_t>(width));
  for (auto& each : drawn) each = std::sqrt(draw_factor(random));
  const at::Tensor d = at::from_blob(drawn.data(), {width}, at::kDouble);
  // The same product on both sides of the diagonal.
  values.mul_(d.unsqueeze(1).mul(d).to(real_options_of(values)));
  if (dense) {
    const double share = 0.2 * draw_factor(random);
    values.add_(moved(values), share / (1 - share)).mul_(1 - share);
  }
  if (constant && !holds_for_all(diagonal.eq(0))) {
    const at::Tensor scale = diagonal.div(values.diagonal(0, -2, -1)).nan_to_num(1, 1, 1).sqrt();
    values.mul_(scale.unsqueeze(-1).mul(scale.unsqueeze(-2)));
    values.diagonal(0, -2, -1).copy_(diagonal);
  }
  return true;
}

}  // namespace pace::detail
