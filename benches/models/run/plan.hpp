// Makes the parts of a model's run from settings and lists: device, batch size, precision, mode.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "benches/models/config.hpp"
#include "benches/models/model.hpp"
#include "benches/models/row.hpp"
#include "benches/models/run/backend.hpp"
#include "benches/models/run/instance.hpp"
#include "benches/models/run/outcome.hpp"
#include "benches/models/run/precision.hpp"
#include "benches/models/settings.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models {

/// The batch size of accuracy runs, unless an option asks for another one.
[[nodiscard]] inline std::int64_t accuracy_batch_size(Suite suite, Mode mode) {
  const bool invariance = mode == Mode::batch_invariance;
  switch (suite) {
    case Suite::torchbench:
    case Suite::own:
      return invariance ? 8 : 4;
    case Suite::huggingface:
      return invariance ? 8 : 1;
    case Suite::timm:
      return invariance ? 16 : 8;
  }
  return 1;
}

/// As torchbench: the requested one. In accuracy runs the suite's, unless inputs are given. Otherwise the list's, or
/// else the model's own. In accuracy runs never above the list's bound. A model with a fixed batch size has its own.
[[nodiscard]] inline std::int64_t choose_batch_size(const ModelEntry& entry, const Settings& settings,
                                                    const Config& config) {
  const std::int64_t own = settings.training ? entry.training_batch : entry.inference_batch;
  if (config.dont_change_batch_size.contains(entry.name)) return own;
  const bool accuracy = settings.mode == Mode::accuracy || settings.mode == Mode::batch_invariance;
  const auto& listed = settings.training ? config.batch_size.training : config.batch_size.inference;
  std::int64_t size = own;
  if (settings.batch_size)
    size = *settings.batch_size;
  else if (accuracy && !entry.inputs_are_given)
    size = accuracy_batch_size(entry.suite, settings.mode);
  else if (const auto found = listed.find(entry.name); found != listed.end())
    size = found->second;
  if (size < 1)
    throw InputError({}, entry.name + ": expected a batch size of at least 1, found " + std::to_string(size));
  const auto bound = config.accuracy.max_batch_size.find(entry.name);
  if (accuracy && bound != config.accuracy.max_batch_size.end()) size = std::min(size, bound->second);
  return size;
}

/// As torchbench: only training has the module in train mode, unless evaluation is asked for or it is an accuracy run
/// of torchbench's own models. Models that cannot evaluate keep train mode.
[[nodiscard]] inline bool choose_train_mode(const ModelEntry& entry, const Settings& settings, const Config& config) {
  if (!settings.training) return false;
  const bool accuracy =
      settings.mode == Mode::accuracy && (entry.suite == Suite::torchbench || entry.suite == Suite::own);
  return !settings.use_eval_mode.value_or(accuracy) || config.only_training.contains(entry.name);
}

struct RunPlan {
  InstanceOptions instance;
  /// For a person; empty: nothing to say.
  std::string warning;
};

/// Throws InputError for settings that make no sense, DeviceMissing where there is no such device.
[[nodiscard]] inline RunPlan plan_run(const ModelEntry& entry, const Settings& settings, const Config& config) {
  if (settings.backends.empty()) throw InputError({}, "--backend: expected at least one, found none");
  for (const auto& backend : settings.backends) (void)find_backend(backend);
  (void)package_options(settings);
  const auto precision = choose_precision(entry.name, settings.precision, settings.amp_dtype, config);
  RunPlan plan{.instance = {.size = settings.small ? ModelSize::small : ModelSize::published,
                            .batch_size = choose_batch_size(entry, settings, config),
                            .device = find_device(settings.device),
                            .cast = precision.cast,
                            .autocast = precision.autocast,
                            .training = settings.training,
                            .train_mode = choose_train_mode(entry, settings, config),
                            .channels_last = settings.channels_last,
                            .seed = settings.seed},
               .warning = precision.warning};
  return plan;
}

/// A scaler where gradients are scaled: with autocast, if asked for.
[[nodiscard]] inline std::shared_ptr<GradScaler> make_scaler(const RunPlan& plan, const Settings& settings) {
  if (!settings.grad_scaler || !plan.instance.autocast || !settings.training) return nullptr;
  return std::make_shared<GradScaler>(plan.instance.device);
}

/// The row of a back end, with nothing in it yet.
[[nodiscard]] inline Row make_row(const ModelEntry& entry, const Settings& settings, std::int64_t batch_size,
                                  std::string backend) {
  Row row;
  row.device = settings.device;
  row.name = entry.name;
  row.batch_size = batch_size;
  row.backend = std::move(backend);
  return row;
}

}  // namespace pace::benches::models
