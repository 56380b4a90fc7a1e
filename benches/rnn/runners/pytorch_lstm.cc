// torch::nn::LSTM, by cuDNN and by LibTorch's own code. Inputs [x, hx, cx]; all weights are parameters.
#include <tuple>

#include <ATen/ops/randn.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/rnn.h>

#include "benches/rnn/nn_lstm.hpp"
#include "benches/rnn/runners.hpp"
#include "benches/rnn/steps.hpp"

namespace pace::benches::rnn {

namespace {

struct PytorchLstm {
  double dropout = 0;       ///< between layers
  bool cudnn = true;        ///< whether cuDNN may be used
  bool last_state = false;  ///< answers (hy, cy) of the last step alone, [batch, hidden], and goes back from hy: the
                            ///< reference of the simple loop
};

/// torch::nn::LSTM.
ModelDef pytorch_lstm(const Sizes& sizes, const PytorchLstm& options) {
  const LstmData data = draw_lstm(sizes);
  torch::nn::LSTM module = nn_lstm(data, sizes, options.dropout);
  ModelDef model;
  model.inputs = {data.x, data.hx, data.cx};
  model.step.parameters = module->parameters();
  model.step.forward = [module, last_state = options.last_state](Stack& inputs) mutable {
    auto [output, states] =
        module->forward(inputs[0].toTensor(), std::tuple(inputs[1].toTensor(), inputs[2].toTensor()));
    auto& [hy, cy] = states;
    // A view, so that going back through it costs no kernel.
    if (last_state) return tuple(hy.squeeze(0), cy.squeeze(0));
    return tuple(std::move(output), tuple(std::move(hy), std::move(cy)));
  };
  if (!options.last_state) model.step.answer = output_and_last_states;
  add_backward(model.step, sizes);
  if (!options.cudnn) disable_cudnn(model.step);
  return model;
}

/// torch::nn::LSTM, and after it, per time step, the layer norms of a layer-norm LSTM: two over fixed numbers of
/// [batch, 4 hidden], and one over the cell state. Computes no LSTM with layer norm. Its forward is a lower bound for
/// one that is built on cuDNN's. Has no backward.
ModelDef layernorm_pytorch_lstm(const Sizes& sizes) {
  const LstmData data = draw_lstm(sizes);
  torch::nn::LSTM module = nn_lstm(data, sizes);
  const auto norm = [&](std::int64_t width) {
    torch::nn::LayerNorm made(torch::nn::LayerNormOptions({width}));
    made->to(sizes.device);
    return made;
  };
  const at::Tensor gates = at::randn({sizes.batch, 4 * sizes.hidden}, at::detail::createCPUGenerator(), at::kFloat);
  ModelDef model;
  model.inputs = {data.x, data.hx, data.cx};
  model.step.parameters = module->parameters();
  model.step.forward = [module, norm_i = norm(4 * sizes.hidden), norm_h = norm(4 * sizes.hidden),
                        norm_c = norm(sizes.hidden), gates = gates.to(sizes.device)](Stack& inputs) mutable {
    const at::Tensor& x = inputs[0].toTensor();
    auto [output, states] = module->forward(x, std::tuple(inputs[1].toTensor(), inputs[2].toTensor()));
    auto& [hy, cy] = states;
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      norm_i->forward(gates);
      norm_h->forward(gates);
      cy = norm_c->forward(cy);
    }
    return tuple(std::move(output), tuple(std::move(hy), std::move(cy)));
  };
  model.step.answer = output_and_last_states;
  return model;
}

std::function<ModelDef(const Sizes&)> nn(PytorchLstm options) {
  return [options](const Sizes& sizes) { return pytorch_lstm(sizes, options); };
}

const Registered cudnn({.name = "cudnn",
                        .compared_with = "lstm",
                        .form = Form::module,
                        .leads = true,
                        .needs_cuda = true,
                        .without_cuda = "aten",
                        .make = nn({})});
const Registered cudnn_dropout({.name = "cudnn_dropout",
                                .compared_with = "lstm",
                                .form = Form::module,
                                .needs_cuda = true,
                                .without_cuda = "aten",
                                .draws = true,
                                .make = nn({.dropout = 0.4})});
const Registered aten(
    {.name = "aten", .compared_with = "lstm", .form = Form::module, .leads = true, .make = nn({.cudnn = false})});

const Registered cudnn_simple({.name = "cudnn_simple",
                               .compared_with = "simple",
                               .form = Form::module,
                               .leads = true,
                               .needs_cuda = true,
                               .without_cuda = "aten_simple",
                               .max_layers = 1,
                               .make = nn({.last_state = true})});
const Registered aten_simple({.name = "aten_simple",
                              .compared_with = "simple",
                              .form = Form::module,
                              .leads = true,
                              .max_layers = 1,
                              .make = nn({.cudnn = false, .last_state = true})});

// Any executor of the module will do: on the CPU, LibTorch's own code.
const Registered cudnn_layernorm({.name = "cudnn_layernorm",
                                  .compared_with = "layernorm bound",
                                  .form = Form::module,
                                  .needs_cuda_in_original = true,
                                  .magnifies_rounding = true,
                                  .make = layernorm_pytorch_lstm});

}  // namespace

}  // namespace pace::benches::rnn
