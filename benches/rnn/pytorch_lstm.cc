#include <tuple>

#include <torch/nn/modules/rnn.h>

#include "benches/rnn/creators.hpp"
#include "benches/rnn/nn_lstm.hpp"
#include "benches/rnn/steps.hpp"

namespace pace::rnn {

ModelDef pytorch_lstm(const Sizes& sizes, const PytorchLstm& options) {
  const LstmData data = draw_lstm(sizes);
  torch::nn::LSTM module = nn_lstm(data, sizes, options.dropout);
  ModelDef model;
  model.inputs = {data.x, data.hx, data.cx};
  model.step.parameters = module->parameters();
  model.step.forward = [module, last_state = options.last_state](Stack& inputs) mutable {
    auto [output, states] = module->forward(inputs[0].toTensor(), std::tuple(inputs[1].toTensor(), inputs[2].toTensor()));
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

}  // namespace pace::rnn
