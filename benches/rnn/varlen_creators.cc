#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pad_sequence.h>
#include <torch/nn/utils/rnn.h>

#include "benches/rnn/creators.hpp"
#include "benches/rnn/loops.hpp"
#include "benches/rnn/loops_text.hpp"
#include "benches/rnn/nn_lstm.hpp"
#include "benches/rnn/script.hpp"
#include "benches/rnn/steps.hpp"

namespace pace::benches::rnn {

namespace {

/// Outputs of [length, 1, hidden] as one of [longest, batch, hidden].
at::Tensor padded_outputs(const c10::IValue& answer) {
  return at::pad_sequence(part(answer, 0).toTensorVector()).squeeze(2);
}

/// ([output of each sequence], ([hy of each], [cy of each])) as the packed LSTM's (padded output, hy, cy).
c10::IValue padded(const c10::IValue& answer) {
  const c10::IValue& states = part(answer, 1);
  return tuple(padded_outputs(answer), at::cat(part(states, 0).toTensorVector(), 1),
               at::cat(part(states, 1).toTensorVector(), 1));
}

c10::IValue run(const std::vector<at::Tensor>& sequences, const at::Tensor& hx, const at::Tensor& cx,
                const Weights& w) {
  VarlenPass pass = varlen_lstm_loop(sequences, hx, cx, w);
  return tuple(std::move(pass.outputs), tuple(std::move(pass.hy), std::move(pass.cy)));
}

}  // namespace

ModelDef varlen_pytorch_lstm(const Sizes& sizes, bool cudnn, const Lengths& lengths) {
  namespace packing = torch::nn::utils::rnn;
  const VarlenData data = draw_varlen(sizes, lengths);
  torch::nn::LSTM module = nn_lstm(data.rest, sizes);
  ModelDef model;
  model.inputs = {c10::List<at::Tensor>(data.sequences), data.rest.hx, data.rest.cx};
  model.step.parameters = module->parameters();
  model.step.forward = [module](Stack& inputs) mutable {
    const packing::PackedSequence packed = packing::pack_sequence(inputs[0].toTensorVector(), /*enforce_sorted=*/false);
    auto [output, states] =
        module->forward_with_packed_input(packed, std::tuple(inputs[1].toTensor(), inputs[2].toTensor()));
    auto& [hy, cy] = states;
    return tuple(std::get<0>(packing::pad_packed_sequence(output)), tuple(std::move(hy), std::move(cy)));
  };
  model.step.answer = output_and_last_states;
  add_backward(model.step, sizes.seed);
  if (!cudnn) disable_cudnn(model.step);
  return model;
}

ModelDef varlen_lstm(const Sizes& sizes, Form form, const Lengths& lengths) {
  const VarlenData data = draw_varlen(sizes, lengths);
  const Weights w = data.rest.layer(0);
  ModelDef model;
  model.inputs = {c10::List<at::Tensor>(data.sequences), data.rest.hx, data.rest.cx};
  model.step.parameters = data.rest.weights;
  if (form == Form::scripted) {
    model.step.forward = [script = Script(loops_text, "varlen_lstm", {w.w_ih, w.w_hh, w.b_ih, w.b_hh})](Stack& inputs) {
      return script({inputs[0], inputs[1], inputs[2]});
    };
  } else {
    model.step.forward = [w](Stack& inputs) {
      return run(inputs[0].toTensorVector(), inputs[1].toTensor(), inputs[2].toTensor(), w);
    };
  }
  model.step.answer = padded;
  add_backward(model.step, sizes.seed, padded_outputs);
  return model;
}

}  // namespace pace::benches::rnn
