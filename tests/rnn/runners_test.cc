// Every runner that runs on the CPU against torch::nn::LSTM with the same weights: outputs, states, gradients.
#include "benches/rnn/runners.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <ATen/ops/equal.h>
#include <ATen/ops/randn.h>

#include "benches/rnn/nn_lstm.hpp"
#include "benches/rnn/steps.hpp"
#include "pace/core/error.hpp"
#include "tests/rnn/one_step.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::rnn;
using pace::test::difference;
using pace::test::one_step;
using pace::test::StepResult;

constexpr double tolerance = 1e-5;

Sizes small(std::int64_t layers = 1, std::int64_t hidden = 6) {
  return {.sequence = 6, .layers = layers, .input = 4, .hidden = hidden, .batch = 3, .seed = 17};
}

/// torch::nn::LSTM with copies of the model's weights.
torch::nn::LSTM module_of(const ModelDef& model, const Sizes& sizes) {
  LstmData data;
  data.weights = model.step.parameters;
  return nn_lstm(data, sizes);
}

std::vector<at::Tensor> gradients(torch::nn::LSTM& module) {
  std::vector<at::Tensor> list;
  for (const at::Tensor& parameter : module->parameters()) list.push_back(parameter.grad());
  return list;
}

/// Kind "lstm", and "simple" if `last_state`. The gradient is the model's own.
StepResult reference(ModelDef& model, const Sizes& sizes, bool last_state) {
  torch::nn::LSTM module = module_of(model, sizes);
  const auto [output, states] =
      module->forward(model.inputs[0].toTensor(), std::tuple(model.inputs[1].toTensor(), model.inputs[2].toTensor()));
  const auto [hy, cy] = states;
  const at::Tensor from = last_state ? hy.select(0, 0) : output;
  const c10::IValue prepared = model.step.backward_setup(model.step.forward(model.inputs));
  from.backward(prepared.toTupleRef().elements()[1].toTensor());
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
  ModelDef model = runner.make(sizes);
  const StepResult expected = reference(model, sizes, runner.compared_with == "simple");
  // TorchScript profiles the first call and compiles at the second.
  for (int step = 0; step < 3; ++step) {
    INFO("step " << step);
    const StepResult actual = one_step(model);
    REQUIRE(difference(actual.answer, expected.answer, tolerance) == "");
    REQUIRE(difference(actual.gradients, expected.gradients, tolerance) == "");
  }
}

std::vector<Runner> on_the_cpu(const std::set<std::string>& kinds) {
  std::vector<Runner> list;
  for (const Runner& runner : runners())
    if (!runner.needs_cuda && kinds.count(runner.compared_with) != 0) list.push_back(runner);
  return list;
}

TEST_CASE("Outputs, states and gradients of LSTM runners are torch::nn::LSTM's") {
  const std::vector<Runner> list = on_the_cpu({"lstm", "simple"});
  REQUIRE(list.size() == 12);
  for (const Runner& runner : list) {
    require_equal(runner, small());
    require_equal(runner, small(1, 4));  // hidden = input
    if (runner.max_layers > 1) require_equal(runner, small(3));
  }
}

TEST_CASE("Equal seeds give all runners of a kind equal inputs and weights, of their own") {
  std::map<std::string, ModelDef> first_of_kind;
  for (const Runner& runner : runners()) {
    if (runner.needs_cuda || runner.group == "resnet") continue;
    INFO(runner.name);
    ModelDef model = runner.make(small());
    const auto [entry, is_first] = first_of_kind.emplace(runner.compared_with, model);
    if (is_first) continue;
    ModelDef& other = entry->second;
    std::vector<at::Tensor> inputs, expected;
    for (const c10::IValue& input : model.inputs) pace::test::flatten(input, inputs);
    for (const c10::IValue& input : other.inputs) pace::test::flatten(input, expected);
    REQUIRE(difference(inputs, expected, 0) == "");
    REQUIRE(difference(model.step.parameters, other.step.parameters, 0) == "");
    for (std::size_t i = 0; i < model.step.parameters.size(); ++i) {
      REQUIRE(model.step.parameters[i].is_leaf());
      REQUIRE(model.step.parameters[i].requires_grad());
      REQUIRE(model.step.parameters[i].data_ptr() != other.step.parameters[i].data_ptr());
    }
    if (!model.step.backward) continue;
    // ... and the same gradient to go back with.
    const auto start = [](ModelDef& each) {
      return each.step.backward_setup(each.step.forward(each.inputs)).toTupleRef().elements()[1].toTensor();
    };
    REQUIRE(at::equal(start(model), start(other)));
  }
}

TEST_CASE("Seeds decide what is drawn; the default generator is left alone") {
  Sizes sizes = small();
  const auto x = [&] { return find_runner("py").make(sizes).inputs[0].toTensor(); };
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  generator.set_current_seed(1);
  const at::Tensor undisturbed = at::randn({5});
  generator.set_current_seed(1);
  const at::Tensor seventeen = x();
  ModelDef model = find_runner("aten").make(sizes);
  one_step(model);
  REQUIRE(at::equal(at::randn({5}), undisturbed));
  sizes.seed = 0;
  const at::Tensor zero = x();
  REQUIRE_FALSE(at::equal(zero, seventeen));
  REQUIRE(at::equal(zero, x()));
  sizes.seed.reset();
  REQUIRE_FALSE(at::equal(x(), x()));
}

TEST_CASE("The gradient to go back with is drawn once, and kept") {
  ModelDef model = find_runner("py").make(small());
  const auto start = [&] {
    return model.step.backward_setup(model.step.forward(model.inputs)).toTupleRef().elements()[1].toTensor();
  };
  const at::Tensor first = start();
  REQUIRE(first.sizes() == at::IntArrayRef{6, 3, 6});
  REQUIRE(start().data_ptr() == first.data_ptr());
  // Not the numbers of x, which has the same seed.
  Sizes square = small(1, 4);
  ModelDef other = find_runner("py").make(square);
  const at::Tensor gradient =
      other.step.backward_setup(other.step.forward(other.inputs)).toTupleRef().elements()[1].toTensor();
  REQUIRE_FALSE(at::equal(gradient, other.inputs[0].toTensor()));
}

TEST_CASE("aten switches cuDNN off around forward and backward alone") {
  const auto enabled = [] { return at::globalContext().userEnabledCuDNN(); };
  REQUIRE(enabled());
  bool in_forward = true, in_backward = true;
  Step step;
  step.forward = [&](Stack&) { return in_forward = enabled(); };
  step.backward = [&](const c10::IValue&) { in_backward = enabled(); };
  disable_cudnn(step);
  Stack none;
  const c10::IValue output = step.forward(none);
  REQUIRE(enabled());
  step.backward(output);
  REQUIRE(enabled());
  REQUIRE_FALSE(in_forward);
  REQUIRE_FALSE(in_backward);

  // The runner has it: a hook of autograd's sees it off.
  in_backward = true;
  ModelDef model = find_runner("aten").make(small());
  for (const at::Tensor& parameter : model.step.parameters)
    parameter.register_hook([&](const at::Tensor&) { in_backward = enabled(); });
  one_step(model);
  REQUIRE_FALSE(in_backward);
}

using Catch::Matchers::ContainsSubstring;

TEST_CASE("A runner refuses what it cannot take before anything runs") {
  Sizes two_layers = small(2);
  for (const Runner& runner : runners()) {
    if (runner.max_layers > 1 || runner.needs_cuda) continue;
    REQUIRE_THROWS_AS(runner.make(two_layers), pace::InputError);
    REQUIRE_THROWS_WITH(runner.make(two_layers), ContainsSubstring("--numLayers: " + runner.name) &&
                                                     ContainsSubstring("expected 1, found 2"));
  }
  REQUIRE_NOTHROW(find_runner("jit_multilayer").make(two_layers));
  for (const Runner& runner : runners()) {
    if (!runner.needs_cuda) continue;
    REQUIRE_THROWS_AS(runner.make(small()), pace::Refused);
    REQUIRE_THROWS_WITH(runner.make(small()), ContainsSubstring(runner.name + " runs on a GPU only"));
  }
  REQUIRE_THROWS_WITH(find_runner("cudnn").make(small()), ContainsSubstring("aten is the same module"));

  const std::pair<std::int64_t Sizes::*, const char*> options[] = {{&Sizes::sequence, "--seqLength"},
                                                                   {&Sizes::layers, "--numLayers"},
                                                                   {&Sizes::input, "--inputSize"},
                                                                   {&Sizes::hidden, "--hiddenSize"},
                                                                   {&Sizes::batch, "--miniBatch"}};
  for (const auto& [member, option] : options) {
    for (const std::int64_t wrong : {0, -3}) {
      Sizes sizes = small();
      sizes.*member = wrong;
      for (const Runner& runner : runners()) {
        INFO(runner.name);
        REQUIRE_THROWS_AS(runner.make(sizes), pace::InputError);
        REQUIRE_THROWS_WITH(runner.make(sizes),
                            ContainsSubstring(option) && ContainsSubstring("found " + std::to_string(wrong)));
      }
    }
  }
}

TEST_CASE("An unknown runner is refused with the list") {
  REQUIRE_THROWS_AS(find_runner("jit_premull"), pace::InputError);
  for (const Runner& runner : runners())
    REQUIRE_THROWS_WITH(find_runner("jit_premull"), ContainsSubstring("'jit_premull'") && ContainsSubstring(runner.name));
}

}  // namespace
