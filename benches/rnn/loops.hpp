// LSTMs as loops of cells over time. x of [sequence, batch, input], hx and cx of [layers, batch, hidden].
#pragma once

#include <vector>

#include <ATen/ops/matmul.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/stack.h>

#include "benches/rnn/cells.hpp"

namespace pace::benches::rnn {

/// The output, [sequence, batch, hidden], and the last states.
struct Pass {
  at::Tensor output;
  State states;
};

namespace detail {

/// `cell` maps one step's input and a state to the next state. States of [batch, hidden] in, [1, batch, hidden] out.
template <class Cell>
[[nodiscard]] Pass loop(const std::vector<at::Tensor>& steps, State state, const Cell& cell) {
  std::vector<at::Tensor> outputs;
  for (const at::Tensor& step : steps) {
    state = cell(step, state);
    outputs.push_back(std::get<0>(state));
  }
  return {at::stack(outputs), {std::get<0>(state).unsqueeze(0), std::get<1>(state).unsqueeze(0)}};
}

}  // namespace detail

[[nodiscard]] inline Pass lstm_loop(const at::Tensor& x, const at::Tensor& hx, const at::Tensor& cx, const Weights& w) {
  return detail::loop(x.unbind(0), {hx.select(0, 0), cx.select(0, 0)}, [&](const at::Tensor& step, const State& state) {
    return lstm_cell(step, state, w.w_ih, w.w_hh, w.b_ih, w.b_hh);
  });
}

[[nodiscard]] inline Pass lstm_premul_loop(const at::Tensor& x, const at::Tensor& hx, const at::Tensor& cx,
                                           const Weights& w) {
  const std::vector<at::Tensor> steps = at::matmul(x, w.w_ih.t()).unbind(0);
  return detail::loop(steps, {hx.select(0, 0), cx.select(0, 0)}, [&](const at::Tensor& igates, const State& state) {
    return premul_lstm_cell(igates, state, w.w_hh, w.b_ih, w.b_hh);
  });
}

[[nodiscard]] inline Pass lstm_premul_bias_loop(const at::Tensor& x, const at::Tensor& hx, const at::Tensor& cx,
                                                const Weights& w) {
  const at::Tensor igates = at::mm(x.view({-1, x.size(2)}), w.w_ih.t()) + w.b_ih;
  const std::vector<at::Tensor> steps = igates.view({x.size(0), x.size(1), -1}).unbind(0);
  return detail::loop(steps, {hx.select(0, 0), cx.select(0, 0)}, [&](const at::Tensor& igates, const State& state) {
    return premul_lstm_cell_no_bias(igates, state, w.w_hh, w.b_hh);
  });
}

/// The states after the last step, [batch, hidden].
[[nodiscard]] inline State lstm_simple_loop(const at::Tensor& x, const at::Tensor& hx, const at::Tensor& cx,
                                            const Weights& w) {
  at::Tensor hy = hx.select(0, 0), cy = cx.select(0, 0);
  for (const at::Tensor& step : x.unbind(0))
    std::tie(hy, cy) = flat_lstm_cell(step, hy, cy, w.w_ih, w.w_hh, w.b_ih, w.b_hh);
  return {hy, cy};
}

/// `weights`: four per layer. The states are the last layer's.
[[nodiscard]] inline Pass lstm_multilayer_loop(const at::Tensor& x, const at::Tensor& hx, const at::Tensor& cx,
                                               const std::vector<at::Tensor>& weights) {
  std::vector<at::Tensor> steps = x.unbind(0);
  State state;
  for (std::size_t first = 0; first < weights.size(); first += 4) {
    const auto layer = static_cast<std::int64_t>(first / 4);
    state = {hx.select(0, layer), cx.select(0, layer)};
    for (at::Tensor& step : steps) {
      state = lstm_cell(step, state, weights[first], weights[first + 1], weights[first + 2], weights[first + 3]);
      step = std::get<0>(state);
    }
  }
  return {at::stack(steps), {std::get<0>(state).unsqueeze(0), std::get<1>(state).unsqueeze(0)}};
}

struct VarlenPass {
  std::vector<at::Tensor> outputs, hy, cy;  ///< per sequence: [length, 1, hidden] and [1, 1, hidden]
};

/// One sequence, of [length, input], after the other. hx and cx of [1, batch, hidden].
[[nodiscard]] inline VarlenPass varlen_lstm_loop(const std::vector<at::Tensor>& sequences, const at::Tensor& hx,
                                                 const at::Tensor& cx, const Weights& w) {
  const std::vector<at::Tensor> hxs = hx.unbind(1), cxs = cx.unbind(1);
  VarlenPass pass;
  for (std::size_t b = 0; b < sequences.size(); ++b) {
    const auto cell = [&](const at::Tensor& step, const State& state) {
      return lstm_cell(step.unsqueeze(0), state, w.w_ih, w.w_hh, w.b_ih, w.b_hh);
    };
    auto [output, states] = detail::loop(sequences[b].unbind(0), {hxs[b], cxs[b]}, cell);
    pass.outputs.push_back(std::move(output));
    pass.hy.push_back(std::move(std::get<0>(states)));
    pass.cy.push_back(std::move(std::get<1>(states)));
  }
  return pass;
}

}  // namespace pace::benches::rnn
