// torch::nn::LSTM with drawn weights.
#pragma once

#include <vector>

#include <c10/core/GradMode.h>
#include <torch/nn/modules/rnn.h>

#include "benches/rnn/draw.hpp"

namespace pace::benches::rnn {

/// In training mode, on `sizes.device`, its weights in one block as cuDNN wants them. The leaves are the module's own.
[[nodiscard]] inline torch::nn::LSTM nn_lstm(const LstmData& data, const Sizes& sizes, double dropout = 0) {
  // The constructor draws weights of its own; other draws must not depend on them.
  const SeededScope scope(0);
  torch::nn::LSTM module(torch::nn::LSTMOptions(sizes.input, sizes.hidden).num_layers(sizes.layers).dropout(dropout));
  module->to(sizes.device);
  const at::NoGradGuard no_gradients;
  const std::vector<at::Tensor> parameters = module->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].copy_(data.weights[i]);
  return module;
}

}  // namespace pace::benches::rnn
