// The tensors in a model's inputs, which may stand in lists, tuples and dicts.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "benches/files/aot/map_tensors.hpp"
#include "pace/check/clone_input.hpp"
#include "pace/check/ivalue.hpp"

namespace pace::benches::models {

/// The inputs of a model with `map(tensor)` in the place of each defined tensor, see aot::map_tensors().
template <class Map>
[[nodiscard]] torch::jit::Stack map_tensors(const torch::jit::Stack& inputs, Map&& map) {
  torch::jit::Stack mapped;
  for (const auto& input : inputs) mapped.push_back(benches::aot::map_tensors(input, map));
  return mapped;
}

/// The defined tensors of all inputs, in order.
[[nodiscard]] inline std::vector<at::Tensor> tensors_of_inputs(const torch::jit::Stack& inputs) {
  std::vector<at::Tensor> tensors;
  for (const auto& input : inputs)
    check::for_each_tensor(input, [&](const at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

/// Copies with equal values, strides and gradients, in memory of their own.
[[nodiscard]] inline torch::jit::Stack clone_inputs(const torch::jit::Stack& inputs) {
  return map_tensors(inputs, [](const at::Tensor& tensor) { return check::clone_input(tensor); });
}

}  // namespace pace::benches::models
