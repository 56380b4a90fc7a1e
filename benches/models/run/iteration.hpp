// One iteration as torchbench makes it: with the optimiser, on copies of the inputs, from gradients that are not there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "benches/models/run/backend.hpp"
#include "benches/models/run/collect.hpp"
#include "benches/models/run/compiled_update.hpp"
#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/optimizer.hpp"
#include "benches/models/run/step.hpp"
#include "pace/check/clone.hpp"
#include "pace/training/graphed_step.hpp"

namespace pace::benches::models {

/// A runnable with all that an iteration needs.
struct Iterating {
  Runnable runnable;
  std::shared_ptr<GradScaler> scaler = {};
  /// The optimiser's step, as a CUDA graph where the runnable is one. Empty: there is no optimiser.
  std::function<void()> update = {};
  /// The size of the optimiser's state.
  std::int64_t optimizer_bytes = 0;
};

namespace detail {

/// Makes `update` the step of the optimiser. Its costs are added to the runnable's.
inline void take_compiled(Iterating& iterating, CompiledUpdate update) {
  Runnable& runnable = iterating.runnable;
  iterating.optimizer_bytes = update.state_bytes;
  iterating.update = std::move(update.step);
  runnable.load_seconds += update.load_seconds;
  if (!update.compiling) return;
  if (!runnable.compiling) runnable.compiling.emplace();
  runnable.compiling->optimizer = update.compiling->whole;
  runnable.compiling->whole += update.compiling->whole;
}

}  // namespace detail

/// Gives `iterating` the optimiser of optimizer_options(). Where the settings ask for it, a back end that is compiled
/// has Adam's step compiled, too. The step is a CUDA graph if the step before it is one. The optimiser's code may
/// prevent that, and so does a scaler: it reads on the host whether gradients are finite. Throws Unsupported with the
/// reason if the optimiser cannot be compiled.
inline void add_optimizer(Iterating& iterating, const Config& config, const Settings& settings,
                          double rate = learning_rate) {
  Runnable& runnable = iterating.runnable;
  const auto options = optimizer_options(runnable.instance, config, settings, rate);
  if (!options) return;
  const std::string name = "the optimiser (" + name_of_optimizer(*options, settings) + ") ";
  const bool compiles = settings.compile_optimizer && runnable.compiled;
  if (compiles && compiles_update(*options)) {
    aot::DefinitionStore store(package_options(settings));
    detail::take_compiled(iterating, compile_update(runnable.instance, *options, store));
    runnable.notes.push_back(name + "is compiled into a package of its own");
  } else {
    const auto updater = std::make_shared<Updater>(trained_parameters(runnable.instance), *options);
    iterating.optimizer_bytes = updater->state_bytes();
    iterating.update = [updater] { updater->step(); };
    if (compiles) runnable.notes.push_back(name + "is not compiled: torchbench compiles no step of SGD, either");
  }
  const c10::Device device = runnable.instance.options.device;
  if (!runnable.fixed_addresses || !device.is_cuda()) return;
  const bool capturable = is_capturable(*options), graph = capturable && !iterating.scaler;
  if (graph) iterating.update = graphed_update(device, std::move(iterating.update));
  runnable.notes.push_back(name + "is " +
                           (graph        ? "a CUDA graph, as the step is"
                            : capturable ? "in no CUDA graph, since the scaler waits for the GPU before it"
                                         : "in no CUDA graph, since it counts its steps on the host"));
}

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

/// The steps after a backward: gradients are unscaled, the optimiser makes its step unless one of them is not finite.
inline void update_parameters(const std::vector<at::Tensor>& parameters, const std::function<void()>& update,
                              GradScaler* scaler) {
  const bool finite = scaler == nullptr || scaler->unscale(parameters);
  if (update && finite) update();
  if (scaler != nullptr) scaler->update();
}

/// Returns the model's answer in inference. In training, returns collect_results() of it if `collect`, else None.
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
  update_parameters(step.parameters, iterating.update, iterating.scaler.get());
  if (!collect) return {};
  const c10::IValue answered = answer(output);
  const at::NoGradGuard values_alone;
  // The next step overwrites the results of a CUDA graph.
  c10::IValue predictions;
  if (answered.isTuple()) predictions = check::clone_ivalue(answered.toTupleRef().elements().at(1));
  return collect_results(runnable.instance, std::move(predictions), detail::loss_in(answered), own);
}

/// torchbench's run_n_iterations. Returns the last result. Throws InputError unless `iterations` is at least 1.
[[nodiscard]] inline c10::IValue run_iterations(Iterating& iterating, std::int64_t iterations) {
  if (iterations < 1) throw InputError({}, "--iterations: expected at least 1, found " + std::to_string(iterations));
  const torch::jit::Stack inputs = iterating.runnable.instance.model.inputs;
  for (std::int64_t i = 1; i < iterations; ++i) (void)iterate(iterating, inputs, false);
  return iterate(iterating, inputs, true);
}

}  // namespace pace::benches::models
