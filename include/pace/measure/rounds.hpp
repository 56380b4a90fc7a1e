// take_samples: interleaved samples of all participants, with observers and a stopping rule.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "pace/gate/panel.hpp"
#include "pace/measure/calibrate.hpp"
#include "pace/measure/controls.hpp"
#include "pace/measure/machine_watch.hpp"
#include "pace/result/conditions.hpp"
#include "pace/run/progress.hpp"
#include "pace/stats/cycle.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/timing/schedule.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/round_figures.hpp"

namespace pace::detail {

/// Measurements of the rounds.
struct Samples {
  /// Indices of the timed implementations, in the order of the samples in `rounds`.
  std::vector<std::size_t> timed = {};
  /// Calls of each sample.
  std::int64_t iterations = 0;
  /// Times per iteration by implementation, phase and round, and why the rounds ended.
  timing::Rounds rounds = {};
  Conditions conditions = {};
  /// Results of the controls; empty unless Options::controls is set.
  std::vector<ControlSummary> controls = {};
  /// Tests of the expectations over all cycles.
  std::vector<gate::Panel> panels = {};
  /// Whether all cycles were left out. The rounds then have the last one.
  bool kept_none = false;
  /// Whether expectations were tested during the rounds and may have ended them.
  bool watched = false;

  /// Consecutive samples of an implementation in one crossover cycle.
  [[nodiscard]] std::size_t rounds_per_cycle() const { return timed.size(); }
  /// Samples of the implementation at index `place` of `timed`. `part` is 0 for the whole, from 1 on a phase.
  [[nodiscard]] const std::vector<Nanoseconds>& of(std::size_t place, std::size_t part) const {
    return rounds.samples[part * timed.size() + place];
  }
};

/// CPU seconds per second of the samples of implementation `index`; 0: unknown.
[[nodiscard]] inline double cores_in_rounds(const Samples& samples, std::size_t index) {
  const auto& sides = samples.conditions.sides;
  const std::size_t place = place_of(index, samples.timed);
  return place < sides.size() ? sides[place].cores() : 0;
}

/// Returns the medians of the rounds.
[[nodiscard]] inline RoundFigures figures_of(const Samples& samples, const Prepared& prepared) {
  const std::size_t baseline = place_of(prepared.participants.baseline(), samples.timed);
  const auto median_speedup = [&](std::size_t place, std::size_t part) {
    auto log_ratios =
        stats::paired_log_ratios(samples.of(baseline, part), samples.of(place, part), samples.rounds_per_cycle());
    return log_ratios.empty() ? 0 : std::exp(stats::median(stats::sorted(std::move(log_ratios))));
  };
  const auto* const phases = prepared.baseline().phases();
  RoundFigures found;
  found.speedups.resize(prepared.implementations.size());
  found.of_phases.resize(prepared.implementations.size());
  for (std::size_t place = 0; place < samples.timed.size(); ++place) {
    const std::size_t index = samples.timed[place];
    found.speedups[index] = median_speedup(place, 0);
    for (std::size_t i = 0; phases != nullptr && i < phases->names().size(); ++i)
      found.of_phases[index].push_back(median_speedup(place, i + 1));
  }
  const auto median_time_of_baseline = [&](std::size_t part) {
    std::vector<double> times;
    for (const Nanoseconds time : samples.of(baseline, part)) times.push_back(time.count());
    return times.empty() ? Nanoseconds() : Nanoseconds(stats::median(stats::sorted(std::move(times))));
  };
  found.baseline = median_time_of_baseline(0);
  for (std::size_t i = 0; phases != nullptr && i < phases->names().size(); ++i)
    found.baseline_phases.push_back(median_time_of_baseline(i + 1));
  return found;
}

/// Ends the rounds when all cycles so far decide every panel, but not before the least duration. Without expectations,
/// or with StopPolicy::budget, the rounds spend the budget; cycles after it only serve the verdict. A fault also ends
/// the rounds, since it spoils the samples.
class StopWhenDecided final : public timing::StoppingRule {
 public:
  StopWhenDecided(std::vector<gate::Panel>& panels, const Calibration& calibration, const Auditor& auditor,
                  const MachineWatch& machine)
      : panels_(panels), calibration_(calibration), auditor_(auditor), machine_(machine) {}

  [[nodiscard]] bool enough(const timing::Rounds& so_far) override {
    const std::size_t per_cycle = calibration_.timed.size();
    const Options& options = calibration_.options;
    bool decided = !panels_.empty();
    const bool is_new = so_far.rounds > rounds_;
    rounds_ = so_far.rounds;
    for (auto& panel : panels_) {
      if (is_new) panel.add_cycle(so_far.samples, so_far.rounds - per_cycle, per_cycle, calibration_.iterations);
      decided = decided && panel.decided();
    }
    decided = decided && so_far.elapsed >= options.least_duration;
    const bool budget_spent =
        so_far.elapsed >= options.budget && so_far.rounds < calibration_.fewest_cycles * per_cycle;
    return auditor_.has_fault() || (decided && (options.stop == StopPolicy::decided || budget_spent));
  }

  /// Adds the only cycle if it was left out, as all others were, and returns whether. Its figures are shown, and decide
  /// nothing.
  bool add_only_cycle(const timing::Rounds& rounds) {
    if (rounds_ > 0) return false;
    for (auto& panel : panels_) panel.add_cycle(rounds.samples, 0, rounds.rounds, calibration_.iterations);
    return true;
  }

  /// Waits up to three more budgets while cycles that were left out make them too few. With expectations it waits as
  /// long for a verdict; a machine busier than that, or a hotter GPU, decides nothing.
  [[nodiscard]] Nanoseconds not_counted() const override {
    constexpr double most_budgets = 3;
    const Options& options = calibration_.options;
    const Nanoseconds most = most_budgets * options.budget;
    const bool too_few = rounds_ < calibration_.fewest_cycles * calibration_.timed.size();
    if (machine_.lost().count() > 0 && too_few) return most;
    if (panels_.empty() || options.stop == StopPolicy::budget) return {};
    return std::min(machine_.lost_or_waited(), most);
  }

 private:
  std::vector<gate::Panel>& panels_;
  const Calibration& calibration_;
  const Auditor& auditor_;
  const MachineWatch& machine_;
  std::size_t rounds_ = 0;
};

/// Reports the spent share of the budget, a few times a second at most. Writes between cycles, in less time than the
/// clock resolves.
class ProgressOfRounds final : public timing::RoundObserver {
 public:
  /// `display` gets the steps of rounds with these options.
  ProgressOfRounds(Progress& display, const Options& options) : display_(display), budget_(options.budget) {
    display_.step({.what = "rounds", .share = 0, .left = budget_});
  }

  void cycle_ended(const timing::Rounds& so_far) override {
    if (so_far.elapsed < next_) return;
    next_ = so_far.elapsed + interval;
    const double share = std::min(1.0, so_far.elapsed / budget_);
    // Past the budget, the rounds last until there is a verdict.
    display_.step({.what = "rounds", .share = share, .left = std::max(Nanoseconds(0), budget_ - so_far.elapsed)});
  }

 private:
  static constexpr Nanoseconds interval = std::chrono::milliseconds(200);

  Progress& display_;
  Nanoseconds budget_, next_ = interval;
};

/// Runs the rounds. `values` writes each round's unseen values; null: operands keep theirs. Throws ImplementationThrew.
[[nodiscard]] inline Samples take_samples(timing::Clock& clock, const Prepared& prepared,
                                          const Calibration& calibration, std::vector<gate::Panel> panels,
                                          Auditor& auditor, timing::RoundObserver* values) {
  const Options& options = calibration.options;
  const std::size_t count = calibration.timed.size();
  timing::Schedule schedule(count, options.operands, options.seed);

  auditor.begin_rounds(calibration.timed, calibration.iterations);
  std::optional<Controls> controls;
  if (options.controls)
    controls.emplace(clock, prepared.baseline(), prepared.operands->sets.size(), calibration.iterations, options);
  MachineWatch machine(clock, std::max<std::size_t>(1, options.max_rounds / count), count, options);
  std::vector<timing::RoundObserver*> observers;
  if (values != nullptr) observers.push_back(values);
  observers.push_back(&auditor);
  if (controls) observers.push_back(&*controls);
  observers.push_back(&machine);
  std::optional<ProgressOfRounds> shown;
  if (progress() != nullptr) observers.push_back(&shown.emplace(*progress(), options));

  StopWhenDecided rule(panels, calibration, auditor, machine);
  Samples samples{.timed = calibration.timed, .iterations = calibration.iterations};
  samples.rounds = timing::run_rounds(clock, calibration.subjects, calibration.iterations, schedule,
                                      calibration.fewest_cycles, options, observers, &rule);
  samples.kept_none = rule.add_only_cycle(samples.rounds);
  samples.conditions = machine.finish();
  samples.conditions.uninterrupted = samples.conditions.uninterrupted && !samples.kept_none;
  if (controls) samples.controls = controls->summarize(options.alpha, options.confidence);

  auto& ended = samples.rounds.stop_reason;
  samples.watched = !panels.empty() && (options.stop == StopPolicy::decided || ended == StopReason::rule);
  const std::size_t dropped =
      samples.conditions.interrupted_cycles + (samples.conditions.gpu ? samples.conditions.gpu->dropped_cycles : 0);
  const bool too_few_for_verdict =
      !panels.empty() && samples.rounds.rounds / count + dropped < calibration.fewest_cycles;
  samples.panels = std::move(panels);
  const bool too_short = samples.rounds.elapsed < prepared.options.budget;
  if (ended == StopReason::budget && (too_short || too_few_for_verdict)) ended = StopReason::deadline;
  return samples;
}

}  // namespace pace::detail
