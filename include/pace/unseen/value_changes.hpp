// ValueChanges: how the values of one operand may change, beyond a draw of unseen ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

#include "pace/base/random.hpp"
#include "pace/check/raw_memory.hpp"
#include "pace/check/restore.hpp"
#include "pace/unseen/special_values.hpp"
#include "pace/values/changed_memory.hpp"
#include "pace/values/random_draws.hpp"
#include "pace/values/related_integers.hpp"
#include "pace/values/replaced_values.hpp"
#include "pace/values/unseen_values.hpp"
#include "pace/values/value_structure.hpp"
#include "pace/verify/sensitivity.hpp"

namespace pace::detail {

/// How the unseen values of a group are made.
enum class WayToChange {
  /// By the kind of unseen values that the baseline takes.
  draw,
  /// ... divided by 16 or 256, for functions that saturate.
  shrink,
  shrink_far,
  /// ... times 16.
  grow,
  /// Zeros become numbers in [1/4, 1).
  fill,
  /// One in eight bools is negated.
  flip,
  /// One in eight of equal values becomes zero (see zero_some_ones()).
  zero_some,
  /// ... or all become different (see make_unequal()).
  make_unequal,
  /// ... or equal rows become different (see make_rows_unlike()).
  unlike_rows,
  /// Numbers change places (see mix_elements()).
  mix,
  /// Integers become smaller (see lower_integers()).
  lower
};

[[nodiscard]] inline std::string describe(WayToChange way) {
  switch (way) {
    case WayToChange::draw:
      break;
    case WayToChange::shrink:
      return "divided by 16";
    case WayToChange::shrink_far:
      return "divided by 256";
    case WayToChange::grow:
      return "times 16";
    case WayToChange::fill:
      return "numbers in place of zeros";
    case WayToChange::flip:
      return "some bools negated";
    case WayToChange::zero_some:
      return "some ones replaced by zeros";
    case WayToChange::make_unequal:
      return "different values in place of equal ones";
    case WayToChange::unlike_rows:
      return "different rows in place of equal ones";
    case WayToChange::mix:
      return "single values in other places";
    case WayToChange::lower:
      return "smaller integers";
  }
  return {};
}

/// Changes single operands whose values are those of a draw.
class ValueChanges {
 public:
  using Way = WayToChange;

  /// `values`: those given, and `source` knows their structure. Both must outlive it.
  ValueChanges(const std::vector<at::Tensor>& values, const UnseenValues& source) : values_(values), source_(source) {}

  [[nodiscard]] bool is_zeros(std::size_t i) const { return has_real_values(values_[i]) && source_.structure(i).zeros; }

  [[nodiscard]] bool is_integer(std::size_t i) const {
    return c10::isIntegralType(values_[i].scalar_type(), /*includeBool=*/false);
  }

  static void fill(at::Tensor& values, SplitMix64& random) {
    draw_in_parts(
        values.numel(), random, values.options().dtype(c10::toRealValueType(values.scalar_type())),
        [](SplitMix64& from) { return 1.5 * draw_factor(from) - 0.5; },
        [flat = values.view({-1})](std::int64_t first, std::int64_t count, const at::Tensor& part) {
          flat.narrow(0, first, count).copy_(part);
        });
  }

  /// Applies `way` to operand `i`, drawn before. Returns whether that changes it.
  [[nodiscard]] bool apply(Way way, std::size_t i, const at::Tensor& tensor, SplitMix64 random) const {
    const bool real = has_real_values(values_[i]);
    const auto& structure = source_.structure(i);
    const auto multiply = [&](double factor) {
      if (!real || structure.is_special()) return false;
      flat_memory(tensor).mul_(factor);
      return true;
    };
    switch (way) {
      case Way::draw:
        return false;
      case Way::shrink:
        return multiply(0x1p-4);
      case Way::shrink_far:
        return multiply(0x1p-8);
      case Way::grow:
        // One sign may mean coordinates, which have a largest value.
        return structure.both_signs && multiply(0x1p4);
      case Way::fill: {
        if (!is_zeros(i)) return false;
        at::Tensor memory = flat_memory(tensor);
        fill(memory, random);
        return true;
      }
      case Way::flip: {
        constexpr std::int64_t few = 2;
        if (tensor.scalar_type() != at::kBool) return false;
        at::Tensor values = check::detail::distinct_values_of(tensor);
        // Larger operands in order, like padding, stay so.
        if (values.numel() > few && !source_.moves(i) && !values.all().item<bool>() && values.any().item<bool>())
          return false;
        const auto one = static_cast<std::int64_t>(random.below(static_cast<std::size_t>(values.numel())));
        const auto places = at::TensorOptions().device(values.device()).dtype(at::kLong);
        if (values.numel() <= few)  // two negated ones may cancel
          values.logical_xor_(at::arange(values.numel(), places).eq(one).view(values.sizes()));
        else if (source_.keeps_sum(i))
          exchange_some(values, random);
        else
          resample_values(values, 0, random);
        return true;
      }
      default:
        return apply_special(way, i, tensor, random);
    }
  }

 private:
  [[nodiscard]] bool apply_special(Way way, std::size_t i, const at::Tensor& tensor, SplitMix64& random) const {
    if (way == Way::lower) {
      if (!is_integer(i) || source_.moves(i) || source_.is_related(i)) return false;
      at::Tensor values = check::detail::distinct_values_of(tensor);
      const LowerBounds bounds{least_integer(i), source_.keeps_sum(i), source_.keeps_largest(i)};
      return lower_integers(values, bounds, random);
    }
    if (!has_real_values(values_[i])) return false;
    at::Tensor values = check::detail::distinct_values_of(tensor);
    const auto& structure = source_.structure(i);
    // A draw may have scaled them.
    check::restore_tensor(values_[i], tensor);
    switch (way) {
      case Way::zero_some:
        return zero_some_ones(values, random);
      case Way::make_unequal:
        return make_unequal(values, structure, random);
      case Way::unlike_rows:
        return make_rows_unlike(values, structure, random);
      case Way::mix:
        return mix_elements(values, structure, random);
      default:
        return false;
    }
  }

  /// For a single integer: the largest one below it in operands of a few integers, or 0. The last index of a range is
  /// no smaller than its first.
  [[nodiscard]] std::int64_t least_integer(std::size_t i) const {
    constexpr std::int64_t few = 4;
    if (values_[i].numel() != 1) return 0;
    const auto own = values_[i].item<std::int64_t>();
    std::int64_t least = 0;
    for (std::size_t other = 0; other < values_.size(); ++other) {
      const at::Tensor& values = values_[other];
      if (!values.defined() || values.numel() == 0 || values.numel() > few || !is_integer(other)) continue;
      const at::Tensor flat = values.to(at::kLong).flatten();
      for (std::int64_t place = 0; place < flat.numel(); ++place)
        if (const auto value = flat[place].item<std::int64_t>(); value < own) least = std::max(least, value);
    }
    return least;
  }

  const std::vector<at::Tensor>& values_;
  const UnseenValues& source_;
};

}  // namespace pace::detail
