// A training step that compiled code makes: forward and backward of a TrainingPackage.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "benches/files/aot/training_package.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/training/gradient.hpp"
#include "pace/training/step.hpp"

#if PACE_HAS_AOT_INDUCTOR

namespace pace::benches::aot {

namespace detail {

/// The shared state of one compiled step's parts.
class CompiledStep {
 public:
  CompiledStep(std::shared_ptr<TrainingPackage> package, std::vector<at::Tensor> parameters,
               std::vector<std::size_t> differentiated, GradientOf gradient_of)
      : package_(std::move(package)),
        parameters_(std::move(parameters)),
        differentiated_(std::move(differentiated)),
        gradient_of_(std::move(gradient_of)),
        operands_(parameters_) {}

  /// `inputs`: tensors, and lists, tuples and dicts of tensors, in order.
  [[nodiscard]] c10::IValue forward(const c10::Stack& inputs) {
    operands_.resize(parameters_.size());
    for (const c10::IValue& input : inputs)
      check::for_each_tensor(input, [this](const at::Tensor& tensor) { operands_.push_back(tensor); });
    auto [outputs, saved] = package_->forward(operands_);
    saved_ = std::move(saved);
    operands_.resize(parameters_.size());
    if (outputs.size() == 1) return std::move(outputs.front());
    return c10::ivalue::Tuple::create(std::vector<c10::IValue>(outputs.begin(), outputs.end()));
  }

  /// The gradients that the backward takes, as a list.
  [[nodiscard]] c10::IValue backward_setup(const c10::IValue& output) const {
    std::vector<at::Tensor> gradients;
    for (const std::size_t position : differentiated_)
      gradients.push_back(
          gradient_of_((output.isTuple() ? output.toTupleRef().elements()[position] : output).toTensor()));
    return package_->arrange(std::move(gradients));
  }

  void backward(const c10::IValue& gradients) {
    if (saved_.empty()) throw Error("a compiled training step: backward without a forward before it");
    const at::NoGradGuard values_alone;
    auto made = package_->backward(std::exchange(saved_, {}), gradients.toTensorVector());
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (!made[i].defined()) continue;
      at::Tensor& gradient = parameters_[i].mutable_grad();
      if (gradient.defined())
        gradient.add_(made[i]);
      else
        gradient = std::move(made[i]);
    }
  }

  [[nodiscard]] const std::vector<at::Tensor>& parameters() const noexcept { return parameters_; }

 private:
  std::shared_ptr<TrainingPackage> package_;
  std::vector<at::Tensor> parameters_;
  std::vector<std::size_t> differentiated_;
  GradientOf gradient_of_;
  std::vector<at::Tensor> operands_, saved_;
};

}  // namespace detail

/// The step's operand is a stack of the inputs that the definition had. `forward` returns the output, or a tuple of
/// them; they have no graph. Its `backward` belongs to the last forward, and frees the tensors that it saved. It adds
/// to the gradients of `parameters` as autograd does. `differentiated`: as in the definition, in ascending order.
[[nodiscard]] inline TrainingStep<c10::Stack> training_step(std::shared_ptr<TrainingPackage> package,
                                                            std::vector<at::Tensor> parameters, GradientOf gradient_of,
                                                            std::vector<std::size_t> differentiated = {0}) {
  const auto step = std::make_shared<detail::CompiledStep>(std::move(package), std::move(parameters),
                                                           std::move(differentiated), std::move(gradient_of));
  TrainingStep<c10::Stack> result;
  result.forward = [step](c10::Stack& inputs) { return step->forward(inputs); };
  result.parameters = step->parameters();
  result.backward_setup = [step](const c10::IValue& output) { return step->backward_setup(output); };
  result.backward = [step](const c10::IValue& gradients) { step->backward(gradients); };
  return result;
}

}  // namespace pace::benches::aot

#endif  // PACE_HAS_AOT_INDUCTOR
