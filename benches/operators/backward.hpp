// Backward passes of operator calls: which tensors have gradients, and steps with a time for each pass.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/util/Exception.h>
#include <torch/csrc/autograd/autograd.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/options.hpp"
#include "pace/base/error.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/check/out_of_memory.hpp"
#include "pace/corpus/load.hpp"
#include "pace/training/gradient.hpp"
#include "pace/training/step.hpp"

namespace pace::benches::operators {

/// An operator has no backward pass, which is no fault of a back end.
class NoBackward : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

/// One backward pass of a call: the tensors that get gradients.
struct GradientCase {
  /// The suffix of the sample's name: `_bwdall`, `_bwd1`; empty if the sample has one such case.
  std::string suffix;
  /// Numbers of tensors of the call; empty: all that can have a gradient.
  std::vector<std::size_t> tensors;
};

/// Returns the parts of a sample that are cases of their own: one of a forward pass, else one for each choice of
/// gradients.
[[nodiscard]] inline std::vector<GradientCase> gradient_cases(const corpus::Sample& sample, Pass pass) {
  if (pass == Pass::forward) return {{}};
  const auto& marked = sample.declared.differentiated;
  if (marked.empty()) return {{}};
  std::vector<GradientCase> cases{{"_bwdall", marked}};
  for (std::size_t i = 0; i < marked.size(); ++i) cases.push_back({"_bwd" + std::to_string(i + 1), {marked[i]}});
  return cases;
}

/// Returns the numbers of the tensors of a call that can have a gradient: floating-point and complex ones that it does
/// not write to.
[[nodiscard]] inline std::vector<std::size_t> differentiable_tensors(const OperatorCall& call) {
  std::vector<std::size_t> found;
  const auto& written = call.mutated_tensors();
  for (std::size_t i = 0; i < call.tensors().size(); ++i) {
    const at::Tensor& tensor = call.tensors()[i];
    const bool has_values = tensor.is_floating_point() || tensor.is_complex();
    if (has_values && std::ranges::find(written, i) == written.end()) found.push_back(i);
  }
  return found;
}

/// Returns the call on leaves of the autograd graph. The leaves in `tensors` (empty: all that can) require gradients.
/// They share the memory of `call`'s tensors, which must not be inference tensors. Throws NoBackward for a call that
/// writes to its operands or has no such tensor. Throws InputError if a number in `tensors` names one that cannot have
/// a gradient.
[[nodiscard]] inline OperatorCall with_gradients(const OperatorCall& call, std::vector<std::size_t> tensors = {}) {
  if (call.schema().is_mutable())
    throw NoBackward(call.name() + " has no backward pass: it writes to its operands, and no leaf may be written to");
  const auto able = differentiable_tensors(call);
  for (const std::size_t each : tensors)
    if (std::ranges::find(able, each) == able.end())
      throw InputError({}, call.name() + ": auto_set names tensor " + std::to_string(each) +
                               ", which is not among the floating-point tensors of the call");
  if (tensors.empty()) tensors = able;
  if (tensors.empty()) throw NoBackward(call.name() + " has no backward pass: no operand is of a floating-point type");
  std::vector<at::Tensor> leaves;
  for (std::size_t i = 0; i < call.tensors().size(); ++i) {
    leaves.push_back(call.tensors()[i].detach());
    if (std::ranges::find(tensors, i) != tensors.end()) leaves.back().requires_grad_(true);
  }
  return call.with_tensors(std::move(leaves));
}

/// Returns the tensors of an output that can start a backward pass, in order.
[[nodiscard]] inline std::vector<at::Tensor> with_graph(const c10::IValue& output) {
  std::vector<at::Tensor> found;
  for (const auto& tensor : check::tensors_of(output))
    if (tensor.defined() && tensor.requires_grad()) found.push_back(tensor);
  return found;
}

/// One forward and one backward pass as functions with times of their own. The backward starts from all outputs that
/// have a graph, each times random numbers that `gradient` draws. It returns the gradients of the call's tensors that
/// require them. They are computed anew each time, and added to nothing.
[[nodiscard]] inline TrainingStep<std::vector<at::Tensor>> backward_step(std::shared_ptr<Executable> executable,
                                                                         OutputGradient gradient) {
  struct State {
    std::vector<at::Tensor> leaves, roots, factors, gradients;
  };
  const auto state = std::make_shared<State>();
  TrainingStep<std::vector<at::Tensor>> step;
  step.forward = [executable = std::move(executable), state](std::vector<at::Tensor>& tensors) {
    state->leaves.clear();
    for (const auto& tensor : tensors)
      if (tensor.requires_grad()) state->leaves.push_back(tensor);
    return executable->run(tensors);
  };
  step.backward_setup = [state, gradient = std::move(gradient)](const c10::IValue& output) {
    state->gradients.clear();
    state->roots = with_graph(output);
    state->factors.clear();
    for (const auto& root : state->roots) state->factors.push_back(gradient.of(root.detach()));
    if (state->roots.empty()) throw Error("no output has a graph that a backward pass can follow");
    return c10::IValue();
  };
  step.backward = [state](const c10::IValue& /*prepared*/) {
    state->gradients = torch::autograd::grad(state->roots, state->leaves, state->factors, /*retain_graph=*/std::nullopt,
                                             /*create_graph=*/false, /*allow_unused=*/true);
    state->roots.clear();
  };
  step.gradients = [state] {
    std::vector<at::Tensor> gradients;
    for (std::size_t i = 0; i < state->gradients.size(); ++i) {
      const at::Tensor& each = state->gradients[i];
      // The gradients of an embedding may be sparse.
      gradients.push_back(!each.defined()                  ? at::zeros_like(state->leaves[i])
                          : each.layout() == c10::kStrided ? each
                                                           : each.to_dense());
    }
    return gradients;
  };
  return step;
}

/// A call's backward pass fails, and its forward pass does not.
class BackwardFailed : public Unsupported {
 public:
  using Unsupported::Unsupported;
};

/// Makes one step, untimed. Throws BackwardFailed if no output has a graph, and for errors of the backward pass. Passes
/// on DeviceLost, out-of-memory errors, and errors of the forward pass.
inline void require_backward(const std::shared_ptr<Executable>& executable, const OperatorCall& call,
                             const std::string& name) {
  const at::AutoGradMode with_gradients(true);
  auto tensors = call.tensors();
  const auto step = backward_step(executable, OutputGradient());
  const auto output = step.forward(tensors);
  if (with_graph(output).empty())
    throw BackwardFailed(name + ": no output of " + call.name() + " has a graph that leads to its operands");
  try {
    step.backward(step.backward_setup(output));
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception& error) {
    if (check::means_out_of_memory(error)) throw;
    throw BackwardFailed(error.what());
  }
}

namespace detail {

/// Whether the call returns if no tensor requires gradients.
[[nodiscard]] inline bool runs_without_gradients(Executable& executable, const OperatorCall& call) {
  try {
    static_cast<void>(executable.run(call.tensors()));
    return true;
  } catch (const DeviceLost&) {
    throw;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace detail

/// Returns the call as with_gradients() does, for gradients that `backend` can compute. LibTorch may have no formula
/// for some tensors, or refuse them. Then only the tensors that work alone require gradients. Throws NoBackward with
/// LibTorch's reason if no tensor works, or if the ones that `tensors` names do not. Throws InputError as
/// with_gradients() does, and passes on the errors that require_backward() passes on.
[[nodiscard]] inline OperatorCall with_gradients_by(Backend& backend, const OperatorCall& call,
                                                    const std::vector<std::size_t>& tensors = {}) {
  const std::shared_ptr<Executable> executable = backend.prepare(call);
  std::string reason;
  const auto is_possible = [&](const OperatorCall& leaves) {
    try {
      require_backward(executable, leaves, backend.name());
      return true;
    } catch (const BackwardFailed& error) {
      if (reason.empty()) reason = error.what();
      return false;
    } catch (const c10::Error& error) {
      // Some operators refuse an operand that requires a gradient in their forward pass.
      if (check::means_out_of_memory(error) || !detail::runs_without_gradients(*executable, call)) throw;
      if (reason.empty()) reason = error.what_without_backtrace();
      return false;
    }
  };
  auto together = with_gradients(call, tensors);
  if (is_possible(together)) return together;
  if (tensors.empty()) {
    std::vector<std::size_t> alone;
    for (const std::size_t each : differentiable_tensors(call))
      if (is_possible(with_gradients(call, {each}))) alone.push_back(each);
    if (!alone.empty()) {
      auto leaves = with_gradients(call, alone);
      if (is_possible(leaves)) return leaves;
    }
  }
  throw NoBackward(call.name() + " has no backward pass: " + reason.substr(0, reason.find('\n')));
}

}  // namespace pace::benches::operators
