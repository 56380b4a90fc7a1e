// Training steps in comparisons: forward and backward timed apart, gradients checked.
//
//   #include <pace/pace.hpp>
//   #include <pace/training/training.hpp>
//
//   const auto result = pace::compare("my_model", x, target)
//       .baseline("eager", pace::training_step(model->parameters(), [&](at::Tensor& x, at::Tensor& target) {
//         return torch::mse_loss(model->forward(x), target);
//       }))
//       .candidate("fused", pace::training_step(fused->parameters(), ...))
//       .run();
//   CHECK_THAT(result.in_phase("backward")["fused"], pace::SpeedupAtLeast(1.2));
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/ivalue.hpp"
#include "pace/subject/callable.hpp"
#include "pace/training/gradient.hpp"
#include "pace/training/implementation.hpp"
#include "pace/training/step.hpp"

namespace pace {

/// Result of training_step(), which converts to a TrainingStep of the operands of its comparison.
template <class F>
struct TrainingOf {
  std::vector<at::Tensor> parameters;  ///< as TrainingStep::parameters
  F forward;                           ///< called with the operands as lvalues; returns a loss, or outputs

  /// Returns a TrainingStep whose backward starts from the first output, with a gradient from OutputGradient.
  template <class... Operands>
  operator TrainingStep<Operands...>() const {  // NOLINT: this is what it is for
    static_assert(
        std::is_invocable_v<F&, Operands&...>,
        "pace: the forward of a training step must be callable with the operands of pace::compare, as lvalues");
    return {.forward = [forward = forward](Operands&... operands) mutable { return to_ivalue(forward(operands...)); },
            .parameters = parameters,
            .backward_setup = OutputGradient(),
            .backward = run_backward};
  }
};

/// Returns a training step without the optimiser, for a comparison; with_optimizer() of optimizer.hpp adds one.
///
/// `forward` takes the operands and returns a loss (a scalar), or one or several outputs. The first output then gets a
/// fixed normal gradient. The backward adds to the gradients of `parameters`. We set these to 0 before each step, and
/// compare them in order with the other implementations'. Each implementation needs its own parameters, with equal
/// values.
template <class F>
[[nodiscard]] TrainingOf<std::decay_t<F>> training_step(std::vector<at::Tensor> parameters, F&& forward) {
  return {std::move(parameters), std::forward<F>(forward)};
}

namespace detail {

template <class F, class... Operands>
struct ImplementationOf<TrainingOf<F>, Operands...> {
  [[nodiscard]] static std::unique_ptr<Implementation> make(const TrainingOf<F>& step, const OperandSets& operands) {
    return std::make_unique<TrainingImplementation>(any_step<Operands...>(step), operands);
  }
  [[nodiscard]] static bool has_no_function(const TrainingOf<F>& step) { return is_null(step.forward); }
  static std::vector<std::string> phases() { return training_phases(); }
};

}  // namespace detail
}  // namespace pace
