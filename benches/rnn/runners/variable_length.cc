// LSTMs over sequences of different lengths. Inputs [list of `sizes.batch` sequences of random lengths, hx, cx].
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/pad_sequence.h>
#include <torch/nn/utils/rnn.h>

#include "benches/rnn/loops.hpp"
#include "benches/rnn/loops_text.hpp"
#include "benches/rnn/nn_lstm.hpp"
#include "benches/rnn/runners.hpp"
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

/// torch::nn::LSTM over packed sequences; answers padded ones.
ModelDef varlen_pytorch_lstm(const Sizes& sizes, bool cudnn) {
  namespace packing = torch::nn::utils::rnn;
  const VarlenData data = draw_varlen(sizes);
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
  add_backward(model.step, sizes);
  if (!cudnn) disable_cudnn(model.step);
  return model;
}

/// Sequence after sequence, cell after cell; answers lists. First layer only.
ModelDef varlen_lstm(const Sizes& sizes, Form form) {
  const VarlenData data = draw_varlen(sizes);
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
  add_backward(model.step, sizes, padded_outputs);
  return model;
}

Runner packed(std::string name, bool cudnn) {
  return {.name = std::move(name),
          .group = "vl_lstm",
          .compared_with = "vl_lstm",
          .form = Form::module,
          .leads = true,
          .needs_cuda = cudnn,
          .without_cuda = cudnn ? "vl_aten" : "",
          .make = [=](const Sizes& sizes) { return varlen_pytorch_lstm(sizes, cudnn); }};
}

const Registered vl_cudnn(packed("vl_cudnn", true));
const Registered vl_aten(packed("vl_aten", false));

Runner loop(std::string name, Form form) {
  return {.name = std::move(name),
          .group = "vl_lstm",
          .compared_with = "vl_lstm",
          .form = form,
          .max_layers = 1,
          .make = [=](const Sizes& sizes) { return varlen_lstm(sizes, form); }};
}

const Registered vl_jit(loop("vl_jit", Form::scripted));
const Registered vl_py(loop("vl_py", Form::plain));

}  // namespace

}  // namespace pace::benches::rnn
