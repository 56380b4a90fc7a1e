// run_rounds: the loop of timed samples.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/schedule.hpp"
#include "pace/timing/subject.hpp"

namespace pace::timing {

/// Result of run_rounds().
struct Rounds {
  /// Time per iteration as samples[implementation][round]. Times of phases follow, as samples[(1 + phase) *
  /// implementations + implementation][round].
  std::vector<std::vector<Nanoseconds>> samples = {};
  std::size_t rounds = 0;                            ///< number of rounds
  StopReason stop_reason = StopReason::not_started;  ///< why the rounds ended
  Nanoseconds elapsed{};                             ///< time from the start of the first sample to the end of the last
  Nanoseconds observed{};                            ///< part of `elapsed` that observers took
};

/// Mean time of a cycle of `implementations` implementations, without observers; 0 without rounds.
[[nodiscard]] inline Nanoseconds time_of_cycle(const Rounds& rounds, std::size_t implementations) {
  if (rounds.rounds == 0) return {};
  return (rounds.elapsed - rounds.observed) *
         (static_cast<double>(implementations) / static_cast<double>(rounds.rounds));
}

/// Observes the rounds between samples. Its time belongs to no sample, but to the elapsed time.
class RoundObserver {
 public:
  RoundObserver() = default;
  RoundObserver(const RoundObserver&) = delete;
  RoundObserver& operator=(const RoundObserver&) = delete;
  virtual ~RoundObserver() = default;
  /// Called before the first sample of each round.
  virtual void round_started(std::size_t /*round*/) {}
  /// Called before each sample and its preparation.
  virtual void sample_started() {}
  /// Called after each sample, with the index of its implementation.
  virtual void sample_ended(std::size_t /*implementation*/) {}
  /// Called after the last sample of each cycle. If an observer returns false, the cycle is left out: its samples are
  /// no part of the result. Must not depend on the times of the samples.
  [[nodiscard]] virtual bool keeps_cycle() { return true; }
  /// Called after each cycle, with the samples so far; also after one that is left out, without its samples.
  virtual void cycle_ended(const Rounds& /*so_far*/) {}
  /// Time, by the clock, that this observer took since the rounds began; 0 if negligible.
  [[nodiscard]] virtual Nanoseconds took() const { return {}; }
};

/// Decides after each cycle whether the rounds end, as a sequential test does.
class StoppingRule {
 public:
  StoppingRule() = default;
  StoppingRule(const StoppingRule&) = delete;
  StoppingRule& operator=(const StoppingRule&) = delete;
  virtual ~StoppingRule() = default;
  /// Whether the samples so far suffice. After a cycle that was left out, these are as before.
  [[nodiscard]] virtual bool enough(const Rounds& so_far) = 0;
  /// Part of the time so far that does not count against the budget, such as while other processes had the core.
  [[nodiscard]] virtual Nanoseconds not_counted() const { return {}; }
};

/// Samples every subject once per round, with `iterations` iterations in the order of `schedule`. Ends when `rule` is
/// met, `options.budget` is spent, or `options.max_rounds` is reached. Before `fewest_cycles` cycles, or for time that
/// the rule does not count, `options.hard_limit` is the limit instead. Ends only between cycles, after at least one, so
/// that every cycle is balanced. If observers left all cycles out, the result has the last one. Allocates nothing
/// between the first and the last sample. Either no subject has phases, or all have the same. Calls observers in order,
/// and before the rule. Without a rule (null), only time or number ends the rounds.
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
    clock.begin_cycle();
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
    bool kept = true;
    for (auto* each : observers) kept = each->keeps_cycle() && kept;
    if (kept) result.rounds += per_cycle;
    result.elapsed = clock.now() - start;
    result.observed = {};
    for (const auto* each : observers) result.observed += each->took();
    for (auto* each : observers) each->cycle_ended(result);
    const bool met = rule != nullptr && rule->enough(result);
    const bool spent = cycle >= fewest_cycles && result.elapsed >= options.budget &&
                       (rule == nullptr || result.elapsed - rule->not_counted() >= options.budget);
    if (met)
      result.stop_reason = StopReason::rule;
    else if (spent || result.elapsed >= options.hard_limit)
      result.stop_reason = StopReason::budget;
    else if (result.rounds >= most)
      result.stop_reason = StopReason::max_rounds;
    else
      continue;
    break;
  }
  if (result.rounds == 0) result.rounds = per_cycle;
  for (auto& samples : result.samples) samples.resize(result.rounds);
  return result;
}

}  // namespace pace::timing
