// Other values of quantized operands.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/q_per_channel_axis.h>
#include <ATen/ops/q_per_channel_zero_points.h>
#include <ATen/ops/q_zero_point.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/QScheme.h>

#include "pace/check/raw_memory.hpp"

namespace pace::detail {

/// The type of the integers that a quantized dtype stores; nothing if several share a byte.
[[nodiscard]] inline std::optional<at::ScalarType> stored_type_of(at::ScalarType type) {
  switch (type) {
    case at::kQInt8:
      return at::kChar;
    case at::kQUInt8:
      return at::kByte;
    case at::kQInt32:
      return at::kInt;
    default:
      return std::nullopt;
  }
}

/// Whether a tensor is quantized so that its integers can be changed in place.
[[nodiscard]] inline bool is_changeable_quantized(const at::Tensor& tensor) {
  return tensor.defined() && tensor.is_quantized() && tensor.layout() == at::kStrided && tensor.has_storage() &&
         tensor.numel() > 0 && stored_type_of(tensor.scalar_type()) &&
         (tensor.qscheme() == at::kPerTensorAffine || tensor.qscheme() == at::kPerChannelAffine);
}

/// The stored integers of a quantized tensor, which may be written to in place.
[[nodiscard]] inline at::Tensor stored_integers_of(const at::Tensor& tensor) {
  return check::detail::over_storage(tensor, tensor.storage(), *stored_type_of(tensor.scalar_type()),
                                     tensor.storage_offset(), tensor.sizes(), tensor.strides());
}

/// The integers that stand for zero, in a shape that broadcasts to the tensor's.
[[nodiscard]] inline at::Tensor zero_points_of(const at::Tensor& tensor) {
  if (tensor.qscheme() == at::kPerTensorAffine)
    return at::scalar_tensor(tensor.q_zero_point(), at::TensorOptions().dtype(at::kDouble).device(tensor.device()));
  std::vector<std::int64_t> shape(static_cast<std::size_t>(tensor.dim()), 1);
  shape[static_cast<std::size_t>(tensor.q_per_channel_axis())] = -1;
  return tensor.q_per_channel_zero_points().to(tensor.device(), at::kDouble).view(shape);
}

/// Multiplies the values of a quantized tensor by `factors` of at most 1, which broadcast to its shape, and rounds them
/// to others of the same scale. Zeros stay zeros, and each integer stays between its own and the one of zero.
inline void multiply_quantized(const at::Tensor& tensor, const at::Tensor& factors) {
  const at::Tensor zeros = zero_points_of(tensor);
  at::Tensor stored = stored_integers_of(tensor);
  stored.copy_(stored.to(at::kDouble).sub(zeros).mul(factors).round().add(zeros));
}

}  // namespace pace::detail
