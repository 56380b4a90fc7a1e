// Padding: rows of integers, such as ids of tokens, that are filled up to one length by one value. Other integers must
// have it in the same places, since lengths and masks say where it is.
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "pace/check/clone_input.hpp"
#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// The padding of rows, which are the lines along the last dimension.
struct Padding {
  std::int64_t value = 0;
  at::Tensor places;   ///< bools of the operand's sizes, on the CPU: whether an element is padding
  at::Tensor lengths;  ///< a vector of integers, on the CPU: how many elements of each row are no padding
};

/// Whether in all of `rows` the elements that are no padding ascend, or in all of them descend, equal ones included.
[[nodiscard]] inline bool in_order_beside(const at::Tensor& rows, const at::Tensor& padding) {
  const std::int64_t steps = rows.size(-1) - 1;
  const at::Tensor free = padding.narrow(-1, 0, steps).logical_or(padding.narrow(-1, 1, steps)), by = rows.diff();
  const auto all = [](const at::Tensor& condition) { return condition.all().item<bool>(); };
  return all(free.logical_or(by.ge(0))) || all(free.logical_or(by.le(0)));
}

/// Returns the padding of `tensor`; nothing where there is none, and where places may mean something else.
///
/// A value is padding if it stands only at one end of rows: at least four times in all, twice in one row. Other
/// integers are unlikely to do that. Rows of up to four elements may be coordinates. Rows in order have places of their
/// own, and those of one value beside it are a mask. Padding is not looked for in more than 2^22 elements.
[[nodiscard]] inline std::optional<Padding> padding_of(const at::Tensor& tensor) {
  constexpr std::int64_t most_coordinates = 4, fewest = 4, fewest_in_row = 2, most_elements = 1 << 22;
  if (!tensor.defined() || !check::detail::is_plain(tensor) || tensor.dim() < 2 || tensor.numel() == 0 ||
      tensor.numel() > most_elements || tensor.size(-1) <= most_coordinates ||
      !c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/false))
    return std::nullopt;
  const at::Tensor values = check::detail::distinct_values_of(tensor).to(at::kCPU, at::kLong);
  const std::int64_t width = values.size(-1);
  for (const std::int64_t outermost : {width - 1, std::int64_t{0}}) {
    // How many elements of each row are equal to `value` from its outermost one on.
    const auto runs_of = [&](const at::Tensor& value) {
      const at::Tensor equal = values.eq(value).to(at::kLong);
      return (outermost == 0 ? equal : equal.flip(-1)).cumprod(-1).sum(-1).flatten();
    };
    const at::Tensor edge = values.select(-1, outermost), runs_of_own = runs_of(edge.unsqueeze(-1));
    const at::Tensor value = edge.flatten()[runs_of_own.argmax()];
    const at::Tensor places = values.eq(value), runs = runs_of(value);
    const auto count = runs.sum().item<std::int64_t>();
    if (count < fewest || runs.max().item<std::int64_t>() < fewest_in_row ||
        count != places.sum().item<std::int64_t>() || in_order_beside(values, places))
      continue;
    return Padding{value.item<std::int64_t>(), places, runs.neg().add(width)};
  }
  return std::nullopt;
}

/// How an operand relates to the padding of another one.
enum class PaddingRelation {
  none,
  /// It has one value where that one has padding, and other elements, as labels do.
  same_places,
  /// It says where the padding is, and no more than a mask does: a mask of two values, which may be one of keys for
  /// each query, lengths, or offsets of rows.
  description,
};

[[nodiscard]] inline PaddingRelation relation_to_padding(const at::Tensor& tensor, const Padding& padding) {
  constexpr std::int64_t most_elements = 1 << 24;
  if (!tensor.defined() || !check::detail::is_plain(tensor) || tensor.numel() == 0 || tensor.numel() > most_elements ||
      check::detail::holds_only_bits(tensor.scalar_type()) ||
      !(tensor.is_floating_point() || c10::isIntegralType(tensor.scalar_type(), /*includeBool=*/true)))
    return PaddingRelation::none;
  const auto all = [](const at::Tensor& condition) { return condition.all().item<bool>(); };
  const auto in_float64 = [](const at::Tensor& of) { return of.to(at::kCPU, at::kDouble); };
  // Dimensions of one element broadcast to others, as heads do.
  const at::Tensor given = check::detail::distinct_values_of(tensor).squeeze(), places = padding.places.squeeze();
  const std::int64_t rows = padding.lengths.numel(), width = padding.places.size(-1);
  if (given.numel() == rows || (given.dim() == 1 && given.numel() == rows + 1)) {
    const at::Tensor numbers = in_float64(given).flatten(), lengths = in_float64(padding.lengths);
    const at::Tensor ends = lengths.cumsum(0);
    if (numbers.numel() > rows)
      return numbers.diff().equal(lengths) ? PaddingRelation::description : PaddingRelation::none;
    for (const at::Tensor& each : {lengths, lengths.neg().add(static_cast<double>(width)), ends, ends.sub(lengths)})
      // The offset of a single row is 0, as many other numbers are.
      if (numbers.equal(each) && numbers.ne(0).any().item<bool>()) return PaddingRelation::description;
    return PaddingRelation::none;
  }
  const at::Tensor padded = places.flatten();
  // `elements` has a row for each place.
  const auto relation_of = [&](const at::Tensor& elements) {
    const at::Tensor marker = elements[padded.to(at::kByte).argmax()][0], marked = elements.eq(marker);
    if (!marked.all(1).equal(padded)) return PaddingRelation::none;
    const at::Tensor others = elements.masked_select(marked.logical_not());
    return all(others.eq(others.narrow(0, 0, 1))) ? PaddingRelation::description : PaddingRelation::same_places;
  };
  auto found = PaddingRelation::none;
  if (given.dim() >= places.dim() && given.sizes().slice(0, static_cast<std::size_t>(places.dim())) == places.sizes())
    found = relation_of(in_float64(given).reshape({places.numel(), -1}));
  // A mask of an attention, where keys that are padding are masked for all queries.
  if (found == PaddingRelation::none && places.dim() == 2 && given.dim() > 2 && given.size(0) == rows &&
      given.size(-1) == width)
    found = relation_of(in_float64(given).reshape({rows, -1, width}).transpose(1, 2).reshape({rows * width, -1}));
  return found;
}

}  // namespace pace::detail
