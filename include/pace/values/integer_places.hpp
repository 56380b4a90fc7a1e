// Integer places: the dimension along which integers and bools of an operand may change places. Many may not: they are
// indices, offsets, markers or masks, and few others of those are valid.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/value_structure.hpp"

namespace pace::detail {

/// Whether LibTorch computes with integers or bools of this type. For UInt16, UInt32 and UInt64, it does little more
/// than make and copy tensors, so their values stay as given.
[[nodiscard]] inline bool is_computed_integral(at::ScalarType type) {
  return c10::isIntegralType(type, /*includeBool=*/true) && type != at::kUInt16 && type != at::kUInt32 &&
         type != at::kUInt64;
}

/// Whether integers may be addresses (large), markers (all negative ones are equal), or pointers (they point back only,
/// or ahead only, as parents in a tree do). Those that are all equal count as well.
[[nodiscard]] inline bool have_a_meaning(const at::Tensor& values) {
  const std::int64_t least = values.min().item<std::int64_t>(), most = values.max().item<std::int64_t>();
  if (least < std::numeric_limits<std::int32_t>::min() || most > std::numeric_limits<std::int32_t>::max() ||
      least == most)
    return true;
  if (least < 0 && !values.lt(0).logical_and(values.ne(least)).any().item<bool>()) return true;
  // Pointers name elements of the tensor, and reach a good part of them, which ids, lengths and masks hardly do.
  if (values.dim() != 1 || least < 0 || most >= values.numel() || most < values.numel() / 4 || most <= 1) return false;
  const at::Tensor ahead = values.sub(at::arange(values.numel(), values.options()));
  return ahead.le(0).all().item<bool>() || ahead.ge(0).all().item<bool>();
}

/// Returns the longest dimension along which integers or bools may change places. Each of its lines has three or more,
/// and none of them is in order, as offsets and padding are; nor are all of them before their padding. The last
/// dimension is none of these if it has few integers, which may be coordinates. Nothing for other dtypes, and for
/// values that have_a_meaning().
[[nodiscard]] inline std::optional<std::int64_t> place_free_dim(const at::Tensor& tensor) {
  if (!tensor.defined() || !check::detail::is_plain(tensor) || tensor.numel() < 3 ||
      !is_computed_integral(tensor.scalar_type()))
    return std::nullopt;
  try {
    const at::Tensor values = check::detail::distinct_values_of(tensor).to(at::kLong);
    if (have_a_meaning(values)) return std::nullopt;
    const bool mask = tensor.scalar_type() == at::kBool;
    std::optional<std::int64_t> found;
    for (std::int64_t dim = 0; dim < values.dim(); ++dim) {
      if (!mask && (has_coordinates(values, dim) || ascends_before_padding(values, dim))) continue;
      if (values.size(dim) < 3 || (found && values.size(dim) <= values.size(*found))) continue;
      const at::Tensor steps = values.diff(1, dim);
      if (!steps.ge(0).all(dim).logical_or(steps.le(0).all(dim)).any().item<bool>()) found = dim;
    }
    return found;
  } catch (...) {  // no memory for them as int64
    return std::nullopt;
  }
}

}  // namespace pace::detail
