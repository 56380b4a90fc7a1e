// The values that PyTorch's benchmark programs take from outputs: a loss, and everything that two runs are compared by.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Dict.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>

#include "benches/models/run/instance.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

namespace detail {

/// The elements of a tuple or a list, the values of a dict; throws for anything else, as Python's NotImplementedError.
[[nodiscard]] inline std::vector<c10::IValue> parts_of(const c10::IValue& value, const char* who) {
  std::vector<c10::IValue> parts;
  if (value.isTuple()) {
    for (const auto& element : value.toTupleRef().elements()) parts.push_back(element);
  } else if (value.isList()) {
    for (const c10::IValue& element : value.toListRef()) parts.push_back(element);
  } else if (value.isGenericDict()) {
    for (const auto& entry : value.toGenericDict()) parts.push_back(entry.value());
  } else {
    throw Error(std::string(who) + ": expected tensors, or tuples, lists and dicts of them, found " + value.tagKind());
  }
  return parts;
}

}  // namespace detail

/// torch._dynamo.testing.reduce_to_scalar_loss: the mean of all elements, by sum / numel, which works for integers,
/// too; of several outputs the mean of their losses. Throws Error for None and for numbers.
[[nodiscard]] inline at::Tensor reduce_to_scalar_loss(const c10::IValue& output) {
  if (output.isTensor() && output.toTensor().defined())
    return output.toTensor().sum() / static_cast<double>(output.toTensor().numel());
  const auto parts = detail::parts_of(output, "reduce_to_scalar_loss");
  if (parts.empty()) throw Error("reduce_to_scalar_loss: expected at least one tensor, found none");
  at::Tensor sum;
  for (const auto& part : parts) {
    const at::Tensor loss = reduce_to_scalar_loss(part);
    sum = sum.defined() ? sum + loss : loss;
  }
  return sum / static_cast<double>(parts.size());
}

/// torch._dynamo.testing.requires_bwd_pass: whether there is anything to go backward from. Throws Error for dicts,
/// strings and the like.
[[nodiscard]] inline bool requires_bwd_pass(const c10::IValue& output) {
  if (output.isTensor()) return output.toTensor().defined() && output.toTensor().requires_grad();
  if (output.isNone() || output.isInt()) return false;
  if (output.isGenericDict()) throw Error("requires_bwd_pass: expected tensors, tuples or lists, found a dict");
  for (const auto& part : detail::parts_of(output, "requires_bwd_pass"))
    if (requires_bwd_pass(part)) return true;
  return false;
}

/// The loss of an instance. Throws Error unless it is a scalar that depends on a parameter.
[[nodiscard]] inline at::Tensor loss_of(const Instance& instance, const c10::IValue& output) {
  const at::Tensor loss = instance.model.loss ? instance.model.loss(output) : reduce_to_scalar_loss(output);
  if (!loss.defined()) throw Error(instance.name() + ": expected a loss that is a scalar, found an undefined tensor");
  if (loss.dim() != 0)
    throw Error(instance.name() + ": expected a loss that is a scalar, found a tensor with sizes " +
                c10::str(loss.sizes()));
  return loss;
}

/// torch._dynamo.testing.collect_results: prediction, loss, gradients and values of parameters by name, buffers by
/// name, then the gradient of each input. A list or a tuple has a gradient for each tensor in it, a dict has none. A
/// parameter without a gradient counts as one of zeros. All are copies.
[[nodiscard]] inline c10::IValue collect_results(const Instance& instance, c10::IValue prediction,
                                                 const at::Tensor& loss, const torch::jit::Stack& inputs) {
  const at::NoGradGuard values_alone;
  const auto copy = [](const at::Tensor& tensor) { return tensor.detach().clone(); };
  c10::Dict<std::string, at::Tensor> gradients, parameters, buffers;
  for (const auto& parameter : instance.model.module->named_parameters()) {
    const at::Tensor& gradient = parameter.value().grad();
    gradients.insert(parameter.key() + ".grad",
                     gradient.defined() ? copy(gradient) : at::zeros_like(parameter.value()));
    parameters.insert(parameter.key(), copy(parameter.value()));
  }
  for (const auto& buffer : instance.model.module->named_buffers()) buffers.insert(buffer.key(), copy(buffer.value()));
  std::vector<c10::IValue> results{std::move(prediction), c10::IValue(copy(loss)), std::move(gradients),
                                   std::move(parameters), std::move(buffers)};
  const auto add_gradient = [&](const c10::IValue& value) {
    if (!value.isTensor()) return;
    const at::Tensor& gradient = value.toTensor().grad();
    results.push_back(gradient.defined() ? c10::IValue(copy(gradient)) : c10::IValue());
  };
  for (const auto& input : inputs) {
    if (input.isTuple() || input.isList()) {
      for (const auto& part : detail::parts_of(input, "collect_results")) add_gradient(part);
    } else {
      add_gradient(input);
    }
  }
  return c10::ivalue::Tuple::create(std::move(results));
}

}  // namespace pace::benches::models
