// Rearranged rows: other rows that keep what a function may rely on: the order, the length or the sum of a row.
#pragma once

#include <algorithm>
#include <cstdint>

#include <ATen/core/Tensor.h>
#include <ATen/ops/eye.h>

#include "pace/base/random.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

/// Gives rows in order other steps between their ends. Equal neighbours stay equal.
inline void vary_steps(const at::Tensor& rows, SplitMix64& random) {
  const std::int64_t width = rows.size(-1);
  const at::Tensor given = rows.to(at::kDouble), first = given.narrow(-1, 0, 1);
  const at::Tensor last = given.narrow(-1, width - 1, 1);
  at::Tensor sums = varied(given.diff(), random).cumsum(-1);
  const at::Tensor total = sums.narrow(-1, width - 2, 1);
  sums = first.add(sums.mul(last.sub(first).div(total).nan_to_num(1, 1, 1)));
  // Rounding must not lead beyond the ends.
  rows.narrow(-1, 1, width - 1).copy_(sums.minimum(first.maximum(last)).maximum(first.minimum(last)));
}

/// Whether rows, which have the length 1, are orthogonal to each other. We look at the first ones of them.
[[nodiscard]] inline bool orthogonal_rows(const at::Tensor& values) {
  constexpr std::int64_t most_rows = 64;
  if (values.dim() < 2 || values.size(-2) < 2 || values.size(-2) > values.size(-1)) return false;
  const at::Tensor some = values.narrow(-2, 0, std::min(values.size(-2), most_rows)).to(at::kDouble);
  const at::Tensor products = some.matmul(some.transpose(-1, -2));
  return holds_for_all(products.sub(at::eye(some.size(-2), products.options())).abs().lt(1e-2));
}

/// Gives rows of length 1, with the sum 1 or of log-probabilities other values with that property. Each value is
/// multiplied by a random factor of its own, and then each row as a whole.
///
/// Returns false, and leaves them, where that would take another property away: orthogonal rows, columns of the sum 1,
/// order, ties unless all are equal. Log-probabilities with ties or in order get one factor for all of them, which
/// keeps both.
[[nodiscard]] inline bool vary_unit_rows(at::Tensor& values, const ValueStructure& structure, SplitMix64& random) {
  const bool keeps_order = (structure.ties || structure.sorted) && !are_equal(values);
  if (structure.whole || (keeps_order && !structure.log_probabilities) || !structure.has_unit_rows()) return false;
  const at::Tensor given = values.to(at::kDouble);
  const auto has_unit_columns = [&](const at::Tensor& shares) {
    return values.dim() >= 2 && holds_for_all(shares.sum(-2).sub(1).abs().lt(1e-2));
  };
  if (structure.log_probabilities) {
    if (has_unit_columns(given.exp())) return false;
    const at::Tensor others = keeps_order ? given.mul(draw_factor(random)) : varied(given, random);
    values.copy_(with_unit_rows(others, structure));
    return true;
  }
  if (structure.unit_sums && has_unit_columns(given)) return false;
  if (structure.unit_rows && orthogonal_rows(values)) return false;
  const auto size_of = [&](const at::Tensor& rows) {
    return structure.unit_sums ? rows.sum(-1, true) : rows.square().sum(-1, true).sqrt();
  };
  const at::Tensor others = varied(given, random);
  // Rows of zeros stay as they are.
  values.copy_(others.mul(size_of(given).div(size_of(others)).nan_to_num(1, 1, 1)));
  return true;
}

/// Gives rows in order other ones, as vary_unit_rows() or as vary_steps(). Whole numbers get the same steps in another
/// order. Returns false, and leaves them, where there are no others.
[[nodiscard]] inline bool rearrange_sorted(at::Tensor& values, const ValueStructure& structure, SplitMix64& random) {
  if (structure.has_unit_rows()) return vary_unit_rows(values, structure, random);
  const std::int64_t width = values.size(-1);
  const at::Tensor steps = values.diff();
  if (holds_for_all(steps.eq(0))) return false;
  if (!structure.whole) {
    vary_steps(values, random);
    return true;
  }
  if (width < 3 || holds_for_all(steps.eq(steps.narrow(-1, 0, 1)))) return false;
  const at::Tensor given = values.clone();
  const at::Tensor order = draw_order(width - 1, random, values.device());
  values.narrow(-1, 1, width - 1)
      .copy_(given.to(at::kDouble).diff().index_select(-1, order).cumsum(-1).add(given.narrow(-1, 0, 1)));
  return !holds_for_all(values.eq(given));
}

}  // namespace pace::detail
