// The LSTMs of custom_lstms.hpp, with layer norm and with dropout, in C++ and in TorchScript. Inputs [x, then h and c
// of each layer, [batch, hidden]]; the parameters are the module's, drawn normal.
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/List.h>

#include "benches/rnn/custom_lstms.hpp"
#include "benches/rnn/custom_text.hpp"
#include "benches/rnn/runners.hpp"
#include "benches/rnn/script.hpp"
#include "benches/rnn/steps.hpp"

namespace pace::benches::rnn {

namespace {

void require(bool holds, const std::string& what) {
  if (!holds) throw InputError({}, "custom LSTM: " + what);
}

void require_sizes(const CustomLstmOptions& options) {
  require(options.input >= 1 && options.hidden >= 1 && options.layers >= 1,
          "expected input, hidden and layers of at least 1, found " + std::to_string(options.input) + ", " +
              std::to_string(options.hidden) + " and " + std::to_string(options.layers));
}

/// (output, [(hy, cy) of each layer]) as (output, hy, cy), the latter of [layers, batch, hidden].
c10::IValue output_and_stacked_states(const c10::IValue& answer) {
  std::vector<at::Tensor> hy, cy;
  for (const c10::IValue& state : part(answer, 1).toListRef()) {
    hy.push_back(part(state, 0).toTensor());
    cy.push_back(part(state, 1).toTensor());
  }
  return tuple(part(answer, 0), at::stack(hy), at::stack(cy));
}

struct Drawn {
  ModelDef model;  // without a forward
  std::shared_ptr<CustomLstm> module;
};

/// `create` draws the module's weights.
template <class Create>
Drawn draw(const Sizes& sizes, const Create& create) {
  validate(sizes);
  const SeededScope scope(sizes.seed);
  Drawn drawn;
  Stack& inputs = drawn.model.inputs;
  inputs.emplace_back(at::randn({sizes.sequence, sizes.batch, sizes.input}, at::kFloat).to(sizes.device));
  for (std::int64_t i = 0; i < 2 * sizes.layers; ++i)
    inputs.emplace_back(at::randn({sizes.batch, sizes.hidden}, at::kFloat).to(sizes.device));
  drawn.module = create();
  if (!sizes.original) {
    // As torch::nn::LSTM has them. The original's are sqrt(hidden) times as large: gates that are open or shut, and
    // states that let a rounding error grow with every step. Then no two orders of summing agree in the end.
    const at::NoGradGuard values_alone;
    for (at::Tensor& parameter : drawn.module->parameters())
      if (parameter.dim() == 2) parameter.mul_(1 / std::sqrt(static_cast<double>(sizes.hidden)));
  }
  drawn.module->to(sizes.device);
  Step& step = drawn.model.step;
  step.parameters = drawn.module->parameters();
  step.answer = output_and_stacked_states;
  add_backward(step, sizes);
  return drawn;
}

c10::IValue run(CustomLstm& module, const Stack& inputs) {
  std::vector<State> states;
  for (std::size_t i = 1; i < inputs.size(); i += 2)
    states.emplace_back(inputs[i].toTensor(), inputs[i + 1].toTensor());
  auto [output, new_states] = module.forward(inputs[0].toTensor(), states);
  return tuple(std::move(output), c10::List<State>(new_states));
}

void run_plainly(Drawn& drawn) {
  drawn.model.step.forward = [module = drawn.module](Stack& inputs) { return run(*module, inputs); };
}

}  // namespace

std::shared_ptr<CustomLstm> custom_lstm(const CustomLstmOptions& options) {
  const auto [input, hidden, layers, dropout, bidirectional] = options;
  require_sizes(options);
  require(!dropout || !bidirectional, "dropout is there for one direction only");
  if (bidirectional) return std::make_shared<StackedBidirLstm<LstmCell>>(input, hidden, layers);
  if (dropout) return std::make_shared<StackedLstmWithDropout<LstmCell>>(input, hidden, layers);
  return std::make_shared<StackedLstm<LstmCell>>(input, hidden, layers);
}

std::shared_ptr<CustomLstm> custom_layernorm_lstm(const CustomLstmOptions& options, bool decompose) {
  const auto [input, hidden, layers, dropout, bidirectional] = options;
  require_sizes(options);
  require(!dropout, "layer norm and dropout do not go together");
  using Whole = LayerNormLstmCell<torch::nn::LayerNorm>;
  using Decomposed = LayerNormLstmCell<DecomposedLayerNorm>;
  if (bidirectional) {
    if (decompose) return std::make_shared<StackedBidirLstm<Decomposed>>(input, hidden, layers);
    return std::make_shared<StackedBidirLstm<Whole>>(input, hidden, layers);
  }
  if (decompose) return std::make_shared<StackedLstm<Decomposed>>(input, hidden, layers);
  return std::make_shared<StackedLstm<Whole>>(input, hidden, layers);
}

namespace {

/// With layer norm; always one layer.
ModelDef lnlstm(const Sizes& sizes, Form form, bool decompose) {
  Sizes one_layer = sizes;
  one_layer.layers = 1;
  Drawn drawn =
      draw(one_layer, [&] { return custom_layernorm_lstm({sizes.input, sizes.hidden, one_layer.layers}, decompose); });
  if (form == Form::plain) {
    run_plainly(drawn);
  } else {
    const std::vector<at::Tensor>& weights = drawn.model.step.parameters;
    drawn.model.step.forward = [script = Script(layernorm_lstm_text(sizes.hidden, decompose), "layernorm_lstm",
                                                Stack(weights.begin(), weights.end()))](Stack& inputs) {
      return script({inputs[0], inputs[1], inputs[2]});
    };
  }
  return std::move(drawn.model);
}

/// With dropout of 0.4 between layers.
ModelDef dropoutlstm(const Sizes& sizes, Form form) {
  Drawn drawn = draw(sizes, [&] {
    return custom_lstm({.input = sizes.input, .hidden = sizes.hidden, .layers = sizes.layers, .dropout = true});
  });
  if (form == Form::plain) {
    run_plainly(drawn);
  } else {
    drawn.model.step.forward = [script = Script(dropout_lstm_text, "dropout_lstm",
                                                {c10::List<at::Tensor>(drawn.model.step.parameters)})](Stack& inputs) {
      c10::List<at::Tensor> states;
      for (std::size_t i = 1; i < inputs.size(); ++i) states.push_back(inputs[i].toTensor());
      return script({inputs[0], std::move(states)});
    };
  }
  return std::move(drawn.model);
}

Runner layernorm(std::string name, std::string kind, Form form, bool decompose) {
  return {.name = std::move(name),
          .compared_with = std::move(kind),
          .form = form,
          .needs_cuda_in_original = true,
          .zeroed_once_in_original = true,
          .max_layers = 1,
          .magnifies_rounding = true,
          .make = [=](const Sizes& sizes) { return lnlstm(sizes, form, decompose); }};
}

const Registered jit_layernorm(layernorm("jit_layernorm", "layernorm", Form::scripted, false));
const Registered py_layernorm(layernorm("py_layernorm", "layernorm", Form::plain, false));
// A kind of its own: without an epsilon, small deviations give other numbers.
const Registered jit_decomposed(layernorm("jit_layernorm_decom", "layernorm_decom", Form::scripted, true));
const Registered py_decomposed(layernorm("py_layernorm_decom", "layernorm_decom", Form::plain, true));

Runner dropout(std::string name, Form form) {
  return {.name = std::move(name),
          .compared_with = "dropout",
          .form = form,
          .needs_cuda_in_original = true,
          .zeroed_once_in_original = true,
          .draws = true,
          .make = [=](const Sizes& sizes) { return dropoutlstm(sizes, form); }};
}

const Registered jit_dropout(dropout("jit_dropout", Form::scripted));
const Registered py_dropout(dropout("py_dropout", Form::plain));

}  // namespace

}  // namespace pace::benches::rnn
