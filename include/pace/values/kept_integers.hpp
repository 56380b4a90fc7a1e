// Kept integers: what other integers or bools of an operand must keep, and how they change within that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/base/random.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/values/integer_places.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/replaced_values.hpp"

namespace pace::detail {

/// What other integers or bools of an operand keep.
struct KeptIntegers {
  /// The dimension along which they change places. Nothing: they stay as they are given.
  std::optional<std::int64_t> dim = {};
  /// The dimension along which others may replace them, and floating-point whole numbers as well.
  std::optional<std::int64_t> replace_dim = {};
  /// Whether they are one-hot rows, which others replace as wholes.
  bool one_hot = false;
  /// Whether each names another one (is_successors()).
  bool successors = false;
  /// Their ascending segments (ascending_segments()).
  std::optional<at::Tensor> segments = {};
  bool keeps_sum = false, keeps_largest = false;
  /// The value of padding, which others do not take, and whether rows change places with their padding.
  std::optional<std::int64_t> padding = {};
  bool moves_rows = false;
};

/// Looks for the relations of the integers or bools of `given[i]` to themselves, to other operands and to `known`
/// sizes.
inline void find_relations(const std::vector<at::Tensor>& given, std::size_t i, const KnownSizes& known,
                           KeptIntegers& found) {
  constexpr std::int64_t most_looked_at = 1 << 20;
  const at::Tensor& own = given[i];
  if (!own.defined() || !check::detail::is_plain(own) || own.numel() < 2 || own.numel() > most_looked_at ||
      !is_computed_integral(own.scalar_type()))
    return;
  found.keeps_sum = known.has_sum_of(own);
  if (own.scalar_type() == at::kBool) return;
  found.keeps_largest = known.has_largest_of(own);
  if (!found.dim) return;
  found.successors = is_successors(own);
  const auto range = own.max().item().toLong() - own.min().item().toLong() + 1;
  for (std::size_t other = 0; other < given.size() && !found.segments && !found.successors; ++other)
    if (other != i && range <= most_looked_at) found.segments = ascending_segments(own, given[other]);
}

[[nodiscard]] inline at::Tensor rolled(const at::Tensor& values, std::int64_t dim, SplitMix64& random) {
  const auto size = static_cast<std::size_t>(values.size(dim));
  return values.roll(1 + static_cast<std::int64_t>(random.below(size - 1)), dim);
}

/// Rolls integers or bools along `dim`, and with `replace` gives some of them the values of others.
inline void move_along(std::int64_t dim, at::Tensor& values, const KeptIntegers& kept, SplitMix64& random,
                       bool replace) {
  values.copy_(rolled(values, dim, random));
  if (!replace || !kept.replace_dim) return;
  if (kept.one_hot) return resample_slices(values, *kept.replace_dim, random);
  if (kept.keeps_sum) return move_sum(values, kept.keeps_largest, random);
  const at::Tensor before = values.clone();
  resample_values(values, *kept.replace_dim, random);
  if (kept.keeps_largest) values.copy_(before.where(before.eq(before.max()), values));
}

/// Gives new values to integers or bools that have a dimension to change places along. The new ones keep the properties
/// `kept`.
inline void move_integers(at::Tensor& values, const KeptIntegers& kept, SplitMix64 random, bool replace) {
  if (kept.successors) return rename_successors(values, draw_order(values.numel(), random, values.device()));
  if (kept.segments) {
    const auto range = values.max().item().toLong() - values.min().item().toLong() + 1;
    return change_in_segments(values, *kept.segments, draw_order(range, random, at::kCPU));
  }
  if (!kept.padding) return move_along(*kept.dim, values, kept, random, replace);
  if (kept.moves_rows) values.copy_(rolled(values, 0, random));
  const at::Tensor places = values.ne(*kept.padding);
  at::Tensor others = values.masked_select(places);
  move_along(0, others, kept, random, replace);
  values.masked_scatter_(places, others);
}

}  // namespace pace::detail
