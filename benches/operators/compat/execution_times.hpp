// The loop of PyTorch's operator_benchmark: iterations that double, and a line of execution time for each test.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mean.h>
#include <nlohmann/json.hpp>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backward.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/compat/error_text.hpp"
#include "benches/operators/compat/timer.hpp"
#include "benches/operators/make_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/selection.hpp"
#include "benches/rows/prior_failures.hpp"
#include "benches/rows/refusal.hpp"
#include "pace/base/c_numbers.hpp"
#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/stats/summary.hpp"

namespace pace::benches::operators::compat {

/// How often operator_benchmark calls a test's code.
struct Iterations {
  std::int64_t warm_up = 100;     ///< iterations that are not timed (`--warmup-iterations`)
  std::int64_t first = 100;       ///< iterations of the first batch (`--iterations`)
  std::int64_t most = 1'000'000;  ///< a batch of more iterations takes long enough, however little time it takes
  Seconds enough{1};              ///< a batch that takes longer takes long enough
  bool fixed = false;             ///< every batch takes long enough: `first` was asked for
  Seconds least{0};               ///< least time of all batches of a run together (`--min-time-per-test`)
  std::int64_t runs = 1;          ///< runs, each with a time of its own (`--num-runs`)
};

/// Returns the mean time of an iteration in each batch of one run. Each batch has twice the iterations of the one
/// before it, until one takes long enough and all of them together take the least time of a run. `run(n)` makes n
/// iterations and waits for them as far as the original does; `now()` returns Seconds.
template <class Now, class Run>
[[nodiscard]] std::vector<Nanoseconds> time_doubling(const Now& now, const Run& run, const Iterations& number = {}) {
  std::vector<Nanoseconds> batches;
  Seconds total{};
  for (std::int64_t iterations = number.first;; iterations *= 2) {
    const Seconds start = now();
    run(iterations);
    const Seconds took = now() - start;
    total += took;
    batches.push_back(Nanoseconds(took) / static_cast<double>(iterations));
    const bool long_enough = number.fixed || took > number.enough || iterations > number.most;
    if (long_enough && total >= number.least) return batches;
  }
}

namespace detail {

/// The median of the batches of a run (of an even number the mean of two) in microseconds.
[[nodiscard]] inline double median_us(const std::vector<Nanoseconds>& batches) {
  std::vector<benches::timers::Milliseconds> times(batches.begin(), batches.end());
  return 1e3 * benches::timers::mean_median(std::move(times)).count();
}

}  // namespace detail

/// Returns the lines of a test: the median of the batches of each run in microseconds, with the number of the run where
/// there are several.
[[nodiscard]] inline std::string execution_time_lines(Pass pass, const std::vector<std::vector<Nanoseconds>>& runs) {
  std::string lines;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::array<char, 64> number{};
    const CNumbers c_numbers;
    std::snprintf(number.data(), number.size(), "%.3f", detail::median_us(runs[i]));
    lines += (runs.size() > 1 ? "Run: " + std::to_string(i) + ", " : "") +
             (pass == Pass::forward ? "Forward" : "Backward") + " Execution Time (us) : " + number.data() + '\n';
  }
  return lines;
}

/// Returns the line of one batch for programs that collect them (`--report-aibench`): an object of JSON with the mean
/// time of an iteration in milliseconds.
[[nodiscard]] inline std::string observer_line(const std::string& test, const std::string& mode, Nanoseconds batch) {
  const nlohmann::ordered_json line{{"type", "PyTorch_" + test + '_' + mode},
                                    {"metric", "latency"},
                                    {"unit", "ms"},
                                    {"value", nlohmann::json(batch.count() * 1e-6).dump()}};
  return "PyTorchObserver " + line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// For the user: how any program in C++ differs from operator_benchmark.
inline constexpr const char* differences_of_execution_times =
    "as PyTorch's operator_benchmark, but: operators are called from C++, without Python's share of each call; values "
    "are drawn by a generator with a seed, and indices lie in range";

/// The flow of operator_benchmark: each selected call by `eager` (its mode Eager) and `torchscript` (JIT), its forward
/// pass, its backward passes, or both. Nothing is compared or judged.
class ExecutionTimes {
 public:
  /// The outcome.
  struct Summary {
    std::size_t tests = 0;    ///< with a line of execution time
    std::size_t errors = 0;   ///< that failed
    std::size_t skipped = 0;  ///< backward passes of operators that have none
  };

  /// `registry`, `timer` and the streams must outlive it. Throws InputError for back ends other than the two.
  /// `for_observer`: a line for each batch (observer_line) in the place of those for people.
  ExecutionTimes(ReplayOptions options, const BackendRegistry& registry, Timer& timer, const Iterations& number,
                 bool for_observer, std::ostream& out, std::ostream& err)
      : options_(std::move(options)),
        timer_(timer),
        number_(number),
        for_observer_(for_observer),
        out_(out),
        err_(err) {
    for (const auto& name : split_list(options_.backends, "--backends")) {
      if (name != "eager" && name != "torchscript")
        throw InputError({},
                         "--backends: expected eager, torchscript (the original's JIT mode) or both with --compat "
                         "operator_benchmark, found '" +
                             name + "'");
      backends_.push_back(&registry.find(name));
    }
    err_ << "--compat: " << differences_of_execution_times << std::endl;
  }

  /// Times every selected call under the caller's grad mode, and publishes each by run_context() as a Result. Results
  /// that run_context() recollects are neither timed nor printed again. A backward pass that an operator does not have
  /// is no result. Throws DeviceLost; there is a result for it, too.
  [[nodiscard]] Summary run(const std::vector<Selected>& selection) {
    for (const auto& selected : selection)
      for (std::size_t offset = 0; offset < selected.samples.size(); ++offset) {
        if (options_.pass != Pass::backward) run_test(selected, offset, Pass::forward, {});
        if (options_.pass == Pass::forward) continue;
        for (const auto& gradients : gradient_cases(selected.samples[offset], Pass::backward))
          run_test(selected, offset, Pass::backward, gradients);
      }
    return summary_;
  }

 private:
  void run_test(const Selected& selected, std::size_t offset, Pass pass, const GradientCase& gradients) {
    // Where one backward pass has no name of its own, it needs one beside the forward pass.
    const bool unnamed = pass == Pass::backward && gradients.suffix.empty();
    const std::string name = case_name(selected, offset, unnamed ? "_bwd" : gradients.suffix);
    Result known;
    if (run_context().recall(name, /*inputs=*/"", known)) {
      for (const auto& row : known.implementations)
        ++(row.outcome == Outcome::measured ? summary_.tests : summary_.errors);
      run_context().publish(known);
      return;
    }
    const AtWork at_work(name);
    std::vector<std::string> names;
    for (const auto* backend : backends_) names.push_back(backend->name());
    Result result = refusal(name, names, "");
    result.clock = "operator_benchmark";
    result.seed = run_context().options.seed;
    result.iterations = 1;
    result.stop_reason = StopReason::max_rounds;
    const PriorFailures failures(name);
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      auto& row = result.implementations[i];
      const auto* failure = failures.of_inputs() != nullptr ? failures.of_inputs() : failures.of(i);
      if (failure != nullptr) {
        fail(name, row, failure->outcome, failure->message);
        continue;
      }
      try {
        time_one(selected, offset, pass, gradients, i, result);
      } catch (const DeviceLost& error) {
        fail(name, row, Outcome::threw, error.what());
        for (++i; i < backends_.size(); ++i)
          fail(name, result.implementations[i], Outcome::unreached, "the device was lost before");
        result.lost_device = error.what();
        publish(std::move(result));  // a listener may begin a fresh process
        throw;                       // in this one nothing can follow
      } catch (const NoBackward& error) {
        // The first one shows the limits of LibTorch; a failure of another one beside it is a fault of its own.
        if (i == 0) {
          summary_.skipped += backends_.size();
          err_ << "Skipping " << name << ": " << error.what() << std::endl;
          return;
        }
        fail(name, row, Outcome::refused, error.what());
      } catch (const Unsupported& error) {
        fail(name, row, Outcome::refused, error.what());
      } catch (const std::exception& error) {
        fail(name, row, Outcome::threw, describe(error).second);
      }
      activity()->watch(false);
    }
    publish(std::move(result));
  }

  static void publish(Result result) {
    result.notes.emplace_back("Measured as PyTorch's operator_benchmark does it (--compat operator_benchmark).");
    run_context().publish(result);
  }

  void fail(const std::string& name, ImplementationResult& row, Outcome outcome, const std::string& why) {
    row.outcome = outcome;
    row.message = why;
    ++summary_.errors;
    err_ << "error " << name << ": " << row.name << ": " << why << std::endl;
  }

  void time_one(const Selected& selected, std::size_t offset, Pass pass, const GradientCase& gradients,
                std::size_t backend, Result& result) {
    auto& row = result.implementations[backend];
    activity()->running(static_cast<std::int64_t>(backend));
    auto call = make_selected_call(selected, offset, options_, run_context().options.seed, 1);
    if (pass == Pass::backward) call = with_gradients_by(*backends_[backend], call, gradients.tensors);
    const std::shared_ptr<Executable> executable = backends_[backend]->prepare(call);
    if (result.notes.empty()) result.notes.push_back(call.signature());
    const Test test{selected, offset, pass, gradients.suffix, backends_[backend]->name() == "eager" ? "Eager" : "JIT"};
    print_head(test);
    activity()->watch(true);
    const auto runs = pass == Pass::forward ? time_forward(test, *executable, call.tensors())
                                            : time_backward(test, *executable, call);
    activity()->watch(false);
    for (const auto& batches : runs) {
      row.samples.insert(row.samples.end(), batches.begin(), batches.end());
      result.rounds = std::max(result.rounds, row.samples.size());
    }
    row.time = stats::summarize_times(row.samples, run_context().options.confidence);
    row.outcome = Outcome::measured;
    ++summary_.tests;
    if (!for_observer_) print(test, runs);
  }

  /// One pass of one sample by one back end, and its words.
  struct Test {
    const Selected& selected;
    std::size_t offset;
    Pass pass;
    const std::string& suffix;
    const char* mode;

    [[nodiscard]] const corpus::Sample& sample() const { return selected.samples[offset]; }
    [[nodiscard]] std::string name() const {
      return (sample().label.empty() ? case_name(selected, offset) : sample().label) + suffix;
    }
  };

  /// Every run, after one warm-up for all of them, as the original does.
  template <class Run>
  [[nodiscard]] std::vector<std::vector<Nanoseconds>> time_runs(const Test& test, const Run& run) {
    run(number_.warm_up);
    std::vector<std::vector<Nanoseconds>> runs;
    for (std::int64_t i = 0; i < number_.runs; ++i) {
      runs.push_back(time_doubling([&] { return timer_.now(); }, run, number_));
      if (!for_observer_) continue;
      for (const Nanoseconds batch : runs.back()) out_ << observer_line(test.name(), test.mode, batch) << std::endl;
    }
    return runs;
  }

  [[nodiscard]] std::vector<std::vector<Nanoseconds>> time_forward(const Test& test, Executable& executable,
                                                                   const std::vector<at::Tensor>& tensors) {
    return time_runs(test, [&](std::int64_t iterations) {
      executable.repeat(tensors, iterations);
      timer_.synchronise();
    });
  }

  /// As the original: of the mean of the first output, on one graph that is kept, added to the gradients of the calls
  /// before, and not waited for.
  [[nodiscard]] std::vector<std::vector<Nanoseconds>> time_backward(const Test& test, Executable& executable,
                                                                    const OperatorCall& call) {
    const at::AutoGradMode with_gradients(true);
    const at::Tensor mean = with_graph(executable.run(call.tensors())).front().mean();
    return time_runs(test, [&](std::int64_t iterations) {
      for (std::int64_t i = 0; i < iterations; ++i) {
        mean.backward({}, /*retain_graph=*/true);
        activity()->running(activity()->implementation);
      }
    });
  }

  /// The original's lines before a test. Recorded calls have no module and no attributes; the operator and the recorded
  /// text say as much.
  void print_head(const Test& test) {
    const auto& module = test.sample().declared.module;
    out_ << "# Benchmarking PyTorch: " << (module.empty() ? test.selected.op->name : module) << std::endl;
  }

  void print(const Test& test, const std::vector<std::vector<Nanoseconds>>& runs) {
    const auto& declared = test.sample().declared;
    out_ << "# Mode: " << test.mode << "\n# Name: " << test.name()
         << "\n# Input: " << (declared.module.empty() ? test.sample().text : declared.attributes) << '\n'
         << execution_time_lines(test.pass, runs) << std::endl;
  }

  ReplayOptions options_;
  Timer& timer_;
  Iterations number_;
  bool for_observer_;
  std::ostream &out_, &err_;
  std::vector<Backend*> backends_;
  Summary summary_;
};

}  // namespace pace::benches::operators::compat
