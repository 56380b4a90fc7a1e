// The optimiser's step as compiled code: Adam over all parameters at once, as an AOTInductor package of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include "benches/files/aot/definition.hpp"
#include "benches/files/aot/definition_store.hpp"
#include "benches/files/aot/traced.hpp"
#include "benches/files/aot/training_package.hpp"
#include "benches/models/run/context_flags.hpp"
#include "benches/models/run/instance.hpp"
#include "benches/models/run/optimizer.hpp"
#include "pace/base/error.hpp"
#include "pace/training/optimizer.hpp"

namespace pace::benches::models {

/// Returns whether a package can hold the step of that optimiser. torchbench compiles Adam's step, but not SGD's.
[[nodiscard]] inline bool compiles_update(const OptimizerOptions& options) {
  return options.algorithm == OptimizerOptions::Algorithm::adam && options.code == OptimizerOptions::Code::foreach &&
         options.capturable;
}

/// The step of an optimiser of an instance's parameters, as a definition that a package is found by.
///
/// Its operands are the parameters, a gradient of each, and the optimiser's state. A gradient is laid out in memory as
/// its parameter, as autograd lays it out.
class TracedUpdate {
 public:
  /// Runs the step once, and undoes its writes. Throws Unsupported with the reason if it cannot be traced.
  TracedUpdate(const Instance& instance, const OptimizerOptions& options) : trained_(trained_parameters(instance)) {
    const at::NoGradGuard values_alone;
    const DefaultFlags flags;
    // Tensors on the same memory. Their gradients are set for the trace alone.
    for (const auto& parameter : trained_) parameters_.push_back(parameter.detach());
    updater_ = std::make_shared<Updater>(parameters_, options);
    aot::Definition definition;
    definition.name = instance.name() + "'s optimiser";
    definition.differentiated = {};
    std::vector<at::Tensor> gradients;
    for (auto& parameter : parameters_) gradients.push_back(parameter.mutable_grad() = at::zeros_like(parameter));
    definition.inputs = operands_with(gradients);
    definition.forward = [this](const auto&, const auto&) {
      updater_->step();
      // The number of steps: a definition returns something.
      return std::vector<at::Tensor>{updater_->state().back().clone()};
    };
    traced_ = aot::trace(definition);
    for (auto& parameter : parameters_) parameter.mutable_grad().reset();
  }

  [[nodiscard]] const aot::Traced& traced() const noexcept { return traced_; }

  /// Returns the operands of a step with the gradients that the parameters have now. Gradients of another layout are
  /// copied. A parameter without a gradient gets one of zeros, so that Adam does not change it.
  [[nodiscard]] std::vector<at::Tensor> operands() const {
    std::vector<at::Tensor> gradients;
    gradients.reserve(trained_.size());
    for (const auto& parameter : trained_) {
      const at::Tensor& gradient = parameter.grad();
      if (!gradient.defined())
        gradients.push_back(at::zeros_like(parameter));
      else if (gradient.strides() != parameter.strides())
        gradients.push_back(at::empty_like(parameter).copy_(gradient));
      else
        gradients.push_back(gradient);
    }
    return operands_with(gradients);
  }
  [[nodiscard]] std::int64_t state_bytes() const { return updater_->state_bytes(); }

 private:
  [[nodiscard]] std::vector<at::Tensor> operands_with(const std::vector<at::Tensor>& gradients) const {
    std::vector<at::Tensor> operands = parameters_;
    operands.insert(operands.end(), gradients.begin(), gradients.end());
    for (auto& tensor : updater_->state()) operands.push_back(std::move(tensor));
    return operands;
  }

  std::vector<at::Tensor> trained_, parameters_;
  std::shared_ptr<Updater> updater_;
  aot::Traced traced_;
};

/// An optimiser's step as a package, and the cost of compiling it.
struct CompiledUpdate {
  std::function<void()> step;
  /// Nothing where it was found compiled.
  std::optional<aot::CompileTimes> compiling = {};
  double load_seconds = 0;
  std::int64_t state_bytes = 0;
};

/// Opens the package of that step, and compiles it if it is not there yet. Throws Unsupported with the reason if it
/// cannot be compiled.
[[nodiscard]] inline CompiledUpdate compile_update(const Instance& instance, const OptimizerOptions& options,
                                                   aot::DefinitionStore& store) {
#if PACE_HAS_AOT_INDUCTOR
  const auto traced = std::make_shared<TracedUpdate>(instance, options);
  const auto package = std::make_shared<aot::InferencePackage>(aot::InferencePackage::open(store, traced->traced()));
  const auto step = [traced, package] {
    const at::NoGradGuard values_alone;
    (void)package->run(traced->operands());
  };
  return {step, package->costs().compile, package->costs().load, traced->state_bytes()};
#else
  static_cast<void>(options);
  static_cast<void>(store);
  throw Unsupported(instance.name() + ": this LibTorch has no loader for AOTInductor's packages");
#endif
}

}  // namespace pace::benches::models
