#include "benches/rnn/runners.hpp"

#include <utility>

#include "benches/rnn/creators.hpp"
#include "benches/rnn/draw.hpp"
#include "pace/core/error.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::rnn {

namespace {

using Make = std::function<ModelDef(const Sizes&)>;

constexpr std::int64_t one_layer = 1;

/// `form` as the creator's second argument.
Make in(Form form, ModelDef (*create)(const Sizes&, Form)) {
  return [form, create](const Sizes& sizes) { return create(sizes, form); };
}

Make nn(PytorchLstm options) {
  return [options](const Sizes& sizes) { return pytorch_lstm(sizes, options); };
}

Make layernorm(Form form, bool decompose) {
  return [=](const Sizes& sizes) { return lnlstm(sizes, form, decompose); };
}

Make packed(bool cudnn) {
  return [cudnn](const Sizes& sizes) { return varlen_pytorch_lstm(sizes, cudnn); };
}

Make varlen(Form form) {
  return [form](const Sizes& sizes) { return varlen_lstm(sizes, form); };
}

Make cnn(Architecture architecture, bool trace) {
  return [=](const Sizes& sizes) { return imagenet_cnn(architecture, sizes, trace, {sizes.images, sizes.image_side}); };
}

std::vector<Runner> listed() {
  constexpr Form plain = Form::plain, scripted = Form::scripted;
  constexpr bool cuda = true, anywhere = false, draws = true;
  constexpr std::int64_t any = any_number_of_layers;
  return {
      {"cudnn", "lstm", cuda, any, "lstm", !draws, nn({})},
      {"cudnn_dropout", "lstm", cuda, any, "lstm", draws, nn({.dropout = 0.4})},
      {"aten", "lstm", anywhere, any, "lstm", !draws, nn({.cudnn = false})},
      {"jit", "lstm", anywhere, one_layer, "lstm", !draws, in(scripted, lstm)},
      {"py", "lstm", anywhere, one_layer, "lstm", !draws, in(plain, lstm)},
      {"jit_premul", "lstm", anywhere, one_layer, "lstm", !draws, in(scripted, lstm_premul)},
      {"py_premul", "lstm", anywhere, one_layer, "lstm", !draws, in(plain, lstm_premul)},
      {"jit_premul_bias", "lstm", anywhere, one_layer, "lstm", !draws, in(scripted, lstm_premul_bias)},
      {"py_premul_bias", "lstm", anywhere, one_layer, "lstm", !draws, in(plain, lstm_premul_bias)},
      {"jit_multilayer", "lstm", anywhere, any, "lstm", !draws, in(scripted, lstm_multilayer)},
      {"py_multilayer", "lstm", anywhere, any, "lstm", !draws, in(plain, lstm_multilayer)},

      {"jit_simple", "lstm", anywhere, one_layer, "simple", !draws, in(scripted, lstm_simple)},
      {"py_simple", "lstm", anywhere, one_layer, "simple", !draws, in(plain, lstm_simple)},
      {"cudnn_simple", "lstm", cuda, one_layer, "simple", !draws, nn({.last_state = true})},
      {"aten_simple", "lstm", anywhere, one_layer, "simple", !draws, nn({.cudnn = false, .last_state = true})},

      {"cudnn_layernorm", "lstm", anywhere, any, "layernorm bound", !draws, layernorm_pytorch_lstm},
      {"jit_layernorm", "lstm", anywhere, one_layer, "layernorm", !draws, layernorm(scripted, false)},
      {"py_layernorm", "lstm", anywhere, one_layer, "layernorm", !draws, layernorm(plain, false)},
      // A kind of its own: without an epsilon, small deviations give other numbers.
      {"jit_layernorm_decom", "lstm", anywhere, one_layer, "layernorm_decom", !draws, layernorm(scripted, true)},
      {"py_layernorm_decom", "lstm", anywhere, one_layer, "layernorm_decom", !draws, layernorm(plain, true)},
      {"jit_dropout", "lstm", anywhere, any, "dropout", draws, in(scripted, dropoutlstm)},
      {"py_dropout", "lstm", anywhere, any, "dropout", draws, in(plain, dropoutlstm)},

      {"vl_cudnn", "vl_lstm", cuda, any, "vl_lstm", !draws, packed(true)},
      {"vl_aten", "vl_lstm", anywhere, any, "vl_lstm", !draws, packed(false)},
      {"vl_jit", "vl_lstm", anywhere, one_layer, "vl_lstm", !draws, varlen(scripted)},
      {"vl_py", "vl_lstm", anywhere, one_layer, "vl_lstm", !draws, varlen(plain)},

      {"resnet18", "resnet", anywhere, any, "resnet18", !draws, cnn(Architecture::resnet18, false)},
      {"resnet18_jit", "resnet", anywhere, any, "resnet18", !draws, cnn(Architecture::resnet18, true)},
      {"resnet50", "resnet", anywhere, any, "resnet50", !draws, cnn(Architecture::resnet50, false)},
      {"resnet50_jit", "resnet", anywhere, any, "resnet50", !draws, cnn(Architecture::resnet50, true)},
  };
}

/// The same module for other devices, as far as there is one.
std::string instead_of(const std::string& name) {
  if (name == "cudnn" || name == "cudnn_dropout") return "aten";
  if (name == "cudnn_simple") return "aten_simple";
  return "vl_aten";
}

}  // namespace

void check(const Runner& runner, const Sizes& sizes) {
  validate(sizes);
  if (sizes.layers > runner.max_layers)
    throw InputError({}, "--numLayers: " + runner.name + " has " + std::to_string(runner.max_layers) +
                             " layer and no more; expected 1, found " + std::to_string(sizes.layers));
  if (runner.needs_cuda && !sizes.cudnn_anywhere && !sizes.device.is_cuda())
    throw Unsupported("--device: " + runner.name + " runs on a GPU only; " + instead_of(runner.name) +
                      " is the same module without cuDNN, and runs on the CPU, too; expected cuda, found " +
                      sizes.device.str());
}

const std::vector<Runner>& runners() {
  static const std::vector<Runner> all = [] {
    std::vector<Runner> list = listed();
    for (Runner& runner : list) {
      // What `check` reads; the model's maker is not among it.
      Runner described = runner;
      described.make = {};
      runner.make = [described = std::move(described), make = std::move(runner.make)](const Sizes& sizes) {
        check(described, sizes);
        return make(sizes);
      };
    }
    return list;
  }();
  return all;
}

const Runner& find_runner(const std::string& name) {
  std::string names;
  for (const Runner& runner : runners()) {
    if (runner.name == name) return runner;
    names += (names.empty() ? "" : ", ") + runner.name;
  }
  throw InputError({}, "no runner is called '" + report::printable(name) + "'; expected one of " + names);
}

}  // namespace pace::benches::rnn
