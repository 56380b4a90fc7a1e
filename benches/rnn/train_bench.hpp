// fastrnns' loop: one runner after another, each warmed up and then timed so many times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/record_function.h>
#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include "benches/rnn/bench_result.hpp"
#include "benches/rnn/model_def.hpp"
#include "benches/rnn/step_timer.hpp"
#include "benches/rnn/table.hpp"
#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace::benches::rnn {

struct LoopOptions {
  std::int64_t nloops = 100, warmup = 10;
  /// Gradients are zeroed after the first of all steps alone; see Runner::zeroed_once_in_original.
  bool zeroed_once = false;
  /// Times on the CPU are in seconds and taken for milliseconds, as in the original.
  bool compat = false;
  /// Forwards alone, recording nothing for a backward.
  bool inference = false;
};

struct StepTimes {
  Nanoseconds forward{}, backward{};
};

/// Zeroes the gradients in place, so that their memory stays theirs. Throws Error naming the runner and the parameter
/// if one has none.
inline void zero_gradients(const std::string& name, const std::vector<at::Tensor>& parameters) {
  const c10::NoGradGuard no_grad;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i].grad().defined())
      throw Error("runner '" + name + "': parameter " + std::to_string(i) +
                  " has no gradient after the backward step; expected one for each of its " +
                  std::to_string(parameters.size()) + " parameters");
    parameters[i].mutable_grad().zero_();
  }
}

/// One step. The time between forward and backward does not count. Without a backward, its events have nothing between
/// them.
template <StepTimer T>
[[nodiscard]] StepTimes train_batch(T& timer, const std::string& name, ModelDef& model) {
  auto forward_start = timer.make_event(), forward_end = timer.make_event();
  auto backward_start = timer.make_event(), backward_end = timer.make_event();
  auto& step = model.step;

  c10::IValue output;
  timer.record(forward_start);
  {
    RECORD_USER_SCOPE("## forward ##");
    output = step.forward(model.inputs);
  }
  timer.record(forward_end);

  const c10::IValue prepared = step.backward_setup ? step.backward_setup(output) : output;

  timer.record(backward_start);
  if (step.backward) step.backward(prepared);
  timer.record(backward_end);

  if (step.backward) zero_gradients(name, step.parameters);
  timer.synchronise();
  return {timer.elapsed(forward_start, forward_end), timer.elapsed(backward_start, backward_end)};
}

/// `warmup` steps for nothing, then `nloops` that count.
template <StepTimer T>
[[nodiscard]] BenchResult train_bench(T& timer, const std::string& name, ModelDef& model, const LoopOptions& options) {
  const auto figure = [&options](Nanoseconds time) {
    constexpr double per_millisecond = 1e6, per_second = 1e9;
    return static_cast<float>(time.count() / (options.compat && T::on_host ? per_second : per_millisecond));
  };
  const at::AutoGradMode with_gradients(!options.inference);
  std::vector<float> forward, backward;
  for (std::int64_t i = 0; i < options.warmup + options.nloops; ++i) {
    const StepTimes times = train_batch(timer, name, model);
    if (options.zeroed_once) model.step.parameters.clear();
    if (i < options.warmup) continue;
    forward.push_back(figure(times.forward));
    backward.push_back(figure(times.backward));
  }
  return make_bench_result(name, std::move(forward), std::move(backward));
}

/// A runner with its sizes settled.
struct Entry {
  std::string name;
  std::function<ModelDef()> make;
  /// See Runner::zeroed_once_in_original, which counts with `compat` alone.
  bool zeroed_once = false;
};

struct GroupOptions : LoopOptions {
  std::string separator = " ";
  /// With JSON nothing is printed but errors; with `compat` not even those.
  bool print_json = false;
};

struct GroupOutcome {
  GroupResults results;
  /// Names of the runners that failed. Not empty: the program must not end as if all were well.
  std::vector<std::string> failed = {};
};

/// Prints the table of a group, such as title "LSTM" and key "lstm", line by line as runners end. A runner that throws
/// is told of and the others go on; `compat` passes the exception on instead, or with JSON leaves the runner out
/// without a word.
template <StepTimer T>
[[nodiscard]] GroupOutcome bench_group(T& timer, const std::string& title, const std::string& key,
                                       const std::vector<Entry>& runners, const GroupOptions& options,
                                       std::ostream& err) {
  GroupOutcome outcome{.results = {key}};
  auto& models = outcome.results.models;
  const auto say = [&](const std::string& line) {
    if (!options.print_json) err << line << std::endl;
  };
  const auto run = [&](const Entry& runner) {
    ModelDef model = runner.make();
    LoopOptions own = options;
    own.zeroed_once = options.compat && runner.zeroed_once;
    BenchResult result = train_bench(timer, runner.name, model, own);
    say(table_line(result, options.separator));
    models.push_back(std::move(result));
  };
  const auto failed = [&](const Entry& runner, const std::string& why) {
    if (options.compat) return;
    const std::string prefix = "runner '" + runner.name + "'";
    err << (why.starts_with(prefix) ? why : prefix + ": " + why) << std::endl;
    outcome.failed.push_back(runner.name);
  };
  say("Benchmarking " + title + "s...");
  say(table_header(options.separator));
  for (const auto& runner : runners) {
    try {
      run(runner);
    } catch (const DeviceLost&) {
      // Any later runner would fail for a reason that is not its own.
      throw;
    } catch (const c10::Error& error) {
      if (options.compat && !options.print_json) throw;
      failed(runner, error.what_without_backtrace());
    } catch (const std::exception& error) {
      if (options.compat && !options.print_json) throw;
      failed(runner, error.what());
    }
  }
  say("");
  return outcome;
}

}  // namespace pace::benches::rnn
