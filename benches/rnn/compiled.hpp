// A runner's step as AOTInductor's code: the plain one is traced once, and compiled as forward and backward.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>

#include "benches/rnn/model_def.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/core/error.hpp"
#include "pace/subject/definition_store.hpp"
#include "pace/subject/training_package.hpp"
#include "pace/training/compiled_step.hpp"
#include "pace/training/gradient.hpp"

namespace pace::rnn {

namespace detail {

/// `like` with its tensors replaced by the next ones of `tensors`, in order.
[[nodiscard]] inline c10::IValue rebuild(const c10::IValue& like, const std::vector<at::Tensor>& tensors,
                                         std::size_t& next) {
  if (like.isTensor()) return tensors.at(next++);
  if (like.isTuple()) {
    std::vector<c10::IValue> elements;
    for (const auto& element : like.toTupleRef().elements()) elements.push_back(rebuild(element, tensors, next));
    return c10::ivalue::Tuple::create(std::move(elements));
  }
  if (like.isTensorList()) {
    std::vector<at::Tensor> elements;
    for (std::size_t i = 0; i < like.toTensorList().size(); ++i) elements.push_back(tensors.at(next++));
    return elements;
  }
  throw Error("a compiled step returns tensors, tuples and lists of them; found " + like.tagKind());
}

}  // namespace detail

/// A model that is to be compiled, and what its step is put together from afterwards.
class CompiledModel {
 public:
  /// Runs the model's forward twice, once to learn what it returns and once traced. Throws Refused with the reason if
  /// that cannot be compiled.
  CompiledModel(const std::string& name, ModelDef model, std::optional<std::uint64_t> seed)
      : model_(std::move(model)), gradient_(seed ? OutputGradient(*seed) : OutputGradient()), traced_(trace(name)) {}

  [[nodiscard]] subject::PackageRequest request() const {
    return {&traced_, model_.step.backward ? subject::PackageKind::training : subject::PackageKind::inference};
  }

  /// Compiles what is not there yet. Throws Refused with the reason if it cannot be.
  [[nodiscard]] ModelDef open(subject::DefinitionStore& store) {
    ModelDef compiled = model_;
    if (model_.step.backward) {
      auto package = std::make_shared<subject::TrainingPackage>(subject::TrainingPackage::open(store, traced_));
      compiled.step = training_step(std::move(package), model_.step.parameters,
                                    [gradient = gradient_](const at::Tensor& output) { return gradient.of(output); },
                                    traced_.differentiated);
      if (!model_.buffers.empty())
        compiled.step.forward = [inner = std::move(compiled.step.forward), buffers = model_.buffers](Stack& inputs) {
          Stack operands = inputs;
          operands.insert(operands.end(), buffers.begin(), buffers.end());
          return inner(operands);
        };
    } else {
      auto package = std::make_shared<subject::InferencePackage>(subject::InferencePackage::open(store, traced_));
      compiled.step.forward = [package, parameters = model_.step.parameters,
                               buffers = model_.buffers](Stack& inputs) -> c10::IValue {
        std::vector<at::Tensor> operands = parameters;
        for (const auto& tensor : tensors_of(inputs)) operands.push_back(tensor);
        operands.insert(operands.end(), buffers.begin(), buffers.end());
        const auto outputs = package->run(operands);
        return c10::ivalue::Tuple::create(std::vector<c10::IValue>(outputs.begin(), outputs.end()));
      };
    }
    compiled.step.gradients = model_.step.gradients;
    compiled.step.answer = [like = like_, answer = model_.step.answer](const c10::IValue& output) {
      std::size_t next = 0;
      const c10::IValue whole = detail::rebuild(like, check::tensors_of(output), next);
      return answer ? answer(whole) : whole;
    };
    return compiled;
  }

 private:
  [[nodiscard]] static std::vector<at::Tensor> tensors_of(const Stack& inputs) {
    std::vector<at::Tensor> tensors;
    for (const auto& input : inputs)
      for (auto& tensor : check::tensors_of(input)) tensors.push_back(std::move(tensor));
    return tensors;
  }

  [[nodiscard]] subject::Traced trace(const std::string& name) {
    subject::Definition definition;
    definition.name = name;
    definition.parameters = model_.step.parameters;
    definition.inputs = tensors_of(model_.inputs);
    definition.inputs.insert(definition.inputs.end(), model_.buffers.begin(), model_.buffers.end());
    const Stack like = model_.inputs;
    definition.forward = [&](const std::vector<at::Tensor>&, const std::vector<at::Tensor>& inputs) {
      Stack stack;
      std::size_t next = 0;
      for (const auto& input : like) stack.push_back(detail::rebuild(input, inputs, next));
      return check::tensors_of(model_.step.forward(stack));
    };
    definition.differentiated = {differentiated(name)};
    return subject::trace(definition);
  }

  /// Which of the tensors that forward returns the backward starts from. Learns what it returns, on the way.
  [[nodiscard]] std::size_t differentiated(const std::string& name) {
    const at::AutoGradMode with_gradients(true);
    Stack inputs = model_.inputs;
    const c10::IValue output = model_.step.forward(inputs);
    const auto outputs = check::tensors_of(output);
    std::size_t found = 0;
    if (model_.step.backward) {
      const at::Tensor start = model_.step.backward_setup(output).toTupleRef().elements()[0].toTensor();
      const auto same = [&](const at::Tensor& each) { return each.is_same(start); };
      found = static_cast<std::size_t>(std::ranges::find_if(outputs, same) - outputs.begin());
    }
    if (found == outputs.size())
      throw Refused(name + " cannot be compiled: its backward starts from what is made of several outputs");
    std::vector<at::Tensor> values;
    for (const auto& each : outputs) values.push_back(each.detach());
    std::size_t next = 0;
    like_ = detail::rebuild(output, values, next);
    return found;
  }

  ModelDef model_;
  OutputGradient gradient_;
  c10::IValue like_;
  subject::Traced traced_;
};

}  // namespace pace::rnn
