// Every runner that runs on the CPU against torch::nn::LSTM with the same weights: outputs, states, gradients. In
// float64, so that the rest between the two is the same on every processor.
#include "benches/rnn/runners.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "benches/rnn/nn_lstm.hpp"
#include "tests/rnn/one_step.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pace::benches::rnn;
using pace::test::difference;
using pace::test::in_float64;
using pace::test::one_step;
using pace::test::small;
using pace::test::start_of;
using pace::test::StepResult;

constexpr double tolerance = 1e-10;

/// torch::nn::LSTM with copies of `weights`, which came from float32.
torch::nn::LSTM module_of(std::vector<at::Tensor> weights, const Sizes& sizes) {
  LstmData data;
  data.weights = std::move(weights);
  torch::nn::LSTM module = nn_lstm(data, sizes);
  module->to(at::kDouble);
  return module;
}

std::vector<at::Tensor> gradients(torch::nn::LSTM& module) {
  std::vector<at::Tensor> list;
  for (const at::Tensor& parameter : module->parameters()) list.push_back(parameter.grad());
  return list;
}

/// Kind "lstm", and "simple" if `last_state`. The gradient is the model's own.
StepResult reference(ModelDef& model, const Sizes& sizes, bool last_state) {
  torch::nn::LSTM module = module_of(model.step.parameters, sizes);
  const auto [output, states] =
      module->forward(model.inputs[0].toTensor(), std::tuple(model.inputs[1].toTensor(), model.inputs[2].toTensor()));
  const auto [hy, cy] = states;
  const at::Tensor from = last_state ? hy.select(0, 0) : output;
  from.backward(start_of(model));
  const std::int64_t last = sizes.layers - 1;
  StepResult result;
  if (last_state) {
    result.answer = {from.detach(), cy.select(0, 0).detach()};
  } else {
    result.answer = {output.detach(), hy.narrow(0, last, 1).detach(), cy.narrow(0, last, 1).detach()};
  }
  result.gradients = gradients(module);
  return result;
}

void require_equal(const Runner& runner, const Sizes& sizes) {
  INFO(runner.name << ", " << sizes.layers << " layers, hidden " << sizes.hidden);
  ModelDef model = in_float64(runner.make(sizes));
  const StepResult expected = reference(model, sizes, runner.compared_with == "simple");
  // TorchScript profiles the first call and compiles at the second.
  for (int step = 0; step < 3; ++step) {
    INFO("step " << step);
    const StepResult actual = one_step(model);
    REQUIRE(difference(actual.answer, expected.answer, tolerance) == "");
    REQUIRE(difference(actual.gradients, expected.gradients, tolerance) == "");
  }
}

/// Every runner of these kinds but those that need a GPU; there are some, in C++ and in TorchScript.
std::vector<Runner> on_the_cpu(const std::set<std::string>& kinds) {
  std::vector<Runner> list;
  for (const Runner& runner : runners())
    if (!runner.needs_cuda && kinds.count(runner.compared_with) != 0) list.push_back(runner);
  for (const Form form : {Form::plain, Form::scripted}) REQUIRE(std::ranges::count(list, form, &Runner::form) > 0);
  return list;
}

TEST_CASE("Every kind of runners is compared with a reference of this file, or with another of its kind") {
  // layernorm bound computes no LSTM of another kind and has no backward; traces of resnets are resnet_test's.
  const std::set<std::string> known{"lstm",    "simple",          "vl_lstm",  "layernorm", "layernorm_decom",
                                    "dropout", "layernorm bound", "resnet18", "resnet50"};
  for (const Runner& runner : runners()) {
    INFO(runner.name << " of kind " << runner.compared_with);
    const auto of_its_kind = std::ranges::count(runners(), runner.compared_with, &Runner::compared_with);
    REQUIRE((known.contains(runner.compared_with) || of_its_kind > 1));
  }
}

TEST_CASE("Outputs, states and gradients of LSTM runners are torch::nn::LSTM's") {
  const std::vector<Runner> list = on_the_cpu({"lstm", "simple"});
  for (const Runner& runner : list) {
    require_equal(runner, small());
    require_equal(runner, small(1, 4));  // hidden = input
    if (runner.max_layers > 1) require_equal(runner, small(3));
  }
}

TEST_CASE("Sequences of many lengths go through the LSTM as they would alone") {
  const std::vector<Runner> list = on_the_cpu({"vl_lstm"});
  for (const Runner& runner : list) {
    INFO(runner.name);
    Sizes sizes = small();
    sizes.sequence = 1;  // plays no part
    ModelDef model = in_float64(runner.make(sizes));
    const std::vector<at::Tensor> sequences = model.inputs[0].toTensorVector();
    REQUIRE(sequences.size() == 3);
    torch::nn::LSTM module = module_of(model.step.parameters, sizes);
    const at::Tensor start = start_of(model);
    std::vector<at::Tensor> outputs, hys, cys;
    std::int64_t longest = 0;
    for (std::int64_t b = 0; b < 3; ++b) {
      const at::Tensor& sequence = sequences[static_cast<std::size_t>(b)];
      const std::int64_t length = sequence.size(0);
      REQUIRE(length >= 30);
      REQUIRE(length < 100);
      longest = std::max(longest, length);
      const auto state = [&](std::size_t input) { return model.inputs[input].toTensor().narrow(1, b, 1); };
      const auto [output, states] = module->forward(sequence.unsqueeze(1), std::tuple(state(1), state(2)));
      output.backward(start.narrow(0, 0, length).narrow(1, b, 1));
      outputs.push_back(output.detach().squeeze(1));
      hys.push_back(std::get<0>(states).detach());
      cys.push_back(std::get<1>(states).detach());
    }
    at::Tensor padded = at::zeros({longest, 3, sizes.hidden}, at::kDouble);
    for (std::int64_t b = 0; b < 3; ++b) {
      const at::Tensor& output = outputs[static_cast<std::size_t>(b)];
      padded.narrow(0, 0, output.size(0)).select(1, b).copy_(output);
    }
    for (int step = 0; step < 3; ++step) {
      const StepResult actual = one_step(model);
      REQUIRE(difference(actual.answer, {padded, at::cat(hys, 1), at::cat(cys, 1)}, tolerance) == "");
      REQUIRE(difference(actual.gradients, gradients(module), tolerance) == "");
    }
  }
}

TEST_CASE("Layer-norm LSTMs are what their formula says") {
  const std::vector<Runner> list = on_the_cpu({"layernorm", "layernorm_decom"});
  for (const Runner& runner : list) {
    INFO(runner.name);
    const double epsilon = runner.compared_with == "layernorm" ? 1e-5 : 0;
    ModelDef model = in_float64(runner.make(small()));
    // w_ih, w_hh, then weight and bias of the norms of input, hidden and cell; ones and zeros would hide a mix-up.
    REQUIRE(model.step.parameters.size() == 8);
    std::vector<at::Tensor> w;
    {
      const at::NoGradGuard no_gradients;
      for (std::size_t i = 2; i < 8; ++i) model.step.parameters[i].add_(at::randn_like(model.step.parameters[i]));
    }
    for (const at::Tensor& parameter : model.step.parameters)
      w.push_back(parameter.detach().clone().set_requires_grad(true));
    const auto norm = [&](const at::Tensor& x, std::size_t first) {
      const at::Tensor centred = x - x.mean({-1}, true);
      return centred / (centred * centred).mean({-1}, true).add(epsilon).sqrt() * w[first] + w[first + 1];
    };
    at::Tensor h = model.inputs[1].toTensor(), c = model.inputs[2].toTensor();
    std::vector<at::Tensor> outputs;
    for (const at::Tensor& x : model.inputs[0].toTensor().unbind(0)) {
      const at::Tensor gates = norm(at::mm(x, w[0].t()), 2) + norm(at::mm(h, w[1].t()), 4);
      const auto gate = [&](int index) { return gates.narrow(1, 6 * index, 6); };
      c = norm(at::sigmoid(gate(1)) * c + at::sigmoid(gate(0)) * at::tanh(gate(2)), 6);
      h = at::sigmoid(gate(3)) * at::tanh(c);
      outputs.push_back(h);
    }
    const at::Tensor output = at::stack(outputs);
    output.backward(start_of(model));
    std::vector<at::Tensor> expected;
    double largest = 1;  // gradients of normal weights are far above 1
    for (const at::Tensor& leaf : w) {
      expected.push_back(leaf.grad());
      largest = std::max(largest, leaf.grad().abs().max().item<double>());
    }
    for (int step = 0; step < 3; ++step) {
      const StepResult actual = one_step(model);
      REQUIRE(difference(actual.answer, {output.detach(), h.detach().unsqueeze(0), c.detach().unsqueeze(0)},
                         tolerance) == "");
      REQUIRE(difference(actual.gradients, expected, tolerance * largest) == "");
    }
  }
}

TEST_CASE("Dropout LSTMs are one-layer LSTMs with dropout between them") {
  const std::vector<Runner> list = on_the_cpu({"dropout"});
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  for (const Runner& runner : list) {
    for (const std::int64_t layers : {1, 3}) {
      INFO(runner.name << ", " << layers << " layers");
      ModelDef model = in_float64(runner.make(small(layers)));
      std::vector<torch::nn::LSTM> modules;
      const at::Tensor start = start_of(model);
      at::Tensor output = model.inputs[0].toTensor();
      std::vector<at::Tensor> hys, cys, expected;
      generator.set_current_seed(3);
      for (std::int64_t layer = 0; layer < layers; ++layer) {
        Sizes sizes = small();
        if (layer > 0) sizes.input = sizes.hidden;
        const auto index = static_cast<std::size_t>(layer);
        const auto first = model.step.parameters.begin() + 4 * layer;
        modules.push_back(module_of({first, first + 4}, sizes));
        const auto state = [&](std::size_t which) {
          return model.inputs[1 + 2 * index + which].toTensor().unsqueeze(0);
        };
        std::tuple<at::Tensor, at::Tensor> states;
        std::tie(output, states) = modules.back()->forward(output, std::tuple(state(0), state(1)));
        if (layer < layers - 1) output = at::dropout(output, 0.4, true);
        hys.push_back(std::get<0>(states).detach());
        cys.push_back(std::get<1>(states).detach());
      }
      output.backward(start);
      for (torch::nn::LSTM& module : modules)
        for (const at::Tensor& gradient : gradients(module)) expected.push_back(gradient);
      for (int step = 0; step < 3; ++step) {
        INFO("step " << step);
        generator.set_current_seed(3);
        const StepResult actual = one_step(model);
        REQUIRE(difference(actual.answer, {output.detach(), at::cat(hys), at::cat(cys)}, tolerance) == "");
        REQUIRE(difference(actual.gradients, expected, tolerance) == "");
      }
    }
  }
}

TEST_CASE("The bound for layer norm is an LSTM whose cell state was normalised once per step; it has no backward") {
  const Sizes sizes = small();
  ModelDef model = find_runner("cudnn_layernorm").make(sizes);  // its norm has weights of its own, of float32
  REQUIRE_FALSE(model.step.backward);
  LstmData data;
  data.weights = model.step.parameters;
  torch::nn::LSTM module = nn_lstm(data, sizes);
  const auto [output, states] =
      module->forward(model.inputs[0].toTensor(), std::tuple(model.inputs[1].toTensor(), model.inputs[2].toTensor()));
  at::Tensor cy = std::get<1>(states);
  for (int step = 0; step < 6; ++step) cy = at::layer_norm(cy, {6});
  REQUIRE(difference(one_step(model).answer, {output.detach(), std::get<0>(states).detach(), cy.detach()}, 1e-5) == "");
}

TEST_CASE("The scripted text says what the plain functions say") {
  for (const char* name : {"", "_premul", "_premul_bias", "_simple", "_multilayer", "_layernorm", "_layernorm_decom"}) {
    INFO(name);
    ModelDef scripted = in_float64(find_runner(std::string("jit") + name).make(small()));
    ModelDef plain = in_float64(find_runner(std::string("py") + name).make(small()));
    const StepResult expected = one_step(plain);
    double largest = 1;
    for (const at::Tensor& gradient : expected.gradients)
      largest = std::max(largest, gradient.abs().max().item<double>());
    for (int step = 0; step < 3; ++step) {
      const StepResult actual = one_step(scripted);
      REQUIRE(difference(actual.answer, expected.answer, tolerance) == "");
      REQUIRE(difference(actual.gradients, expected.gradients, tolerance * largest) == "");
    }
  }
}

}  // namespace
