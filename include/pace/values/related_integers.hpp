// Related integers: those that describe their own places, other operands or sizes. New integers must describe them,
// too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/_unique.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/searchsorted.h>

#include "pace/base/random.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// Whether `tensor` is a vector of 2 to 2^20 integers.
[[nodiscard]] inline bool is_integer_vector(const at::Tensor& tensor) {
  constexpr std::int64_t most_looked_at = 1 << 20;
  return tensor.defined() && check::detail::is_plain(tensor) && tensor.dim() == 1 && tensor.numel() > 1 &&
         tensor.numel() <= most_looked_at && c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false);
}

/// Whether all of `values` are at least 0 and below `below`.
[[nodiscard]] inline bool in_range(const at::Tensor& values, std::int64_t below) {
  return values.ge(0).logical_and(values.lt(below)).all().item<bool>();
}

/// Whether one integer tensor follows from another: an inverse permutation, counts, or offsets of groups. New values
/// for one alone would contradict the other. An implementation may reserve memory by the one and fill it by the other.
[[nodiscard]] inline bool follows_from(const at::Tensor& numbers, const at::Tensor& others) {
  if (!is_integer_vector(numbers) || !is_integer_vector(others)) return false;
  const at::Tensor from = numbers.to(at::kCPU, at::kLong), to = others.to(at::kCPU, at::kLong);
  const std::int64_t count = to.numel();
  // Whether `to` are the offsets of groups of these sizes, in order.
  const auto is_offsets_of = [&](const at::Tensor& sizes) {
    const at::Tensor ends = sizes.cumsum(0);
    if (count == sizes.numel()) return to.equal(ends) || to.equal(ends.sub(sizes));
    return count == sizes.numel() + 1 && to.diff().equal(sizes);
  };
  if (is_offsets_of(from)) return true;
  if (count == from.numel() && in_range(from, count) && in_range(to, count) &&
      to.index_select(0, from).equal(at::arange(count)))
    return true;
  if (!in_range(from, count)) return false;
  const at::Tensor counts = from.bincount({}, count);
  return to.equal(counts) || is_offsets_of(counts) || is_offsets_of(counts.narrow(0, 0, count - 1));
}

/// Whether each element of `tensor` names another one, as in a list of successors: a permutation, or one list whose end
/// names itself or the place behind the last one. A walk along them must still come to its end for other values.
[[nodiscard]] inline bool is_successors(const at::Tensor& tensor) {
  constexpr std::int64_t fewest = 3, fewest_in_list = 8;
  if (!is_integer_vector(tensor) || tensor.numel() < fewest) return false;
  const at::Tensor values = tensor.to(at::kCPU, at::kLong);
  const std::int64_t count = values.numel();
  if (!in_range(values, count + 1)) return false;
  const std::int64_t different = std::get<0>(at::_unique(values)).numel();
  const bool has_marker = values.eq(count).any().item<bool>();
  if (different == count && (!has_marker || count >= fewest_in_list)) return true;
  if (different != count - 1 || has_marker || count < fewest_in_list) return false;
  // What occurs twice is the end, which the one before it names as well.
  const at::Tensor twice = values.bincount({}, count).eq(2);
  return values.eq(at::arange(count)).logical_and(twice).any().item<bool>();
}

/// Gives the elements of a list of successors other places, and renames them accordingly. Cycles and lists keep their
/// lengths.
inline void rename_successors(at::Tensor& values, const at::Tensor& order) {
  const at::Tensor given = values.to(at::kLong).clone();
  const at::Tensor names = at::cat({order, at::full({1}, order.numel(), order.options())});
  values.index_copy_(0, order, names.index_select(0, given).to(values.scalar_type()));
}

/// Returns the segment number of each element, if `others` (offsets, lengths or numbers) splits the vector into
/// ascending segments. Nothing if not, or by chance.
[[nodiscard]] inline std::optional<at::Tensor> ascending_segments(const at::Tensor& tensor, const at::Tensor& others) {
  constexpr std::int64_t fewest_pairs = 6;
  if (!is_integer_vector(tensor) || !is_integer_vector(others)) return std::nullopt;
  const at::Tensor values = tensor.to(at::kCPU, at::kLong), by = others.to(at::kCPU, at::kLong);
  const std::int64_t count = values.numel(), last = by.numel() - 1;
  const auto at_end = [&](std::int64_t place) { return by[place].item<std::int64_t>(); };
  const bool in_order = by.diff().ge(0).all().item<bool>();
  const auto number_by = [&](const at::Tensor& offsets) {
    return at::searchsorted(offsets, at::arange(count), /*out_int32=*/false, /*right=*/true);
  };
  const auto ascends_in = [&](const at::Tensor& segments) {
    const at::Tensor within = segments.diff().eq(0), steps = values.diff().masked_select(within);
    return steps.numel() >= fewest_pairs && steps.ge(0).all().item<bool>();
  };
  std::vector<at::Tensor> candidates;
  if (in_order && by.numel() == count) candidates.push_back(by);
  if (in_order && in_range(by, count + 1) && (at_end(0) == 0 || at_end(last) == count))
    candidates.push_back(number_by(by));
  if (by.ge(0).all().item<bool>() && by.sum().item<std::int64_t>() == count)
    candidates.push_back(number_by(by.cumsum(0)));
  for (const auto& each : candidates)
    if (ascends_in(each)) return each;
  return std::nullopt;
}

/// Renames the numbers of each segment by the random `order`, so that each segment stays ascending. Equal numbers stay
/// equal. `order` permutes the numbers from the least of the vector to its largest.
inline void change_in_segments(at::Tensor& values, const at::Tensor& segments, const at::Tensor& order) {
  const at::Tensor given = values.to(at::kCPU, at::kLong);
  const std::int64_t least = given.min().item<std::int64_t>(), range = order.numel();
  const at::Tensor renamed = order.to(at::kCPU).index_select(0, given.sub(least));
  // Numbers of segments are first, so that each segment stays where it is.
  const at::Tensor numbers = std::get<1>(at::_unique(segments, /*sorted=*/true, /*return_inverse=*/true)).mul(range);
  values.copy_(std::get<0>(numbers.add(renamed).sort()).sub(numbers).add(least));
}

/// Whether the numbers of all lines along `dim` ascend up to equal ones at the end, as keys before padding do. At least
/// one line must have such padding.
[[nodiscard]] inline bool ascends_before_padding(const at::Tensor& values, std::int64_t dim) {
  const std::int64_t size = values.size(dim);
  if (size < 3) return false;
  const at::Tensor steps = values.diff(1, dim), down = steps.lt(0);
  const at::Tensor downs = down.to(at::kLong).cumsum(dim);
  // Behind the one step down all are equal, and there are two of them at least.
  const at::Tensor equal_behind = downs.eq(0).logical_or(down).logical_or(steps.eq(0)).all(dim);
  const at::Tensor once = downs.narrow(dim, size - 2, 1).squeeze(dim);
  const at::Tensor padded = once.eq(1).logical_and(steps.narrow(dim, size - 2, 1).squeeze(dim).eq(0));
  return equal_behind.logical_and(once.eq(0).logical_or(padded)).all().item<bool>() && padded.any().item<bool>();
}

/// Sizes and numbers that the integers of an operand may add up to, or be bounded by: an implementation may reserve
/// memory by the size, and fill it by the integers.
class KnownSizes {
 public:
  KnownSizes() = default;
  /// The sizes of `operands` and of the tensors in `output`, and `numbers`.
  KnownSizes(const std::vector<at::Tensor>& operands, const c10::IValue& output,
             const std::vector<std::int64_t>& numbers) {
    of_outputs_.insert(numbers.begin(), numbers.end());
    check::for_each_tensor(output, [&](const at::Tensor& tensor) { add(tensor, of_outputs_); });
    all_ = of_outputs_;
    for (const auto& each : operands) add(each, all_);
  }

  /// Whether the integers of `tensor` add up to one of them, or as many bools are true as an output has elements.
  [[nodiscard]] bool has_sum_of(const at::Tensor& tensor) const {
    if (!tensor.defined() || tensor.numel() < 3 || tensor.numel() > most_looked_at) return false;
    const at::Tensor values = tensor.to(at::kLong);
    const auto& sizes = tensor.scalar_type() == at::kBool ? of_outputs_ : all_;
    return values.min().item<std::int64_t>() >= 0 && has(values.sum().item<std::int64_t>(), sizes);
  }
  /// Whether the largest integer of `tensor` is one of them, or below one as the largest index is.
  [[nodiscard]] bool has_largest_of(const at::Tensor& tensor) const {
    if (!tensor.defined() || tensor.numel() < 2) return false;
    const auto largest = tensor.max().item().toLong();
    return has(largest, all_) || (largest < std::numeric_limits<std::int64_t>::max() && has(largest + 1, all_));
  }

 private:
  static constexpr std::int64_t most_looked_at = 1 << 20;
  using Sizes = std::set<std::int64_t>;
  static void add(const at::Tensor& tensor, Sizes& to) {
    // A nested tensor is strided, too, and has no sizes.
    if (tensor.defined() && tensor.layout() == at::kStrided && !tensor.is_nested())
      to.insert(tensor.sizes().begin(), tensor.sizes().end());
  }
  [[nodiscard]] static bool has(std::int64_t size, const Sizes& sizes) { return size > 1 && sizes.contains(size); }

  Sizes of_outputs_ = {}, all_ = {};
};

/// Moves parts of about one in eight of the integers to others. None leaves their range, and the sum stays. The largest
/// ones stay if `holds_largest`.
inline void move_parts(at::Tensor& values, bool holds_largest, SplitMix64& random) {
  at::Tensor moved = values.to(at::kCPU, at::kLong).contiguous().clone();
  const std::int64_t least = moved.min().item<std::int64_t>(), most = moved.max().item<std::int64_t>();
  auto* const numbers = static_cast<std::int64_t*>(moved.mutable_data_ptr());
  const auto count = static_cast<std::size_t>(moved.numel());
  for (std::size_t pairs = count / 16 + 2; pairs > 0; --pairs) {
    std::int64_t &one = numbers[random.below(count)], &other = numbers[random.below(count)];
    if (&one == &other || (holds_largest && (one == most || other == most))) continue;
    const std::int64_t sum = one + other, lowest = std::max(least, sum - most), highest = std::min(most, sum - least);
    one = lowest + static_cast<std::int64_t>(random.below(static_cast<std::size_t>(highest - lowest + 1)));
    other = sum - one;
  }
  values.copy_(moved);
}

/// Gives bools of about one in eight places each other's values, so that as many are true as before.
inline void exchange_some(at::Tensor& values, SplitMix64& random) {
  at::Tensor moved = values.to(at::kCPU).contiguous().clone();
  auto* const bools = static_cast<bool*>(moved.mutable_data_ptr());
  const auto count = static_cast<std::size_t>(moved.numel());
  for (std::size_t pairs = count / 8 + 2; pairs > 0; --pairs)
    std::swap(bools[random.below(count)], bools[random.below(count)]);
  values.copy_(moved);
}

/// Gives integers or bools others with the same sum.
inline void move_sum(at::Tensor& values, bool holds_largest, SplitMix64& random) {
  if (values.scalar_type() == at::kBool)
    exchange_some(values, random);
  else
    move_parts(values, holds_largest, random);
}

}  // namespace pace::detail
