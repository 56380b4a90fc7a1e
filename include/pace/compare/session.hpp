// One comparison from first call to summary: verify, warm up, calibrate, time, verify again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/compare/auditor.hpp"
#include "pace/compare/device_state.hpp"
#include "pace/compare/figures.hpp"
#include "pace/compare/first_calls.hpp"
#include "pace/compare/inspector.hpp"
#include "pace/compare/phases.hpp"
#include "pace/compare/roster.hpp"
#include "pace/compare/spares.hpp"
#include "pace/compare/time_left.hpp"
#include "pace/compare/timing.hpp"
#include "pace/core/exit_guard.hpp"
#include "pace/core/memory.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/panel.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/stats/summary.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Adds times and speed-ups of the implementations that are running still, from the samples in the rows of `result`.
inline void summarize(const Roster& roster, const TimedHow& how, Result& result) {
  const std::size_t candidates = roster.running.empty() ? 0 : roster.running.size() - 1;
  const double each_confidence = stats::simultaneous_confidence(roster.options.confidence, candidates);
  for (const std::size_t index : roster.running) {
    auto& each = result.implementations[index];
    each.time = stats::summarize_times(each.samples, roster.options.confidence);
    if (index == roster.baseline) continue;
    each.log_ratios =
        stats::paired_log_ratios(result.implementations[roster.baseline].samples, each.samples, how.rounds_per_cycle);
    if (each.log_ratios.empty()) continue;
    each.speedup = how.watched ? stats::summarize_watched_speedup(each.log_ratios, each_confidence)
                               : stats::summarize_speedup(each.log_ratios, each_confidence);
  }
}

/// Adds the same of each phase, in results of their own.
inline void summarize_phases(Roster& roster, const TimedHow& how) {
  for (auto& phase : roster.phases) {
    auto& result = roster.result.phases.emplace_back(result_of_phase(roster.result, phase.name));
    for (std::size_t i = 0; i < how.timed.size(); ++i)
      if (roster.is_running(how.timed[i])) result.implementations[how.timed[i]].samples = std::move(phase.samples[i]);
    summarize(roster, how, result);
  }
}

/// From the first call to the summary.
inline void run_stages(timing::Clock& clock, Roster& roster, std::span<const gate::Stated> stated,
                       const MakeImplementation& reference) {
  const Options& options = roster.options;
  if (roster.renew)
    roster.result.notes.push_back(
        "Every round has operands of other values, equal for all; writing them is not timed.");
  roster.result.clock = clock.name();
  roster.result.clock_resolution = clock.resolution();
  if (clock.modes() == nullptr) note_options_for_gpu(roster);
  roster.result.confidence = options.confidence;
  roster.result.seed = options.seed;
  timing::ModeClock* const modes = clock.modes();
  roster.copy_operands(modes != nullptr ? modes->available_memory() : available_memory());
  if (reference) {
    roster.reference = reference(roster.operands);
    roster.reference->index = roster.baseline;
  }
  const ExitGuard no_exit("inside the comparison '" + roster.result.name + "'");
  Inspector inspector(roster.operands, roster.first, options.seed);
  Auditor auditor(clock, roster, inspector);
  make_first_calls(clock, roster, inspector);
  start_every_call_alike(roster);
  while (!roster.running.empty()) {
    if (time_left(clock).count() <= 0) {
      roster.out_of_time();
      break;
    }
    try {
      if (modes != nullptr) select_gate_figure(*modes, roster);
      // A clock that was asked for by name may be one that none of them can be timed by.
      if (roster.running.empty()) break;
      const auto how = time_all(clock, roster, auditor, stated);
      if (how.rounds_per_cycle == 0) break;
      inspector.notice_changes();
      // On operands that one implementation has changed, all are wrong.
      if (!inspector.operands_changed()) auditor.verify_last_outputs();
      if (auditor.inspect_all()) continue;
      summarize(roster, how, roster.result);
      summarize_phases(roster, how);
      if (modes != nullptr) {
        add_all_figures(*modes, roster);
        count_on_device(*modes, roster);
      }
      break;
    } catch (const ImplementationWrong& found) {
      roster.give_up(found.index, Outcome::wrong, found.message);
    } catch (const ImplementationThrew& thrown) {
      // The others' samples were taken beside one that is gone: measure again without it.
      roster.give_up_failed(thrown.index, with_device_state(clock, thrown.failure));
      // What was captured of it holds memory that the others may want.
      if (modes != nullptr && thrown.failure.out_of_memory) modes->forget();
    } catch (...) {
      // What was queued in one call may fail in whatever waits for it.
      const Failure failure = with_device_state(clock, current_failure());
      if (failure.device != Failure::Device::lost) throw;
      roster.lose_device(failure.message);
    }
  }
}

/// Implementations that are wrong or throw become rows of the result; the others are timed without them.
[[nodiscard]] inline Result run_session(timing::Clock& clock, const ComparisonPlan& plan, const Options& options) {
  Roster roster{.options = options, .check = plan.check, .first = *plan.operands, .renew = plan.renew};
  roster.result.name = plan.name;
  roster.add_rows(plan.implementations);
  try {
    run_stages(clock, roster, plan.stated, plan.reference);
  } catch (...) {
    const Failure failure = current_failure();
    if (!failure.out_of_memory) throw;
    roster.run_out_of_memory(failure.message);
  }
  return std::move(roster.result);
}

}  // namespace pace::detail
