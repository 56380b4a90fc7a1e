// calibrate: warm-up, and the number of calls of a sample.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/spelling.hpp"
#include "pace/result/options.hpp"
#include "pace/run/progress.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/calibrate.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"
#include "pace/timing/warm_up.hpp"

namespace pace::detail {

struct Calibration {
  /// Indices of the implementations to time in the rounds, and their code.
  std::vector<std::size_t> timed = {};
  std::vector<timing::Subject*> subjects = {};
  /// One for each of these.
  std::vector<timing::WarmUp> warm_ups = {};
  /// Calls of a sample; 0: no time is left for rounds.
  std::int64_t iterations = 0;
  /// Fewest cycles, unless the hard limit of the options ends the rounds before.
  std::size_t fewest_cycles = 1;
  /// Options with budget and hard limit reduced to the time left.
  Options options = {};
  std::vector<std::string> notes = {};
};

/// Runs calls on all spares before samples are timed or captured. Some work happens once per address, such as capturing
/// a graph or picking an algorithm.
inline void touch_spares(const OperandSets& operands, const Calibration& calibration) {
  if (operands.spares.empty()) return;
  for (auto* subject : calibration.subjects)
    for (std::size_t set = 0; set < operands.sets.size(); ++set) {
      subject->prepare(set);
      subject->run(set, calibration.options.max_iterations);
    }
}

/// Warms up each implementation, in at most a quarter of the time left. The rest is for the rounds.
inline void warm_all_up(timing::Clock& clock, const Prepared& prepared, Calibration& calibration) {
  const std::size_t count = calibration.subjects.size(), sets = prepared.operands->sets.size();
  Options options = calibration.options;
  const Nanoseconds longest = 0.25 * time_left(clock) / static_cast<double>(count);
  options.warm_up = options.warm_up_iterations ? longest : std::min(options.warm_up, longest);
  for (std::size_t i = 0; i < count; ++i) {
    auto& subject = *calibration.subjects[i];
    report_step({.what = "warm-up of " + prepared.result.implementations[calibration.timed[i]].name});
    const auto warmed = timing::warm_up(clock, subject, i % sets, options);
    calibration.warm_ups.push_back(warmed);
    if (options.warm_up_iterations && warmed.iterations < *options.warm_up_iterations)
      calibration.notes.push_back(
          "The warm-up of '" + prepared.result.implementations[calibration.timed[i]].name + "' ended after " +
          std::to_string(warmed.iterations) + " of " + std::to_string(*options.warm_up_iterations) +
          " iterations, since a quarter of the time that was left is for all warm-ups: " + deadline_reason());
    // Each other operand set once, unless that exceeds the warm-up's limit.
    if (warmed.estimate * static_cast<double>(sets) > std::min(calibration.options.warm_up, longest)) continue;
    for (std::size_t set = 1; set < sets; ++set) (void)timing::take_sample(clock, subject, (i + set) % sets, 1);
  }
  clock.warmed_up();
}

/// Limits the budget and the hard limit to the time left. With gates (`gated`), only the time left is a hard limit: a
/// gate that ends without a verdict lets slow code through. Their budget is at least a verdict's least duration. False
/// if no time is left.
[[nodiscard]] inline bool limit_to_time_left(timing::Clock& clock, const Options& asked, bool gated, Options& options) {
  const Nanoseconds wanted = gated ? std::max(asked.budget, asked.least_duration) : asked.budget;
  options.budget = std::min(wanted, time_left(clock));
  options.hard_limit = gated ? time_left(clock) : std::min(asked.hard_limit, time_left(clock));
  return options.budget.count() > 0;
}

/// For rounds of `timed` with at least `fewest_cycles`. Throws ImplementationThrew.
[[nodiscard]] inline Calibration calibrate(timing::Clock& clock, const Prepared& prepared,
                                           const std::vector<std::size_t>& timed, std::size_t fewest_cycles,
                                           bool gated) {
  Calibration calibration{.timed = timed, .fewest_cycles = fewest_cycles, .options = prepared.options};
  for (const std::size_t index : timed) calibration.subjects.push_back(prepared.implementations[index].get());
  touch_spares(*prepared.operands, calibration);
  warm_all_up(clock, prepared, calibration);

  Options& options = calibration.options;
  if (!limit_to_time_left(clock, prepared.options, gated, options)) return calibration;
  // So that the budget holds the fewest cycles for an interval or a verdict.
  const Nanoseconds longest = options.budget / static_cast<double>(fewest_cycles * timed.size() * timed.size());
  std::vector<Nanoseconds> estimates;
  for (const auto& warmed : calibration.warm_ups) estimates.push_back(warmed.estimate);
  const auto found =
      timing::calibrate(clock, calibration.subjects, estimates, prepared.operands->sets.size(), longest, options);
  if (!limit_to_time_left(clock, prepared.options, gated, options)) return calibration;
  calibration.iterations = found.iterations;
  if (!found.reached_target && found.iterations != options.max_iterations)
    calibration.notes.push_back(
        "Samples of the fastest implementation are shorter than wanted, since the slowest one takes so much longer; "
        "try: a larger " +
        option_text("budget") + '.');
  return calibration;
}

}  // namespace pace::detail
