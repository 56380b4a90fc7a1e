// Rounds: the timed loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pace/core/options.hpp"
#include "pace/core/result.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/schedule.hpp"
#include "pace/timing/subject.hpp"

namespace pace::timing {

struct Rounds {
  /// samples[implementation][round]: time per iteration. Where these have phases, theirs follow those of the whole:
  /// samples[(1 + phase) * implementations + implementation][round].
  std::vector<std::vector<Nanoseconds>> samples = {};
  std::size_t rounds = 0;
  StopReason stop_reason = StopReason::not_started;
  /// From the first sample to the end of the last, and what observers took of that.
  Nanoseconds elapsed{}, observed{};
};

/// What a cycle of `implementations` takes, in the mean and without what observers do.
[[nodiscard]] inline Nanoseconds time_of_cycle(const Rounds& rounds, std::size_t implementations) {
  if (rounds.rounds == 0) return {};
  return (rounds.elapsed - rounds.observed) *
         (static_cast<double>(implementations) / static_cast<double>(rounds.rounds));
}

/// Learns what happens in the rounds. None of it is timed; the time that it takes passes by the clock.
class RoundObserver {
 public:
  RoundObserver() = default;
  RoundObserver(const RoundObserver&) = delete;
  RoundObserver& operator=(const RoundObserver&) = delete;
  virtual ~RoundObserver() = default;
  virtual void round_started(std::size_t /*round*/) {}
  /// Around each sample and what prepares it.
  virtual void sample_started() {}
  virtual void sample_ended(std::size_t /*implementation*/) {}
  virtual void cycle_ended(const Rounds& /*so_far*/) {}
  /// By the clock, since the rounds began; 0 where it does not matter.
  [[nodiscard]] virtual Nanoseconds took() const { return {}; }
};

/// Decides after each cycle whether there are samples enough: the place of a sequential test.
class StoppingRule {
 public:
  StoppingRule() = default;
  StoppingRule(const StoppingRule&) = delete;
  StoppingRule& operator=(const StoppingRule&) = delete;
  virtual ~StoppingRule() = default;
  [[nodiscard]] virtual bool enough(const Rounds& so_far) = 0;
};

/// Samples every subject once a round, in the order of `schedule`, until the first of: `rule` has enough,
/// `options.budget` is spent (but not before `fewest_cycles` cycles, unless `options.hard_limit` is spent),
/// `options.max_rounds`. Decides between cycles only, so that every cycle is balanced. At least one cycle. Between
/// the first sample and the last nothing is allocated here. Either all subjects have phases, or none: the same ones.
/// Observers are called in order, before the rule, which may be null: then the time is spent.
[[nodiscard]] inline Rounds run_rounds(Clock& clock, std::span<Subject* const> subjects, std::int64_t iterations,
                                       Schedule& schedule, std::size_t fewest_cycles, const Options& options,
                                       std::span<RoundObserver* const> observers = {}, StoppingRule* rule = nullptr) {
  const std::size_t per_cycle = schedule.rounds_per_cycle();
  const std::size_t most = std::max(per_cycle, options.max_rounds / per_cycle * per_cycle);
  Rounds result;
  const Phases* const some = subjects[0]->phases();
  const std::size_t phases = some == nullptr ? 0 : some->names().size();
  result.samples.resize((1 + phases) * subjects.size());
  for (auto& samples : result.samples) samples.resize(most);

  const double scale = 1 / static_cast<double>(iterations);
  const Nanoseconds start = clock.now();
  for (std::size_t cycle = 1;; ++cycle) {
    const auto turns = schedule.next_cycle();
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const Turn turn = turns[i];
      const std::size_t round = result.rounds + i / per_cycle;
      if (i % per_cycle == 0)
        for (auto* each : observers) each->round_started(round);
      Subject& subject = *subjects[turn.implementation];
      for (auto* each : observers) each->sample_started();
      result.samples[turn.implementation][round] = scale * take_sample(clock, subject, turn.operands, iterations);
      for (auto* each : observers) each->sample_ended(turn.implementation);
      for (std::size_t phase = 0; phase < phases; ++phase)
        result.samples[(1 + phase) * subjects.size() + turn.implementation][round] =
            scale * subject.phases()->times()[phase];
    }
    result.rounds += per_cycle;
    result.elapsed = clock.now() - start;
    result.observed = {};
    for (const auto* each : observers) result.observed += each->took();
    for (auto* each : observers) each->cycle_ended(result);
    if (rule != nullptr && rule->enough(result))
      result.stop_reason = StopReason::rule;
    else if (result.elapsed >= (cycle < fewest_cycles ? options.hard_limit : options.budget))
      result.stop_reason = StopReason::budget;
    else if (result.rounds >= most)
      result.stop_reason = StopReason::max_rounds;
    else
      continue;
    break;
  }
  for (auto& samples : result.samples) samples.resize(result.rounds);
  return result;
}

}  // namespace pace::timing
