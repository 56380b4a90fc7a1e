// Replaced values: some whole numbers of an operand take the value of another one, and some bools the other value. So
// counts, sums and sorted orders change, which other places leave.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/unique_dim.h>
#include <ATen/ops/where.h>

#include "pace/base/random.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

/// Whether whole numbers may take each other's values without a loss of structure.
[[nodiscard]] inline bool may_repeat(const ValueStructure& structure) {
  return structure.whole && !structure.zeros && !structure.infinite && !structure.sorted && !structure.symmetric &&
         !structure.has_unit_rows();
}

/// The longest dimension of `values`, which has one.
[[nodiscard]] inline std::int64_t longest_dim(const at::Tensor& values) {
  return std::max_element(values.sizes().begin(), values.sizes().end()) - values.sizes().begin();
}

/// Returns the longest dimension of one-hot rows, but not the one along the rows. Nothing for other values, and where
/// each row occurs once, as in a permutation matrix.
[[nodiscard]] inline std::optional<std::int64_t> one_hot_dim(const at::Tensor& values) {
  if (values.dim() < 2 || values.is_complex() || values.size(-1) < 2 || values.numel() < 3 * values.size(-1))
    return std::nullopt;
  if (values.scalar_type() != at::kBool && !holds_for_all(values.eq(0).logical_or(values.eq(1)))) return std::nullopt;
  const at::Tensor rows = values.reshape({-1, values.size(-1)}).to(at::kFloat);
  if (!holds_for_all(rows.sum(1).eq(1)) || holds_for_all(rows.sum(0).le(1))) return std::nullopt;
  const auto sizes = values.sizes().slice(0, static_cast<std::size_t>(values.dim() - 1));
  return std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
}

/// Gives about one in eight of the slices of `values` along `dim` the values of another slice. Values that belong
/// together in a slice stay together.
inline void resample_slices(at::Tensor& values, std::int64_t dim, SplitMix64& random) {
  const std::int64_t size = values.size(dim);
  if (size < 2) return;
  const at::Tensor chosen = choose_eighth(size, random, values.device());
  std::vector<std::int64_t> shape(static_cast<std::size_t>(values.dim()), 1);
  shape[static_cast<std::size_t>(dim)] = size;
  const auto shift = 1 + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(size - 1)));
  values.copy_(at::where(chosen.view(shape), values.roll(shift, dim), values));
}

/// As resample_slices(), but one in eight bools takes the other value: bools may belong to others in any way.
inline void resample_values(at::Tensor& values, std::int64_t dim, SplitMix64& random) {
  if (values.scalar_type() == at::kBool)
    values.logical_xor_(choose_eighth(values.numel(), random, values.device()).view(values.sizes()));
  else
    resample_slices(values, dim, random);
}

/// Whether resample_values() may replace whole numbers or bools along `dim` without a loss of structure. They stay:
///
/// - where none occurs twice in a line along `dim`, as in a permutation;
/// - where the few numbers of a slice, such as the ends of an edge, occur together once only;
/// - where all lines have one sum, as one-hot rows have;
/// - where a single bool differs from all others.
[[nodiscard]] inline bool may_replace(const at::Tensor& values, std::int64_t dim) {
  constexpr std::int64_t most_looked_at = 1 << 18, few = 4;
  const auto equal_sums = [&](std::int64_t along) {
    const at::Tensor sums = values.sum(along).flatten();
    return sums.numel() > 1 && holds_for_all(sums.eq(sums.narrow(0, 0, 1)));
  };
  const std::int64_t size = values.size(dim), lines = values.numel() / std::max<std::int64_t>(size, 1);
  if (values.scalar_type() == at::kBool) {
    for (std::int64_t each = 0; each < values.dim(); ++each)
      if (equal_sums(each)) return false;
    const auto count = values.sum().item<std::int64_t>();
    return count > 1 && count < values.numel() - 1;
  }
  if (size < 3 || equal_sums(dim)) return false;
  const at::Tensor slices = values.movedim(dim, 0).reshape({size, lines});
  const at::Tensor some = slices.narrow(0, 0, std::min(size, most_looked_at))
                              .narrow(1, 0, std::clamp<std::int64_t>(most_looked_at / size, 1, lines));
  if (holds_for_all(std::get<0>(some.sort(0)).diff(1, 0).ne(0))) return false;
  return lines == 1 || lines > few || std::get<0>(at::unique_dim(slices, 0)).size(0) < size;
}

/// Returns the dimension along which whole numbers or bools of a tensor may be replaced. For one-hot rows it is the one
/// of one_hot_dim(), for other integers and bools `place_free`, the one of place_free_dim(). For floating-point values
/// of `structure` it is the longest one. Nothing where may_replace() forbids it.
[[nodiscard]] inline std::optional<std::int64_t> replace_dim(const at::Tensor& tensor, const ValueStructure& structure,
                                                             std::optional<std::int64_t> place_free) {
  try {
    std::optional<std::int64_t> dim = place_free;
    if (place_free || (structure.whole && !structure.symmetric && !structure.sorted))
      if (const auto rows = one_hot_dim(check::detail::distinct_values_of(tensor))) return rows;
    if (!dim && may_repeat(structure) && tensor.dim() > 0) dim = longest_dim(check::detail::distinct_values_of(tensor));
    return dim && may_replace(check::detail::distinct_values_of(tensor), *dim) ? dim : std::nullopt;
  } catch (...) {  // no memory for it
    return std::nullopt;
  }
}

}  // namespace pace::detail
