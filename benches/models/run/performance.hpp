// A performance run: all back ends of one model interleaved, paired with eager, checked, and judged.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>

#include "benches/models/compat/compat_loop.hpp"
#include "benches/models/run/candidates.hpp"
#include "benches/models/run/performance_row.hpp"
#include "benches/models/run/plan.hpp"
#include "benches/models/run/varying_batch.hpp"
#include "pace/check/check_options.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/gate/counts.hpp"
#include "pace/gate/times.hpp"
#include "pace/report/text.hpp"
#include "pace/run/run_context.hpp"
#include "pace/training/training.hpp"

namespace pace::benches::models {

/// How far answers may be from eager's, as whole vectors. It allows for kernels that sum in another order in a deep
/// network. The accuracy run shows more. In half precision other values are the given ones times a factor: on values
/// that a network was not made for, its last digits decide which units are active.
[[nodiscard]] inline check::CheckOptions performance_check(const InstanceOptions& options) {
  check::CheckOptions check;
  check.method = check::CheckOptions::Method::cosine;
  const auto type = options.autocast ? options.autocast : options.cast;
  const bool half = type == at::kHalf || type == at::kBFloat16;
  const bool tf32 = options.device.is_cuda() && at::globalContext().allowTF32CuDNN();
  check.cosine_threshold = half ? 0.99 : tf32 ? 0.999 : 0.9999;
  if (half) {
    check.unseen_values = check::CheckOptions::UnseenValues::scaled;
    check.edge_values = false;
  }
  return check;
}

/// Options of a comparison. Each sample is a run of `iterations_per_run`, and each back end has `repeat` samples.
[[nodiscard]] inline Options performance_options(const Settings& settings, c10::Device device) {
  if (settings.repeat < 1 || settings.iterations_per_run < 1)
    throw InputError({}, "--repeat and --iterations-per-run: expected at least 1 of each");
  Options options = run_context().options;
  options.seed = settings.seed;
  options.max_rounds = static_cast<std::size_t>(settings.repeat);
  options.max_iterations = settings.iterations_per_run;
  // So long that no smaller count of iterations will do.
  options.min_sample = std::chrono::hours(1);
  options.budget = options.hard_limit = std::chrono::hours(8);
  options.stop = StopPolicy::budget;
  if (device.is_cuda()) {
    // Measures a caller's wait, launches included. Graphs of the baseline would hide a CUDA graph's gain.
    options.clock = ClockChoice::wall;
    options.mode_share = 0;
    // Copies of all operands for each implementation would be graphs of all models for each as well.
    options.operands = OperandPolicy::shared;
  }
  return options;
}

namespace detail {

/// The forward of a step on the inputs of a call: the operands themselves, or the batch of a schedule that is chosen in
/// them.
[[nodiscard]] inline auto forward_on(const TrainingStep<torch::jit::Stack>& step, const BatchSchedule* schedule) {
  return [forward = step.forward, schedule](torch::jit::Stack& operands) {
    if (schedule == nullptr) return forward(operands);
    auto inputs = schedule->chosen(operands);
    return forward(inputs);
  };
}

/// As an implementation of a comparison in training: gradients count as a whole.
[[nodiscard]] inline TrainingStep<torch::jit::Stack> compared_step(const Runnable& runnable,
                                                                   const BatchSchedule* schedule) {
  auto step = runnable.model.step;
  step.forward = forward_on(step, schedule);
  step.gradients = [parameters = step.parameters] { return gradients_as_one(parameters); };
  return step;
}

/// ... with its optimiser and scaler.
[[nodiscard]] inline UpdatingStep<torch::jit::Stack> compared_update(const Iterating& iterating,
                                                                     const BatchSchedule* schedule) {
  UpdatingStep<torch::jit::Stack> step{compared_step(iterating.runnable, schedule)};
  step.update = [parameters = step.parameters, update = iterating.update, scaler = iterating.scaler] {
    update_parameters(parameters, update, scaler.get());
  };
  return step;
}

/// ... and in inference.
[[nodiscard]] inline auto compared_call(const Runnable& runnable, const BatchSchedule* schedule) {
  return [step = runnable.model.step,
          forward = forward_on(runnable.model.step, schedule)](torch::jit::Stack& operands) -> c10::IValue {
    const at::NoGradGuard values_alone;
    const c10::IValue output = forward(operands);
    return step.answer ? step.answer(output) : output;
  };
}

inline void add_implementation(Comparison<torch::jit::Stack>& comparison, const Candidate& candidate,
                               const BatchSchedule* schedule, bool training, bool is_baseline) {
  const Runnable& runnable = candidate.iterating->runnable;
  const auto add = [&](auto function) {
    if (is_baseline)
      comparison.baseline(candidate.name, std::move(function));
    else
      comparison.candidate(candidate.name, std::move(function));
  };
  if (training && (candidate.iterating->update || candidate.iterating->scaler))
    add(compared_update(*candidate.iterating, schedule));
  else if (training)
    add(compared_step(runnable, schedule));
  else
    add(compared_call(runnable, schedule));
}

/// The values of torchbench's randomize_input, in the memory of `inputs`.
inline void randomize_in_place(const torch::jit::Stack& inputs) {
  const at::NoGradGuard values_alone;
  const auto values = randomized(inputs);
  const auto given = tensors_of_inputs(inputs), drawn = tensors_of_inputs(values);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!given[i].is_same(drawn[i])) given[i].copy_(drawn[i]);
}

/// torchbench's matrix of timings: for each repeat the seconds of a run in eager and in the back end's. Empty unless
/// both were timed equally often; eager's own stands in both columns.
[[nodiscard]] inline std::vector<std::vector<double>> raw_timings(const Result& result, const std::string& name) {
  const auto& eager = result.baseline().samples;
  const auto& own = result[name].samples;
  if (eager.size() != own.size()) return {};
  const double scale = 1e-9 * static_cast<double>(result.iterations);
  std::vector<std::vector<double>> rows;
  for (std::size_t i = 0; i < own.size(); ++i) rows.push_back({scale * eager[i].count(), scale * own[i].count()});
  return rows;
}

[[nodiscard]] inline std::string status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::measured:
      return "pass";
    case Outcome::wrong:
      return "fail_accuracy";
    case Outcome::out_of_memory:
      return "OOM";
    case Outcome::timed_out:
      return "timeout";
    default:
      return "fail_to_run";
  }
}

[[nodiscard]] inline double milliseconds(const ImplementationResult& row) {
  return row.time ? row.time->median.count() * 1e-6 : 0;
}

}  // namespace detail

/// The batches of a comparison with --dynamic-batch-only. All usable candidates take their sizes, and answer as eager
/// does. Candidates that answer otherwise get the status `fail_to_run`.
[[nodiscard]] inline BatchSchedule schedule_batches(const Candidate& eager, std::vector<Candidate>& candidates) {
  BatchRange taken{.low = 2};
  for (const Candidate& candidate : candidates) {
    if (!candidate.usable()) continue;
    const auto& own = candidate.iterating->runnable.batches;
    // All take eager's size. So all take sizes that differ from it by a multiple of all steps.
    taken = {.low = std::max(taken.low, own.low),
             .high = std::min(taken.high, own.high),
             .step = std::lcm(taken.step, own.step)};
  }
  BatchSchedule schedule(eager.iterating->runnable.instance, taken);
  for (Candidate& candidate : candidates) {
    if (!candidate.usable()) continue;
    const Runnable& runnable = candidate.iterating->runnable;
    detail::work_for(candidate, "fail_to_run", [&] {
      for (std::size_t i = 1; i < schedule.sizes().size(); ++i)
        check_other_batch(runnable.instance, runnable.model, schedule.sizes()[i], schedule.batch(i));
    });
  }
  return schedule;
}

/// The comparison of eager with all usable candidates; where one fails, the others are compared without it. `schedule`:
/// the batches that the rounds have in turn; null: each has the instance's own.
[[nodiscard]] inline Result compare_models(const std::string& name, const Candidate& eager,
                                           const std::vector<Candidate>& candidates, const Settings& settings,
                                           BatchSchedule* schedule = nullptr) {
  const Instance& instance = eager.iterating->runnable.instance;
  auto comparison = pace::compare(name, schedule == nullptr ? instance.model.inputs : schedule->operands());
  if (settings.randomize_input || schedule != nullptr)
    comparison.renew_each_round([schedule, randomizes = settings.randomize_input](const torch::jit::Stack& operands) {
      if (randomizes) detail::randomize_in_place(operands);
      if (schedule != nullptr) schedule->advance(operands);
    });
  auto check = performance_check(instance.options);
  if (settings.skip_accuracy_check) check.method = check::CheckOptions::Method::none;
  comparison.options(performance_options(settings, instance.options.device))
      .check(check)
      .device(instance.options.device);
  detail::add_implementation(comparison, eager, schedule, settings.training, true);
  for (const auto& candidate : candidates) {
    if (!candidate.usable()) continue;
    detail::add_implementation(comparison, candidate, schedule, settings.training, false);
    // A CUDA graph writes to the same memory each time. For the gradients of a training step, this is known already.
    if (candidate.iterating->runnable.fixed_addresses && !settings.training) comparison.reuses_outputs(candidate.name);
  }
  if (settings.no_slower_than && std::ranges::any_of(candidates, &Candidate::usable))
    comparison.expect(NoSlowerThan(*settings.no_slower_than));
  if (settings.peak_memory_at_most && std::ranges::any_of(candidates, &Candidate::usable))
    comparison.expect(PeakMemoryAtMost(*settings.peak_memory_at_most));
  return comparison.run();
}

namespace detail {

/// Where the baseline was not measured, nothing is known of the others.
[[nodiscard]] inline RowResult result_of(const Result& result, const ImplementationResult& row) {
  if (result.baseline().outcome != Outcome::measured || row.outcome == Outcome::unreached) return RowResult::unmeasured;
  // Without a guard there is no judgement that says so.
  if (!row.acceptable() || row.context.has(Severity::impossible)) return RowResult::failed;
  for (const auto& judgement : row.judgements)
    if (judgement.unresolved) return RowResult::undecided;
  return RowResult::passed;
}

/// The figures of one candidate.
inline void take_figures(const Result& result, const std::string& name, Row& row, PerformanceFigures& figures) {
  const auto& found = result[name];
  figures.status = status_of(found.outcome);
  figures.eager_latency = milliseconds(result.baseline());
  figures.abs_latency = milliseconds(found);
  if (found.time) figures.spread = found.time->spread;
  if (found.is_baseline) figures.speedup = found.outcome == Outcome::measured ? 1 : 0;
  if (found.speedup && found.outcome == Outcome::measured) {
    figures.speedup = found.speedup->median;
    figures.interval = found.speedup->interval;
    const auto of_phase = [&](const char* phase) {
      const auto& part = result.in_phase(phase)[name].speedup;
      return part ? part->median : 0;
    };
    if (!result.phases.empty()) {
      figures.forward_speedup = of_phase("forward");
      figures.backward_speedup = of_phase("backward");
      if (result.phases.size() > 2) figures.update_speedup = of_phase("update");
    }
  }
  if (!found.judgements.empty()) {
    // Of several gates the first one that is closed, then the first one that is not passed.
    const auto rank = [](const Judgement& each) {
      return !each.acceptable ? 0 : each.verdict != Verdict::passed ? 1 : 2;
    };
    const auto worst = std::ranges::min_element(found.judgements, {}, rank);
    figures.verdict = to_string(worst->verdict);
    row.message = worst->message;
  } else if (found.context.has(Severity::impossible)) {
    figures.verdict = to_string(Verdict::invalid);
    row.message = "the times cannot be true: " + found.context.describe(Severity::impossible);
  }
  if (!found.message.empty()) row.message = found.message;
  row.result = result_of(result, found);
}

}  // namespace detail

/// Eager's first calls, the candidates', then the comparison. Failures are statuses. `eager` must be usable.
[[nodiscard]] inline std::vector<Row> measure_performance(const ModelEntry& entry, const Settings& settings,
                                                          Candidate& eager, std::vector<Candidate>& candidates,
                                                          std::ostream& log) {
  const auto batch_size = eager.iterating->runnable.instance.options.batch_size;
  std::optional<Result> result;
  std::optional<BatchSchedule> schedule;
  std::string problem;
  try {
    if (settings.dynamic_batch) schedule.emplace(schedule_batches(eager, candidates));
    if (schedule && schedule->sizes().size() < 2)
      log << entry.name << ": there is no other batch that it could be timed with\n";
    result = compare_models(entry.name, eager, candidates, settings, schedule ? &*schedule : nullptr);
  } catch (const InputError&) {
    throw;
  } catch (...) {
    problem = current_failed().message;
  }
  if (result)
    for (const auto& note : result->notes) log << entry.name << ": " << report::printable(note) << '\n';
  std::vector<Row> rows;
  for (const auto& name : rows_of(settings)) {
    const Candidate& candidate = find_candidate(candidates, name, eager);
    Row row = make_row(entry, settings, batch_size, name);
    PerformanceFigures figures{.eager_peak_gigabytes = eager.warm_up.peak_gigabytes};
    const Runnable* runnable = candidate.iterating ? &candidate.iterating->runnable : nullptr;
    if (candidate.usable()) {
      figures.peak_gigabytes = candidate.warm_up.peak_gigabytes;
      if (&candidate != &eager)
        figures.compilation_latency = candidate.make_seconds + candidate.warm_up.seconds - eager.warm_up.seconds;
      if (runnable->compiling) figures.compile_seconds = runnable->compiling->whole;
      figures.load_seconds = runnable->load_seconds;
    }
    if (!candidate.usable() || !result) {
      figures.status = candidate.usable() ? "fail_to_run" : candidate.status;
      row.message = candidate.usable() ? problem : candidate.message;
      row.result = RowResult::failed;
    } else {
      detail::take_figures(*result, name, row, figures);
      row.raw_timings = detail::raw_timings(*result, name);
    }
    fill_performance(row, figures, runnable, settings.compat);
    if (schedule) row.values.emplace_back("batch_sizes", schedule->text());
    if (figures.speedup > 0) row.message = speedup_text(figures) + (row.message.empty() ? "" : "; " + row.message);
    if (runnable != nullptr)
      for (const auto& note : runnable->notes)
        log << entry.name << ", " << name << ": " << report::printable(note) << '\n';
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace pace::benches::models
