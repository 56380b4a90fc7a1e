// A tensor's memory as plain elements, past autograd, inference mode and lazily conjugated views.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty_ops.h>
#include <c10/core/GradMode.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>

#include <cstdint>
#include <vector>

namespace pace::check::detail {

/// Whether LibTorch can move tensors of this type but has no kernels that read their values: types that name bits,
/// integers below eight bits, and pairs of float4, which LibTorch counts among the floating-point types.
[[nodiscard]] inline bool holds_only_bits(at::ScalarType dtype) {
  using enum at::ScalarType;
  const auto within = [&](at::ScalarType first, at::ScalarType last) { return first <= dtype && dtype <= last; };
  return dtype == Float4_e2m1fn_x2 || c10::isBitsType(dtype) || within(UInt1, UInt7) || within(Int1, Int7);
}

/// Bytes of storage that a strided tensor reaches: from its first element to the end of its last, or none.
struct ByteSpan {
  std::int64_t begin = 0, end = 0;  // from the start of the storage
};

[[nodiscard]] ByteSpan byte_span(const auto& tensor) {
  if (tensor.numel() == 0) return {};
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) last += (tensor.size(i) - 1) * tensor.stride(i);
  const std::int64_t item = static_cast<std::int64_t>(tensor.element_size());
  const std::int64_t begin = tensor.storage_offset() * item;
  return {begin, begin + (last + 1) * item};
}

/// Allocates `bytes` bytes as an ordinary uint8 tensor, in inference mode too.
[[nodiscard]] inline at::Tensor empty_bytes(std::int64_t bytes, at::Device device, bool pinned = false) {
  const c10::InferenceMode normal_tensors(false);
  return at::_ops::empty_memory_format::call({bytes}, at::kByte, c10::kStrided, device, pinned, std::nullopt);
}

/// A tensor object over `storage`, with its own version counter and no autograd history. Never an inference tensor.
[[nodiscard]] at::Tensor over_storage(const auto& like, const c10::Storage& storage, at::ScalarType dtype,
                                      std::int64_t offset, at::IntArrayRef sizes, at::IntArrayRef strides) {
  const c10::InferenceMode normal_tensors(false);
  const c10::NoGradGuard no_grad;
  auto out = at::_ops::empty_memory_format::call({0}, dtype, c10::kStrided, like.device(), std::nullopt, std::nullopt);
  out.set_(storage, offset, sizes, strides);
  return out;
}

/// The bytes of the storage under `tensor` that `span` names, as a 1-D uint8 tensor.
[[nodiscard]] at::Tensor bytes_of(const auto& tensor, ByteSpan span) {
  return over_storage(tensor, tensor.storage(), at::kByte, span.begin, {span.end - span.begin}, {1});
}

/// The memory of a strided tensor's elements, each once (dimensions of stride 0 are cut to one index). The elements are
/// integers of their size: uint8, int16, int32, int64; complex128 as pairs of int64.
[[nodiscard]] at::Tensor elements_of(const auto& tensor) {
  std::vector<std::int64_t> sizes, strides;
  for (std::int64_t i = 0; i < tensor.dim(); ++i) {
    const bool repeats = tensor.stride(i) == 0 && tensor.size(i) > 1;
    sizes.push_back(repeats ? 1 : tensor.size(i));
    strides.push_back(tensor.stride(i));
  }
  std::int64_t offset = tensor.storage_offset();
  at::ScalarType dtype = at::kByte;
  switch (tensor.element_size()) {
    case 1:
      break;
    case 2:
      dtype = at::kShort;
      break;
    case 4:
      dtype = at::kInt;
      break;
    case 8:
      dtype = at::kLong;
      break;
    default:  // 16 bytes
      dtype = at::kLong;
      offset *= 2;
      for (auto& stride : strides) stride *= 2;
      sizes.push_back(2);
      strides.push_back(1);
  }
  return over_storage(tensor, tensor.storage(), dtype, offset, sizes, strides);
}

/// The elements of a strided tensor as values, each place in memory once: dimensions of stride 0 are cut to one index.
/// Shares memory with `tensor`, may be written to in place, and has no autograd history.
[[nodiscard]] at::Tensor distinct_values_of(const auto& tensor) {
  auto sizes = tensor.sizes().vec();
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (tensor.stride(static_cast<std::int64_t>(i)) == 0 && sizes[i] > 1) sizes[i] = 1;
  return over_storage(tensor, tensor.storage(), tensor.scalar_type(), tensor.storage_offset(), sizes, tensor.strides());
}

}  // namespace pace::check::detail
