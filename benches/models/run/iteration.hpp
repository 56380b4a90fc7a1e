// One iteration as torchbench makes it: with the optimiser, on copies of the inputs, from gradients that are not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "benches/models/run/backend.hpp"
#include "benches/models/run/collect.hpp"
#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/optimizer.hpp"
#include "benches/models/run/step.hpp"
#include "pace/check/clone.hpp"

namespace pace::benches::models {

/// A runnable with all that an iteration needs.
struct Iterating {
  Runnable runnable;
  std::shared_ptr<torch::optim::Optimizer> optimizer = {};
  std::shared_ptr<GradScaler> scaler = {};
};

namespace detail {

/// The inputs that a call gets: those given, or, where addresses must stay, the runnable's own with equal values.
[[nodiscard]] inline torch::jit::Stack inputs_for(Runnable& runnable, const torch::jit::Stack& inputs) {
  if (!runnable.fixed_addresses) return inputs;
  const at::NoGradGuard values_alone;
  const auto own = tensors_of_inputs(runnable.model.inputs), given = tensors_of_inputs(inputs);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!own.at(i).is_same(given[i])) own[i].copy_(given[i]);
  return runnable.model.inputs;
}

inline void zero_all_gradients(Runnable& runnable) {
  if (runnable.fixed_addresses) {
    pace::detail::zero_gradients(runnable.model.step.parameters);
  } else {
    for (const auto& parameter : runnable.model.step.parameters) parameter.mutable_grad().reset();
  }
}

}  // namespace detail

/// What follows a backward: gradients are unscaled, the optimiser makes its step unless one of them is not finite.
inline void update_parameters(const std::vector<at::Tensor>& parameters, torch::optim::Optimizer* optimizer,
                              GradScaler* scaler) {
  const bool finite = scaler == nullptr || scaler->unscale(parameters);
  if (optimizer != nullptr && finite) optimizer->step();
  if (scaler != nullptr) scaler->update();
}

/// In inference what the model answers; in training what collect_results() makes of it if `collect`, else None.
inline c10::IValue iterate(Iterating& iterating, const torch::jit::Stack& inputs, bool collect) {
  Runnable& runnable = iterating.runnable;
  auto& step = runnable.model.step;
  const auto answer = [&](const c10::IValue& output) { return step.answer ? step.answer(output) : output; };
  if (!step.backward) {
    auto own = detail::inputs_for(runnable, inputs);
    const at::NoGradGuard values_alone;
    const c10::IValue output = answer(step.forward(own));
    return collect && runnable.fixed_addresses ? check::clone_ivalue(output) : output;
  }
  auto own = runnable.fixed_addresses ? detail::inputs_for(runnable, inputs) : clone_inputs(inputs);
  detail::zero_all_gradients(runnable);
  const at::AutoGradMode with_gradients(true);
  const c10::IValue output = step.forward(own);
  step.backward(step.backward_setup ? step.backward_setup(output) : output);
  update_parameters(step.parameters, iterating.optimizer.get(), iterating.scaler.get());
  if (!collect) return {};
  const c10::IValue answered = answer(output);
  const at::NoGradGuard values_alone;
  // Those of a CUDA graph are overwritten by the next step.
  c10::IValue predictions;
  if (answered.isTuple()) predictions = check::clone_ivalue(answered.toTupleRef().elements().at(1));
  return collect_results(runnable.instance, std::move(predictions), detail::loss_in(answered), own);
}

/// torchbench's run_n_iterations; what the last one returned. Throws InputError unless `iterations` is at least 1.
[[nodiscard]] inline c10::IValue run_iterations(Iterating& iterating, std::int64_t iterations) {
  if (iterations < 1) throw InputError({}, "--iterations: expected at least 1, found " + std::to_string(iterations));
  const torch::jit::Stack inputs = iterating.runnable.instance.model.inputs;
  for (std::int64_t i = 1; i < iterations; ++i) (void)iterate(iterating, inputs, false);
  return iterate(iterating, inputs, true);
}

}  // namespace pace::benches::models
