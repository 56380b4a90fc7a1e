// The inputs of a package.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include "benches/files/aot/rand_strided.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/parse.hpp"
#include "pace/corpus/text.hpp"
#include "pace/inputs/scalar_type.hpp"

namespace pace::benches::kernels {

/// Strides of tensors that give none: the last dimension is dense.
[[nodiscard]] inline std::vector<std::int64_t> dense_strides(const std::vector<std::int64_t>& sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * std::max<std::int64_t>(sizes[i], 1);
  return strides;
}

namespace detail {

[[nodiscard]] inline corpus::Call parse_tuple(const std::string& text) {
  try {
    // A recorded call without keyword arguments.
    return corpus::parse_call('(' + text + ", {})", Location{});
  } catch (const Error& error) {
    throw InputError({}, "--inputs '" + text + "': " + error.what() + "; expected a tuple such as (T([4, 8], f32),)");
  }
}

}  // namespace detail

/// `(T([4, 8], f32), T([8], f32, stride=(2,)))`, in the notation of recorded operators. Throws InputError.
[[nodiscard]] inline std::vector<benches::aot::TensorMetadata> parse_inputs(const std::string& text,
                                                                            c10::Device device) {
  const auto call = detail::parse_tuple(text);
  std::vector<benches::aot::TensorMetadata> inputs;
  for (const auto& value : call.args) {
    const auto* const tensor = value.get_if<corpus::TensorSpec>();
    if (tensor == nullptr)
      throw InputError({"--inputs"}, "expected tensors such as T([4, 8], f32), found " + corpus::to_text(value) +
                                         " as operand " + std::to_string(inputs.size()));
    inputs.push_back({inputs::scalar_type(tensor->dtype), device, tensor->sizes,
                      tensor->strides ? *tensor->strides : dense_strides(tensor->sizes)});
  }
  return inputs;
}

/// Values as Inductor's generated benchmarks have them: normal numbers from seed 1337, zeros for integers.
[[nodiscard]] inline std::vector<at::Tensor> make_inputs(const std::vector<benches::aot::TensorMetadata>& metadata) {
  benches::aot::reset_rng_state();
  std::vector<at::Tensor> inputs;
  for (const auto& each : metadata)
    inputs.push_back(benches::aot::rand_strided(each.sizes, each.strides, each.dtype, each.device));
  return inputs;
}

}  // namespace pace::benches::kernels
