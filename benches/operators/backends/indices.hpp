// Valid index values for tensors that an operator takes as indices.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>

#include "pace/base/error.hpp"

namespace pace::benches::operators::detail {

/// Indices are held in these; a b8 or u8 tensor in their place is a mask.
[[nodiscard]] inline bool holds_indices(const at::Tensor& tensor) {
  return tensor.defined() && (tensor.scalar_type() == at::kLong || tensor.scalar_type() == at::kInt);
}

/// The tensor with each dimension of shared memory cut to one element: writing to that writes all of it, and LibTorch
/// permits it.
[[nodiscard]] inline at::Tensor without_shared_elements(at::Tensor tensor) {
  for (std::int64_t d = 0; d < tensor.dim(); ++d) {
    if (tensor.size(d) > 1 && tensor.stride(d) == 0) tensor = tensor.narrow(d, 0, 1);
  }
  return tensor;
}

/// `count` numbers in [0, bound), all different if possible, and scattered. They are steps of the golden section of
/// `bound`, made coprime with it so that they visit every number before any twice. Different, because a write through
/// equal indices has no defined result to compare.
[[nodiscard]] inline at::Tensor scattered(std::int64_t count, std::int64_t bound) {
  std::int64_t step = std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(bound) / 1.6180339887));
  while (std::gcd(step, bound) != 1) ++step;
  return at::arange(count, at::TensorOptions().dtype(at::kLong)).mul_(step).remainder_(bound);
}

inline void require_bound(std::int64_t bound, const at::Tensor& index) {
  if (bound <= 0 && index.numel() > 0) throw Unsupported("it indexes a dimension of size 0");
}

/// Indices in [0, bound), different all over the tensor where there are as many.
inline void fill_indices(const at::Tensor& tensor, std::int64_t bound) {
  require_bound(bound, tensor);
  if (tensor.numel() == 0) return;
  const at::Tensor target = without_shared_elements(tensor);
  target.copy_(scattered(target.numel(), bound).view(target.sizes()));
}

/// Indices in [0, bound) that differ along `dim`, and repeat along the others.
inline void fill_indices_along(const at::Tensor& tensor, std::int64_t dim, std::int64_t bound) {
  require_bound(bound, tensor);
  if (tensor.numel() == 0) return;
  if (tensor.dim() == 0) return fill_indices(tensor, bound);
  const at::Tensor target = without_shared_elements(tensor);
  std::vector<std::int64_t> shape(static_cast<std::size_t>(target.dim()), 1);
  const std::int64_t wrapped = dim < 0 ? dim + target.dim() : dim;
  shape.at(static_cast<std::size_t>(wrapped)) = target.size(wrapped);
  target.copy_(scattered(target.size(wrapped), bound).view(shape).expand(target.sizes()));
}

}  // namespace pace::benches::operators::detail
