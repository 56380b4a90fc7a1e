// Definitions of gradient.hpp.
#pragma once

#include "pace/training/gradient.hpp"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>

#include "pace/base/error.hpp"
#include "pace/base/random.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/subject/around_backward.hpp"

namespace pace {

// Mixed, since the numbers would otherwise equal inputs drawn with the same seed. A gradient that equals its input
// hides mistakes.
PACE_INLINE OutputGradient::OutputGradient(std::uint64_t seed)
    : seed_(SplitMix64(seed)()), drawn_(std::make_shared<std::vector<at::Tensor>>()) {}

PACE_INLINE at::Tensor OutputGradient::of(const at::Tensor& output) const {
  for (const auto& each : *drawn_)
    if (each.sizes() == output.sizes() && each.dtype() == output.dtype() && each.device() == output.device())
      return each;
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(seed_);
  const auto drawn = at::randn(output.sizes(), generator, at::TensorOptions().dtype(at::kFloat));
  return drawn_->emplace_back(drawn.to(output.options()));
}

PACE_INLINE c10::IValue OutputGradient::operator()(const c10::IValue& output) const {
  const auto tensors = check::tensors_of(output);
  if (tensors.empty()) throw Error("a training step: forward returned no tensor to go backward from");
  const at::Tensor& first = tensors.front();
  if (!first.requires_grad())
    throw Error(
        "a training step: the first tensor that forward returned does not depend on any parameter that "
        "requires a gradient");
  return c10::ivalue::Tuple::create({first, first.dim() == 0 ? at::Tensor() : of(first)});
}

PACE_INLINE GradientOf gradient_of(OutputGradient gradient) {
  return [gradient = std::move(gradient)](const at::Tensor& output) {
    return output.dim() == 0 ? at::ones_like(output) : gradient.of(output);
  };
}

PACE_INLINE void run_backward(const c10::IValue& prepared) {
  const auto& elements = prepared.toTupleRef().elements();
  const bool keep = elements.size() > 2 && elements[2].toBool();
  detail::run_around_backward([&] { elements[0].toTensor().backward(elements[1].toTensor(), /*retain_graph=*/keep); });
}

PACE_INLINE c10::IValue keep_graph(const c10::IValue& prepared) {
  if (!prepared.isTuple() || prepared.toTupleRef().elements().size() != 2)
    throw Error("a training step: expected an output and its gradient to go backward from several times");
  const auto& elements = prepared.toTupleRef().elements();
  return c10::ivalue::Tuple::create({elements[0], elements[1], true});
}

}  // namespace pace
