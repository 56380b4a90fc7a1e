// The modes beside performance and accuracy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/files/aot/rand_strided.hpp"
#include "benches/models/backend_names.hpp"
#include "benches/models/run/batch_invariance.hpp"
#include "benches/models/run/batch_size.hpp"
#include "benches/models/run/extras.hpp"
#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/iteration.hpp"
#include "benches/models/run/model_run.hpp"
#include "benches/models/run/throughput.hpp"
#include "benches/models/run/tolerance_mode.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::models::detail {

/// Against eager on a CPU, in the precision that the model was made in there.
[[nodiscard]] inline std::vector<Row> run_tolerance(const ModelRun& run, const Instance& base) {
  InstanceOptions options = base.options;
  options.device = c10::kCPU;
  const auto iterated = [&](const std::string& backend, const Instance& from, const InstanceOptions& as) {
    Iterating iterating{.runnable = find_backend(backend).make(copy_instance(from, as), {&run.settings, {}})};
    benches::aot::reset_rng_state();
    return run_iterations(iterating, 1);
  };
  std::optional<c10::IValue> reference;
  try {
    reference = iterated("eager", base, options);
  } catch (...) {
    return run.status_rows("eager_fail_to_run", current_failed().message);
  }
  std::vector<Row> rows;
  for (const auto& name : rows_of(run.settings)) {
    try {
      const auto errors = relative_errors(*reference, iterated(name, base, base.options));
      Row row = run.row(name);
      row.values = {{"max", errors.max}, {"mean", errors.mean}, {"std", errors.std}};
      rows.push_back(std::move(row));
    } catch (...) {
      const Failed failed = current_failed();
      rows.push_back(run.status_row(name, failed.out_of_memory ? "OOM" : "fail_to_run", failed.message));
    }
  }
  return rows;
}

[[nodiscard]] inline std::vector<Row> run_batch_invariance(const ModelRun& run, const Instance& base) {
  std::vector<Row> rows;
  for (const auto& name : rows_of(run.settings)) {
    const auto check = [&](const std::string& backend, std::string& message) {
      // Compiled code has the shapes that it was compiled for, so each size is made anew.
      const auto forward = [&](const torch::jit::Stack& inputs) {
        Instance part = copy_instance(base);
        part.model.inputs = clone_inputs(inputs);
        const auto given = tensors_of_inputs(inputs), own = tensors_of_inputs(base.model.inputs);
        for (std::size_t i = 0; i < given.size(); ++i)
          if (given[i].sizes() != own[i].sizes()) part.options.batch_size = given[i].size(0);
        Iterating iterating{.runnable = find_backend(backend).make(std::move(part), {&run.settings, {}})};
        return run_iterations(iterating, 1);
      };
      return batch_invariance(base.model.inputs, base.options.batch_size, forward, message);
    };
    std::string message;
    const auto status = check(name, message);
    if (status.starts_with("fail_batch_invariance") && name != "eager") {
      // Eager shows whether the back end is at fault. LibTorch's kernels may sum in an order that depends on the batch.
      // MKL's matrix products on a CPU do below four rows, and other code than oneDNN's convolves a single sample.
      std::string ignored;
      message += check("eager", ignored) == "pass" ? "; eager is batch invariant" : "; so does eager's";
    }
    rows.push_back(run.status_row(name, status, message));
  }
  return rows;
}

/// So many callers with a runnable each, all on one instance.
[[nodiscard]] inline std::vector<Row> run_throughput(const ModelRun& run, const Instance& base) {
  const auto& settings = run.settings;
  if (settings.training) throw InputError({}, "throughput is measured of inference; expected no --training");
  if (settings.callers < 1 || settings.repeat < 1)
    throw InputError({}, "throughput: expected at least one caller and one repeat");
  std::vector<Row> rows;
  for (const auto& name : rows_of(settings)) {
    try {
      if (any_has({name}, &BackendTraits::is_graph))
        throw Unsupported("a CUDA graph is launched by one caller at a time");
      std::vector<std::unique_ptr<Iterating>> iteratings;
      std::vector<std::function<void()>> callers;
      for (std::int64_t i = 0; i < settings.callers; ++i) {
        // Compiled code of a file has one caller at a time.
        Instance instance = base.model.by_backend ? copy_instance(base) : base;
        auto& mine = *iteratings.emplace_back(std::make_unique<Iterating>(
            Iterating{.runnable = find_backend(name).make(std::move(instance), {&settings, {}})}));
        callers.push_back([&mine, inputs = clone_inputs(base.model.inputs)] { (void)iterate(mine, inputs, false); });
      }
      const auto device = base.options.device;
      const auto found = measure_throughput(callers, settings.repeat * settings.callers, settings.warm_up_iterations,
                                            [device] { synchronise(device); });
      Row row = run.row(name);
      row.values = {{"callers", found.callers},
                    {"iterations", found.iterations},
                    {"latency_ms", found.latency_milliseconds()},
                    {"calls_per_second", found.calls_per_second()},
                    {"samples_per_second", found.calls_per_second() * static_cast<double>(base.options.batch_size)}};
      rows.push_back(std::move(row));
    } catch (const InputError&) {
      throw;
    } catch (...) {
      const Failed failed = current_failed();
      rows.push_back(run.status_row(name, failed.out_of_memory ? "OOM" : "fail_to_run", failed.message));
    }
  }
  return rows;
}

/// In eager, as torchbench; an iteration must run.
[[nodiscard]] inline std::vector<Row> run_find_batch_size(const ModelRun& run) {
  const auto runs = [&](std::int64_t size) {
    InstanceOptions options = run.plan.instance;
    options.batch_size = size;
    Iterating iterating{.runnable = make_eager(make_instance(run.entry, options), {&run.settings, {}})};
    run_once(iterating);
  };
  const auto told = [&](std::int64_t size, const std::string& why) {
    run.log << run.entry.name << ": a batch of " << size << " does not run: " << why << '\n';
  };
  Row row = run.row("eager");
  row.batch_size =
      find_batch_size(run.settings.batch_size.value_or(first_batch_size_tried), runs, told, run.entry.batches);
  row.message = "batch size " + std::to_string(row.batch_size);
  return {std::move(row)};
}

[[nodiscard]] inline std::vector<Row> run_operator_inputs(const ModelRun& run, const Instance& base) {
  if (run.settings.log_operator_inputs.empty())
    throw InputError({}, "--log-operator-inputs: expected a folder to write to");
  try {
    record_operator_inputs(base, run.settings.log_operator_inputs, run.log);
    return {run.status_row("eager", "pass", {})};
  } catch (...) {
    return {run.status_row("eager", "fail_to_run", current_failed().message)};
  }
}

}  // namespace pace::benches::models::detail
