// TrainingStep: the forward, the backward and the code between them as functions that are timed apart.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>

namespace pace {

/// A training step of a model without the optimiser, as functions that are timed apart.
template <class... Operands>
struct TrainingStep {
  /// Timed: runs the model on the operands and returns its output.
  std::function<c10::IValue(Operands&...)> forward;
  /// Leaves that require gradients, which are zeroed before each step and compared after it. They belong to this step
  /// alone, so that two implementations never write to one gradient.
  std::vector<at::Tensor> parameters = {};
  /// Untimed: converts the output of `forward` to the argument of `backward`. Empty: `backward` gets the output.
  std::function<c10::IValue(const c10::IValue& output)> backward_setup = {};
  /// Timed: adds to the gradients of `parameters`. Empty: there is no backward.
  std::function<void(const c10::IValue& prepared)> backward = {};
  /// Untimed: the part of the output that is compared with other implementations', in a form that all of them have.
  /// Empty: all of it.
  std::function<c10::IValue(const c10::IValue& output)> answer = {};
  /// Untimed: the gradients that are compared, in an order and in shapes that all implementations have. Empty: those of
  /// `parameters`, in order; a parameter without one counts as zeros.
  std::function<std::vector<at::Tensor>()> gradients = {};
  /// Whether the gradients of `parameters` are taken away before each step, as PyTorch's zero_grad does by default, so
  /// that the backward allocates them and writes instead of adding. Otherwise they are set to 0 in place.
  bool set_to_none = false;
};

/// A training step with an update of its parameters, which is timed as a phase of its own.
template <class... Operands>
struct UpdatingStep : TrainingStep<Operands...> {
  /// Timed: called after the backward, such as an optimiser's step.
  std::function<void()> update = {};
  /// Untimed: called before each step; sets the parameters, in place, and what the update keeps to the same values each
  /// time. With it, `parameters` are compared as the update leaves them. Without it, answers differ if the update
  /// changes the output of the next step, since implementations are not called equally often.
  std::function<void()> restore = {};
  /// Whether a CUDA graph of `update` does what a call of it does: it waits for nothing, it reads no number on the host
  /// that changes, and parameters, gradients and what it keeps stay where they are. graphed_step() captures it then.
  bool capturable = false;
};

namespace detail {

/// Takes the gradients of `parameters` away.
inline void remove_gradients(const std::vector<at::Tensor>& parameters) {
  for (const auto& parameter : parameters) parameter.mutable_grad().reset();
}

/// Sets the gradients of `parameters` to 0 in place, so that their addresses stay; undefined gradients stay undefined.
inline void zero_gradients(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard values_alone;
  for (const auto& parameter : parameters)
    if (parameter.grad().defined()) parameter.mutable_grad().zero_();
}

/// The phases of each iteration that makes a training step.
[[nodiscard]] inline std::vector<std::string> training_phases() { return {"forward", "backward"}; }
/// The phases of each iteration that makes an UpdatingStep.
[[nodiscard]] inline std::vector<std::string> updating_phases() { return {"forward", "backward", "update"}; }

}  // namespace detail
}  // namespace pace
