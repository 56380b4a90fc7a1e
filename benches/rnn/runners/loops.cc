// LSTMs as loops over cells, in C++ and as the same text in TorchScript. Inputs [x, hx, cx]; all weights are
// parameters.
#include <string>
#include <utility>

#include <ATen/core/List.h>

#include "benches/rnn/loops.hpp"
#include "benches/rnn/loops_text.hpp"
#include "benches/rnn/runners.hpp"
#include "benches/rnn/script.hpp"
#include "benches/rnn/steps.hpp"

namespace pace::benches::rnn {

namespace {

c10::IValue to_ivalue(Pass pass) {
  return tuple(std::move(pass.output), tuple(std::get<0>(pass.states), std::get<1>(pass.states)));
}
c10::IValue to_ivalue(State state) { return tuple(std::get<0>(state), std::get<1>(state)); }

/// The parts of every model here, but for the forward.
ModelDef model_of(const LstmData& data, const Sizes& sizes) {
  ModelDef model;
  model.inputs = {data.x, data.hx, data.cx};
  model.step.parameters = data.weights;
  model.step.answer = output_and_last_states;
  add_backward(model.step, sizes);
  return model;
}

/// `weights`: the arguments of both the plain `loop` and the script's function `name` after x, hx and cx.
template <class Loop, class LoopWeights>
void set_forward(Step& step, Form form, Loop loop, LoopWeights weights, const char* name, Stack script_weights) {
  if (form == Form::scripted) {
    step.forward = [script = Script(loops_text, name, std::move(script_weights))](Stack& inputs) {
      return script({inputs[0], inputs[1], inputs[2]});
    };
  } else {
    step.forward = [loop, weights = std::move(weights)](Stack& inputs) {
      return to_ivalue(loop(inputs[0].toTensor(), inputs[1].toTensor(), inputs[2].toTensor(), weights));
    };
  }
}

template <class Loop>
ModelDef first_layer_model(const Sizes& sizes, Form form, Loop loop, const char* name) {
  const LstmData data = draw_lstm(sizes);
  ModelDef model = model_of(data, sizes);
  const Weights w = data.layer(0);
  set_forward(model.step, form, loop, w, name, {w.w_ih, w.w_hh, w.b_ih, w.b_hh});
  return model;
}

/// Cell after cell.
ModelDef lstm(const Sizes& sizes, Form form) { return first_layer_model(sizes, form, lstm_loop, "lstm"); }

/// The inputs of all steps are multiplied by w_ih at once; any input and hidden size will do.
ModelDef lstm_premul(const Sizes& sizes, Form form) {
  return first_layer_model(sizes, form, lstm_premul_loop, "lstm_premul");
}

/// ... and b_ih is added at once, too.
ModelDef lstm_premul_bias(const Sizes& sizes, Form form) {
  return first_layer_model(sizes, form, lstm_premul_bias_loop, "lstm_premul_bias");
}

/// Answers the last (hy, cy), [batch, hidden], keeping no list; goes back from hy.
ModelDef lstm_simple(const Sizes& sizes, Form form) {
  ModelDef model = first_layer_model(sizes, form, lstm_simple_loop, "lstm_simple");
  model.step.answer = {};  // (hy, cy) is all there is, and the usual backward takes the first
  return model;
}

/// Layer after layer; answers the output and the states of the last.
ModelDef lstm_multilayer(const Sizes& sizes, Form form) {
  const LstmData data = draw_lstm(sizes);
  ModelDef model = model_of(data, sizes);
  set_forward(model.step, form, lstm_multilayer_loop, data.weights, "lstm_multilayer",
              {c10::List<at::Tensor>(data.weights)});
  return model;
}

/// A loop as two runners: `py` and `jit` before the rest of its name.
struct Both {
  Both(const std::string& rest, const std::string& kind, std::int64_t max_layers, ModelDef (*make)(const Sizes&, Form))
      : plain({.name = "py" + rest,
               .compared_with = kind,
               .form = Form::plain,
               .max_layers = max_layers,
               .make = [make](const Sizes& sizes) { return make(sizes, Form::plain); }}),
        scripted({.name = "jit" + rest,
                  .compared_with = kind,
                  .form = Form::scripted,
                  .max_layers = max_layers,
                  .make = [make](const Sizes& sizes) { return make(sizes, Form::scripted); }}) {}

  Registered plain, scripted;
};

// Those that read the first layer's weights only would leave the others without a gradient.
const Both cell_after_cell("", "lstm", 1, lstm);
const Both premultiplied("_premul", "lstm", 1, lstm_premul);
const Both premultiplied_with_bias("_premul_bias", "lstm", 1, lstm_premul_bias);
const Both multilayer("_multilayer", "lstm", any_number_of_layers, lstm_multilayer);
const Both simple("_simple", "simple", 1, lstm_simple);

}  // namespace

}  // namespace pace::benches::rnn
