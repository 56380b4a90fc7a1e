// The figures of a comparison on a GPU: which one its gate is about, and the others beside it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/compare/implementation.hpp"
#include "pace/compare/phases.hpp"
#include "pace/compare/roster.hpp"
#include "pace/compare/time_left.hpp"
#include "pace/core/options.hpp"
#include "pace/core/result.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/stats/summary.hpp"
#include "pace/timing/calibrate.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/timing/schedule.hpp"

namespace pace::detail {

/// The implementations that cannot be timed in the way that is selected, and why: one reason for each.
struct Untimeable {
  std::vector<std::size_t> who;
  std::vector<Failure> why;
};

[[nodiscard]] inline Untimeable find_untimeable(timing::ModeClock& clock, Roster& roster) {
  Untimeable found;
  for (const std::size_t index : roster.running) {
    try {
      (void)timing::take_sample(clock, *roster.implementations[index], 0, 1);
    } catch (const ImplementationThrew& thrown) {
      if (!clock.usable()) throw;
      found.who.push_back(thrown.index);
      found.why.push_back(thrown.failure);
    }
  }
  return found;
}

/// Selects what the gate is about. Automatic: the graph, unless one implementation cannot be captured; then none is, for
/// all are timed alike. Where iterations have phases, the stream: training launches every step. If asked for by name, those
/// that cannot be timed that way are taken out.
inline void select_gate_figure(timing::ModeClock& clock, Roster& roster) {
  const bool automatic = roster.options.clock == ClockChoice::automatic;
  const bool phases = roster.implementations[roster.baseline]->phases() != nullptr;
  clock.select(!automatic ? roster.options.clock : phases ? ClockChoice::hot : ClockChoice::graph);
  const Untimeable found = find_untimeable(clock, roster);
  for (std::size_t i = 0; i < found.who.size(); ++i) {
    if (!automatic) {
      roster.give_up(found.who[i], found.why[i].out_of_memory ? Outcome::out_of_memory : Outcome::refused,
                     "it cannot be timed by the " + clock.name() + " clock: " + found.why[i].message);
      continue;
    }
    roster.result.notes.push_back("Timed by events in the stream, since '" + roster.row(found.who[i]).name +
                                  "' cannot be captured in a CUDA graph: " + found.why[i].message);
    clock.select(ClockChoice::hot);
    clock.forget();
    break;
  }
  roster.result.clock = clock.name();
  roster.result.clock_resolution = clock.resolution();
}

/// Options that have no effect where calls are not on a GPU become notes. They are no error, since other comparisons of
/// the same program may be of calls on one.
inline void note_options_for_gpu(Roster& roster) {
  const auto note = [&](const std::string& option) {
    roster.result.notes.push_back(option +
                                  " has no effect here: it is for calls on a GPU, and these are timed by the " +
                                  roster.result.clock + " clock.");
  };
  if (is_for_gpu(roster.options.clock)) note(std::string("--clock ") + to_string(roster.options.clock));
  if (roster.options.asks_for_figures) note("--figures");
}

/// Times the implementations that can be timed in the selected way, and adds the figure to each row.
inline void add_figure(timing::ModeClock& clock, Roster& roster) {
  const std::string name = clock.name();
  std::vector<std::size_t> able = roster.running;
  const Untimeable found = find_untimeable(clock, roster);
  for (std::size_t i = 0; i < found.who.size(); ++i) {
    std::erase(able, found.who[i]);
    for_each_part(roster.result, [&](Result& part, std::size_t) {
      part.implementations[found.who[i]].figures.push_back({.name = name, .missing = found.why[i].message});
    });
  }
  if (able.empty()) return;
  std::vector<timing::Subject*> subjects;
  std::vector<Nanoseconds> estimates;
  for (const std::size_t index : able) {
    subjects.push_back(roster.implementations[index].get());
    estimates.push_back(timing::take_sample(clock, *subjects.back(), 0, 1));
  }
  const double confidence =
      stats::simultaneous_confidence(roster.options.confidence, std::max<std::size_t>(2, able.size()) - 1);
  const std::size_t fewest = stats::fewest_for_median_interval(confidence);
  Options options = roster.options;
  options.budget = std::min(options.figures * options.budget, time_left(clock));
  if (options.budget.count() <= 0) return;
  // Half for its own sake, half for what happens between samples, which a cold cache makes the larger part.
  const Nanoseconds longest = 0.5 * options.budget / static_cast<double>(fewest * able.size() * able.size());
  const auto calibration = timing::calibrate(clock, subjects, estimates, roster.operands.sets.size(), longest, options);
  // As many operand sets as implementations take part, so that they change hands in every cycle.
  const auto policy = able.size() == roster.operands.sets.size() ? options.operands : OperandPolicy::shared;
  timing::Schedule schedule(able.size(), policy, options.seed);
  const auto rounds = timing::run_rounds(clock, subjects, calibration.iterations, schedule, fewest, options);
  const auto baseline = std::find(able.begin(), able.end(), roster.baseline);
  for_each_part(roster.result, [&](Result& part, std::size_t number) {
    const auto samples_of = [&](std::size_t i) -> const auto& { return rounds.samples[number * able.size() + i]; };
    for (std::size_t i = 0; i < able.size(); ++i) {
      FigureSummary figure{.name = name};
      figure.time = stats::summarize_times(samples_of(i), options.confidence);
      if (able[i] != roster.baseline && baseline != able.end()) {
        const auto& reference = samples_of(static_cast<std::size_t>(baseline - able.begin()));
        const auto ratios = stats::paired_log_ratios(reference, samples_of(i), able.size());
        if (!ratios.empty()) figure.speedup = stats::summarize_speedup(ratios, confidence);
      }
      part.implementations[able[i]].figures.push_back(std::move(figure));
    }
  });
}

/// For every row that is running still and has no figure of that name.
inline void add_missing_figure(Roster& roster, const std::string& name, const std::string& why) {
  for_each_part(roster.result, [&](Result& part, std::size_t) {
    for (const std::size_t index : roster.running) {
      auto& figures = part.implementations[index].figures;
      if (std::none_of(figures.begin(), figures.end(), [&](const auto& each) { return each.name == name; }))
        figures.push_back({.name = name, .missing = why});
    }
  });
}

/// After the gate's own: cold, hot, graph and host for each implementation that is running still. What the gate was about
/// is not measured again.
inline void add_all_figures(timing::ModeClock& clock, Roster& roster) {
  const ClockChoice of_gate = clock.selected();
  for (const auto figure : {ClockChoice::cold, ClockChoice::hot, ClockChoice::graph, ClockChoice::host}) {
    clock.select(figure);
    if (figure == of_gate) {
      for_each_part(roster.result, [&](Result& part, std::size_t) {
        for (const std::size_t index : roster.running) {
          auto& row = part.implementations[index];
          row.figures.push_back({.name = clock.name(), .time = row.time, .speedup = row.speedup});
        }
      });
    } else if (roster.options.figures > 0) {
      try {
        add_figure(clock, roster);
      } catch (...) {
        // The gate's own figure was measured, and stands.
        const Failure failure = current_failure();
        if (!failure.out_of_memory || !clock.usable()) throw;
        add_missing_figure(roster, clock.name(), failure.message);
      }
      clock.forget();
    }
  }
  clock.select(of_gate);
}

/// What one call asks of the device, by a clock that can count it. Last of all: a profiler may slow down what follows.
inline void count_on_device(timing::ModeClock& clock, Roster& roster) {
  if (!roster.options.device_counts) return;
  for (const std::size_t index : roster.running) {
    auto& implementation = *roster.implementations[index];
    const auto call = [&] { (void)implementation.call(0); };
    roster.operands.restore_all(0);
    roster.row(index).device_counts = clock.device_counts_of(call);
  }
}

}  // namespace pace::detail
