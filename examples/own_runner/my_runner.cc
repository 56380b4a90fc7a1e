// An LSTM runner of one's own: input and state are multiplied at once, by the two weights side by side.
#include <vector>

#include <ATen/ATen.h>

#include "benches/rnn/draw.hpp"
#include "benches/rnn/runners.hpp"
#include "benches/rnn/steps.hpp"

namespace {

using namespace pace::benches::rnn;

/// x of [sequence, batch, input]; hx and cx of [1, batch, hidden]. Answers (output, (hy, cy)).
c10::IValue run(const at::Tensor& x, const at::Tensor& hx, const at::Tensor& cx, const Weights& w) {
  const at::Tensor weight = at::cat({w.w_ih, w.w_hh}, 1).t(), bias = w.b_ih + w.b_hh;
  at::Tensor h = hx.squeeze(0), c = cx.squeeze(0);
  std::vector<at::Tensor> outputs;
  for (const at::Tensor& step : x.unbind(0)) {
    const std::vector<at::Tensor> gates = at::addmm(bias, at::cat({step, h}, 1), weight).chunk(4, 1);
    c = at::sigmoid(gates[1]) * c + at::sigmoid(gates[0]) * at::tanh(gates[2]);
    h = at::sigmoid(gates[3]) * at::tanh(c);
    outputs.push_back(h);
  }
  return tuple(at::stack(outputs), tuple(h.unsqueeze(0), c.unsqueeze(0)));
}

ModelDef make(const Sizes& sizes) {
  const LstmData data = draw_lstm(sizes);  // equal sizes and seeds give every runner equal inputs and weights
  ModelDef model;
  model.inputs = {data.x, data.hx, data.cx};
  model.step.parameters = data.weights;
  model.step.forward = [w = data.layer(0)](Stack& inputs) {
    return run(inputs[0].toTensor(), inputs[1].toTensor(), inputs[2].toTensor(), w);
  };
  model.step.answer = output_and_last_states;  // the compared outputs
  add_backward(model.step, sizes);             // from the output
  return model;
}

const Registered mine({.name = "side_by_side", .compared_with = "lstm", .max_layers = 1, .make = make});

}  // namespace
