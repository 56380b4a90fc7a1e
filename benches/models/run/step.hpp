// An instance as a step: forward (with the loss, when training) and backward, in its precision.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros_like.h>

#include "benches/files/aot/model_step.hpp"
#include "benches/models/run/autocast.hpp"
#include "benches/models/run/collect.hpp"
#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/instance.hpp"
#include "benches/models/run/optimizer.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/training/gradient.hpp"

namespace pace::benches::models {

/// The model's answer, in its precision, under the caller's grad mode.
[[nodiscard]] inline c10::IValue forward_of(const Instance& instance, const torch::jit::Stack& inputs) {
  std::optional<Autocast> autocast;
  if (instance.options.autocast) autocast.emplace(instance.options.device.type(), *instance.options.autocast);
  return instance.model.forward(inputs);
}

/// The answer of a training step.
enum class StepAnswer {
  /// A scalar.
  loss,
  /// A tuple of the loss and a list of the model's other outputs, without a graph.
  loss_and_predictions
};

namespace detail {

/// The tensors of a prediction. Leaves out the loss if the model returns it itself.
[[nodiscard]] inline std::vector<at::Tensor> predictions_beside(const at::Tensor& loss, const c10::IValue& prediction) {
  std::vector<at::Tensor> predictions;
  for (const auto& tensor : check::tensors_of(prediction))
    if (!tensor.is_same(loss)) predictions.push_back(tensor.detach());
  return predictions;
}

/// The loss within the result of a training step's forward.
[[nodiscard]] inline at::Tensor loss_in(const c10::IValue& output) {
  return (output.isTuple() ? output.toTupleRef().elements().at(0) : output).toTensor();
}

}  // namespace detail

/// The model itself. In training, its forward returns the form that `answer` names, and the backward starts from the
/// loss. With a scaler, it starts from the scale. In inference, the step returns the model's answer.
[[nodiscard]] inline aot::ModelStep eager_step(const Instance& instance, const std::shared_ptr<GradScaler>& scaler = {},
                                               StepAnswer answer = StepAnswer::loss) {
  aot::ModelStep step{.inputs = instance.model.inputs, .step = {}, .buffers = fixed_tensors(instance)};
  step.step.parameters = trained_parameters(instance);
  if (!instance.options.training) {
    step.step.forward = [instance](torch::jit::Stack& inputs) {
      const at::NoGradGuard values_alone;
      return forward_of(instance, inputs);
    };
    return step;
  }
  if (step.step.parameters.empty()) throw Unsupported(instance.name() + " has no parameters to train");
  step.step.forward = [instance, answer](torch::jit::Stack& inputs) -> c10::IValue {
    std::optional<Autocast> autocast;
    if (instance.options.autocast) autocast.emplace(instance.options.device.type(), *instance.options.autocast);
    const c10::IValue prediction = instance.model.forward(inputs);
    at::Tensor loss = loss_of(instance, prediction);
    if (answer == StepAnswer::loss) return loss;
    auto predictions = detail::predictions_beside(loss, prediction);
    return c10::ivalue::Tuple::create({c10::IValue(std::move(loss)), c10::IValue(std::move(predictions))});
  };
  step.step.backward_setup = [name = instance.name(), scaler](const c10::IValue& output) -> c10::IValue {
    const at::Tensor loss = detail::loss_in(output);
    if (!loss.requires_grad()) throw Error(name + ": its loss does not depend on any parameter that is trained");
    return c10::ivalue::Tuple::create({loss, scaler ? scaler->gradient_for(loss) : at::Tensor()});
  };
  step.step.backward = run_backward;
  return step;
}

/// The gradient that starts a compiled backward of such a step.
[[nodiscard]] inline GradientOf gradient_of_loss(const std::shared_ptr<GradScaler>& scaler) {
  if (!scaler) return gradient_of();
  return [scaler](const at::Tensor& loss) { return scaler->gradient_for(loss); };
}

/// All gradients of a step in one vector, in float32. A gradient that is only rounding weighs little in it, such as the
/// gradient of a bias in front of a batch norm.
[[nodiscard]] inline std::vector<at::Tensor> gradients_as_one(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard values_alone;
  std::vector<at::Tensor> flat;
  for (const auto& parameter : parameters) {
    const at::Tensor& gradient = parameter.grad();
    flat.push_back((gradient.defined() ? gradient : at::zeros_like(parameter)).reshape(-1).to(at::kFloat));
  }
  return {at::cat(flat)};
}

}  // namespace pace::benches::models
