// One comparison from first call to summary: verify, warm up, calibrate, time, verify again.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pace/timing/clock.hpp"
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
#include "pace/core/view.hpp"
#include "pace/gate/panel.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/stats/summary.hpp"

namespace pace::detail {

/// Times and speed-ups of whoever is running still, from the samples in the rows of `result`.
template <class... Operands>
void summarize(const Roster<Operands...>& roster, const TimedHow& how, Result& result) {
  const std::size_t candidates = roster.running.empty() ? 0 : roster.running.size() - 1;
  const double each_confidence = stats::simultaneous_confidence(roster.options.confidence, candidates);
  for (const std::size_t index : roster.running) {
    auto& each = result.implementations[index];
    each.time = stats::summarize_times(each.samples, roster.options.confidence);
    if (index == roster.baseline) continue;
    each.log_ratios = stats::paired_log_ratios(result.implementations[roster.baseline].samples, each.samples,
                                               how.rounds_per_cycle);
    if (each.log_ratios.empty()) continue;
    each.speedup = how.watched ? stats::summarize_watched_speedup(each.log_ratios, each_confidence)
                            : stats::summarize_speedup(each.log_ratios, each_confidence);
  }
}

/// Likewise of each phase, in results of their own.
template <class... Operands>
void summarize_phases(Roster<Operands...>& roster, const TimedHow& how) {
  for (auto& phase : roster.phases) {
    auto& result = roster.result.phases.emplace_back(result_of_phase(roster.result, phase.name));
    for (std::size_t i = 0; i < how.timed.size(); ++i)
      if (roster.is_running(how.timed[i]))
        result.implementations[how.timed[i]].samples = std::move(phase.samples[i]);
    summarize(roster, how, result);
  }
}

/// From the first call to the summary.
template <timing::Clock C, class... Operands>
void run_stages(C& clock, Roster<Operands...>& roster, View<gate::Stated> stated,
                const MakeImplementation<Operands...>& reference) {
  const Options& options = roster.options;
  if (roster.renew) roster.result.notes.push_back("Every round has operands of other values, equal for all; writing them is not timed.");
  roster.result.clock = clock.name();
  roster.result.clock_resolution = clock.resolution();
  if constexpr (!timing::TellsFigures<C>) note_options_for_gpu(roster);
  roster.result.confidence = options.confidence;
  roster.result.seed = options.seed;
  if constexpr (requires { clock.available_memory(); }) roster.copy_operands(clock.available_memory());
  else roster.copy_operands(available_memory());
  if (reference) {
    roster.reference = reference(roster.operands);
    roster.reference->index = roster.baseline;
  }
  const ExitGuard no_exit("inside the comparison '" + roster.result.name + "'");
  Inspector<Operands...> inspector(roster.operands, roster.first, options.seed);
  Auditor<C, Operands...> auditor(clock, roster, inspector);
  make_first_calls(clock, roster, inspector);
  start_every_call_alike(roster);
  while (!roster.running.empty()) {
    if (time_left(clock).count() <= 0) {
      roster.out_of_time();
      break;
    }
    try {
      if constexpr (timing::TellsFigures<C>) select_gate_figure(clock, roster);
      // A clock that was asked for by name may be one that none of them can be timed by.
      if (roster.running.empty()) break;
      const auto how = time_all(clock, roster, auditor, stated);
      if (how.rounds_per_cycle == 0) break;
      inspector.notice_changes();
      // On operands that somebody has changed everybody is wrong.
      if (!inspector.operands_changed()) auditor.verify_last_outputs();
      if (auditor.inspect_all()) continue;
      summarize(roster, how, roster.result);
      summarize_phases(roster, how);
      if constexpr (timing::TellsFigures<C>) add_all_figures(clock, roster);
      count_on_device(clock, roster);
      break;
    } catch (const ImplementationWrong& found) {
      roster.give_up(found.index, Outcome::wrong, found.message);
    } catch (const ImplementationThrew& thrown) {
      // The others' samples were taken beside one that is gone: measure again without it.
      roster.give_up_failed(thrown.index, with_device_state(clock, thrown.failure));
      // What was captured of it holds memory that the others may want.
      if constexpr (timing::TellsFigures<C>)
        if (thrown.failure.out_of_memory) clock.forget();
    } catch (...) {
      // What was queued in one call may fail in whatever waits for it.
      const Failure failure = with_device_state(clock, current_failure());
      if (failure.device != Failure::Device::lost) throw;
      roster.lose_device(failure.message);
    }
  }
}

/// Implementations that are wrong or throw become rows of the result; the others are timed without them.
template <timing::Clock C, class... Operands>
[[nodiscard]] Result run_session(C& clock, const std::string& name, const std::tuple<Operands...>& operands,
                                 const std::vector<Planned<Operands...>>& plan, const Options& options,
                                 const check::CheckOptions& check, View<gate::Stated> stated,
                                 const MakeImplementation<Operands...>& reference,
                                 const RenewOperands<Operands...>& renew) {
  Roster<Operands...> roster{.options = options, .check = check, .first = operands, .renew = renew};
  roster.result.name = name;
  roster.add_rows(plan);
  try {
    run_stages(clock, roster, stated, reference);
  } catch (...) {
    const Failure failure = current_failure();
    if (!failure.out_of_memory) throw;
    roster.run_out_of_memory(failure.message);
  }
  return std::move(roster.result);
}

}  // namespace pace::detail
