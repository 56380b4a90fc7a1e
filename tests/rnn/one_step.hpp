// A whole training step of a model, and its outputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/rnn/model_def.hpp"

namespace pace::test {

struct StepResult {
  std::vector<at::Tensor> answer, gradients;
};

/// All tensors of a value, in order.
inline void flatten(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
  if (value.isTensor()) {
    tensors.push_back(value.toTensor().detach());
  } else if (value.isTuple()) {
    for (const c10::IValue& item : value.toTupleRef().elements()) flatten(item, tensors);
  } else if (value.isTensorList() || value.isList()) {
    for (const c10::IValue& item : value.toList().vec()) flatten(item, tensors);
  }
}

/// The gradients are zeroed before, and stay as they are afterwards; the result's gradients are copies.
inline StepResult one_step(benches::rnn::ModelDef& model) {
  benches::rnn::Step& step = model.step;
  for (at::Tensor& parameter : step.parameters) parameter.mutable_grad() = at::Tensor();
  StepResult result;
  const c10::IValue output = step.forward(model.inputs);
  flatten(step.answer ? step.answer(output) : output, result.answer);
  if (!step.backward) return result;
  step.backward(step.backward_setup ? step.backward_setup(output) : output);
  for (const at::Tensor& parameter : step.parameters)
    result.gradients.push_back(parameter.grad().defined() ? parameter.grad().clone() : at::Tensor());
  return result;
}

/// Sequences of 6 in batches of 3.
inline benches::rnn::Sizes small(std::int64_t layers = 1, std::int64_t hidden = 6) {
  return {.sequence = 6, .layers = layers, .input = 4, .hidden = hidden, .batch = 3, .seed = 17};
}

/// The gradient that the model goes back with.
inline at::Tensor start_of(benches::rnn::ModelDef& model) {
  const c10::IValue prepared = model.step.backward_setup(model.step.forward(model.inputs));
  return prepared.toTupleRef().elements()[1].toTensor();
}

namespace detail {
inline c10::IValue value_in_float64(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().to(at::kDouble);
  if (!value.isTensorList()) return value;
  std::vector<at::Tensor> list = value.toTensorVector();
  for (at::Tensor& tensor : list) tensor = tensor.to(at::kDouble);
  return list;
}
}  // namespace detail

/// The model with the same numbers in float64. The effect of rounding on a recurrence depends on the processor (a layer
/// norm of six values may divide by nearly nothing). In float64 it stays far below the effect of any mistake.
inline benches::rnn::ModelDef in_float64(benches::rnn::ModelDef model) {
  for (at::Tensor& parameter : model.step.parameters) parameter.set_data(parameter.detach().to(at::kDouble));
  for (c10::IValue& input : model.inputs) input = detail::value_in_float64(input);
  return model;
}

/// Empty if each tensor equals its partner within `tolerance`, absolutely; else the difference.
inline std::string difference(const std::vector<at::Tensor>& actual, const std::vector<at::Tensor>& expected,
                              double tolerance) {
  if (actual.size() != expected.size())
    return std::to_string(actual.size()) + " tensors instead of " + std::to_string(expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const std::string which = "tensor " + std::to_string(i);
    if (!actual[i].defined() || !expected[i].defined()) return which + " is not there";
    if (actual[i].sizes() != expected[i].sizes()) return which + " has another shape";
    const double largest = (actual[i] - expected[i]).abs().max().item<double>();
    if (!(largest <= tolerance)) return which + " differs by " + std::to_string(largest);
  }
  return {};
}

}  // namespace pace::test
