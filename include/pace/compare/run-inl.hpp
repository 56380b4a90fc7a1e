// run_comparison: prepare, verify, calibrate, take samples, audit, judge, publish. Each stage is a function in the file
// of its name, which takes values and returns one.
#pragma once

#include "pace/compare/run.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "pace/base/error.hpp"
#include "pace/base/spelling.hpp"
#include "pace/compare/passes.hpp"
#include "pace/compare/publish.hpp"
#include "pace/compare/settle.hpp"
#include "pace/gate/panel.hpp"
#include "pace/gate/suite_share.hpp"
#include "pace/isolate/measure_sides.hpp"
#include "pace/judge/judge.hpp"
#include "pace/judge/measurement.hpp"
#include "pace/judge/summarize.hpp"
#include "pace/measure/gated_rounds.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/exit_guard.hpp"
#include "pace/os/steady_memory.hpp"
#include "pace/run/progress.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/wall.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/first_calls.hpp"
#include "pace/verify/no_audit.hpp"
#ifndef PACE_NO_AUDIT
#include "pace/audit/audit.hpp"
#endif
#ifdef PACE_CUDA
#include "pace/gpu/cuda/comparison_clock.hpp"
#include "pace/gpu/cuda/unused_memory.hpp"
#include "pace/gpu/left_set.hpp"
#endif

namespace pace::detail {

/// Returns the audit of `plan`'s level. Throws Error for a level that is not compiled.
[[nodiscard]] inline StartAudit start_audit_of(const ComparisonPlan& plan) {
  if (plan.options.audit == Audit::off) return start_no_audit;
#ifdef PACE_NO_AUDIT
  throw Error("comparison '" + plan.name + "': " + option_text("audit", to_string(plan.options.audit)) +
              " needs a pace that is compiled without PACE_NO_AUDIT; expected " + option_text("audit", "off"));
#else
  return start_audit;
#endif
}

/// Runs all stages that need the operands, and releases them. `family_alpha` is the error rate of all gates together.
[[nodiscard]] inline Measured measure(timing::Clock& clock, const ComparisonPlan& plan, const Gates& gates,
                                      double family_alpha) {
  // So that a user's next draws are not the numbers of the next comparison's calls.
  const RandomStateKept generators;
  // Before this process makes anything, so that the audit's processes share none of its memory.
  const auto pending_audit = start_audit_of(plan)(clock, plan, BaselineSamples::all);
  report_step({.what = "copies of the operands"});
  Prepared prepared = prepare(clock, plan);
  prepared.options.alpha = family_alpha;
  const ExitGuard no_exit("inside the comparison '" + plan.name + "'");
  const auto audit = pending_audit->begin(prepared);
  FirstCalls first_calls(clock, prepared, *audit, plan.check);
  const Verified verified = first_calls.make();
  if (are_large(prepared.operands->given)) return_freed_memory();
  Measurement measurement = Passes(clock, prepared, gates, *audit).measure(verified.participants);
  Measured measured{summarize(clock, prepared, verified, measurement), std::move(measurement.gate.samples.panels),
                    verified.traffic};
  if (measurement.host) std::ranges::move(measurement.host->samples.panels, std::back_inserter(measured.panels));
  return measured;
}

/// Returns the plan's expectations as `clock` judges them. If it times host and device apart, guards are about both,
/// unless the options choose one clock. Throws Error for an expectation of the device when the chosen clock is the
/// host's.
[[nodiscard]] inline std::vector<gate::Stated> stated_for(timing::Clock& clock, const ComparisonPlan& plan) {
  const ClockChoice chosen = plan.options.clock;
  if (clock.modes() == nullptr || chosen == ClockChoice::host) {
    for (const auto& each : plan.stated)
      if (clock.modes() != nullptr && each.expectation.taken_on() == gate::TakenOn::device)
        throw Error("comparison '" + plan.name + "': expects a " + each.expectation.describe() +
                    " on the device, but " + option_text("clock", "host") +
                    " chooses the time of the host; expected another clock");
    return plan.stated;
  }
  return gate::share_among_clocks(plan.stated, /*guards_of_both=*/chosen == ClockChoice::automatic);
}

/// Marks a result and its phases if the name alone is ambiguous.
inline void enter_repeated_name(bool repeats, Result& result) {
  result.repeats_name = repeats;
  for (auto& phase : result.phases) phase.repeats_name = repeats;
}

/// Gives the rows of `result` the comparison's part in the error budget of the run.
inline void enter_budget(const std::shared_ptr<ComparisonBudget>& budget, Result& result) {
  result.gate_number = budget->gate_number;
  for (auto& row : result.implementations) {
    row.context.budget = budget;
    // No gate was judged by the comparison's rate.
    if (result.gate_number == 0 || row.samples.empty()) row.context.alpha = 0;
  }
  for (auto& phase : result.phases) enter_budget(budget, phase);
}

/// Adds the notes that are known after the calls. What fails in making them costs no figures.
inline void add_late_notes(const ComparisonPlan& plan, Result& result) {
  for (const auto& late : plan.late_notes) try {
      std::ranges::move(late(), std::back_inserter(result.notes));
    } catch (...) {
      result.notes.push_back("A note could not be made: " + current_message() + '.');
    }
}

/// Measures, judges and publishes; or publishes the result of an earlier process of this run.
[[nodiscard]] inline Result measure_and_publish(const ComparisonPlan& plan, timing::Clock& clock) {
  const auto stated = stated_for(clock, plan);
  const bool repeats = repeats_name(plan.name);
  std::shared_ptr<ComparisonBudget> budget;
  if (run_context().suite_budget != nullptr) {
    for (const auto& each : stated)
      if (each.expectation.needs_energy())
        throw Error("comparison '" + plan.name + "': expects an " + each.expectation.describe() +
                    ", which does not go with --suite-alpha; why: it has an error rate of its own");
    budget = std::make_shared<ComparisonBudget>(ComparisonBudget{.suite = run_context().suite_budget});
  }
  if (auto known = recall(plan.name, plan.describe_inputs(), phases_of(plan, stated))) {
    if (budget != nullptr) {
      budget->gate_number = known->gate_number;
      enter_budget(budget, *known);
    }
    enter_repeated_name(repeats, *known);
    return publish(*std::move(known));
  }
  const AtWork at_work(plan.name);
  activity()->watch(true);
  if (progress() != nullptr) progress()->subject(plan.name);
  const bool of_time =
      std::ranges::any_of(stated, [](const gate::Stated& each) { return each.expectation.is_of_time(); });
  // Takes the place in the series before measuring, so that no figure decides it.
  const double family_alpha = budget != nullptr && of_time ? gate::stated_alpha(*budget) : plan.options.alpha;
  const Gates gates{stated, gate::share_among_phases(stated, gate::Rates{family_alpha, plan.options.beta})};

  auto [result, panels, traffic] = plan.options.isolate == Isolate::sides
                                       ? measure_sides(clock, plan, start_audit_of(plan), gates, family_alpha)
                                       : measure(clock, plan, gates, family_alpha);
  hold_against_peaks(clock, plan, traffic, result);
  judge(plan, gates, panels, result);
  result.notes.insert(result.notes.begin(), plan.notes.begin(), plan.notes.end());
  add_late_notes(plan, result);
  if (budget != nullptr) enter_budget(budget, result);
  enter_repeated_name(repeats, result);
  return publish(std::move(result));
}

PACE_INLINE Result run_comparison(const ComparisonPlan& plan, timing::Clock& clock) {
  if (auto settled = settle_without_measuring(plan)) return *std::move(settled);
  return measure_and_publish(plan, clock);
}

/// The device on which the calls run: the plan's, or else the operands' GPU, or else the CPU.
[[nodiscard]] inline at::Device device_of(const ComparisonPlan& plan) {
  if (plan.device) return *plan.device;
  for (const auto& tensor : plan.operands->tensors())
    if (tensor.is_cuda()) return tensor.device();
  return at::kCPU;
}

PACE_INLINE Result run_comparison(const ComparisonPlan& plan) {
  // Before a GPU is used: a dry run needs none.
  if (auto settled = settle_without_measuring(plan)) return *std::move(settled);
  if (const auto device = device_of(plan); device.is_cuda()) {
#ifdef PACE_CUDA
    // Last, when graphs, operands and outputs are released.
    const cuda::UnusedMemoryGivenBack afterwards;
    const auto clock_choice = plan.options.clock;
    const bool captures = clock_choice == ClockChoice::automatic || clock_choice == ClockChoice::graph ||
                          clock_choice == ClockChoice::cold;
    if (const auto why = gpu::why_nothing_is_captured(); captures && !why.empty())
      throw Error("comparison '" + plan.name + "': " + why + ", or time by the stream (" + option_text("clock", "hot") +
                  ')');
    cuda::CudaDevice gpu(device.has_index() ? device.index() : 0);
    cuda::ComparisonClock clock(gpu);
    // Finds a kernel that never ends before the program is killed for it.
    gpu.limit_call_timeout(std::max<Nanoseconds>(time_left(clock), std::chrono::seconds(1)));
    return measure_and_publish(plan, clock);
#else
    throw Error("comparison '" + plan.name + "': its operands are on " + device.str() +
                ", but this program was built without CUDA; build it with --config=cuda");
#endif
  }
  timing::WallClock clock;
  return measure_and_publish(plan, clock);
}

}  // namespace pace::detail
