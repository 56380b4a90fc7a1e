// Every model of the zoo: as large as published, and small enough for a CPU; the same by the same seed; trainable;
// traceable.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Functions.h>
#include <ATen/core/grad_mode.h>

#include "benches/files/aot/traced.hpp"
#include "benches/models/model.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

using namespace pace::benches::models;
using pace::check::tensors_of;

/// Seeds, so that later draws are the same in each run.
Model small_model(const ModelEntry& entry, std::int64_t batch_size = 3, std::uint64_t seed = 7) {
  at::manual_seed(seed);
  return entry.make({.size = ModelSize::small, .batch_size = batch_size});
}

std::vector<at::Tensor> outputs_of(const Model& model) { return tensors_of(model.forward(model.inputs)); }

at::Tensor loss_of(const Model& model) {
  const c10::IValue output = model.forward(model.inputs);
  return model.loss ? model.loss(output) : output.toTensor().mean();
}

bool finite(const at::Tensor& tensor) { return at::isfinite(tensor).all().item<bool>(); }

TEST_CASE("Models are registered under names of their own, and say what they are") {
  std::set<std::string> names;
  for (const ModelEntry& model : registered_models()) {
    INFO(model.name);
    REQUIRE(names.insert(model.name).second);
    REQUIRE_FALSE(model.family.empty());
    REQUIRE(model.training_batch > 0);
    REQUIRE(model.inference_batch > 0);
  }
  REQUIRE_FALSE(names.empty());
}

TEST_CASE("In the published size a model has the published number of parameters") {
  for (const ModelEntry& entry : registered_models()) {
    INFO(entry.name);
    const Model model = entry.make({.size = ModelSize::published, .batch_size = 1});
    std::int64_t count = 0;
    for (const at::Tensor& parameter : model.module->parameters()) count += parameter.numel();
    REQUIRE(entry.published_parameters.has_value());
    CHECK(count == *entry.published_parameters);
  }
}

TEST_CASE("A small model gives finite outputs and a gradient to every parameter") {
  for (const ModelEntry& entry : registered_models()) {
    INFO(entry.name);
    const Model model = small_model(entry);
    for (const bool training : {false, true}) {
      INFO((training ? "training" : "eval"));
      model.module->train(training);
      for (const at::Tensor& output : outputs_of(model)) REQUIRE(finite(output));
      const at::Tensor loss = loss_of(model);
      REQUIRE(loss.dim() == 0);
      model.module->zero_grad();
      loss.backward();
      std::size_t not_zero = 0;
      for (const auto& parameter : model.module->named_parameters()) {
        INFO(parameter.key());
        REQUIRE(parameter.value().grad().defined());
        REQUIRE(finite(parameter.value().grad()));
        not_zero += parameter.value().grad().any().item<bool>() ? 1 : 0;
      }
      CHECK(10 * not_zero >= 9 * model.module->parameters().size());
    }
  }
}

TEST_CASE("Equal seeds make equal models, other seeds others") {
  for (const ModelEntry& entry : registered_models()) {
    INFO(entry.name);
    const Model model = small_model(entry), again = small_model(entry);
    const Model other = small_model(entry, 3, 8);
    const auto parameters = model.module->parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i)
      REQUIRE(at::equal(parameters[i], again.module->parameters()[i]));
    for (const Model* each : {&model, &again, &other}) each->module->eval();
    for (std::size_t i = 0; i < model.inputs.size(); ++i) {
      REQUIRE(at::equal(model.inputs[i].toTensor(), again.inputs[i].toTensor()));
      REQUIRE_FALSE(at::equal(model.inputs[i].toTensor(), other.inputs[i].toTensor()));
    }
    const at::Tensor output = outputs_of(model).back();
    REQUIRE(at::equal(output, outputs_of(again).back()));
    // By inputs alone, too: nothing vanishes on the way.
    REQUIRE_FALSE(at::allclose(output, tensors_of(model.forward(other.inputs)).back(), 1e-3, 1e-6));
  }
}

TEST_CASE("The batch size is the first of all inputs and of the output") {
  for (const ModelEntry& entry : registered_models()) {
    for (const std::int64_t batch_size : {1, 5}) {
      INFO(entry.name << ", " << batch_size);
      const Model model = small_model(entry, batch_size);
      model.module->eval();
      for (const c10::IValue& input : model.inputs) REQUIRE(input.toTensor().size(0) == batch_size);
      REQUIRE(outputs_of(model).back().size(0) == batch_size);
    }
  }
}

pace::benches::aot::Definition definition_of(const Model& model, const std::string& name) {
  pace::benches::aot::Definition definition{
      .name = name, .parameters = model.module->parameters(), .inputs = model.module->buffers(), .forward = {}};
  const std::size_t buffers = definition.inputs.size();
  for (const c10::IValue& input : model.inputs) definition.inputs.push_back(input.toTensor());
  definition.forward = [model, buffers](const std::vector<at::Tensor>&, const std::vector<at::Tensor>& inputs) {
    return tensors_of(model.forward({inputs.begin() + static_cast<std::ptrdiff_t>(buffers), inputs.end()}));
  };
  return definition;
}

TEST_CASE("A traced model gives the model's outputs, for other inputs and for a larger batch, too") {
  for (const ModelEntry& entry : registered_models()) {
    INFO(entry.name);
    const Model model = small_model(entry), larger = small_model(entry, 5);
    model.module->eval();
    pace::benches::aot::Traced traced = pace::benches::aot::trace(definition_of(model, entry.name));
    const at::NoGradGuard no_gradients;
    for (const torch::jit::Stack& inputs : {model.inputs, larger.inputs}) {
      torch::jit::Stack operands;
      for (const at::Tensor& parameter : model.module->parameters()) operands.emplace_back(parameter);
      for (const at::Tensor& buffer : model.module->buffers()) operands.emplace_back(buffer);
      operands.insert(operands.end(), inputs.begin(), inputs.end());
      const std::vector<at::Tensor> expected = tensors_of(model.forward(inputs));
      const std::vector<at::Tensor> actual = tensors_of(traced.module.forward(operands));
      REQUIRE(actual.size() == expected.size());
      for (std::size_t i = 0; i < actual.size(); ++i) CHECK(at::allclose(actual[i], expected[i], 1e-5, 1e-6));
    }
  }
}

TEST_CASE("A traced model gives the model's outputs in training mode, where both draw the same random numbers") {
  for (const ModelEntry& entry : registered_models()) {
    INFO(entry.name);
    const Model model = small_model(entry);
    pace::benches::aot::Traced traced = pace::benches::aot::trace(definition_of(model, entry.name));
    torch::jit::Stack operands;
    for (const at::Tensor& parameter : model.module->parameters()) operands.emplace_back(parameter);
    for (const at::Tensor& buffer : model.module->buffers()) operands.emplace_back(buffer);
    operands.insert(operands.end(), model.inputs.begin(), model.inputs.end());
    at::manual_seed(3);
    const std::vector<at::Tensor> expected = outputs_of(model);
    at::manual_seed(3);
    const std::vector<at::Tensor> actual = tensors_of(traced.module.forward(operands));
    for (std::size_t i = 0; i < actual.size(); ++i) CHECK(at::allclose(actual[i], expected[i], 1e-4, 1e-5));
  }
}

TEST_CASE("A model that draws does so in training mode alone, and no other does") {
  for (const ModelEntry& entry : registered_models()) {
    INFO(entry.name);
    const Model model = small_model(entry);
    const at::Tensor first = outputs_of(model).back();
    REQUIRE(at::equal(first, outputs_of(model).back()) != entry.draws);
    model.module->eval();
    const at::Tensor evaluated = outputs_of(model).back();
    REQUIRE(at::equal(evaluated, outputs_of(model).back()));
  }
}

}  // namespace
