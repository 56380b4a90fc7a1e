// Rounds: the timed loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "pace/timing/clock.hpp"
#include "pace/core/options.hpp"
#include "pace/core/result.hpp"
#include "pace/core/view.hpp"
#include "pace/timing/operation.hpp"
#include "pace/timing/schedule.hpp"

namespace pace::timing {

struct Rounds {
  /// samples[implementation][round]: time per iteration. Where these have phases, theirs follow those of the whole:
  /// samples[(1 + phase) * implementations + implementation][round].
  std::vector<std::vector<Nanoseconds>> samples;
  std::size_t rounds = 0;
  StopReason stop_reason = StopReason::not_started;
  Nanoseconds elapsed{};
};

/// Stops only when the time is spent.
struct SpendTheBudget {
  bool operator()(const Rounds&) const { return false; }
};

/// All rounds start from what the last one left.
struct StartNothing {
  void operator()(std::size_t) const {}
};

/// Single samples are not watched.
struct WatchNothing {
  void begin_sample() const {}
  void end_sample(std::size_t) const {}
};

/// Samples every implementation once a round, in the order of `schedule`, until the first of: `enough(rounds)` says
/// so, `options.budget` is spent (but not before `fewest_cycles` cycles, unless `options.hard_limit` is spent),
/// `options.max_rounds`. Decides between cycles only, so that every cycle is balanced. At least one cycle. Between
/// the first sample and the last nothing is allocated here. Either all operations have phases, or none: the same ones.
/// `enough` is where a sequential test goes. `start_round(round)` is called before each round, untimed;
/// `watch.begin_sample()` and `watch.end_sample(implementation)` around each sample and what prepares it.
template <timing::Clock C, class Enough = SpendTheBudget, class Start = StartNothing, class Watch = WatchNothing>
[[nodiscard]] Rounds run_rounds(C& clock, View<Operation> operations, std::int64_t iterations,
                                Schedule& schedule, std::size_t fewest_cycles, const Options& options,
                                Enough&& enough = {}, Start&& start_round = {}, Watch&& watch = {}) {
  const std::size_t per_cycle = schedule.rounds_per_cycle();
  const std::size_t most = std::max(per_cycle, options.max_rounds / per_cycle * per_cycle);
  Rounds result;
  const timing::Phases* const some = operations[0].phases;
  const std::size_t phases = some == nullptr ? 0 : some->names().size();
  result.samples.resize((1 + phases) * operations.size());
  for (auto& samples : result.samples) samples.resize(most);

  const double scale = 1 / static_cast<double>(iterations);
  const Nanoseconds start = clock.now();
  for (std::size_t cycle = 1;; ++cycle) {
    const auto turns = schedule.next_cycle();
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const Turn turn = turns[i];
      const std::size_t round = result.rounds + i / per_cycle;
      if (i % per_cycle == 0) start_round(round);
      const Operation& operation = operations[turn.implementation];
      watch.begin_sample();
      result.samples[turn.implementation][round] = scale * take_sample(clock, operation, turn.operands, iterations);
      watch.end_sample(turn.implementation);
      for (std::size_t phase = 0; phase < phases; ++phase)
        result.samples[(1 + phase) * operations.size() + turn.implementation][round] =
            scale * operation.phases->times()[phase];
    }
    result.rounds += per_cycle;
    result.elapsed = clock.now() - start;
    if (enough(std::as_const(result))) result.stop_reason = StopReason::rule;
    else if (result.elapsed >= (cycle < fewest_cycles ? options.hard_limit : options.budget))
      result.stop_reason = StopReason::budget;
    else if (result.rounds >= most) result.stop_reason = StopReason::max_rounds;
    else continue;
    break;
  }
  for (auto& samples : result.samples) samples.resize(result.rounds);
  return result;
}

}  // namespace pace::timing
