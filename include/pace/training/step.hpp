// TrainingStep: forward, backward and the code between them as functions that are timed apart.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>

namespace pace {

/// Training step of a model without the optimiser.
template <class... Operands>
struct TrainingStep {
  /// Timed: runs the model on the operands and returns its output.
  std::function<c10::IValue(Operands&...)> forward;
  /// Leaves that require gradients. We clear the gradients before each step and compare them after it. No two
  /// implementations may share a parameter, since both would write to its gradient.
  std::vector<at::Tensor> parameters = {};
  /// Untimed: converts the output of `forward` to the argument of `backward`. Empty: `backward` gets the output.
  std::function<c10::IValue(const c10::IValue& output)> backward_setup = {};
  /// Timed: adds to the gradients of `parameters`. Empty: no backward.
  std::function<void(const c10::IValue& prepared)> backward = {};
  /// Untimed: the part of the output to compare, in a form that all implementations have. Empty: all of it.
  std::function<c10::IValue(const c10::IValue& output)> answer = {};
  /// Untimed: the gradients to compare, in an order and in shapes that all implementations have. Empty: the gradients
  /// of `parameters`, in order; a missing one counts as zeros.
  std::function<std::vector<at::Tensor>()> gradients = {};
  /// Whether to remove the gradients of `parameters` before each step, as PyTorch's zero_grad does by default. The
  /// backward then allocates them and writes instead of adding. Otherwise we set them to 0 in place.
  bool set_to_none = false;
};

/// Training step with an update of its parameters, timed as a phase of its own.
template <class... Operands>
struct UpdatingStep : TrainingStep<Operands...> {
  /// Timed: called after the backward, such as an optimiser's step.
  std::function<void()> update = {};
  /// Untimed: called before each step. Resets the parameters, in place, and the state of the update to the same values
  /// each time. The updated `parameters` are then compared. Without it, outputs of the implementations drift apart if
  /// the update changes the next output, since their numbers of calls differ.
  std::function<void()> restore = {};
  /// Whether a CUDA graph of `update` does the same as a call. It must wait for nothing and read no changing number on
  /// the host; parameters, gradients and its state must keep their memory. graphed_step() then captures it.
  bool capturable = false;
};

namespace detail {

inline void remove_gradients(const std::vector<at::Tensor>& parameters) {
  for (const auto& parameter : parameters) parameter.mutable_grad().reset();
}

/// Sets the gradients of `parameters` to 0 in place, which keeps their addresses; undefined ones stay undefined.
inline void zero_gradients(const std::vector<at::Tensor>& parameters) {
  const at::NoGradGuard values_alone;
  for (const auto& parameter : parameters)
    if (parameter.grad().defined()) parameter.mutable_grad().zero_();
}

[[nodiscard]] inline std::vector<std::string> training_phases() { return {"forward", "backward"}; }
[[nodiscard]] inline std::vector<std::string> updating_phases() { return {"forward", "backward", "update"}; }

}  // namespace detail
}  // namespace pace
