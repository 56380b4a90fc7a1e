// ModelStep: a model's training step (or its forward alone) with its inputs and its state.
#pragma once

#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include "pace/training/step.hpp"

namespace pace::benches::aot {

struct ModelStep {
  /// The arguments of `step.forward`: tensors, and tuples, lists and dicts of them. Equal, tensor by tensor, for all
  /// implementations that are compared with each other.
  torch::jit::Stack inputs;
  /// Without `backward`: inference.
  TrainingStep<torch::jit::Stack> step;
  /// The tensors that `step.forward` reads and writes beside its inputs and parameters: running averages of batch
  /// norms.
  std::vector<at::Tensor> buffers = {};
};

}  // namespace pace::benches::aot
