// The timed part of a comparison: warm-up, calibration, rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/compare/auditor.hpp"
#include "pace/compare/controls.hpp"
#include "pace/compare/machine_watch.hpp"
#include "pace/compare/roster.hpp"
#include "pace/compare/time_left.hpp"
#include "pace/core/conditions.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/gate/panel.hpp"
#include "pace/stats/multiplicity.hpp"
#include "pace/timing/calibrate.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/timing/schedule.hpp"
#include "pace/timing/subject.hpp"
#include "pace/timing/warm_up.hpp"

namespace pace::detail {

/// What speaks against the figures, in one text; empty if nothing does. `timed` are the rows that were, the baseline's
/// at the place `baseline` among them.
[[nodiscard]] std::string note_disturbances(auto& result, std::span<const std::size_t> timed, std::size_t baseline,
                                            double tolerated) {
  auto& found = result.conditions.disturbances;
  const auto own = sides_that_disturb(result.conditions, baseline, tolerated);
  found = find_disturbances(result.conditions, result.elapsed, tolerated);
  const std::size_t of_all = found.size();
  if (!own.empty()) found = find_disturbances(result.conditions, result.elapsed, tolerated, true);
  for (const std::size_t side : own) {
    if (found.size() == of_all) break;
    const auto& seen = result.conditions.sides[side];
    result.notes.push_back("In the samples of '" + result.implementations[timed[side]].name +
                           "' the measuring thread waited during " + format_percent(seen.waited() / seen.sampled) +
                           " of the time, and no other process can have been the cause: what it starts itself is part "
                           "of what it costs.");
  }
  if (!result.controls.empty()) result.notes.push_back(describe_controls(result.controls));
  if (auto alarm = control_alarm(result.controls); !alarm.empty()) found.push_back(std::move(alarm));
  std::string text;
  for (const auto& sentence : found) {
    text += (text.empty() ? "" : " ") + sentence;
    result.notes.push_back(sentence);
  }
  return text;
}

/// On a GPU, how the calls of a side are captured and where memory lies are random effects that are drawn once for a whole
/// comparison: rounds do not average them out, although operands change hands and all graphs of a clock, captured in one
/// pool, write their outputs to the same memory. Identical kernels differed by up to 0.046 % in 500 comparisons on an H200,
/// of which a GPU proves 0.01 %; four times that is allowed for.
inline constexpr double gpu_placement = 0.002;

/// With nothing expected, the budget is spent; it is, too, where the figures are wanted as well as the verdict, and then
/// what is past it is for the verdict alone.
class StopWhenDecided final : public timing::StoppingRule {
 public:
  StopWhenDecided(std::vector<gate::Panel>& panels, std::size_t implementations, std::int64_t iterations,
                  std::size_t fewest_cycles, const Options& options)
      : panels_(panels),
        implementations_(implementations),
        iterations_(iterations),
        fewest_cycles_(fewest_cycles),
        options_(options) {}

  [[nodiscard]] bool enough(const timing::Rounds& so_far) override {
    bool decided = !panels_.empty();
    for (auto& panel : panels_) {
      panel.add_cycle(so_far.samples, so_far.rounds - implementations_, implementations_, iterations_);
      decided = decided && panel.decided();
    }
    return decided && (options_.stop == StopPolicy::decided ||
                       (so_far.elapsed >= options_.budget && so_far.rounds < fewest_cycles_ * implementations_));
  }

 private:
  std::vector<gate::Panel>& panels_;
  std::size_t implementations_;
  std::int64_t iterations_;
  std::size_t fewest_cycles_;
  const Options& options_;
};

/// How the samples in the roster's rows came about.
struct TimedHow {
  /// Consecutive samples that make up one crossover cycle; 0: there are none, for no time was left.
  std::size_t rounds_per_cycle = 0;
  /// Whether expectations looked at the figures while they were taken, and may have ended the rounds.
  bool watched = false;
  /// The implementations that were running then.
  std::vector<std::size_t> timed = {};
};

/// Times the implementations that are running, until what was stated is decided or the budget is spent; the samples go to
/// their rows. If no time was left, none is running any more. Throws ImplementationThrew and ImplementationWrong.
[[nodiscard]] inline TimedHow time_all(timing::Clock& clock, Roster& roster, Auditor& auditor,
                                       std::span<const gate::Stated> stated) {
  auditor.begin();
  std::vector<timing::Subject*> subjects;
  for (const std::size_t index : roster.running) subjects.push_back(roster.implementations[index].get());
  const std::size_t count = subjects.size();
  // What is done once for each address (capturing a graph, picking an algorithm) is done before a sample is timed,
  // or captured, on copies that it has not seen.
  if (!roster.operands.spares.empty())
    for (auto* subject : subjects)
      for (std::size_t set = 0; set < roster.operands.sets.size(); ++set) {
        subject->prepare(set);
        subject->run(set, roster.options.max_iterations);
      }

  // What is left of the program's time is for the rounds before it is for the warm-up.
  Options options = roster.options;
  const Nanoseconds longest_warm_up = 0.25 * time_left(clock) / static_cast<double>(count);
  options.warm_up = options.warm_up_iterations ? longest_warm_up : std::min(options.warm_up, longest_warm_up);
  std::vector<Nanoseconds> estimates;
  for (std::size_t i = 0; i < count; ++i) {
    const auto warmed = timing::warm_up(clock, *subjects[i], i % roster.operands.sets.size(), options);
    roster.row(roster.running[i]).warm_up_iterations = warmed.iterations;
    roster.row(roster.running[i]).warmed_up = warmed.settled;
    if (options.warm_up_iterations && warmed.iterations < *options.warm_up_iterations)
      roster.result.notes.push_back("The warm-up of '" + roster.row(roster.running[i]).name + "' ended after " +
                                    std::to_string(warmed.iterations) + " of " +
                                    std::to_string(*options.warm_up_iterations) +
                                    " iterations, since a quarter of the "
                                    "time that was left is for all warm-ups: " +
                                    deadline_reason());
    estimates.push_back(warmed.estimate);
    // As above.
    const auto sets = roster.operands.sets.size();
    if (warmed.estimate * static_cast<double>(sets) > std::min(roster.options.warm_up, longest_warm_up)) continue;
    for (std::size_t set = 1; set < sets; ++set) (void)timing::take_sample(clock, *subjects[i], (i + set) % sets, 1);
  }

  clock.warmed_up();

  const double each_confidence = stats::simultaneous_confidence(roster.options.confidence, count - 1);
  if (clock.modes() != nullptr)
    for (const std::size_t index : roster.running) roster.row(index).context.allowance = gpu_placement;
  roster.phases.clear();
  if (const auto* phases = subjects.front()->phases())
    for (const auto& name : phases->names()) roster.phases.push_back({.name = name});
  const auto rates = gate::share_among_phases(stated, gate::Rates{roster.options.alpha, roster.options.beta});
  // The whole has a panel, and each phase has one.
  std::vector<gate::Panel> panels;
  for (std::size_t part = 0; part <= roster.phases.size(); ++part) {
    const std::string phase = part == 0 ? "" : roster.phases[part - 1].name;
    auto panel = gate::watch_all(roster.result, roster.running, stated, rates, phase, part * count);
    if (!panel.empty()) panels.push_back(std::move(panel));
  }
  std::size_t fewest_cycles = stats::fewest_for_median_interval(each_confidence);
  for (const auto& panel : panels)
    fewest_cycles = std::max(
        fewest_cycles, gate::fewest_for_verdict(std::min(rates.alpha, rates.beta) / static_cast<double>(panel.size())));
  // A gate that ends before it can have a verdict lets through whatever is slow enough; so only the program's own time
  // keeps it from the fewest cycles. An interval is not worth as much.
  const auto limit_to_time_left = [&] {
    options.budget = std::min(roster.options.budget, time_left(clock));
    options.hard_limit = panels.empty() ? std::min(roster.options.hard_limit, time_left(clock)) : time_left(clock);
    return options.budget.count() > 0;
  };
  if (!limit_to_time_left()) return roster.out_of_time(), TimedHow{};
  // So that a budget holds the fewest cycles an interval, or a verdict, needs.
  const Nanoseconds longest = options.budget / static_cast<double>(fewest_cycles * count * count);
  const auto calibration = timing::calibrate(clock, subjects, estimates, roster.operands.sets.size(), longest, options);
  if (!limit_to_time_left()) return roster.out_of_time(), TimedHow{};
  roster.result.iterations = calibration.iterations;
  if (!calibration.reached_target && calibration.iterations != options.max_iterations)
    roster.result.notes.push_back(
        "Samples of the fastest implementation are shorter than wanted, since the slowest "
        "one takes so much longer; a larger budget would allow longer ones.");

  timing::Schedule schedule(count, roster.options.operands, roster.options.seed);
  MachineWatch watch(clock, std::max<std::size_t>(1, roster.options.max_rounds / count), count);
  std::optional<Controls> controls;
  if (options.controls)
    controls.emplace(clock, *roster.implementations[roster.baseline], roster.operands.sets.size(),
                     calibration.iterations, options);
  const auto spent_between_rounds = [&] { return auditor.took() + (controls ? controls->took() : Nanoseconds{}); };
  const auto cycle_of = [&](const timing::Rounds& so_far) {
    return (so_far.elapsed - spent_between_rounds()) *
           (static_cast<double>(count) / static_cast<double>(so_far.rounds));
  };
  std::vector<timing::RoundObserver*> observers{&auditor};
  if (controls) observers.push_back(&*controls);
  observers.push_back(&watch);
  StopWhenDecided decided(panels, count, calibration.iterations, fewest_cycles, options);
  auto rounds = timing::run_rounds(clock, subjects, calibration.iterations, schedule, fewest_cycles, options, observers,
                                   &decided);
  roster.result.conditions = watch.finish();
  roster.result.rounds = rounds.rounds;
  roster.result.stop_reason = rounds.stop_reason;
  roster.result.elapsed = rounds.elapsed;
  const bool too_few_for_verdict = !panels.empty() && rounds.rounds < fewest_cycles * count;
  if (rounds.stop_reason == StopReason::budget && (rounds.elapsed < roster.options.budget || too_few_for_verdict))
    roster.result.stop_reason = StopReason::deadline;
  if (controls) roster.result.controls = controls->summarize(roster.options.alpha, roster.options.confidence);
  std::size_t baseline = 0;
  while (roster.running[baseline] != roster.baseline) ++baseline;
  const std::string disturbance =
      note_disturbances(roster.result, roster.running, baseline, roster.options.max_interference);
  const Nanoseconds cycle = cycle_of(rounds);
  for (std::size_t i = 0; i < count; ++i) {
    auto& each = roster.row(roster.running[i]);
    each.samples = std::move(rounds.samples[i]);
    each.context.baseline = roster.row(roster.baseline).name;
    each.context.rounds_per_cycle = count;
    each.context.iterations = calibration.iterations;
    each.context.cycle = cycle;
    each.context.alpha = stats::alpha_share(roster.options.alpha, count - 1);
    each.context.beta = stats::alpha_share(roster.options.beta, count - 1);
    each.context.disturbance = disturbance;
    if (roster.result.stop_reason == StopReason::deadline) each.context.cut_short = deadline_reason();
  }
  for (std::size_t phase = 0; phase < roster.phases.size(); ++phase)
    for (std::size_t i = 0; i < count; ++i)
      roster.phases[phase].samples.push_back(std::move(rounds.samples[(1 + phase) * count + i]));
  const bool watched =
      !panels.empty() && (roster.options.stop == StopPolicy::decided || rounds.stop_reason == StopReason::rule);
  return {.rounds_per_cycle = count, .watched = watched, .timed = roster.running};
}

}  // namespace pace::detail
