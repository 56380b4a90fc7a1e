// Loading a model: made once, and run once in eager before anything is made of it.
#pragma once

#include <optional>
#include <string>

#include <ATen/core/grad_mode.h>

#include "benches/files/aot/rand_strided.hpp"
#include "benches/models/model.hpp"
#include "benches/models/run/instance.hpp"
#include "benches/models/run/outcome.hpp"
#include "benches/models/run/plan.hpp"
#include "benches/models/run/step.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

struct Loaded {
  std::optional<Instance> instance = {};
  /// Why there is none: `model_fail_to_load` for a model that does not exist so, `eager_fail_to_run` else.
  std::string status = {}, message = {};
};

/// Throws InputError for wrong settings; everything else is a status.
[[nodiscard]] inline Loaded load_model(const ModelEntry& entry, const InstanceOptions& options) {
  Loaded loaded;
  try {
    Instance instance = make_instance(entry, options);
    const StateKept kept(instance);
    const at::NoGradGuard values_alone;
    benches::aot::reset_rng_state();
    const c10::IValue output = forward_of(instance, instance.model.inputs);
    if (options.training) (void)loss_of(instance, output);
    synchronise(options.device);
    loaded.instance.emplace(instance);
  } catch (const InputError&) {
    throw;
  } catch (const FileRefused& refusal) {
    loaded = {.status = "model_fail_to_load", .message = refusal.what()};
  } catch (...) {
    const Failed failed = current_failed();
    loaded.status = failed.not_implemented ? "model_fail_to_load" : "eager_fail_to_run";
    loaded.message = failed.message;
  }
  return loaded;
}

}  // namespace pace::benches::models
