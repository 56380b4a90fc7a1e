// clone_input: a copy of a tensor with the strides, the alignment and the autograd state of the original.
#pragma once

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "pace/check/raw_memory.hpp"

namespace pace::check {

namespace detail {

/// The address modulo this is kept. PyTorch's own clone_input keeps 32 (a 256-bit vector). 64 is a cache line, a
/// 512-bit vector, and the alignment of LibTorch's allocators, so that an ordinary tensor's phase is 0.
inline constexpr std::int64_t alignment_phase = 64;

/// A stretch of a storage that some tensors share.
struct SharedBytes {
  ByteSpan span;
  std::vector<at::Tensor> tensors;
};

[[nodiscard]] bool is_plain(const auto& tensor) {
  return tensor.layout() == c10::kStrided && !tensor.is_quantized() && !tensor.is_nested() && tensor.has_storage() &&
         !tensor.is_meta() && !tensor._is_zerotensor();
}

[[nodiscard]] inline std::int64_t phase_of(const void* address) {
  return static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) % alignment_phase);
}

/// Copies the bytes once and makes a view of the copy for each tensor, in their order.
[[nodiscard]] std::vector<at::Tensor> clone_shared(const auto& shared) {
  const at::Tensor& first = shared.tensors.front();
  const std::int64_t bytes = shared.span.end - shared.span.begin;
  auto memory = empty_bytes(bytes + alignment_phase, first.device(), first.is_cpu() && first.is_pinned());
  std::int64_t begin = 0;
  if (bytes > 0) {
    const auto* from = static_cast<const char*>(first.storage().data()) + shared.span.begin;
    begin = (phase_of(from) - phase_of(memory.const_data_ptr()) + alignment_phase) % alignment_phase;
    // Offsets count elements. For memory that is not aligned to its elements, take the nearest phase below.
    std::int64_t item = 1;
    for (const auto& tensor : shared.tensors) item = std::max(item, static_cast<std::int64_t>(tensor.element_size()));
    begin -= ((begin - shared.span.begin) % item + item) % item;
    if (begin < 0) begin += alignment_phase;
    memory.narrow(0, begin, bytes).copy_(bytes_of(first, shared.span));
  }
  std::vector<at::Tensor> clones;
  for (const auto& tensor : shared.tensors) {
    const std::int64_t item = static_cast<std::int64_t>(tensor.element_size());
    const std::int64_t offset = bytes == 0 ? 0 : (begin - shared.span.begin) / item + tensor.storage_offset();
    clones.push_back(
        over_storage(first, memory.storage(), tensor.scalar_type(), offset, tensor.sizes(), tensor.strides()));
    // Keeps the bits of a lazily conjugated or negated view, and its mark.
    if (tensor.is_conj()) clones.back() = clones.back().conj();
    if (tensor.is_neg()) clones.back() = clones.back()._neg_view();
  }
  return clones;
}

[[nodiscard]] at::Tensor clone_other(const auto& tensor) {
  return tensor.detach().clone();  // sparse, quantised, meta, ...: strides and phase have no meaning there
}

/// Copies the autograd state: leaves keep requires_grad and a copy of their gradient.
template <class CloneOne>
void copy_autograd(const auto& tensor, at::Tensor& clone, const CloneOne& clone_one) {
  if (!tensor.is_leaf()) return;
  if (tensor.requires_grad()) clone.set_requires_grad(true);
  if (tensor.grad().defined()) clone.mutable_grad() = clone_one(tensor.grad());
}

}  // namespace detail

/// Returns a copy of `tensor` with the same sizes, strides (overlapping and gapped ones too), dtype, device and address
/// modulo 64 bytes. Leaf tensors keep requires_grad and a copy of their gradient; others are detached. The copy takes
/// the whole extent of a strided view, gaps included. Sparse, quantised and nested tensors are cloned by
/// at::Tensor::clone(). Returns an undefined tensor unchanged.
[[nodiscard]] inline at::Tensor clone_input(const at::Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  const c10::NoGradGuard no_grad;
  auto clone = detail::is_plain(tensor)
                   ? detail::clone_shared(detail::SharedBytes{detail::byte_span(tensor), {tensor}}).front()
                   : detail::clone_other(tensor);
  detail::copy_autograd(tensor, clone, [](const auto& gradient) { return clone_input(gradient); });
  return clone;
}

}  // namespace pace::check
