// torchbench's performance run, --compat: eager and one back end in turns, medians, and a p-value.
#pragma once

#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "benches/files/aot/rand_strided.hpp"
#include "benches/models/compat/compat_loop.hpp"
#include "benches/models/run/candidates.hpp"
#include "benches/models/run/performance_row.hpp"

namespace pace::benches::models {

/// Dependencies that act on this process and a device.
[[nodiscard]] inline CompatDependencies process_dependencies(c10::Device device) {
  return {
      .now = [] { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); },
      .synchronise = [device] { synchronise(device); },
      .reset_random_state = [] { benches::aot::reset_rng_state(); }};
}

/// The figures of two columns of timings. `times` of one run in seconds become milliseconds.
[[nodiscard]] inline PerformanceFigures figures_of(const CompatTimings& timings) {
  constexpr double milliseconds = 1000;
  PerformanceFigures figures;
  const double eager = median_of(timings.eager), compiled = median_of(timings.compiled);
  figures.speedup = eager / compiled;
  figures.eager_latency = eager * milliseconds;
  figures.abs_latency = compiled * milliseconds;
  figures.p_value = t_test_p_value(timings.eager, timings.compiled);
  return figures;
}

/// One candidate after the other, each in turns with eager; eager against itself, as torchbench's --nothing. An
/// iteration is torchbench's: with the optimiser, if the candidates have one, on copies of the inputs. Outputs are not
/// compared here: the accuracy run does that.
[[nodiscard]] inline std::vector<Row> measure_compatibly(const ModelEntry& entry, const Settings& settings,
                                                         Candidate& eager, std::vector<Candidate>& candidates) {
  const Instance& instance = eager.iterating->runnable.instance;
  const torch::jit::Stack inputs = instance.model.inputs;
  const CompatDependencies dependencies = process_dependencies(instance.options.device);
  const CompatOptions options{settings.repeat, settings.iterations_per_run, settings.randomize_input,
                              settings.dynamic_batch ? instance.options.batch_size : 0, settings.seed};
  std::vector<Row> rows;
  for (const auto& name : rows_of(settings)) {
    Candidate& candidate = find_candidate(candidates, name, eager);
    Row row = make_row(entry, settings, instance.options.batch_size, candidate.name);
    PerformanceFigures figures;
    if (candidate.usable()) {
      try {
        const auto call = [&](Iterating& iterating) {
          return [&](const torch::jit::Stack& given) { (void)iterate(iterating, given, settings.collect_outputs); };
        };
        const auto timings =
            speedup_experiment(dependencies, options, inputs, call(*eager.iterating), call(*candidate.iterating));
        figures = figures_of(timings);
        for (std::size_t i = 0; i < timings.eager.size(); ++i)
          row.raw_timings.push_back({timings.eager[i], timings.compiled[i]});
        if (&candidate != &eager)
          figures.compilation_latency = candidate.make_seconds + candidate.warm_up.seconds - eager.warm_up.seconds;
        figures.peak_gigabytes = candidate.warm_up.peak_gigabytes;
        const Runnable& runnable = candidate.iterating->runnable;
        if (runnable.compiling) figures.compile_seconds = runnable.compiling->whole;
        figures.load_seconds = runnable.load_seconds;
        row.message = format_speedup(figures.speedup, figures.p_value);
      } catch (const InputError&) {
        throw;
      } catch (...) {
        const Failed failed = current_failed();
        candidate.status = failed.out_of_memory ? "OOM" : "fail_to_run";
        candidate.message = failed.message;
      }
    }
    figures.eager_peak_gigabytes = eager.warm_up.peak_gigabytes;
    if (!candidate.usable()) {
      figures.status = candidate.status;
      row.message = candidate.message;
      row.result = RowResult::failed;
    }
    fill_performance(row, figures, candidate.iterating ? &candidate.iterating->runnable : nullptr, settings.compat);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pace::benches::models
