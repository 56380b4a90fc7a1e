// run_comparison: prepare, verify, calibrate, take samples, audit, judge, publish. Each stage is a function in the file
// of its name, which takes values and returns one.
#pragma once

#include "pace/compare/run.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <c10/core/Device.h>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/compare/pass_over.hpp"
#include "pace/compare/publish.hpp"
#include "pace/compare/without_runner.hpp"
#include "pace/gate/panel.hpp"
#include "pace/gate/suite_share.hpp"
#include "pace/isolate/measure_sides.hpp"
#include "pace/judge/judge.hpp"
#include "pace/judge/measurement.hpp"
#include "pace/judge/summarize.hpp"
#include "pace/measure/calibrate.hpp"
#include "pace/measure/clocks_alone.hpp"
#include "pace/measure/round_values.hpp"
#include "pace/measure/rounds.hpp"
#include "pace/measure/timing_modes.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/exit_guard.hpp"
#include "pace/os/steady_memory.hpp"
#include "pace/result/progress.hpp"
#include "pace/result/run_context.hpp"
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
#endif

namespace pace::detail {

/// Passes over the participants of one comparison, until one has figures of all that remain.
class Passes {
 public:
  /// All must outlive it.
  Passes(timing::Clock& clock, std::span<const gate::Stated> stated, const gate::Rates& rates, const Prepared& prepared,
         const Verified& verified, CandidateAudit& audit)
      : clock_(clock), stated_(stated), rates_(rates), prepared_(prepared), verified_(verified), audit_(audit) {}

  /// One pass: runs rounds for the gates, and times other modes. Exceptions of the user's code become values here. An
  /// implementation that throws is dropped, and the others must be measured again.
  [[nodiscard]] Measurement next(Participants left) {
    Measurement pass{.participants = std::move(left)};
    if (gate::expects_in_phase(stated_, host_phase)) pass.host.emplace();
    try {
      measure(pass);
    } catch (...) {
      enter_exception(clock_, pass.participants);
      pass.again = !pass.participants.empty();
    }
    return pass;
  }

 private:
  void measure(Measurement& pass) {
    auto& participants = pass.participants;
    auto* const modes = clock_.modes();
    audit_.begin_pass();
    if (modes != nullptr) modes->forget();
    if (time_left(clock_).count() <= 0) return participants.run_out_of_time(deadline_reason());
    pass.gate.mode = select_mode(clock_, prepared_, participants.remaining(), gate::expects_on_device(stated_));
    participants.drop(pass.gate.mode.dropped);
    if (participants.empty()) return;
    if (!run_rounds(parts_of_iteration(prepared_), participants.remaining(), pass.gate, pass))
      return participants.run_out_of_time(deadline_reason());
    if (modes == nullptr || pass.again || participants.empty()) return;

    const ClockChoice of_gate = modes->selected();
    if (pass.host) run_host_rounds(*modes, pass);
    if (pass.again || participants.empty() || participants.device_lost()) return;
    report_step({.what = "other timing modes"});
    pass.other = time_other_modes(clock_, prepared_, verified_.options, of_gate, pass.host.has_value(), participants);
  }

  /// Calibrates the implementations `timed`, runs their rounds by the selected clock into `gated`, and audits them.
  /// `parts`: phases of the result that the samples are about. False if no time was left for any round.
  [[nodiscard]] bool run_rounds(const std::vector<std::string>& parts, const std::vector<std::size_t>& timed,
                                GatedRounds& gated, Measurement& pass) {
    auto panels = watch_expectations(prepared_, parts, timed, stated_, rates_);
    const auto cycles = fewest_cycles(panels, timed.size() - 1, prepared_.options.confidence, rates_);
    gated.calibration = calibrate(clock_, prepared_, verified_, timed, cycles, /*gated=*/!panels.empty());
    if (gated.calibration.iterations == 0) return false;
    std::optional<RoundValues> values;
    if (prepared_.renew) values.emplace(clock_, prepared_, audit_);
    gated.samples =
        take_samples(clock_, prepared_, gated.calibration, std::move(panels), audit_, values ? &*values : nullptr);

    // The host's time does not depend on the clock of the GPU.
    auto* const modes = clock_.modes();
    if (modes != nullptr && modes->selected() != ClockChoice::host && clock_was_unsteady(gated.samples.conditions))
      gated.clocks_alone = read_clocks_alone(*modes, gated.calibration.subjects, gated.calibration.iterations,
                                             prepared_.operands->sets.size());

    report_step({.what = "checks after the rounds"});
    // If the audit ended the rounds, there may be no figures.
    take_findings(audit_.check(audit_.found() ? RoundFigures() : figures_of(gated.samples, prepared_)), gated, pass);
    return true;
  }

  /// Enters what the audit found in the rounds `gated` and after them.
  void take_findings(AuditFindings findings, GatedRounds& gated, Measurement& pass) const {
    gated.slowed_baseline = std::move(findings.slowed_baseline);
    gated.baseline_cores = findings.baseline_cores;
    // For a GPU, the host's threads are not the timed work.
    if (gated.baseline_cores <= 0 && clock_.modes() == nullptr)
      gated.baseline_cores = cores_in_rounds(gated.samples, prepared_.participants.baseline());
    gated.on_unseen_values = std::move(findings.on_unseen_values);
    pass.participants.drop(findings.dropped);
    pass.notes.insert(pass.notes.end(), findings.notes.begin(), findings.notes.end());
    pass.keeps.insert(pass.keeps.end(), findings.keeps.begin(), findings.keeps.end());
    pass.objections.insert(pass.objections.end(), findings.objections.begin(), findings.objections.end());
    pass.max_abs_errors.resize(findings.max_abs_errors.size());
    for (std::size_t i = 0; i < findings.max_abs_errors.size(); ++i)
      pass.max_abs_errors[i] = std::max(pass.max_abs_errors[i], findings.max_abs_errors[i]);
    pass.again = findings.measure_again && !pass.participants.empty();
  }

  /// Runs rounds by the host's time, if something is expected of it. The samples by the comparison's clock stay valid.
  /// An implementation that throws here keeps its figures there, with the fault. The others are measured again without
  /// it.
  void run_host_rounds(timing::ModeClock& modes, Measurement& pass) {
    auto& participants = pass.participants;
    auto timed = participants.remaining();
    const std::vector<std::string> parts{host_phase};
    pass.host->mode = select_host(modes);
    while (!watch_expectations(prepared_, parts, timed, stated_, rates_).empty()) {
      try {
        if (!run_rounds(parts, timed, *pass.host, pass)) pass.host->samples.rounds.stop_reason = StopReason::deadline;
        return;
      } catch (...) {
        pass.host->samples = {};
        const auto index = enter_exception_beside_rounds(clock_, "in the rounds by the host's time: ", participants);
        if (!index || *index == participants.baseline() || participants.device_lost()) return;
        std::erase(timed, *index);
      }
    }
  }

  timing::Clock& clock_;
  std::span<const gate::Stated> stated_;
  const gate::Rates& rates_;
  const Prepared& prepared_;
  const Verified& verified_;
  CandidateAudit& audit_;
};

/// Returns the audit of `plan`'s level. Throws Error for a level that is not compiled.
[[nodiscard]] inline StartAudit start_audit_of(const ComparisonPlan& plan) {
  if (plan.options.audit == Audit::off) return start_no_audit;
#ifdef PACE_NO_AUDIT
  throw Error("comparison '" + plan.name + "': --audit " + to_string(plan.options.audit) +
              " needs a pace that is compiled without PACE_NO_AUDIT; expected --audit off");
#else
  return start_audit;
#endif
}

/// Runs all stages that need the operands, and releases them. `family_alpha` is the error rate of everything stated
/// together, `rates` are the parts of each phase.
[[nodiscard]] inline Measured measure(timing::Clock& clock, const ComparisonPlan& plan,
                                      std::span<const gate::Stated> stated, double family_alpha,
                                      const gate::Rates& rates) {
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
  if (are_large(prepared.operands->pristine)) return_freed_memory();
  Measurement measurement{.participants = verified.participants, .again = !verified.participants.empty()};
  if (gate::expects_in_phase(stated, host_phase)) measurement.host.emplace();
  Passes passes(clock, stated, rates, prepared, verified, *audit);
  while (measurement.again) measurement = passes.next(measurement.participants);
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
                    " on the device, but --clock host chooses the time of the host; expected another clock");
    return plan.stated;
  }
  return gate::share_among_clocks(plan.stated, /*guards_of_both=*/chosen == ClockChoice::automatic);
}

/// Throws Error for a gate on a mean or a quantile if several processes decide together. Their test is about centres of
/// log ratios, and each process alone would spend the whole error rate.
inline void refuse_for_processes(const ComparisonPlan& plan) {
  if (!run_context().defers_judgements) return;
  for (const auto& [implementation, expectation] : plan.stated)
    if (expectation.is_of_time() && (expectation.demand().about == gate::Statistic::mean ||
                                     expectation.demand().about == gate::Statistic::quantile))
      throw Error("comparison '" + plan.name + "': a " + expectation.describe() +
                  " cannot be judged by several processes (--processes); expected NoSlowerThan or one process");
}

/// Throws Error for an error rate of the comparison or an expectation, if the run has one for all gates.
inline void refuse_own_rates(const ComparisonPlan& plan) {
  const auto& context = run_context();
  if (context.suite_budget == nullptr) return;
  const auto refuse = [&](const std::string& what) {
    throw Error("comparison '" + plan.name + "': " + what +
                ", which does not go with --suite-alpha, the error rate of all gates of the run; expected one of them");
  };
  if (plan.options.alpha != context.options.alpha)
    refuse("its options have an alpha of their own (" + format_percent(plan.options.alpha) + ')');
  for (const auto& [implementation, expectation] : plan.stated)
    if (expectation.is_of_time() && expectation.demand().alpha)
      refuse("a " + expectation.describe() + " has an error rate of its own (.alpha())");
}

/// Whether comparisons of this process, with this one, used the name of `plan` for several inputs.
[[nodiscard]] inline bool repeats_name(const ComparisonPlan& plan) {
  static std::map<std::string, std::set<std::string>> inputs_of;
  auto& known = inputs_of[plan.name];
  known.insert(plan.describe_inputs());
  return known.size() > 1;
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

PACE_INLINE Result run_comparison(const ComparisonPlan& plan, timing::Clock& clock) {
  validate(plan);
  prepare_without_runner();
  refuse_for_processes(plan);
  refuse_own_rates(plan);
  const bool repeats = repeats_name(plan);
  if (auto passed_over = pass_over(plan)) return *std::move(passed_over);
  const auto stated = stated_for(clock, plan);
  std::shared_ptr<ComparisonBudget> budget;
  if (run_context().suite_budget != nullptr)
    budget = std::make_shared<ComparisonBudget>(ComparisonBudget{.suite = run_context().suite_budget});
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
  const gate::Rates rates = gate::share_among_phases(stated, gate::Rates{family_alpha, plan.options.beta});

  auto [result, panels, traffic] = plan.options.isolate == Isolate::sides
                                       ? measure_sides(clock, plan, start_audit_of(plan), stated, family_alpha, rates)
                                       : measure(clock, plan, stated, family_alpha, rates);
  judge(clock, plan, stated, rates, panels, traffic, result);
  result.notes.insert(result.notes.begin(), plan.notes.begin(), plan.notes.end());
  if (budget != nullptr) enter_budget(budget, result);
  enter_repeated_name(repeats, result);
  return publish(std::move(result));
}

/// The device on which the calls run: the plan's, or else the operands' GPU, or else the CPU.
[[nodiscard]] inline at::Device device_of(const ComparisonPlan& plan) {
  if (plan.device) return *plan.device;
  for (const auto& tensor : plan.operands->tensors())
    if (tensor.is_cuda()) return tensor.device();
  return at::kCPU;
}

PACE_INLINE Result run_comparison(const ComparisonPlan& plan) {
  validate(plan);
  (void)repeats_name(plan);
  // A dry run needs no GPU.
  if (auto passed_over = pass_over(plan)) return *std::move(passed_over);
  if (const auto device = device_of(plan); device.is_cuda()) {
#ifdef PACE_CUDA
    // Last, when graphs, operands and outputs are released.
    const cuda::UnusedMemoryGivenBack afterwards;
    cuda::CudaDevice gpu(device.has_index() ? device.index() : 0);
    cuda::ComparisonClock clock(gpu);
    // Finds a kernel that never ends before the program is killed for it.
    gpu.limit_call_timeout(std::max<Nanoseconds>(time_left(clock), std::chrono::seconds(1)));
    return run_comparison(plan, clock);
#else
    throw Error("comparison '" + plan.name + "': its operands are on " + device.str() +
                ", but this program was built without CUDA; build it with --config=cuda");
#endif
  }
  timing::WallClock clock;
  return run_comparison(plan, clock);
}

}  // namespace pace::detail
