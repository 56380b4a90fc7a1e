// The hand-made LSTM modules against torch::nn::LSTM with the same weights: 5 steps, batch 2, input 3, hidden 7, 4
// layers.
#include "benches/rnn/custom_lstms.hpp"

#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <torch/nn/modules/rnn.h>

#include "tests/rnn/one_step.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pace::benches::rnn;
using pace::test::difference;

constexpr std::int64_t steps = 5, batch = 2, input = 3, hidden = 7, layers = 4;
constexpr double tolerance = 1e-5;

std::vector<State> random_states(std::size_t count) {
  std::vector<State> states;
  for (std::size_t i = 0; i < count; ++i) states.emplace_back(at::randn({batch, hidden}), at::randn({batch, hidden}));
  return states;
}

/// As torch::nn::LSTM takes and gives them: [count, batch, hidden].
std::tuple<at::Tensor, at::Tensor> stacked(const std::vector<State>& states) {
  std::vector<at::Tensor> hx, cx;
  for (const auto& [h, c] : states) {
    hx.push_back(h);
    cx.push_back(c);
  }
  return {at::stack(hx), at::stack(cx)};
}

/// Output and states of torch::nn::LSTM with the parameters of `module`, which have its order.
std::vector<at::Tensor> expected(torch::nn::Module& module, const at::Tensor& x, const std::vector<State>& states,
                                 std::int64_t count, bool bidirectional) {
  torch::nn::LSTM reference(torch::nn::LSTMOptions(input, hidden).num_layers(count).bidirectional(bidirectional));
  const at::NoGradGuard no_gradients;
  const std::vector<at::Tensor> from = module.parameters(), to = reference->parameters();
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < from.size(); ++i) to[i].copy_(from[i]);
  const auto [output, new_states] = reference->forward(x, stacked(states));
  return {output, std::get<0>(new_states), std::get<1>(new_states)};
}

std::vector<at::Tensor> actual(const at::Tensor& output, const std::vector<State>& states) {
  const auto [hy, cy] = stacked(states);
  return {output.detach(), hy.detach(), cy.detach()};
}

TEST_CASE("A layer of LstmCells is torch::nn::LSTM") {
  const at::Tensor x = at::randn({steps, batch, input});
  const auto states = random_states(1);
  LstmLayer<LstmCell> layer(input, hidden);
  const auto [output, state] = layer.forward(x, states[0]);
  REQUIRE(difference(actual(output, {state}), expected(layer, x, states, 1, false), tolerance) == "");
}

TEST_CASE("A reverse layer is the layer over the reversed sequence") {
  const at::Tensor x = at::randn({steps, batch, input});
  const auto states = random_states(1);
  ReverseLstmLayer<LstmCell> layer(input, hidden);
  const auto [output, state] = layer.forward(x, states[0]);
  REQUIRE(difference(actual(output.flip(0), {state}), expected(layer, x.flip(0), states, 1, false), tolerance) == "");
}

TEST_CASE("Stacked layers are torch::nn::LSTM with as many") {
  const at::Tensor x = at::randn({steps, batch, input});
  const auto states = random_states(layers);
  const auto lstm = custom_lstm({input, hidden, layers});
  const auto [output, new_states] = lstm->forward(x, states);
  REQUIRE(difference(actual(output, new_states), expected(*lstm, x, states, layers, false), tolerance) == "");
}

TEST_CASE("Stacked layers in both directions are torch::nn::LSTM in both directions") {
  const at::Tensor x = at::randn({steps, batch, input});
  const auto states = random_states(2 * layers);
  const auto lstm = custom_lstm({.input = input, .hidden = hidden, .layers = layers, .bidirectional = true});
  const auto [output, new_states] = lstm->forward(x, states);
  REQUIRE(output.sizes() == at::IntArrayRef{steps, batch, 2 * hidden});
  REQUIRE(difference(actual(output, new_states), expected(*lstm, x, states, layers, true), tolerance) == "");
}

TEST_CASE("Dropout lies between layers, in training alone") {
  const at::Tensor x = at::randn({steps, batch, input});
  const auto states = random_states(layers);
  const auto lstm = custom_lstm({.input = input, .hidden = hidden, .layers = layers, .dropout = true});
  const auto dropping = std::get<0>(lstm->forward(x, states));
  REQUIRE(dropping.sizes() == at::IntArrayRef{steps, batch, hidden});
  REQUIRE_FALSE(at::equal(dropping, std::get<0>(lstm->forward(x, states))));  // other numbers dropped
  REQUIRE_FALSE(at::any(dropping == 0).item<bool>());                         // none of the last layer's
  lstm->eval();
  const auto [output, new_states] = lstm->forward(x, states);
  REQUIRE(difference(actual(output, new_states), expected(*lstm, x, states, layers, false), tolerance) == "");
}

TEST_CASE("Layer-norm LSTMs of every kind run, and go back") {
  const at::Tensor x = at::randn({steps, batch, input});
  for (const bool decompose : {false, true}) {
    for (const bool bidirectional : {false, true}) {
      const std::size_t directions = bidirectional ? 2 : 1;
      const auto lstm = custom_layernorm_lstm(
          {.input = input, .hidden = hidden, .layers = layers, .bidirectional = bidirectional}, decompose);
      const auto [output, states] = lstm->forward(x, random_states(directions * layers));
      REQUIRE(output.sizes() == at::IntArrayRef{steps, batch, static_cast<std::int64_t>(directions) * hidden});
      REQUIRE(states.size() == directions * layers);
      // The norm's own promise for the cell state: mean 0, variance 1 in every row.
      const at::Tensor cy = std::get<1>(states.back()).detach();
      REQUIRE(cy.mean({-1}).abs().max().item<double>() < 1e-5);
      REQUIRE(cy.var({-1}, /*unbiased=*/false).sub(1).abs().max().item<double>() < 1e-2);
      output.sum().backward();
      REQUIRE(lstm->parameters().size() == directions * layers * 8);
      for (const at::Tensor& parameter : lstm->parameters()) REQUIRE(parameter.grad().defined());
    }
  }
}

TEST_CASE("The decomposed layer norm is the layer norm without an epsilon") {
  const at::Tensor x = at::randn({batch, hidden});
  DecomposedLayerNorm norm(std::vector<std::int64_t>{hidden});
  const at::NoGradGuard no_gradients;
  norm->weight.copy_(at::randn({hidden}));
  norm->bias.copy_(at::randn({hidden}));
  REQUIRE(difference({norm->forward(x)}, {at::layer_norm(x, {hidden}, norm->weight, norm->bias, 0)}, tolerance) == "");
  const at::Tensor with_epsilon = at::layer_norm(x, {hidden}, norm->weight, norm->bias, 0.1);
  REQUIRE(difference({norm->forward(x)}, {with_epsilon}, tolerance) != "");
  REQUIRE_THROWS_AS(DecomposedLayerNorm(std::vector<std::int64_t>{hidden, 2}), pace::InputError);
}

TEST_CASE("Options that make no sense are refused") {
  REQUIRE_THROWS_AS(custom_lstm({0, hidden, 1}), pace::InputError);
  REQUIRE_THROWS_AS(custom_lstm({input, hidden, 0}), pace::InputError);
  REQUIRE_THROWS_AS(custom_lstm({input, hidden, 2, true, true}), pace::InputError);
  REQUIRE_THROWS_AS(custom_layernorm_lstm({input, hidden, 2, true}), pace::InputError);
  const auto lstm = custom_lstm({input, hidden, 2});
  REQUIRE_THROWS_AS(lstm->forward(at::randn({steps, batch, input}), random_states(1)), pace::InputError);
}

}  // namespace
