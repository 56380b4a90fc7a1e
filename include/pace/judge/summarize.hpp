// summarize: figures from samples, as a result without judgements.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/spelling.hpp"
#include "pace/gate/excess.hpp"
#include "pace/judge/measurement.hpp"
#include "pace/judge/memory_limits.hpp"
#include "pace/measure/clocks_alone.hpp"
#include "pace/measure/controls.hpp"
#include "pace/measure/rounds.hpp"
#include "pace/measure/timing_modes.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/stats/summary.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/verified.hpp"

namespace pace::detail {

/// Adds a note that `dropped` cycles are left out, since `why`, unless they are few. If too few are left for a verdict,
/// it is a disturbance, with what to `attempt`.
inline void note_left_out(std::size_t dropped, const std::string& why, const std::string& attempt,
                          const GatedRounds& gated, Result& result) {
  constexpr double few = 0.05;
  const Samples& samples = gated.samples;
  const std::size_t count = samples.timed.size(), needed = gated.calibration.fewest_cycles;
  // If all were left out, the rounds have the last one.
  const std::size_t left = samples.kept_none ? 0 : samples.rounds.rounds / count;
  const double share = static_cast<double>(dropped) / static_cast<double>(left + dropped);
  const std::string note = std::to_string(dropped) + " of " + std::to_string(left + dropped) + " cycles (" +
                           format_percent(share) + ") are left out, since " + why;
  const bool too_few =
      left == 0 || (left < needed && left + dropped >= needed && samples.rounds.stop_reason != StopReason::rule);
  if (too_few && !samples.panels.empty())
    result.conditions.disturbances.push_back(note + ". A verdict needs " + std::to_string(needed) + " cycles, and " +
                                             std::to_string(left) + (left == 1 ? " is" : " are") +
                                             " left; try: " + attempt + " (" + option_text("budget") + ").");
  else if (share > few || result.conditions.gave_up_leaving_out)
    result.notes.push_back(note + '.');
}

/// Adds notes on the GPU to `result`: cycles that were left out, clocks, and who else uses it. Adds a disturbance if
/// too few cycles are left.
inline void note_gpu(const GpuConditions& gpu, const GatedRounds& gated, double tolerated, Result& result) {
  const Samples& samples = gated.samples;
  if (gpu.dropped_cycles > 0) {
    std::string why = "the GPU's clock or what lowers it differed between the sides";
    if (gpu.paused.count() > 0) why += "; the GPU had " + format_time(gpu.paused) + " to cool down";
    note_left_out(gpu.dropped_cycles, why, "more time to cool down", gated, result);
  }
  if (gpu.slowed > tolerated && gpu.highest_clock > 0)
    result.notes.push_back("Heat or its hardware slowed the GPU down in " + format_percent(gpu.slowed) +
                           " of the readings, for all sides alike.");
  std::vector<std::string> names;
  for (const std::size_t index : samples.timed) names.push_back(result.implementations[index].name);
  if (auto apart = describe_clocks_apart(gated.clocks_alone, names); !apart.empty())
    result.notes.push_back(std::move(apart));
  if (gpu.sharing.empty()) return;
  std::string shared = "The GPU is shared: ";
  for (const auto& each : gpu.sharing) shared += (&each == &gpu.sharing.front() ? "" : "; ") + each;
  result.notes.push_back(shared + '.');
}

/// Adds the conditions of the rounds, and notes, to `result`. Returns the reasons against a verdict as text; empty if
/// none.
[[nodiscard]] inline std::string note_disturbances(const GatedRounds& gated, std::size_t baseline, double tolerated,
                                                   Result& result) {
  const Samples& samples = gated.samples;
  auto& found = result.conditions.disturbances;
  const std::size_t place = place_of(baseline, samples.timed);
  const auto own = sides_that_disturb(result.conditions, place, tolerated);
  found = find_disturbances(result.conditions, result.elapsed, tolerated);
  const std::size_t of_all = found.size();
  if (!own.empty()) found = find_disturbances(result.conditions, result.elapsed, tolerated, true);
  for (const std::size_t side : own) {
    if (found.size() == of_all) break;
    const auto& seen = result.conditions.sides[side];
    result.notes.push_back("In the samples of '" + result.implementations[samples.timed[side]].name +
                           "' the measuring thread waited during " + format_percent(seen.waited() / seen.sampled) +
                           " of the time, and no other process can have been the cause: what it starts itself is part "
                           "of what it costs.");
  }
  if (!result.controls.empty()) result.notes.push_back(describe_controls(result.controls));
  if (auto alarm = control_alarm(result.controls); !alarm.empty()) found.push_back(std::move(alarm));
  // Whatever is tolerated: if the baseline alone may have been slowed, no verdict holds.
  if (std::string slowed = gated.findings.slowed_baseline.by_others; !slowed.empty()) {
    slowed.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(slowed.front())));
    found.push_back(slowed + '.');
  }
  if (!gated.mode.distortion.empty() && tolerated < 1) found.push_back(gated.mode.distortion);
  if (const auto dropped = result.conditions.interrupted_cycles; dropped > 0) {
    std::string why = "another process had the core within a sample";
    if (result.conditions.gave_up_leaving_out) why += "; later cycles all count, with others' time in them";
    note_left_out(dropped, why, "a quieter machine, or more time", gated, result);
  }
  if (result.conditions.gpu) note_gpu(*result.conditions.gpu, gated, tolerated, result);
  std::string text;
  for (const auto& sentence : found) {
    text += (text.empty() ? "" : " ") + sentence;
    result.notes.push_back(sentence);
  }
  return text;
}

/// Adds samples, times and speed-ups to the rows of the remaining implementations. `part` 0 is the whole, others are
/// phases.
inline void add_times(const Samples& samples, std::size_t part, const Participants& participants,
                      const Options& options, Result& result) {
  auto& rows = result.implementations;
  const std::size_t candidates = participants.empty() ? 0 : participants.remaining().size() - 1;
  const double each_confidence = stats::simultaneous_confidence(options.confidence, candidates);
  for (std::size_t place = 0; place < samples.timed.size(); ++place)
    if (participants.remains(samples.timed[place])) rows[samples.timed[place]].samples = samples.of(place, part);
  if (participants.empty()) return;
  const auto baseline_samples = std::make_shared<const std::vector<Nanoseconds>>(rows[participants.baseline()].samples);
  for (const std::size_t index : participants.remaining()) {
    auto& row = rows[index];
    if (row.samples.empty()) continue;  // it threw in rounds by the host's time, and remains in the comparison's
    row.time = stats::summarize_times(row.samples, options.confidence);
    if (row.is_baseline) continue;
    row.context.baseline_samples = baseline_samples;
    row.log_ratios =
        stats::paired_log_ratios(rows[participants.baseline()].samples, row.samples, samples.rounds_per_cycle());
    if (row.log_ratios.empty()) continue;
    row.speedup = samples.watched ? stats::summarize_watched_speedup(row.log_ratios, each_confidence)
                                  : stats::summarize_speedup(row.log_ratios, each_confidence);
    if (row.time->mean.count() > 0) row.speedup->mean = rows[participants.baseline()].time->mean / row.time->mean;
  }
}

/// Adds a speed-up on unseen values to a row of `result`. Adds a note if it is smaller than in the rounds.
inline void add_speed_on_unseen_values(std::size_t index, const SpeedupSummary& speedup, Result& result) {
  auto& row = result.implementations[index];
  if (!row.speedup) return;
  row.on_unseen_values = speedup;
  const double median = row.speedup->median;
  row.context.excess_in_rounds =
      gate::excess_of(median, row.speedup->interval ? row.speedup->interval->low : median, speedup);
  row.context.likely_excess_in_rounds = gate::likely_excess_of(median, speedup);
  if (row.context.excess_in_rounds > 1)
    result.notes.push_back('\'' + row.name + "' is " + format_factor(speedup.median) +
                           " as fast as the baseline on unseen values, and " + format_factor(row.speedup->median) +
                           " in the rounds, which repeat the same values.");
}

/// Adds the speed-ups on unseen values to `result` and its phases.
inline void add_speeds_on_unseen_values(std::span<const UnseenSpeed> found, Result& result) {
  for (const auto& [index, speedup, phases, note] : found) {
    add_speed_on_unseen_values(index, speedup, result);
    for (std::size_t i = 0; i < std::min(phases.size(), result.phases.size()); ++i) {
      if (!phases[i]) continue;
      add_speed_on_unseen_values(index, *phases[i], result.phases[i]);
      // No more pairs follow if only a phase looks slower, so only a proven excess counts.
      auto& context = result.phases[i].implementations[index].context;
      if (context.excess_in_rounds <= 1) context.likely_excess_in_rounds = 1;
    }
  }
}

/// Copies the whole's result for one phase, without figures that only the whole has.
[[nodiscard]] inline Result result_of_phase(const Result& whole, const std::string& phase) {
  Result result = whole;
  result.phase = phase;
  result.name += '/' + phase;
  result.notes.clear();
  result.controls.clear();
  result.phases.clear();
  for (auto& row : result.implementations) {
    row.context.comparison = result.name;
    row.device_memory.reset();
    row.on_unseen_values.reset();
    row.context.excess_in_rounds = row.context.likely_excess_in_rounds = 1;
    row.counts.reset();
    row.device_counts.reset();
    row.energy.reset();
    row.counters.clear();
  }
  return result;
}

/// Adds the times in all modes to each row of the whole and of each phase.
inline void add_modes(const OtherTimings& other, const Participants& participants, Result& result) {
  const auto add = [&](Result& part, std::size_t number) {
    for (const std::size_t index : participants.remaining()) {
      auto& row = part.implementations[index];
      for (const auto& mode : other.modes) {
        if (mode.of_gate) {
          row.modes.push_back({.name = mode.name, .time = row.time, .speedup = row.speedup});
        } else if (const auto found = mode.parts[number].find(index); found != mode.parts[number].end()) {
          row.modes.push_back(found->second);
          if (auto& time = row.modes.back().time) time->overhead = mode.overhead;
        }
      }
    }
  };
  add(result, 0);
  for (std::size_t i = 0; i < result.phases.size(); ++i) add(result.phases[i], i + 1);
  for (const auto& [index, counts] : other.device_counts) result.implementations[index].device_counts = counts;
  for (const auto& [index, energy] : other.energy) result.implementations[index].energy = energy;
}

/// Adds the clock, the warm-up and the number of iterations to `result`.
inline void add_calibration(const GatedRounds& rounds, Result& result) {
  const auto& mode = rounds.mode;
  const auto& calibration = rounds.calibration;
  if (!mode.clock.empty()) {
    result.clock = mode.clock;
    result.clock_resolution = mode.resolution;
  }
  result.notes.insert(result.notes.end(), mode.notes.begin(), mode.notes.end());
  result.notes.insert(result.notes.end(), calibration.notes.begin(), calibration.notes.end());
  result.iterations = calibration.iterations;
  for (std::size_t i = 0; i < calibration.warm_ups.size(); ++i) {
    auto& row = result.implementations[calibration.timed[i]];
    row.warm_up_iterations = calibration.warm_ups[i].iterations;
    row.warmed_up = calibration.warm_ups[i].settled;
  }
}

inline void add_once(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

/// Returns why the times at `place` of `gated.samples` cannot be true; empty if they may be.
[[nodiscard]] inline std::string find_impossible(const GatedRounds& gated, std::size_t place, bool is_baseline,
                                                 const std::vector<std::string>& names) {
  if (const auto& slowed = gated.findings.slowed_baseline.by_candidate; !slowed.empty()) return slowed;
  const auto& sides = gated.samples.conditions.sides;
  if (auto uneven = find_uneven_clock(gated.samples.conditions, names); !uneven.empty()) return uneven;
  const double baseline_cores = gated.findings.baseline_cores;
  if (is_baseline || baseline_cores <= 0 || place >= sides.size()) return {};
  return find_more_threads(sides[place], baseline_cores, at::get_num_threads());
}

/// Options::max_interference, or its default for the number of threads.
[[nodiscard]] inline double tolerated_interference(const Options& options) {
  constexpr double of_one_thread = 0.9, of_several = 0.2;
  if (options.max_interference > 0) return options.max_interference;
  return at::get_num_threads() > 1 ? of_several : of_one_thread;
}

/// Adds to `result` how the rounds went, for readers and gates.
inline void add_rounds(const GatedRounds& gated, const Prepared& prepared, bool several_clocks, Result& result) {
  const Samples& samples = gated.samples;
  const std::size_t baseline = prepared.participants.baseline();
  result.rounds = samples.rounds.rounds;
  result.stop_reason = samples.rounds.stop_reason;
  result.elapsed = samples.rounds.elapsed;
  result.conditions = samples.conditions;
  result.controls = samples.controls;
  const auto disturbance = note_disturbances(gated, baseline, tolerated_interference(prepared.options), result);
  const std::size_t candidates = samples.timed.empty() ? 0 : samples.timed.size() - 1;
  std::vector<std::string> names;
  for (const std::size_t index : samples.timed) names.push_back(result.implementations[index].name);
  for (std::size_t place = 0; place < samples.timed.size(); ++place) {
    const std::size_t index = samples.timed[place];
    auto& context = result.implementations[index].context;
    const auto impossible = find_impossible(gated, place, index == baseline, names);
    if (!impossible.empty()) {
      context.enter(Objection::of(Severity::impossible, impossible));
      add_once(result.notes, "The times cannot be true: " + impossible + '.');
    }
    context.baseline = result.implementations[baseline].name;
    if (const auto& counts = result.implementations[baseline].counts) context.baseline_peak_bytes = counts->peak_bytes;
    context.rounds_per_cycle = samples.rounds_per_cycle();
    context.iterations = samples.iterations;
    context.cycle = timing::time_of_cycle(samples.rounds, samples.timed.size());
    context.alpha = stats::alpha_share(prepared.options.alpha, candidates);
    context.beta = stats::alpha_share(prepared.options.beta, candidates);
    context.disturbance = disturbance;
    if (several_clocks) context.clock = result.clock;
    if (result.stop_reason == StopReason::deadline)
      context.enter(Objection::of(Severity::cut_short, deadline_reason()));
    if (!samples.panels.empty() && result.elapsed < prepared.options.least_duration)
      context.enter({Severity::too_brief,
                     "the rounds lasted " + format_time(result.elapsed) + ", and a verdict needs " +
                         format_time(prepared.options.least_duration) + " (" + option_text("least-duration") + ')',
                     "let the rounds last longer (" + option_text("budget") + ", " + option_text("max-rounds") +
                         spelled(", --time-limit)", ")")});
  }
}

/// Returns a result for the host's time in `rounds`. Adds that time to the modes of the rows of `whole`.
[[nodiscard]] inline Result result_of_host(const GatedRounds& rounds, const Prepared& prepared,
                                           const Participants& participants, Result& whole) {
  Result result = result_of_phase(whole, host_phase);
  for (auto& row : result.implementations) {
    row.samples.clear();
    row.log_ratios.clear();
    row.modes.clear();
    row.time.reset();
    row.speedup.reset();
    GateContext context{
        .comparison = result.name, .inputs = result.inputs, .beyond_tolerance = row.context.beyond_tolerance};
    for (const auto& each : row.context.objections)
      if (each.severity == Severity::unproven || each.severity == Severity::unchecked) context.enter(each);
    row.context = std::move(context);
  }
  add_calibration(rounds, result);
  add_rounds(rounds, prepared, /*several_clocks=*/true, result);
  add_times(rounds.samples, 0, participants, prepared.options, result);
  add_speeds_on_unseen_values(rounds.findings.on_unseen_values, result);
  const bool no_time = result.stop_reason == StopReason::deadline;
  for (const std::size_t index : participants.remaining()) {
    auto& row = result.implementations[index];
    row.context.clock = to_string(ClockChoice::host);
    if (no_time) row.context.enter(Objection::of(Severity::cut_short, deadline_reason()));
    if (whole.implementations[index].samples.empty()) continue;  // no time by the comparison's clock either
    ModeSummary mode{.name = to_string(ClockChoice::host), .time = row.time, .speedup = row.speedup};
    if (!row.time) mode.missing = no_time ? deadline_reason() : "its rounds by the host's time had no end";
    whole.implementations[index].modes.push_back(std::move(mode));
  }
  for (std::size_t part = 0; part < whole.phases.size(); ++part) {
    Result phase = result_of_phase(result, whole.phases[part].phase);
    add_times(rounds.samples, part + 1, participants, prepared.options, phase);
    for (const std::size_t index : participants.remaining()) {
      const auto& row = phase.implementations[index];
      if (row.time)
        whole.phases[part].implementations[index].modes.push_back(
            {.name = to_string(ClockChoice::host), .time = row.time, .speedup = row.speedup});
    }
  }
  return result;
}

/// Adds what the audit found, but for the speed-ups on unseen values.
inline void add_findings(const AuditFindings& findings, Result& result) {
  // The first calls may have left the same note.
  for (const auto& note : findings.notes) add_once(result.notes, note);
  for (const std::size_t index : findings.keeps) result.implementations[index].context.keeps = true;
  for (const auto& [index, objection] : findings.objections) {
    auto& context = result.implementations[index].context;
    if (!context.has(objection.severity)) context.enter(objection);
  }
  for (std::size_t index = 0; index < findings.max_abs_errors.size(); ++index) {
    auto& error = result.implementations[index].max_abs_error;
    error = std::max(error, findings.max_abs_errors[index]);
  }
}

/// Combines the results of all stages, without judgements.
[[nodiscard]] inline Result summarize(timing::Clock& clock, const Prepared& prepared, const Verified& verified,
                                      const Measurement& measurement) {
  const auto& participants = measurement.participants;
  const Samples& samples = measurement.gate.samples;
  Result result = verified.result;
  participants.enter(result);
  add_calibration(measurement.gate, result);
  add_findings(measurement.gate.findings, result);
  if (measurement.host) add_findings(measurement.host->findings, result);
  if (samples.timed.empty()) {
    if (measurement.host) result.phases.push_back(result_of_host(*measurement.host, prepared, participants, result));
    return result;
  }
  add_rounds(measurement.gate, prepared, clock.modes() != nullptr, result);

  if (const auto* phases = prepared.baseline().phases())
    for (std::size_t i = 0; i < phases->names().size(); ++i) {
      Result phase = result_of_phase(result, phases->names()[i]);
      add_times(samples, i + 1, participants, prepared.options, phase);
      result.phases.push_back(std::move(phase));
    }
  add_times(samples, 0, participants, prepared.options, result);
  for (auto& row : result.implementations)
    if (row.time) row.time->overhead = measurement.gate.mode.overhead;
  add_speeds_on_unseen_values(measurement.gate.findings.on_unseen_values, result);
  add_modes(measurement.other, participants, result);
  for (const auto& [index, counters] : measurement.counters) result.implementations[index].counters = counters;
  if (measurement.host) result.phases.push_back(result_of_host(*measurement.host, prepared, participants, result));
  return result;
}

}  // namespace pace::detail
