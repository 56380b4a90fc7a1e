// Inputs as PyTorch's compilers test with: random numbers by LibTorch's own generator, in any strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <c10/core/ScalarType.h>

#include "pace/base/error.hpp"

namespace pace::benches::aot {

/// torch._dynamo's rand_strided: normal numbers for floating types (8-bit ones from float16), zeros for all others, in
/// a buffer that just holds them and `extra` elements more. Throws InputError unless there is a stride for each size
/// and none of either is below 0.
[[nodiscard]] inline at::Tensor rand_strided(const std::vector<std::int64_t>& sizes,
                                             const std::vector<std::int64_t>& strides,
                                             at::ScalarType dtype = at::kFloat, at::Device device = at::kCPU,
                                             std::int64_t extra = 0) {
  if (sizes.size() != strides.size())
    throw InputError({}, "rand_strided: expected as many strides as sizes, found " + std::to_string(strides.size()) +
                             " and " + std::to_string(sizes.size()));
  std::int64_t needed = 1 + extra;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || strides[i] < 0) throw InputError({}, "rand_strided: a size or stride below 0");
    needed += (sizes[i] - 1) * strides[i];
  }
  const auto options = at::TensorOptions().dtype(dtype).device(device);
  const bool eight_bits = c10::isFloat8Type(dtype);
  at::Tensor buffer;
  if (eight_bits)
    buffer = at::randn({needed}, options.dtype(at::kHalf)).to(dtype);
  else if (c10::isFloatingType(dtype))
    buffer = at::randn({needed}, options);
  else
    buffer = at::zeros({needed}, options);
  return buffer.as_strided(sizes, strides);
}

/// All of LibTorch's default generators start from 1337.
inline void reset_rng_state() {
  constexpr std::uint64_t seed = 1337;
  at::manual_seed(seed);
}

}  // namespace pace::benches::aot
