// One operator call, timed on every back end side by side.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/backends/work.hpp"
#include "benches/operators/backward.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/peak.hpp"
#include "benches/operators/replay_backends.hpp"
#include "benches/operators/with_place.hpp"
#include "benches/rows/prior_failures.hpp"
#include "benches/rows/refusal.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/check/check_options.hpp"
#include "pace/compare/comparison.hpp"
#include "pace/gate/counts.hpp"
#include "pace/gate/times.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/timing/wall.hpp"
#include "pace/training/implementation.hpp"

namespace pace::benches::operators {

/// Compares back ends call by call, with the options of run_context(). All arguments must outlive it.
class BackendComparison {
 public:
  BackendComparison(const ReplayOptions& options, const ReplayBackends& backends)
      : options_(options), backends_(backends) {}

  /// Returns the result, which is published. `failures`: how the back ends ended earlier processes of the run.
  [[nodiscard]] Result run(const ReplayedCase& one, const OperatorCall& call, const PriorFailures& failures) {
    auto comparison = pace::compare(one.name, call.tensors());
    comparison.inputs(one.inputs);
    // One for all back ends, so that they start from equal gradients.
    const OutputGradient gradient(run_context().options.seed);
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      const auto refused = add(i, one, call, failures, gradient, comparison);
      if (!refused) continue;
      run_context().publish(*refused);
      return *refused;
    }
    expect(call, comparison);
    configure(comparison, result_is_uninitialised(call.name()));
    note(one, call, comparison);
    // The figures of operators belong to their forward passes.
    const auto work = options_.pass == Pass::forward ? known_work(call) : std::nullopt;
    if (work) comparison.bytes(work->bytes());
    if (work && work->flops) comparison.flops(*work->flops);
    std::optional<at::ScalarType> on_cpu;
    if (!call.tensors().empty() && call.tensors().front().is_cpu()) on_cpu = call.tensors().front().scalar_type();
    OfPeak of_peak(peak_, work, on_cpu);
    const auto& clock = call.mutates_inputs() ? options_.clock_of_writers : options_.clock;
    Result result = clock ? comparison.run(*clock) : comparison.run();
    of_peak.complete(result);
    return result;
  }

 private:
  /// Adds a back end, or says why it is refused. Returns the result of all where there is no baseline.
  template <class Comparison>
  [[nodiscard]] std::optional<Result> add(std::size_t i, const ReplayedCase& one, const OperatorCall& call,
                                          const PriorFailures& failures, const OutputGradient& gradient,
                                          Comparison& comparison) const {
    const auto& names = backends_.names();
    if (const auto* failure = failures.of(i)) {
      if (i == 0) return without_baseline(one.name, names, *failure);
      comparison.refused({.name = names[i], .reason = failure->message, .outcome = failure->outcome});
      return std::nullopt;
    }
    std::shared_ptr<Executable> executable;
    try {
      executable = backends_.make_ready(i, call);
      if (options_.pass != Pass::forward) {
        const Watched watched;
        require_backward(executable, call, names[i]);
      }
    } catch (const std::exception& error) {
      if (i == 0)
        return refusal(one.name, names, names[0] + ": " + add_to_reason(message_of(error), " (" + one.place + ')'));
      comparison.refused({.name = names[i], .reason = message_of(error)});
      return std::nullopt;
    }
    const auto enter = [&](auto implementation) {
      if (i == 0)
        comparison.baseline(names[i], std::move(implementation));
      else
        comparison.candidate(names[i], std::move(implementation));
    };
    if (options_.pass == Pass::forward) {
      enter(with_place(one.place,
                       [executable](const std::vector<at::Tensor>& tensors) { return executable->run(tensors); }));
    } else {
      auto step = backward_step(executable, gradient);
      step.forward = with_place(one.place, std::move(step.forward));
      step.backward = with_place(one.place, std::move(step.backward));
      enter(std::move(step));
    }
    return std::nullopt;
  }

  template <class Comparison>
  void expect(const OperatorCall& call, Comparison& comparison) const {
    if (options_.peak_memory_at_most) comparison.expect(PeakMemoryAtMost(*options_.peak_memory_at_most));
    if (!options_.gates(call.name())) return;
    const auto guard = NoSlowerThan(*options_.no_slower_than);
    comparison.expect(options_.pass == Pass::backward ? guard.in_phase("backward") : guard);
  }

  /// `uninitialised`: outputs hold nothing, so they are timed and reported as unchecked.
  template <class Comparison>
  void configure(Comparison& comparison, bool uninitialised) const {
    Options options = run_context().options;
    check::CheckOptions check;
    if (options_.repeats) options.max_rounds = *options_.repeats * backends_.size();
    if (options_.accuracy_only) {
      options.max_rounds = backends_.size();
      options.mode_share = 0;
      check.method = check::CheckOptions::Method::cosine;
      check.equal_nan = true;
    }
    if (uninitialised) check.method = check::CheckOptions::Method::none;
    if (options_.accuracy_only || uninitialised) comparison.check(check);
    if (options_.reuses_outputs) comparison.reuses_outputs();
    for (std::size_t backend = 0; backend < backends_.size(); ++backend)
      if (backends_.all()[backend]->reuses_outputs()) comparison.reuses_outputs(backends_.names()[backend]);
    comparison.options(options);
  }

  template <class Comparison>
  void note(const ReplayedCase& one, const OperatorCall& call, Comparison& comparison) const {
    // Failures of pace's own work, such as memory that ran out, do not name the place.
    comparison.note(call.signature() + one.place.substr(std::min(one.place.find(" at "), one.place.size())));
    if (options_.clock && call.mutates_inputs())
      comparison.note(
          "The timer's calls write to operands, each to what the one before has left. The call that is checked "
          "follows them, untimed, on restored operands.");
  }

  /// The work of a call; nothing for one that throws, which its row will say.
  [[nodiscard]] static std::optional<CallWork> known_work(const OperatorCall& call) {
    try {
      activity()->running(0);
      return work_of(call);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  const ReplayOptions& options_;
  const ReplayBackends& backends_;
  HostPeak peak_{*timing::WallClock().host_bandwidth()};
};

}  // namespace pace::benches::operators
