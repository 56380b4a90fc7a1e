// ModelDef: a model with its inputs, as the runners make them.
#pragma once

#include <cstdint>
#include <optional>

#include <ATen/core/stack.h>
#include <c10/core/Device.h>

#include "benches/files/aot/model_step.hpp"

namespace pace::benches::rnn {

/// The sizes that every creator is given. Inputs are float32: x of [sequence, batch, input], hx and cx of [layers,
/// batch, hidden].
struct Sizes {
  std::int64_t sequence = 100, layers = 1, input = 512, hidden = 512, batch = 64;
  c10::Device device = c10::kCPU;
  /// The seed of inputs, weights and the gradient of the output; none: the generators as they are.
  std::optional<std::uint64_t> seed = {};
  /// Size of a batch of images for convolutional networks, and the length of their sides: ImageNet's.
  std::int64_t images = 32, image_side = 224;
  /// As fastrnns has it, where that differs: runners that are named after cuDNN also run on the CPU, as LibTorch's
  /// modules without it. Runners that fastrnns makes on a GPU for any --device are refused on the CPU. Layers beyond a
  /// runner's `max_layers` have weights without gradients. Custom LSTMs keep weights of deviation 1. Each step draws a
  /// new gradient of the output.
  bool original = false;
};

using Stack = torch::jit::Stack;
using Step = TrainingStep<Stack>;
using ModelDef = aot::ModelStep;

}  // namespace pace::benches::rnn
