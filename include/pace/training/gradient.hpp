// OutputGradient: what a backward starts from where the model's output is no loss.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>

#include "pace/check/ivalue.hpp"
#include "pace/core/error.hpp"
#include "pace/core/random.hpp"

namespace pace {

/// Makes the gradient of an output, of the same shape; called between forward and backward.
using GradientOf = std::function<at::Tensor(const at::Tensor& output)>;

/// Gradients of outputs: normal, drawn once for each shape by a generator of their own, and kept. So all
/// implementations start from equal ones, no other random numbers are disturbed, and a CUDA graph finds them in place.
/// Copies share what they have drawn.
class OutputGradient {
 public:
  // Mixed: the numbers would be those of inputs drawn with the same seed, and a gradient that equals its input hides
  // mistakes.
  explicit OutputGradient(std::uint64_t seed = 17)
      : seed_(SplitMix64(seed)()), drawn_(std::make_shared<std::vector<at::Tensor>>()) {}

  /// Like `output` in shape, dtype and device.
  [[nodiscard]] at::Tensor of(const at::Tensor& output) const {
    for (const auto& each : *drawn_)
      if (each.sizes() == output.sizes() && each.dtype() == output.dtype() && each.device() == output.device())
        return each;
    const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed_);
    const auto drawn = at::randn(output.sizes(), generator, at::TensorOptions().dtype(at::kFloat));
    return drawn_->emplace_back(drawn.to(output.options()));
  }

  /// As TrainingStep::backward_setup: the first tensor in `output`, and its gradient unless it is a scalar, a loss.
  /// Throws Error if there is no tensor, or it needs no gradient.
  [[nodiscard]] c10::IValue operator()(const c10::IValue& output) const {
    const auto tensors = check::tensors_of(output);
    if (tensors.empty()) throw Error("a training step: forward returned no tensor to go backward from");
    const at::Tensor& first = tensors.front();
    if (!first.requires_grad())
      throw Error(
          "a training step: the first tensor that forward returned does not depend on any parameter that "
          "requires a gradient");
    return c10::ivalue::Tuple::create({first, first.dim() == 0 ? at::Tensor() : of(first)});
  }

 private:
  std::uint64_t seed_;
  std::shared_ptr<std::vector<at::Tensor>> drawn_;
};

/// What a compiled backward starts from: 1 for a loss, else what OutputGradient draws.
[[nodiscard]] inline GradientOf gradient_of(OutputGradient gradient = OutputGradient()) {
  return [gradient = std::move(gradient)](const at::Tensor& output) {
    return output.dim() == 0 ? at::ones_like(output) : gradient.of(output);
  };
}

/// As TrainingStep::backward: goes backward from what OutputGradient prepared, which is used up unless keep_graph() made
/// it.
inline void run_backward(const c10::IValue& prepared) {
  const auto& elements = prepared.toTupleRef().elements();
  const bool keep = elements.size() > 2 && elements[2].toBool();
  elements[0].toTensor().backward(elements[1].toTensor(), /*retain_graph=*/keep);
}

/// What OutputGradient prepared, as (output, gradient, true): run_backward() can go backward from it again and again.
/// Throws Error for anything but such a pair.
[[nodiscard]] inline c10::IValue keep_graph(const c10::IValue& prepared) {
  if (!prepared.isTuple() || prepared.toTupleRef().elements().size() != 2)
    throw Error("a training step: expected an output and its gradient to go backward from several times");
  const auto& elements = prepared.toTupleRef().elements();
  return c10::ivalue::Tuple::create({elements[0], elements[1], true});
}

}  // namespace pace
