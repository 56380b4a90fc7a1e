// Storage that recorded tensors need, computed from their metadata without an allocation.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "pace/base/error.hpp"
#include "pace/corpus/text.hpp"
#include "pace/corpus/value.hpp"

namespace pace::inputs {

namespace detail {

[[noreturn]] inline void refuse_tensor(const corpus::TensorSpec& tensor, const std::string& reason) {
  std::string text;
  corpus::detail::append_tensor(text, tensor);
  throw Unsupported("the tensor " + text + " cannot be made: " + reason);
}

/// a * b + c of numbers that are not negative; refuses the tensor where 64 bits cannot hold it.
inline std::int64_t multiply_add(const corpus::TensorSpec& tensor, std::int64_t a, std::int64_t b, std::int64_t c) {
  std::int64_t out = 0;
  if (__builtin_mul_overflow(a, b, &out) || __builtin_add_overflow(out, c, &out)) {
    refuse_tensor(tensor, "64 bits cannot count its elements");
  }
  return out;
}

}  // namespace detail

/// Number of elements in a tensor's storage: the tensor's elements if it is contiguous, fewer where strides of 0 share
/// elements, more where strides leave gaps. Throws Unsupported for negative sizes or strides, for another number of
/// strides than of sizes, and for counts beyond 64 bits.
[[nodiscard]] inline std::int64_t storage_elements(const corpus::TensorSpec& tensor) {
  std::int64_t elements = 1;
  bool empty = false;
  for (const std::int64_t size : tensor.sizes) {
    if (size < 0) detail::refuse_tensor(tensor, "sizes must be at least 0");
    // An empty dimension counts as one element here: LibTorch multiplies the other sizes all the same.
    elements = detail::multiply_add(tensor, elements, std::max<std::int64_t>(size, 1), 0);
    empty = empty || size == 0;
  }
  if (!tensor.strides) return empty ? 0 : elements;
  if (tensor.strides->size() != tensor.sizes.size()) detail::refuse_tensor(tensor, "it needs one stride for each size");
  std::int64_t last = 0;
  for (std::size_t i = 0; i < tensor.sizes.size(); ++i) {
    const std::int64_t stride = (*tensor.strides)[i];
    if (stride < 0) detail::refuse_tensor(tensor, "strides must be at least 0");
    last = detail::multiply_add(tensor, std::max<std::int64_t>(tensor.sizes[i] - 1, 0), stride, last);
  }
  return empty ? 0 : detail::multiply_add(tensor, last, 1, 1);
}

/// Whether elements share memory by a stride of 0 along a dimension of more than one element, as after expand().
[[nodiscard]] inline bool is_expanded(const corpus::TensorSpec& tensor) {
  if (!tensor.strides) return false;
  for (std::size_t i = 0; i < tensor.sizes.size() && i < tensor.strides->size(); ++i) {
    if (tensor.sizes[i] > 1 && (*tensor.strides)[i] == 0) return true;
  }
  return false;
}

/// The dtype of a tensor, recorded in `recorded`, in a run in `target`. Floating types become `target`, unless that is
/// absent or float16: recorded half-precision calls mix f16 and f32 on purpose. Other types stay.
[[nodiscard]] constexpr corpus::DType converted(corpus::DType recorded, std::optional<corpus::DType> target) {
  return target && *target != corpus::DType::f16 && corpus::is_floating(recorded) ? *target : recorded;
}

namespace detail {

inline void add_bytes(const corpus::Value& value, std::optional<corpus::DType> target, std::int64_t& total) {
  if (const auto* tensor = value.get_if<corpus::TensorSpec>()) {
    const auto bytes = static_cast<std::int64_t>(corpus::element_bytes(converted(tensor->dtype, target)));
    total = multiply_add(*tensor, storage_elements(*tensor), bytes, total);
  } else if (const auto* list = value.get_if<corpus::List>()) {
    for (const auto& item : list->items) add_bytes(item, target, total);
  } else if (const auto* tuple = value.get_if<corpus::Tuple>()) {
    for (const auto& item : tuple->items) add_bytes(item, target, total);
  }
}

}  // namespace detail

/// Bytes of tensor data that generate() allocates for a call in a run in `target`, or in the recorded types without a
/// `target`. Throws Unsupported if 64 bits cannot hold the number.
[[nodiscard]] inline std::int64_t input_bytes(const corpus::Call& call, std::optional<corpus::DType> target) {
  std::int64_t total = 0;
  for (const auto& value : call.args) detail::add_bytes(value, target, total);
  for (const auto& [name, value] : call.kwargs) detail::add_bytes(value, target, total);
  return total;
}

}  // namespace pace::inputs
