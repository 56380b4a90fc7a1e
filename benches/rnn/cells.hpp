// One time step of recurrent networks, written out in tensor operations. The gates of an LSTM are split along dimension
// 1 in the order in, forget, cell, out.
#pragma once

#include <tuple>
#include <utility>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tanh.h>

namespace pace::benches::rnn {

/// hx and cx, each of [batch, hidden].
using State = std::tuple<at::Tensor, at::Tensor>;

/// Weights of one layer: w_ih of [4 hidden, input], w_hh of [4 hidden, hidden], b_ih and b_hh of [4 hidden].
struct Weights {
  at::Tensor w_ih, w_hh, b_ih, b_hh;
};

namespace detail {

/// The new state from the sum of all that goes into the gates, [batch, 4 hidden].
[[nodiscard]] inline State lstm_gates(const at::Tensor& gates, const at::Tensor& cx) {
  const std::vector<at::Tensor> parts = gates.chunk(4, 1);
  const at::Tensor in = at::sigmoid(parts[0]), forget = at::sigmoid(parts[1]), cell = at::tanh(parts[2]),
                   out = at::sigmoid(parts[3]);
  at::Tensor cy = forget * cx + in * cell;
  at::Tensor hy = out * at::tanh(cy);
  return {std::move(hy), std::move(cy)};
}

}  // namespace detail

/// `input` of [batch, input], hx and cx of [batch, hidden].
[[nodiscard]] inline State flat_lstm_cell(const at::Tensor& input, const at::Tensor& hx, const at::Tensor& cx,
                                          const at::Tensor& w_ih, const at::Tensor& w_hh, const at::Tensor& b_ih,
                                          const at::Tensor& b_hh) {
  return detail::lstm_gates(at::mm(input, w_ih.t()) + at::mm(hx, w_hh.t()) + b_ih + b_hh, cx);
}

[[nodiscard]] inline State lstm_cell(const at::Tensor& input, const State& state, const at::Tensor& w_ih,
                                     const at::Tensor& w_hh, const at::Tensor& b_ih, const at::Tensor& b_hh) {
  const auto& [hx, cx] = state;
  return flat_lstm_cell(input, hx, cx, w_ih, w_hh, b_ih, b_hh);
}

/// `igates` is the input times w_ih transposed, made for all time steps at once.
[[nodiscard]] inline State premul_lstm_cell(const at::Tensor& igates, const State& state, const at::Tensor& w_hh,
                                            const at::Tensor& b_ih, const at::Tensor& b_hh) {
  const auto& [hx, cx] = state;
  return detail::lstm_gates(igates + at::mm(hx, w_hh.t()) + b_ih + b_hh, cx);
}

/// `igates` has b_ih in it, too.
[[nodiscard]] inline State premul_lstm_cell_no_bias(const at::Tensor& igates, const State& state,
                                                    const at::Tensor& w_hh, const at::Tensor& b_hh) {
  const auto& [hx, cx] = state;
  return detail::lstm_gates(igates + at::mm(hx, w_hh.t()) + b_hh, cx);
}

/// The multiplicative integration LSTM: Y. Wu et al., "On multiplicative integration with recurrent neural networks",
/// NeurIPS 2016. alpha, beta_i, beta_h and bias of [4 hidden].
[[nodiscard]] inline State milstm_cell(const at::Tensor& input, const State& state, const at::Tensor& w_ih,
                                       const at::Tensor& w_hh, const at::Tensor& alpha, const at::Tensor& beta_i,
                                       const at::Tensor& beta_h, const at::Tensor& bias) {
  const auto& [hx, cx] = state;
  const at::Tensor wx = at::mm(input, w_ih.t()), uz = at::mm(hx, w_hh.t());
  return detail::lstm_gates(alpha * wx * uz + beta_i * wx + beta_h * uz + bias, cx);
}

/// Gates in the order reset, update, new: w_ih of [3 hidden, input], w_hh of [3 hidden, hidden].
[[nodiscard]] inline at::Tensor gru_cell(const at::Tensor& input, const at::Tensor& hx, const at::Tensor& w_ih,
                                         const at::Tensor& w_hh, const at::Tensor& b_ih, const at::Tensor& b_hh) {
  const std::vector<at::Tensor> i = (at::mm(input, w_ih.t()) + b_ih).chunk(3, 1);
  const std::vector<at::Tensor> h = (at::mm(hx, w_hh.t()) + b_hh).chunk(3, 1);
  const at::Tensor reset = at::sigmoid(i[0] + h[0]), update = at::sigmoid(i[1] + h[1]);
  const at::Tensor fresh = at::tanh(i[2] + reset * h[2]);
  return fresh + update * (hx - fresh);
}

/// w_ih of [hidden, input], w_hh of [hidden, hidden].
[[nodiscard]] inline at::Tensor rnn_relu_cell(const at::Tensor& input, const at::Tensor& hx, const at::Tensor& w_ih,
                                              const at::Tensor& w_hh, const at::Tensor& b_ih, const at::Tensor& b_hh) {
  return at::relu(at::mm(input, w_ih.t()) + b_ih + at::mm(hx, w_hh.t()) + b_hh);
}

[[nodiscard]] inline at::Tensor rnn_tanh_cell(const at::Tensor& input, const at::Tensor& hx, const at::Tensor& w_ih,
                                              const at::Tensor& w_hh, const at::Tensor& b_ih, const at::Tensor& b_hh) {
  return at::tanh(at::mm(input, w_ih.t()) + b_ih + at::mm(hx, w_hh.t()) + b_hh);
}

}  // namespace pace::benches::rnn
