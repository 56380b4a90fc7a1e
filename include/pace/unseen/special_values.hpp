// Special values: new ones for operands with a property that a draw keeps. Examples are constants, factors of a
// product, and integers that stay in their places.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/ones.h>

#include "pace/base/random.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/rearranged_matrices.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

/// Whether `values`, real ones, lie in several places in memory and are all the same finite number other than zero.
[[nodiscard]] inline bool is_constant(const at::Tensor& values) {
  if (values.is_complex() || values.numel() < 2) return false;
  const at::Tensor first = values.flatten().narrow(0, 0, 1);
  return holds_for_all(first.isfinite().logical_and(first.ne(0))) && holds_for_all(values.eq(first));
}

/// Sets about one in eight of `values`, which are all 1, to zero, as in a mask. Returns whether they are.
[[nodiscard]] inline bool zero_some_ones(at::Tensor& values, SplitMix64& random) {
  if (!is_constant(values) || !holds_for_all(values.eq(1))) return false;
  values.masked_fill_(choose_eighth(values.numel(), random, values.device()).view(values.sizes()), 0);
  return true;
}

/// Gives `values`, which are all equal, different ones of up to their size: whole ones if they are whole and not 1.
/// Rows of length 1, with the sum 1 or of log-probabilities stay such. Returns whether they were equal.
[[nodiscard]] inline bool make_unequal(at::Tensor& values, const ValueStructure& structure, SplitMix64& random) {
  if (!is_constant(values)) return false;
  at::Tensor others = varied(values, random);
  if (structure.whole && !holds_for_all(values.abs().eq(1))) {
    // Away from zero, so that a count stays one.
    others = others.sign().mul(others.abs().ceil());
    // As of 2, which has one other such number.
    if (is_constant(others) && others.numel() > 1)
      others = others.where(choose_eighth(others.numel(), random, others.device()).view(others.sizes()).logical_not(),
                            others.sign());
  } else {
    others = with_unit_rows(others, structure);
  }
  values.copy_(others);
  return !is_constant(values);
}

/// Gives the whole or often repeated numbers of `values` each other's places, except zeros. Then rows are no longer
/// multiples of each other, as in a product of a column and a row. Leaves values with another structure. Also leaves
/// numbers that occur once in each line, and lines with one sum (see may_replace()). Returns whether any has changed.
[[nodiscard]] inline bool mix_elements(at::Tensor& values, const ValueStructure& structure, SplitMix64& random) {
  constexpr std::int64_t most_elements = 1 << 22;
  if (values.is_complex() || values.dim() < 2 || values.numel() > most_elements || is_constant(values)) return false;
  if (!(structure.whole || structure.ties) || structure.infinite || structure.zeros || structure.sorted ||
      structure.symmetric || structure.has_unit_rows() || structure.is_centred() || is_toeplitz(values) ||
      one_hot_dim(values) || has_coordinates(values, values.dim() - 1))
    return false;
  const auto repeats_along = [&](std::int64_t dim) {
    return values.size(dim) > 1 && holds_for_all(values.eq(values.narrow(dim, 0, 1)));
  };
  if (structure.whole && !repeats_along(0) && !may_replace(values, longest_dim(values))) return false;
  const at::Tensor given = values.clone(), places = given.ne(0), numbers = given.masked_select(places);
  if (numbers.numel() < 3) return false;
  values.masked_scatter_(places, numbers.index_select(0, draw_order(numbers.numel(), random, values.device())));
  return !holds_for_all(values.eq(given));
}

/// Gives each row values of its own that keep the rows' property. Rows may be all equal, of length 1, with the sum 1,
/// or log-probabilities. Values are in order if the rows are. Rows of one value each get different values in order.
/// Returns whether `values` were such rows.
[[nodiscard]] inline bool make_rows_unlike(at::Tensor& values, const ValueStructure& structure, SplitMix64& random) {
  if (values.is_complex() || values.dim() < 2 || values.size(-1) < 2 || structure.infinite || structure.zeros ||
      structure.whole || structure.symmetric || is_constant(values) || is_toeplitz(values))
    return false;
  const bool unit = structure.has_unit_rows();
  const at::Tensor rows = values.reshape({-1, values.size(-1)});
  if (rows.size(0) < 2) return false;
  const bool equal_rows = holds_for_all(rows.eq(rows.narrow(0, 0, 1)));
  const bool single_values = holds_for_all(rows.eq(rows.narrow(1, 0, 1)));
  if (!(equal_rows && unit) && !(single_values && structure.sorted && !unit)) return false;
  at::Tensor others = varied(rows, random);
  if (structure.sorted) {
    const at::Tensor first = rows.narrow(1, 0, 1), last = rows.narrow(1, rows.size(1) - 1, 1);
    others = std::get<0>(others.sort(1, /*descending=*/holds_for_all(last.le(first)) && !single_values));
  }
  others = with_unit_rows(others, structure);
  const at::Tensor given = values.clone();
  values.copy_(others.view(values.sizes()));
  return !holds_for_all(values.eq(given));
}

/// What lower_integers() keeps.
struct LowerBounds {
  std::int64_t least = 0;      ///< no number that is at least as large becomes smaller than it
  bool keeps_sum = false;      ///< integers that descend get others with the same sum
  bool keeps_largest = false;  ///< one of several integers, or the largest one, stays
};

/// Makes integers smaller: sizes, exponents, full or sorted lengths, masks. They stay at least 1 (masks: 0) and keep
/// their order. So an index, a count or a size stays one. Integers with other places are place_free_dim()'s. Some stay
/// as they are: negative integers may be markers, large ones addresses, and ascending ones offsets. Returns whether any
/// has changed.
[[nodiscard]] inline bool lower_integers(at::Tensor& values, const LowerBounds& bounds, SplitMix64& random) {
  constexpr std::int64_t few = 4, fewest_in_row = 4;
  const at::Tensor given = values.to(at::kLong).clone();
  const std::int64_t smallest = given.min().item<std::int64_t>(), largest = given.max().item<std::int64_t>();
  const std::int64_t count = given.numel();
  if (smallest < 0 || largest < 1 || largest > std::numeric_limits<std::int32_t>::max()) return false;
  const bool constant = smallest == largest;
  const auto draw_factors = [&](std::int64_t number) {
    std::vector<double> factors(static_cast<std::size_t>(number));
    for (auto& factor : factors) factor = draw_factor(random);
    std::sort(factors.begin(), factors.end(), std::greater<>());
    return at::from_blob(factors.data(), {number}, at::kDouble).to(given.device(), at::kDouble, false, /*copy=*/true);
  };
  if (constant && largest == 1) {
    // Each row keeps its first ones, as a mask of padding does.
    const std::int64_t width = given.dim() == 0 ? 1 : given.size(-1);
    if (width < fewest_in_row) return false;
    const at::Tensor kept = draw_factors(count / width).mul(static_cast<double>(width)).ceil().clamp_max(width - 1);
    values.copy_(at::arange(width, kept.options()).lt(kept.unsqueeze(1)).view(given.sizes()));
    return true;
  }
  const at::Tensor flat = given.flatten();
  const at::Tensor steps = flat.diff();
  const bool ascends = count > 1 && !constant && holds_for_all(steps.ge(0));
  const bool descends = count > 1 && !constant && given.dim() == 1 && holds_for_all(steps.le(0));
  if (!constant && !descends && (count > few || (ascends && smallest == 0))) return false;
  if (descends && bounds.keeps_sum) {
    at::Tensor others = given.clone();
    move_parts(others, bounds.keeps_largest, random);
    values.copy_(std::get<0>(others.sort(0, /*descending=*/true)));
    return !holds_for_all(values.to(at::kLong).eq(given));
  }
  // A common factor keeps the order of different ones.
  const at::Tensor factors = draw_factors(constant ? count : 1);
  const at::Tensor bound = flat.clamp_max(std::max<std::int64_t>(bounds.least, 1));
  at::Tensor lowered = flat.mul(factors).floor().to(at::kLong).maximum(bound);
  // As of 2, which has one smaller number.
  if (constant && count > 1 && is_constant(lowered))
    lowered = flat.where(choose_eighth(count, random, flat.device()), lowered);
  if (bounds.keeps_largest && count > 1) {
    if (constant)
      lowered[static_cast<std::int64_t>(random.below(static_cast<std::size_t>(count)))].fill_(largest);
    else
      lowered = flat.where(flat.eq(largest), lowered);
  }
  values.copy_(lowered.view(given.sizes()));
  return !holds_for_all(values.to(at::kLong).eq(given));
}

}  // namespace pace::detail
