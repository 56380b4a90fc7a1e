// LSTMs as modules of one's own, cell by cell: stacked, in both directions, with dropout, with layer norm.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/normalization.h>

#include "benches/rnn/cells.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::rnn {

/// An LSTM cell with normal weights. Parameters in the order of torch::nn::LSTM's.
struct LstmCell : torch::nn::Module {
  LstmCell(std::int64_t input, std::int64_t hidden)
      : weight_ih(register_parameter("weight_ih", at::randn({4 * hidden, input}))),
        weight_hh(register_parameter("weight_hh", at::randn({4 * hidden, hidden}))),
        bias_ih(register_parameter("bias_ih", at::randn({4 * hidden}))),
        bias_hh(register_parameter("bias_hh", at::randn({4 * hidden}))) {}

  [[nodiscard]] State forward(const at::Tensor& input, const State& state) const {
    const auto& [hx, cx] = state;
    return detail::lstm_gates(at::mm(input, weight_ih.t()) + bias_ih + at::mm(hx, weight_hh.t()) + bias_hh, cx);
  }

  at::Tensor weight_ih, weight_hh, bias_ih, bias_hh;
};

/// Layer norm over the last dimension in single operations, without an epsilon: a row of equal numbers gives NaN.
struct DecomposedLayerNormImpl : torch::nn::Module {
  /// Throws InputError unless `shape` has one dimension.
  explicit DecomposedLayerNormImpl(const std::vector<std::int64_t>& shape) {
    if (shape.size() != 1)
      throw InputError(
          {}, "decomposed layer norm: expected a shape of 1 dimension, found one of " + std::to_string(shape.size()));
    weight = register_parameter("weight", at::ones(shape));
    bias = register_parameter("bias", at::zeros(shape));
  }

  [[nodiscard]] at::Tensor forward(const at::Tensor& input) const {
    const at::Tensor mean = input.mean({-1}, /*keepdim=*/true);
    const at::Tensor deviation = input.std({-1}, /*unbiased=*/false, /*keepdim=*/true);
    return (input - mean) / deviation * weight + bias;
  }

  at::Tensor weight, bias;
};
TORCH_MODULE(DecomposedLayerNorm);

/// An LSTM cell with layer norm on both halves of the gates and on the cell state. Only the norms have biases. `Norm`:
/// torch::nn::LayerNorm or DecomposedLayerNorm.
template <class Norm>
struct LayerNormLstmCell : torch::nn::Module {
  LayerNormLstmCell(std::int64_t input, std::int64_t hidden)
      : weight_ih(register_parameter("weight_ih", at::randn({4 * hidden, input}))),
        weight_hh(register_parameter("weight_hh", at::randn({4 * hidden, hidden}))),
        norm_i(register_module("norm_i", Norm(std::vector<std::int64_t>{4 * hidden}))),
        norm_h(register_module("norm_h", Norm(std::vector<std::int64_t>{4 * hidden}))),
        norm_c(register_module("norm_c", Norm(std::vector<std::int64_t>{hidden}))) {}

  [[nodiscard]] State forward(const at::Tensor& input, const State& state) {
    const auto& [hx, cx] = state;
    const at::Tensor gates = norm_i->forward(at::mm(input, weight_ih.t())) + norm_h->forward(at::mm(hx, weight_hh.t()));
    const std::vector<at::Tensor> parts = gates.chunk(4, 1);
    const at::Tensor in = at::sigmoid(parts[0]), forget = at::sigmoid(parts[1]), cell = at::tanh(parts[2]),
                     out = at::sigmoid(parts[3]);
    at::Tensor cy = norm_c->forward(forget * cx + in * cell);
    at::Tensor hy = out * at::tanh(cy);
    return {std::move(hy), std::move(cy)};
  }

  at::Tensor weight_ih, weight_hh;
  Norm norm_i, norm_h, norm_c;
};

/// A cell over time: input of [sequence, batch, input].
template <class Cell>
struct LstmLayer : torch::nn::Module {
  LstmLayer(std::int64_t input, std::int64_t hidden)
      : cell(register_module("cell", std::make_shared<Cell>(input, hidden))) {}

  [[nodiscard]] std::tuple<at::Tensor, State> forward(const at::Tensor& input, State state) {
    std::vector<at::Tensor> outputs;
    for (const at::Tensor& step : input.unbind(0)) {
      state = cell->forward(step, state);
      outputs.push_back(std::get<0>(state));
    }
    return {at::stack(outputs), std::move(state)};
  }

  std::shared_ptr<Cell> cell;
};

/// A cell over time, from the last step to the first; the output in the order of the input.
template <class Cell>
struct ReverseLstmLayer : torch::nn::Module {
  ReverseLstmLayer(std::int64_t input, std::int64_t hidden)
      : cell(register_module("cell", std::make_shared<Cell>(input, hidden))) {}

  [[nodiscard]] std::tuple<at::Tensor, State> forward(const at::Tensor& input, State state) {
    std::vector<at::Tensor> steps = input.unbind(0), outputs;
    std::reverse(steps.begin(), steps.end());
    for (const at::Tensor& step : steps) {
      state = cell->forward(step, state);
      outputs.push_back(std::get<0>(state));
    }
    std::reverse(outputs.begin(), outputs.end());
    return {at::stack(outputs), std::move(state)};
  }

  std::shared_ptr<Cell> cell;
};

/// Both ways; the outputs side by side in the last dimension.
template <class Cell>
struct BidirLstmLayer : torch::nn::Module {
  BidirLstmLayer(std::int64_t input, std::int64_t hidden)
      : ahead(register_module("ahead", std::make_shared<LstmLayer<Cell>>(input, hidden))),
        back(register_module("back", std::make_shared<ReverseLstmLayer<Cell>>(input, hidden))) {}

  /// `states`: forward, backward.
  [[nodiscard]] std::tuple<at::Tensor, std::vector<State>> forward(const at::Tensor& input,
                                                                   const std::vector<State>& states) {
    auto [ahead_output, ahead_state] = ahead->forward(input, states[0]);
    auto [back_output, back_state] = back->forward(input, states[1]);
    return {at::cat({ahead_output, back_output}, -1), {std::move(ahead_state), std::move(back_state)}};
  }

  std::shared_ptr<LstmLayer<Cell>> ahead;
  std::shared_ptr<ReverseLstmLayer<Cell>> back;
};

/// Layers on top of each other. States in the order of torch::nn::LSTM's: layer after layer, of each forward, then
/// backward.
struct CustomLstm : torch::nn::Module {
  [[nodiscard]] virtual std::tuple<at::Tensor, std::vector<State>> forward(const at::Tensor& input,
                                                                           const std::vector<State>& states) = 0;

 protected:
  void require_states(const std::vector<State>& states, std::size_t expected) const {
    if (states.size() != expected)
      throw InputError(
          {}, "custom LSTM: expected " + std::to_string(expected) + " states, found " + std::to_string(states.size()));
  }
};

template <class Cell>
struct StackedLstm : CustomLstm {
  StackedLstm(std::int64_t input, std::int64_t hidden, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      layers.push_back(register_module("layer" + std::to_string(i),
                                       std::make_shared<LstmLayer<Cell>>(i == 0 ? input : hidden, hidden)));
    }
  }

  [[nodiscard]] std::tuple<at::Tensor, std::vector<State>> forward(const at::Tensor& input,
                                                                   const std::vector<State>& states) override {
    require_states(states, layers.size());
    at::Tensor output = input;
    std::vector<State> new_states(layers.size());
    for (std::size_t i = 0; i < layers.size(); ++i) {
      std::tie(output, new_states[i]) = layers[i]->forward(output, states[i]);
      output = between(output, i);
    }
    return {std::move(output), std::move(new_states)};
  }

  std::vector<std::shared_ptr<LstmLayer<Cell>>> layers;

 protected:
  /// The layer between the output of layer `index` and the next.
  [[nodiscard]] virtual at::Tensor between(const at::Tensor& output, std::size_t /*index*/) { return output; }
};

/// Dropout of 0.4 after every layer but the last.
template <class Cell>
struct StackedLstmWithDropout final : StackedLstm<Cell> {
  static constexpr double share = 0.4;

  StackedLstmWithDropout(std::int64_t input, std::int64_t hidden, std::int64_t count)
      : StackedLstm<Cell>(input, hidden, count), dropout(this->register_module("dropout", torch::nn::Dropout(share))) {
    if (count == 1) TORCH_WARN("dropout between layers has no effect on an LSTM of one layer");
  }

  torch::nn::Dropout dropout;

 protected:
  [[nodiscard]] at::Tensor between(const at::Tensor& output, std::size_t index) override {
    return index + 1 < this->layers.size() ? dropout->forward(output) : output;
  }
};

/// Layers in both directions, each over the outputs of both directions of the layer below.
template <class Cell>
struct StackedBidirLstm final : CustomLstm {
  StackedBidirLstm(std::int64_t input, std::int64_t hidden, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      layers.push_back(register_module("layer" + std::to_string(i),
                                       std::make_shared<BidirLstmLayer<Cell>>(i == 0 ? input : 2 * hidden, hidden)));
    }
  }

  [[nodiscard]] std::tuple<at::Tensor, std::vector<State>> forward(const at::Tensor& input,
                                                                   const std::vector<State>& states) override {
    require_states(states, 2 * layers.size());
    at::Tensor output = input;
    std::vector<State> new_states, of_layer;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      std::tie(output, of_layer) = layers[i]->forward(output, {states[2 * i], states[2 * i + 1]});
      new_states.insert(new_states.end(), of_layer.begin(), of_layer.end());
    }
    return {std::move(output), std::move(new_states)};
  }

  std::vector<std::shared_ptr<BidirLstmLayer<Cell>>> layers;
};

struct CustomLstmOptions {
  std::int64_t input, hidden, layers;
  bool dropout = false, bidirectional = false;
};

/// With LstmCells; weights drawn from the CPU's default generator. Both directions have no dropout. Throws InputError
/// for sizes below 1, and for dropout in both directions.
[[nodiscard]] std::shared_ptr<CustomLstm> custom_lstm(const CustomLstmOptions& options);

/// With layer norm, decomposed or LibTorch's; throws InputError if asked for dropout.
[[nodiscard]] std::shared_ptr<CustomLstm> custom_layernorm_lstm(const CustomLstmOptions& options,
                                                                bool decompose = false);

}  // namespace pace::benches::rnn
