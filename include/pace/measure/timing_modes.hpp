// select_mode, time_other_modes: modes of timing on a GPU (cold, hot, graph, host).
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/spelling.hpp"
#include "pace/measure/energy.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/run/progress.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/stats/summary.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/calibrate.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/timing/schedule.hpp"
#include "pace/verify/verified.hpp"

namespace pace::detail {

/// Returns the implementations that the selected mode cannot time, by index, and why.
[[nodiscard]] inline std::map<std::size_t, Failure> find_untimeable(timing::ModeClock& clock, const Prepared& prepared,
                                                                    const std::vector<std::size_t>& candidates) {
  std::map<std::size_t, Failure> found;
  for (const std::size_t index : candidates) {
    try {
      (void)timing::take_sample(clock, *prepared.implementations[index], 0, 1);
    } catch (const ImplementationThrew& thrown) {
      if (!clock.usable()) throw;
      found.emplace(thrown.index, thrown.failure);
    }
  }
  return found;
}

/// The mode of the rounds.
struct GateMode {
  std::string clock = {};
  Nanoseconds resolution{};
  /// Implementations that this mode cannot time.
  std::vector<Drop> dropped = {};
  std::vector<std::string> notes = {};
  /// Why times by this mode are those of no usual process, as a full sentence; empty if they are.
  std::string distortion = {};
  /// What this mode adds to each call; nothing: it adds nothing, or that is unknown.
  std::optional<ClockOverhead> overhead = {};
};

/// Selects the gate's mode for a clock with several modes. The automatic choice is the graph, or the stream for
/// iterations with phases, since training launches every step. The stream times all if the baseline cannot be captured,
/// or if a candidate cannot and nothing is expected of times. Otherwise (`gated`) such a candidate is dropped, since it
/// must not change the others' clock. A mode that you chose drops whatever it cannot time.
[[nodiscard]] inline GateMode select_mode(timing::Clock& clock, const Prepared& prepared,
                                          const std::vector<std::size_t>& timed, bool gated) {
  GateMode selected;
  if (auto* const modes = clock.modes()) {
    const bool automatic = prepared.options.clock == ClockChoice::automatic;
    const bool phases = prepared.baseline().phases() != nullptr;
    modes->select(!automatic ? prepared.options.clock : phases ? ClockChoice::hot : ClockChoice::graph);
    const auto untimeable = find_untimeable(*modes, prepared, timed);
    const bool dropping = !automatic || (gated && !untimeable.contains(prepared.participants.baseline()));
    for (const auto& [index, failure] : untimeable) {
      if (dropping) {
        selected.dropped.push_back(
            {index, failure.out_of_memory ? Outcome::out_of_memory : Outcome::refused,
             "it cannot be timed by the " + clock.name() + " clock" +
                 (automatic && !phases ? ", and gates on the others use that clock: " : ": ") + failure.message +
                 (automatic && !phases
                      ? "; try: " + option_text("clock", "hot") + ", which times all by events in the stream"
                      : "")});
        continue;
      }
      const std::size_t baseline = prepared.participants.baseline();
      const bool of_baseline = untimeable.contains(baseline);
      const std::size_t named = of_baseline ? baseline : index;
      selected.notes.push_back("Timed by events in the stream, since '" + prepared.result.implementations[named].name +
                               "' cannot be captured in a CUDA graph: " + untimeable.at(named).message);
      modes->select(ClockChoice::hot);
      modes->forget();
      break;
    }
  }
  selected.clock = clock.name();
  selected.resolution = clock.resolution();
  if (const auto* const modes = clock.modes()) selected.distortion = modes->distortion();
  return selected;
}

/// Selects the host's time, for gates on it besides the gate's mode.
[[nodiscard]] inline GateMode select_host(timing::ModeClock& clock) {
  clock.forget();
  clock.select(ClockChoice::host);
  return {.clock = clock.name(), .resolution = clock.resolution(), .distortion = clock.distortion()};
}

/// One mode's report on each implementation, by index, for the whole and each phase.
struct ModeTimings {
  std::string name;
  ClockChoice mode = ClockChoice::automatic;
  /// It is the gate's own mode, and has the times of the rounds.
  bool of_gate = false;
  std::vector<std::map<std::size_t, ModeSummary>> parts = {};
  /// What this mode adds to each call; nothing: it adds nothing, or that is unknown.
  std::optional<ClockOverhead> overhead = {};

  /// Enters why this mode has no time, for implementations without an entry.
  void add_missing(const std::vector<std::size_t>& indices, const std::string& reason) {
    for (auto& part : parts)
      for (const std::size_t index : indices) part.try_emplace(index, ModeSummary{.name = name, .missing = reason});
  }
};

/// Timing by the other modes, and counts of one call on the device.
struct OtherTimings {
  std::vector<ModeTimings> modes = {};
  std::map<std::size_t, std::optional<DeviceCounts>> device_counts = {};
  std::map<std::size_t, EnergySummary> energy = {};
};

/// Adds timings of those among `remaining` that the selected mode can time.
inline void time_mode(timing::ModeClock& clock, const Prepared& prepared, const std::vector<std::size_t>& remaining,
                      ModeTimings& timings) {
  Options options = prepared.options;
  std::vector<std::size_t> able = remaining;
  for (const auto& [index, failure] : find_untimeable(clock, prepared, remaining)) {
    std::erase(able, index);
    timings.add_missing({index}, failure.message);
  }
  if (able.empty()) return;
  std::vector<timing::Subject*> subjects;
  std::vector<Nanoseconds> estimates;
  for (const std::size_t index : able) {
    subjects.push_back(prepared.implementations[index].get());
    estimates.push_back(timing::take_sample(clock, *subjects.back(), 0, 1));
  }
  const std::size_t sets = prepared.operands->sets.size();
  const double confidence =
      stats::simultaneous_confidence(options.confidence, std::max<std::size_t>(2, able.size()) - 1);
  const std::size_t fewest = stats::fewest_for_median_interval(confidence);
  options.budget = std::min(options.mode_share * options.budget, time_left(clock));
  if (options.budget.count() <= 0) return;
  // Half for the samples, half for the work between them, which is larger with a cold cache.
  const Nanoseconds longest = 0.5 * options.budget / static_cast<double>(fewest * able.size() * able.size());
  const auto calibration = timing::calibrate(clock, subjects, estimates, sets, longest, options);
  // With as many operand sets as participants, these swap in every cycle.
  const auto policy = able.size() == sets ? options.operands : OperandPolicy::shared;
  timing::Schedule schedule(able.size(), policy, options.seed);
  const auto rounds = timing::run_rounds(clock, subjects, calibration.iterations, schedule, fewest, options);
  const std::size_t baseline_index = prepared.participants.baseline();
  const auto baseline = std::find(able.begin(), able.end(), baseline_index);
  for (std::size_t part = 0; part < timings.parts.size(); ++part) {
    const auto samples_of = [&](std::size_t i) -> const auto& { return rounds.samples[part * able.size() + i]; };
    for (std::size_t i = 0; i < able.size(); ++i) {
      ModeSummary mode{.name = timings.name};
      mode.time = stats::summarize_times(samples_of(i), options.confidence);
      if (able[i] != baseline_index && baseline != able.end()) {
        const auto& reference = samples_of(static_cast<std::size_t>(baseline - able.begin()));
        const auto ratios = stats::paired_log_ratios(reference, samples_of(i), able.size());
        if (!ratios.empty()) mode.speedup = stats::summarize_speedup(ratios, confidence);
      }
      timings.parts[part].emplace(able[i], std::move(mode));
    }
  }
}

/// After the gates' own mode, times those that remain in the modes cold, hot, graph and host. Skips what gates already
/// measured: `of_gate`, and with `host_gated` the host. Then measures the energy of a call and counts one call on the
/// device, if the options say so. If an implementation throws, `participants` gets its fault, and the rest goes on
/// without it. Nothing follows on a lost device.
[[nodiscard]] inline OtherTimings time_other_modes(timing::Clock& clock, const Prepared& prepared, ClockChoice of_gate,
                                                   bool host_gated, Participants& participants) {
  OtherTimings found;
  const Options& options = prepared.options;
  auto* const modes = clock.modes();
  if (modes == nullptr) return found;
  std::vector<std::size_t> remaining = participants.remaining();
  const auto enter = [&](const std::string& when) {
    if (const auto index = enter_exception_beside_rounds(clock, when, participants)) std::erase(remaining, *index);
    if (participants.device_lost()) remaining.clear();
  };
  const auto* const phases = prepared.baseline().phases();
  const std::size_t parts = 1 + (phases != nullptr ? phases->names().size() : 0);
  for (const auto mode : {ClockChoice::cold, ClockChoice::hot, ClockChoice::graph, ClockChoice::host}) {
    if (mode == ClockChoice::host && host_gated) continue;
    modes->select(mode);
    ModeTimings timings{.name = clock.name(), .mode = mode, .of_gate = mode == of_gate};
    timings.parts.resize(parts);
    // A figure that is not that of another process is better not shown. The gate's own says so in its verdict.
    if (const auto why = modes->distortion(); !why.empty() && !timings.of_gate && options.mode_share > 0) {
      timings.add_missing(remaining, why);
      found.modes.push_back(std::move(timings));
      continue;
    }
    bool timed = timings.of_gate || options.mode_share <= 0;
    while (!timed && !remaining.empty()) {
      try {
        time_mode(*modes, prepared, remaining, timings);
        timed = true;
      } catch (...) {
        // The time by the gate's mode stays valid.
        const Failure failure = current_failure();
        const auto concerned = remaining;
        timed = failure.out_of_memory && modes->usable();
        if (!timed) enter("after the rounds, by the " + clock.name() + " clock: ");
        for (const std::size_t index : concerned)
          if (timed || std::find(remaining.begin(), remaining.end(), index) == remaining.end())
            timings.add_missing({index}, failure.message);
      }
      if (!participants.device_lost()) modes->forget();
    }
    found.modes.push_back(std::move(timings));
  }
  modes->select(of_gate);

  if (options.energy && !remaining.empty() && !participants.device_lost()) {
    report_step({.what = "energy"});
    // A flush of the cache takes energy as well.
    if (of_gate == ClockChoice::cold) modes->select(ClockChoice::graph);
    for (std::size_t left = 0; left != remaining.size() && !remaining.empty();) {
      left = remaining.size();
      try {
        found.energy = measure_energy(*modes, prepared, remaining);
      } catch (...) {
        enter("after the rounds, when its energy was measured: ");
        if (!participants.device_lost()) modes->forget();
      }
    }
    modes->select(of_gate);
  }

  // Last, since a profiler may slow later calls.
  if (options.device_counts)
    for (const std::size_t index : std::vector(remaining)) {
      if (participants.device_lost()) break;
      auto& implementation = *prepared.implementations[index];
      const auto call = [&] {
        try {
          (void)implementation.call(0);
        } catch (...) {
          implementation.failed();
        }
      };
      try {
        prepared.operands->restore_all(0);
        found.device_counts[index] = modes->device_counts_of(call);
      } catch (...) {
        enter("after the rounds, when a call was counted: ");
      }
    }
  return found;
}

/// Measures what the modes of the whole's times add to each call: `gate`, and those of `other`. Not for iterations with
/// phases, each of which has events of its own. After all samples, since a profiler may slow later calls.
inline void measure_overheads(timing::ModeClock& clock, const Prepared& prepared, ClockChoice of_gate, GateMode& gate,
                              OtherTimings& other) {
  if (prepared.baseline().phases() != nullptr) return;
  gate.overhead = clock.overhead();
  for (auto& each : other.modes) {
    if (each.of_gate || each.parts.empty() || each.parts[0].empty()) continue;
    clock.select(each.mode);
    each.overhead = clock.overhead();
  }
  clock.select(of_gate);
}

}  // namespace pace::detail
