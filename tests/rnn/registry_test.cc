// The list of runners: its entries, their random numbers, their refusals.
#include "benches/rnn/runners.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/randn_like.h>

#include "benches/files/aot/traced_model.hpp"
#include "benches/rnn/draw.hpp"
#include "benches/rnn/steps.hpp"
#include "pace/base/error.hpp"
#include "tests/rnn/one_step.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using namespace pace::benches::rnn;
using Catch::Matchers::ContainsSubstring;
using pace::test::difference;
using pace::test::one_step;
using pace::test::small;
using pace::test::start_of;

TEST_CASE("All of fastrnns' runners are there, once") {
  std::set<std::string> names;
  for (const Runner& runner : runners()) REQUIRE(names.insert(runner.name).second);
  for (const char* name : {"cudnn",
                           "cudnn_dropout",
                           "cudnn_layernorm",
                           "vl_cudnn",
                           "vl_jit",
                           "vl_py",
                           "aten",
                           "jit",
                           "py",
                           "jit_premul",
                           "jit_premul_bias",
                           "jit_simple",
                           "jit_multilayer",
                           "jit_layernorm",
                           "jit_layernorm_decom",
                           "jit_dropout",
                           "resnet18",
                           "resnet50",
                           "resnet18_jit",
                           "resnet50_jit"}) {
    INFO(name);
    REQUIRE(names.count(name) == 1);
  }
}

TEST_CASE(
    "A runner that needs a GPU names one of its kind that does not, and each kind has one reference on a device") {
  for (const Runner& runner : runners()) {
    INFO(runner.name);
    REQUIRE(std::set<std::string>{"lstm", "vl_lstm", "resnet"}.contains(runner.group));
    REQUIRE_FALSE(runner.compared_with.empty());
    if (runner.needs_cuda) {
      const Runner& other = find_runner(runner.without_cuda);
      REQUIRE_FALSE(other.needs_cuda);
      REQUIRE(other.compared_with == runner.compared_with);
    }
  }
  for (const char* device : {"cpu", "cuda"}) {
    std::map<std::string, std::vector<std::string>> leaders;
    std::map<std::string, int> largest;
    for (const Runner& runner : runners()) {
      const int rank = reference_rank(runner, c10::Device(device));
      if (rank == 0 || rank < largest[runner.compared_with]) continue;
      if (rank > largest[runner.compared_with]) leaders[runner.compared_with].clear();
      largest[runner.compared_with] = rank;
      leaders[runner.compared_with].push_back(runner.name);
    }
    for (const auto& [kind, names] : leaders) {
      INFO(device << ", kind " << kind);
      REQUIRE(names.size() == 1);
    }
  }
}

TEST_CASE("Runners are sorted by name, whatever the order in which the linker found them") {
  for (std::size_t i = 1; i < runners().size(); ++i) REQUIRE(runners()[i - 1].name < runners()[i].name);
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
    REQUIRE(at::equal(start_of(model), start_of(other)));
  }
}

TEST_CASE("seeds decide the values, and the default generator is left alone") {
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
  const at::Tensor first = start_of(model);
  REQUIRE(first.sizes() == at::IntArrayRef{6, 3, 6});
  REQUIRE(start_of(model).data_ptr() == first.data_ptr());
  // Not the numbers of x, which has the same seed.
  Sizes square = small(1, 4);
  ModelDef other = find_runner("py").make(square);
  REQUIRE_FALSE(at::equal(start_of(other), other.inputs[0].toTensor()));
}

Sizes of_original(std::int64_t layers = 1) {
  Sizes sizes = small(layers);
  sizes.original = true;
  sizes.seed.reset();
  return sizes;
}

TEST_CASE("As in fastrnns, the gradient to go back with is drawn for each step by the default generator") {
  for (const char* name : {"py", "jit_simple", "aten", "vl_py", "resnet18"}) {
    INFO(name);
    Sizes sizes = of_original();
    sizes.images = 2;
    sizes.image_side = 32;
    ModelDef model = find_runner(name).make(sizes);
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const c10::IValue output = model.step.forward(model.inputs);
    const auto start = [&] { return part(model.step.backward_setup(output), 1).toTensor(); };
    generator.set_current_seed(1);
    const at::Tensor first = start(), second = start();
    REQUIRE_FALSE(at::equal(first, second));
    generator.set_current_seed(1);
    REQUIRE(at::equal(start(), first));
    REQUIRE(at::equal(at::randn_like(second), second));
  }
}

TEST_CASE("As in fastrnns, layers beyond the one that a loop reads have weights that get no gradient") {
  for (const char* name : {"py", "jit", "jit_premul", "jit_premul_bias", "jit_simple", "vl_py"}) {
    INFO(name);
    ModelDef model = find_runner(name).make(of_original(2));
    REQUIRE(model.step.parameters.size() == 8);
    model.step.backward(model.step.backward_setup(model.step.forward(model.inputs)));
    for (std::size_t i = 0; i < 8; ++i) REQUIRE(model.step.parameters[i].grad().defined() == (i < 4));
  }
}

TEST_CASE("As in fastrnns, LSTMs with layer norm or dropout are made on a GPU alone") {
  const Sizes sizes = of_original(3);
  for (const char* name :
       {"jit_layernorm", "jit_layernorm_decom", "jit_dropout", "py_layernorm", "py_dropout", "cudnn_layernorm"}) {
    INFO(name);
    REQUIRE(find_runner(name).needs_cuda_in_original);
    REQUIRE_THROWS_AS(find_runner(name).make(sizes), pace::Unsupported);
    REQUIRE_THROWS_WITH(find_runner(name).make(sizes),
                        "--device: fastrnns makes " + std::string(name) +
                            " on a GPU, whatever the device is; expected cuda, found cpu");
    REQUIRE(find_runner(name).zeroed_once_in_original == (std::string(name) != "cudnn_layernorm"));
  }
  for (const char* name : {"jit", "py", "cudnn", "aten", "vl_jit", "resnet50"}) {
    INFO(name);
    REQUIRE_FALSE(find_runner(name).needs_cuda_in_original);
    REQUIRE_FALSE(find_runner(name).zeroed_once_in_original);
  }
}

TEST_CASE("Steps that are opened with copies have parameters, gradients and buffers of their own") {
  const at::Tensor weight = at::ones({2}).set_requires_grad(true), average = at::ones({2}), frozen = at::ones({2});
  weight.mutable_grad() = at::ones({2});
  pace::benches::aot::ModelStep model;
  model.step.parameters = {weight, frozen};
  model.buffers = {average};
  pace::benches::aot::copy_state(model);
  at::Tensor& copy = model.step.parameters[0];
  REQUIRE(at::equal(copy, weight));
  REQUIRE(copy.data_ptr() != weight.data_ptr());
  REQUIRE(copy.is_leaf());
  REQUIRE(copy.requires_grad());
  REQUIRE_FALSE(model.step.parameters[1].requires_grad());
  REQUIRE_FALSE(copy.grad().defined());
  copy.mul(3).sum().backward();
  model.buffers[0].add_(1);
  REQUIRE(at::equal(weight.grad(), at::ones({2})));
  REQUIRE(at::equal(average, at::ones({2})));
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

TEST_CASE("A runner refuses what it cannot take before anything runs") {
  Sizes two_layers = small(2);
  for (const Runner& runner : runners()) {
    if (runner.max_layers > 1 || runner.needs_cuda) continue;
    REQUIRE_THROWS_AS(runner.make(two_layers), pace::InputError);
    REQUIRE_THROWS_WITH(runner.make(two_layers),
                        ContainsSubstring("--numLayers: " + runner.name) && ContainsSubstring("expected 1, found 2"));
  }
  REQUIRE_NOTHROW(find_runner("jit_multilayer").make(two_layers));
  for (const Runner& runner : runners()) {
    if (!runner.needs_cuda) continue;
    REQUIRE_THROWS_AS(runner.make(small()), pace::Unsupported);
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
    REQUIRE_THROWS_WITH(find_runner("jit_premull"),
                        ContainsSubstring("'jit_premull'") && ContainsSubstring(runner.name));
}

}  // namespace
