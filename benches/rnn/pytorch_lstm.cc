#include <tuple>

#include <ATen/ops/randn.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/modules/rnn.h>

#include "benches/rnn/creators.hpp"
#include "benches/rnn/nn_lstm.hpp"
#include "benches/rnn/steps.hpp"

namespace pace::benches::rnn {

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
  add_backward(model.step, sizes.seed);
  if (!options.cudnn) disable_cudnn(model.step);
  return model;
}

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

}  // namespace pace::benches::rnn
