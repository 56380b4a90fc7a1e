// Back ends of whole models, by name: each derives its way to run from the one definition.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>

#include "benches/files/aot/definition_store.hpp"
#include "benches/files/aot/inductor_configs.hpp"
#include "benches/files/aot/model_step.hpp"
#include "benches/files/aot/package_record.hpp"
#include "benches/files/aot/tensor_metadata.hpp"
#include "benches/files/aot/traced_model.hpp"
#include "benches/models/run/context_flags.hpp"
#include "benches/models/run/dynamic_batch.hpp"
#include "benches/models/run/instance.hpp"
#include "benches/models/run/step.hpp"
#include "benches/models/run/warm_up.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/error.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/training/graphed_step.hpp"

namespace pace::benches::models {

/// One way to run an instance, ready to be called.
struct Runnable {
  /// Uses the parameters and buffers of `instance`, and writes to their gradients and values.
  Instance instance;
  aot::ModelStep model;
  /// The same tensors must be given again and again, since it remembers their addresses; and gradients must stay where
  /// they are.
  bool fixed_addresses = false;
  /// The times of compiling, if this process did that.
  std::optional<benches::aot::CompileTimes> compiling = {};
  double load_seconds = 0;
  /// Memory of a captured graph, at most at once while it was captured, in 1e9 bytes: calls take no more, and nothing
  /// else can have it.
  double captured_gigabytes = 0;
  /// Operators that were traced, and whether backward and CUDA graph are captured, in the place of dynamo's counters.
  std::int64_t calls_captured = 0;
  bool captured = false, backward_captured = false, compiled = false;
  /// The batches that it takes. Compilers take a one for a constant.
  BatchRange batches = {.low = 2};
  /// Something was folded into weights that its code holds.
  bool folded = false;
  std::vector<std::string> notes = {};
};

/// Inputs for making a back end.
struct MakeOptions {
  const Settings* settings = nullptr;
  std::shared_ptr<GradScaler> scaler = {};
};

struct ModelBackend {
  std::string name;
  /// Takes the instance over. Throws Unsupported with the reason where it cannot run it; other exceptions are failures.
  std::function<Runnable(Instance instance, const MakeOptions& options)> make;
};

namespace detail {

/// Runs that compare the answers of steps have the predictions, too; others spare back ends the outputs.
[[nodiscard]] inline StepAnswer answer_of(const MakeOptions& options) {
  const Mode mode = options.settings == nullptr ? Mode::performance : options.settings->mode;
  return mode == Mode::accuracy || mode == Mode::tolerance ? StepAnswer::loss_and_predictions : StepAnswer::loss;
}

[[nodiscard]] inline Runnable make_eager(Instance instance, const MakeOptions& options) {
  Runnable made{.instance = std::move(instance), .model = {}};
  made.model = eager_step(made.instance, options.scaler, answer_of(options));
  return made;
}

/// A definition, and whether it draws random numbers. Buffers have their values again afterwards.
struct TracedInstance {
  std::unique_ptr<aot::TracedModel> model;
  bool random = false;
};

[[nodiscard]] inline TracedInstance trace_instance(const Instance& instance, const MakeOptions& options) {
  const StateKept kept(instance);
  const auto before = pace::detail::random_state();
  TracedInstance traced;
  traced.model = std::make_unique<aot::TracedModel>(
      instance.name(), eager_step(instance, options.scaler, answer_of(options)), gradient_of_loss(options.scaler));
  const auto after = pace::detail::random_state();
  for (std::size_t i = 0; i < before.size(); ++i) traced.random = traced.random || !before[i].equal(after[i]);
  return traced;
}

inline void describe_capture(Runnable& made, const aot::TracedModel& traced) {
  made.captured = true;
  made.backward_captured = static_cast<bool>(made.model.step.backward);
  for (const auto* node : traced.traced().module.get_method("forward").graph()->nodes())
    made.calls_captured += node->kind().is_aten() ? 1 : 0;
}

[[nodiscard]] inline Runnable make_untraced(std::string_view backend, Instance instance, const MakeOptions& options);

[[nodiscard]] inline Runnable make_torchscript(Instance instance, const MakeOptions& options) {
  if (instance.model.by_backend) return make_untraced("torchscript", std::move(instance), options);
  const auto traced = trace_instance(instance, options);
  const auto began = std::chrono::steady_clock::now();
  auto opened = traced.model->open_script();
  Runnable made{.instance = std::move(instance), .model = std::move(opened.model)};
  made.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  describe_capture(made, *traced.model);
  if (options.settings->dynamic_batch)
    check_other_batch(made.instance, made.model, made.instance.options.batch_size + 1);
  return made;
}

}  // namespace detail

/// How packages are compiled and where they are kept, by the settings. Throws InputError for an option of Inductor that
/// is none.
[[nodiscard]] inline benches::aot::PackageOptions package_options(const Settings& settings) {
  auto options = benches::aot::definition_package_options();
  for (const auto& directory : settings.packages) options.directories.emplace_back(directory);
  if (settings.freezing) options.inductor["freezing"] = "true";
  for (const auto& config : settings.inductor_config)
    for (const auto& [name, value] : benches::aot::find_inductor_config(config).options) options.inductor[name] = value;
  return options;
}

namespace detail {

/// The data that finds a package, or compiles it.
struct PackageSource {
  TracedInstance traced;
  benches::aot::PackageOptions options;
  /// Whether the trace makes random operators LibTorch's.
  bool falls_back = false;
};

/// Inductor's own random numbers are others than eager's. So that outputs can be compared at all, random operators of a
/// definition are compiled as calls of LibTorch's, unless someone says otherwise. They keep the definition's order: to
/// save memory Inductor would have the dropouts of T5's decoder draw before the encoder's last ones.
[[nodiscard]] inline PackageSource package_source(const Instance& instance, const MakeOptions& options) {
  const bool any_batch = options.settings->dynamic_batch;
  if (options.settings->freezing && instance.options.training)
    throw Unsupported(
        "--freezing does not go with training; why: trained parameters are no constants; try: --inference");
  if (any_batch && instance.options.training)
    throw Unsupported(
        "forward and backward exchange tensors of sizes that are known; --dynamic-batch-only needs --inference");
  if (any_batch && instance.options.batch_size < 2)
    throw Unsupported(
        "a batch of one is compiled as a constant; --dynamic-batch-only needs a --batch-size of at least 2");
  const DefaultFlags flags;
  PackageSource source{.traced = trace_instance(instance, options), .options = package_options(*options.settings)};
  source.falls_back = source.traced.random && !source.options.inductor.contains("fallback_random");
  if (source.falls_back) {
    source.options.inductor["fallback_random"] = "true";
    source.options.inductor.emplace("reorder_for_peak_memory", "false");
  }
  if (any_batch) source.traced.model->free_batch(batch_inputs(instance));
  if (options.settings->freezing) source.traced.model->freeze();
  return source;
}

/// A model that cannot be traced, as the back end of that name runs it.
[[nodiscard]] inline Runnable make_untraced(std::string_view backend, Instance instance, const MakeOptions& options) {
  const auto began = std::chrono::steady_clock::now();
  auto other = instance.model.by_backend(backend, package_options(*options.settings));
  Runnable made{.instance = std::move(instance), .model = {}};
  made.model = eager_step(made.instance);
  made.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (other.compile_seconds) {
    made.compiling = {.whole = *other.compile_seconds};
    made.load_seconds = std::max(0.0, made.load_seconds - *other.compile_seconds);
  }
  made.model.step.forward = [forward = std::move(other.forward)](torch::jit::Stack& inputs) {
    const at::NoGradGuard values_alone;
    return forward(inputs);
  };
  made.notes = std::move(other.notes);
  if (!options.settings->dynamic_batch) return made;
  made.batches = other.batches;
  check_other_batch(made.instance, made.model, other_batch(made.instance.options.batch_size, made.batches));
  return made;
}

[[nodiscard]] inline Runnable make_aot_inductor(Instance instance, const MakeOptions& options) {
  if (instance.model.by_backend) return make_untraced("aot_inductor", std::move(instance), options);
  const auto source = package_source(instance, options);
  const auto& traced = source.traced;
  benches::aot::DefinitionStore store(source.options);
  auto opened = traced.model->open_package(store);
  Runnable made{.instance = std::move(instance), .model = std::move(opened.model)};
  made.compiling = opened.costs.compile;
  made.load_seconds = opened.costs.load;
  made.compiled = true;
  describe_capture(made, *traced.model);
  if (source.falls_back) made.notes.push_back("compiled with fallback_random, since it draws random numbers");
  made.folded = opened.folded > 0;
  if (options.settings->freezing)
    made.notes.push_back(
        "compiled with freezing: parameters are constants of its code, where changes of them have no effect" +
        (made.folded ? "; folded into weights: " + std::to_string(opened.folded) : std::string()));
  if (opened.batch) {
    made.batches = {.low = opened.batch->low, .high = opened.batch->high};
    check_other_batch(made.instance, made.model, other_batch(made.instance.options.batch_size, made.batches));
  }
  return made;
}

/// The data that finds a program, or exports it. Inductor's options are none of it.
[[nodiscard]] inline PackageSource program_source(const Instance& instance, const MakeOptions& options) {
  if (instance.options.training)
    throw Unsupported("not implemented: an exported program here is a forward alone; nativert needs --inference");
  if (options.settings->dynamic_batch)
    throw Unsupported(
        "not implemented: programs are exported for one size of batch; --dynamic-batch-only needs another back end");
  const DefaultFlags flags;
  PackageSource source{.traced = trace_instance(instance, options), .options = package_options(*options.settings)};
  source.options.inductor.clear();
  return source;
}

[[nodiscard]] inline Runnable make_nativert(Instance instance, const MakeOptions& options) {
  if (instance.model.by_backend) return make_untraced("nativert", std::move(instance), options);
  const auto source = program_source(instance, options);
  benches::aot::DefinitionStore store(source.options);
  auto opened = source.traced.model->open_exported(store);
  Runnable made{.instance = std::move(instance), .model = std::move(opened.model)};
  made.compiling = opened.costs.compile;
  made.load_seconds = opened.costs.load;
  describe_capture(made, *source.traced.model);
  return made;
}

/// The step that `make` makes, in CUDA graphs. Captures now, on the instance's own inputs. Then the first call changes
/// nothing that a count could find.
[[nodiscard]] inline Runnable make_captured(Runnable (*make)(Instance, const MakeOptions&), Instance instance,
                                            const MakeOptions& options) {
  const c10::Device device = instance.options.device;
  // Before something is compiled.
  require_graphs_on(device);
  if (options.settings->dynamic_batch)
    throw Unsupported("a CUDA graph has the batch of its capture; --dynamic-batch-only needs another back end");
  const StateKept kept(instance);
  Runnable made = make(std::move(instance), options);
  made.model.step = graphed_step(device, std::move(made.model.step));
  made.fixed_addresses = true;
  made.captured = true;
  made.backward_captured = static_cast<bool>(made.model.step.backward);
  const PeakMemory memory(device);
  const auto began = std::chrono::steady_clock::now();
  (void)made.model.step.forward(made.model.inputs);
  made.load_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (device.is_cuda()) made.captured_gigabytes = memory.gigabytes(0);
  return made;
}

}  // namespace detail

/// All back ends: `built_in_backends`, and those that a program adds.
[[nodiscard]] inline std::vector<ModelBackend>& model_backends() {
  const auto captured = [](Runnable (*make)(Instance, const MakeOptions&)) {
    return [make](Instance instance, const MakeOptions& options) {
      return detail::make_captured(make, std::move(instance), options);
    };
  };
  static std::vector<ModelBackend> backends = {{"eager", detail::make_eager},
                                               {"torchscript", detail::make_torchscript},
                                               {"cuda_graph", captured(detail::make_eager)},
                                               {"torchscript_cuda_graph", captured(detail::make_torchscript)},
                                               {"aot_inductor", detail::make_aot_inductor},
                                               {"aot_inductor_cuda_graph", captured(detail::make_aot_inductor)},
                                               {"nativert", detail::make_nativert}};
  return backends;
}

/// Throws InputError with all names.
[[nodiscard]] inline const ModelBackend& find_backend(std::string_view name) {
  std::string known;
  for (const auto& backend : model_backends()) {
    if (backend.name == name) return backend;
    known += (known.empty() ? "" : ", ") + backend.name;
  }
  throw InputError({}, "no back end is called '" + std::string(name) + "'; expected one of " + known);
}

}  // namespace pace::benches::models
