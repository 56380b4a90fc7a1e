// The loop of PyTorch's operator_benchmark: iterations that double, and a line of execution time for each test.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/mean.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/operator_call.hpp"
#include "benches/operators/backward.hpp"
#include "benches/operators/channels_last.hpp"
#include "benches/operators/compat/error_text.hpp"
#include "benches/operators/compat/timer.hpp"
#include "benches/operators/make_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/refusal.hpp"
#include "benches/operators/selection.hpp"
#include "pace/core/activity.hpp"
#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/core/units.hpp"
#include "pace/stats/summary.hpp"

namespace pace::benches::operators::compat {

/// How many iterations operator_benchmark makes.
struct Doubling {
  std::int64_t warm_up = 100;     ///< iterations that are not timed
  std::int64_t first = 100;       ///< iterations of the first batch
  std::int64_t most = 1'000'000;  ///< a batch of more iterations is the last one, however little time it takes
  Seconds enough{1};              ///< a batch that takes longer is the last one
};

/// Returns the mean time of an iteration in each batch. Each batch has twice the iterations of the one before it, until
/// one takes long enough. `run(n)` makes n iterations and waits for them as far as the original does; `now()` returns
/// Seconds.
template <class Now, class Run>
[[nodiscard]] std::vector<Nanoseconds> time_doubling(const Now& now, const Run& run, const Doubling& doubling = {}) {
  run(doubling.warm_up);
  std::vector<Nanoseconds> batches;
  for (std::int64_t iterations = doubling.first;; iterations *= 2) {
    const Seconds start = now();
    run(iterations);
    const Seconds took = now() - start;
    batches.push_back(Nanoseconds(took) / static_cast<double>(iterations));
    if (took > doubling.enough || iterations > doubling.most) return batches;
  }
}

/// Returns the line of a test: the median of its batches (of an even number the mean of two) in microseconds.
[[nodiscard]] inline std::string execution_time_line(Pass pass, const std::vector<Nanoseconds>& batches) {
  std::vector<benches::timers::Milliseconds> times(batches.begin(), batches.end());
  const double us = 1e3 * benches::timers::mean_median(std::move(times)).count();
  std::array<char, 64> number{};
  std::snprintf(number.data(), number.size(), "%.3f", us);
  return std::string(pass == Pass::forward ? "Forward" : "Backward") + " Execution Time (us) : " + number.data();
}

/// What no program in C++ can have as operator_benchmark has it, for the user.
inline constexpr const char* differences_of_execution_times =
    "as PyTorch's operator_benchmark, but: operators are called from C++, without Python's share of each call; "
    "TorchScript "
    "has no operator that consumes outputs; values are drawn by a generator with a seed, and indices lie in range";

/// The flow of operator_benchmark: each selected call by `eager` (its mode Eager) and `torchscript` (JIT), its forward
/// pass, its backward passes, or both. Nothing is compared or judged.
class ExecutionTimes {
 public:
  /// What happened.
  struct Summary {
    std::size_t tests = 0;    ///< with a line of execution time
    std::size_t errors = 0;   ///< that failed
    std::size_t skipped = 0;  ///< of operators without a backward pass
  };

  /// `registry`, `timer` and the streams must outlive it. Throws InputError for back ends other than the two.
  ExecutionTimes(ReplayOptions options, const BackendRegistry& registry, Timer& timer, const Doubling& doubling,
                 std::ostream& out, std::ostream& err)
      : options_(std::move(options)), timer_(timer), doubling_(doubling), out_(out), err_(err) {
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

  /// Times every selected call under the caller's grad mode, and publishes each by run_context() as a Result; what that
  /// recollects is neither timed nor printed again. Throws DeviceLost.
  [[nodiscard]] Summary run(const std::vector<Selected>& selection) {
    for (const auto& selected : selection)
      for (std::size_t offset = 0; offset < selected.samples.size(); ++offset) {
        if (options_.pass != Pass::backward) run_test(selected, offset, Pass::forward, {});
        if (options_.pass == Pass::forward) continue;
        for (const auto& gradients : gradient_cases(selected.samples[offset]))
          run_test(selected, offset, Pass::backward, gradients);
      }
    return summary_;
  }

 private:
  void run_test(const Selected& selected, std::size_t offset, Pass pass, const GradientCase& gradients) {
    // Where one backward pass has no name of its own, it needs one beside the forward pass.
    const bool unnamed = pass == Pass::backward && gradients.suffix.empty();
    const std::string name = case_name(selected, offset, unnamed ? "_bwd" : gradients.suffix);
    std::vector<std::string> names;
    for (const auto* backend : backends_) names.push_back(backend->name());
    Result known;
    if (run_context().recall(name, /*inputs=*/"", known)) {
      for (const auto& row : known.implementations)
        ++(row.outcome == Outcome::measured ? summary_.tests : summary_.errors);
      run_context().publish(known);
      return;
    }
    const AtWork at_work(name);
    Result result = refusal(name, names, "");
    result.clock = "operator_benchmark";
    result.seed = run_context().options.seed;
    result.iterations = 1;
    result.stop_reason = StopReason::max_rounds;
    std::vector<RunContext::PriorFailure> fates;
    RunContext::PriorFailure fate;
    while (run_context().recollection != nullptr && run_context().recollection->next_fate(name, fate))
      fates.push_back(fate);
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      auto& row = result.implementations[i];
      const auto ended = std::ranges::find_if(fates, [&](const RunContext::PriorFailure& each) {
        return each.implementation < 0 || each.implementation == static_cast<std::int64_t>(i);
      });
      if (ended != fates.end()) {
        row.outcome = ended->outcome;
        row.message = ended->message;
        ++summary_.errors;
        err_ << "error " << name << ": " << row.message << std::endl;
        continue;
      }
      try {
        time_one(selected, offset, pass, gradients, i, result);
      } catch (const DeviceLost&) {
        throw;
      } catch (const NoBackward& error) {
        row.outcome = Outcome::refused;
        row.message = error.what();
        ++summary_.skipped;
        err_ << "Skipping " << name << ": " << error.what() << std::endl;
      } catch (const Unsupported& error) {
        fail(name, row, Outcome::refused, error.what());
      } catch (const std::exception& error) {
        fail(name, row, Outcome::threw, describe(error).second);
      }
      activity()->watch(false);
    }
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
    const auto& sample = selected.samples[offset];
    auto& row = result.implementations[backend];
    activity()->running(static_cast<std::int64_t>(backend));
    auto call = make_call(selected.op->name, sample, generate_options(options_, run_context().options.seed), 1);
    if (options_.channels_last) call = channels_last(call);
    if (pass == Pass::backward) call = with_gradients_by(*backends_[backend], call, gradients.tensors);
    const std::shared_ptr<Executable> executable = backends_[backend]->prepare(call);
    if (result.notes.empty()) result.notes.push_back(call.signature());
    activity()->watch(true);
    const auto batches =
        pass == Pass::forward ? time_forward(*executable, call.tensors()) : time_backward(executable, call);
    activity()->watch(false);
    for (const Nanoseconds each : batches) row.samples.push_back(each);
    row.time = stats::summarize_times(row.samples, run_context().options.confidence);
    row.outcome = Outcome::measured;
    ++summary_.tests;
    result.rounds = std::max(result.rounds, batches.size());
    print(selected, sample, pass, case_name(selected, offset), gradients.suffix, backend, batches);
  }

  [[nodiscard]] std::vector<Nanoseconds> time_forward(Executable& executable, const std::vector<at::Tensor>& tensors) {
    return time_doubling([&] { return timer_.now(); },
                         [&](std::int64_t iterations) {
                           for (std::int64_t i = 0; i < iterations; ++i) static_cast<void>(executable.run(tensors));
                           timer_.synchronise();
                         },
                         doubling_);
  }

  /// As the original: of the mean of the first output, on one graph that is kept, added to the gradients of the calls
  /// before, and not waited for.
  [[nodiscard]] std::vector<Nanoseconds> time_backward(const std::shared_ptr<Executable>& executable,
                                                       const OperatorCall& call) {
    const at::AutoGradMode with_gradients(true);
    const at::Tensor mean = with_graph(executable->run(call.tensors())).front().mean();
    return time_doubling([&] { return timer_.now(); },
                         [&](std::int64_t iterations) {
                           for (std::int64_t i = 0; i < iterations; ++i) mean.backward({}, /*retain_graph=*/true);
                         },
                         doubling_);
  }

  void print(const Selected& selected, const corpus::Sample& sample, Pass pass, const std::string& recorded_name,
             const std::string& suffix, std::size_t backend, const std::vector<Nanoseconds>& batches) {
    const auto& declared = sample.declared;
    // Recorded calls have no module and no attributes; the operator and the recorded text say as much.
    out_ << "# Benchmarking PyTorch: " << (declared.module.empty() ? selected.op->name : declared.module)
         << "\n# Mode: " << (backends_[backend]->name() == "eager" ? "Eager" : "JIT")
         << "\n# Name: " << (sample.label.empty() ? recorded_name : sample.label) << suffix
         << "\n# Input: " << (declared.module.empty() ? sample.text : declared.attributes) << '\n'
         << execution_time_line(pass, batches) << "\n\n"
         << std::flush;
  }

  ReplayOptions options_;
  Timer& timer_;
  Doubling doubling_;
  std::ostream &out_, &err_;
  std::vector<Backend*> backends_;
  Summary summary_;
};

}  // namespace pace::benches::operators::compat
