// Samples: what a clock has that must know whom it times, beyond Clock.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "pace/timing/phases.hpp"
#include "pace/core/units.hpp"

namespace pace::timing {

/// What such a clock needs of an implementation: timing::Operation has it. `run` calls the user's code `iterations`
/// times on operand set `operands`; `prepare`, which may be null, restores what the last run changed.
template <class O>
concept TimedOperation = requires(const O& operation, std::size_t operands, std::int64_t iterations) {
  { operation.state } -> std::convertible_to<void*>;
  operation.run(operation.state, operands, iterations);
  operation.prepare(operation.state, operands);
  operation.prepare == nullptr;
};

/// An operation whose last output can be taken out and put back. A replayed graph writes to the memory of the outputs
/// that were captured: they must outlive the capture, and be there to be checked after the last replay.
template <class O>
concept KeepsOutput = requires(const O& operation, const std::shared_ptr<void>& output) {
  { operation.keep_output(operation.state) } -> std::same_as<std::shared_ptr<void>>;
  operation.put_back_output(operation.state, output);
};

/// A clock with `sample(operation, operands, iterations)`: prepares, then returns the time of all iterations together.
/// The loop that measures calls this instead of preparing and `time(body)`.
template <class C, class O>
concept SamplesOperations = requires(C& clock, const O& operation, std::size_t operands, std::int64_t iterations) {
  { clock.sample(operation, operands, iterations) } -> std::same_as<Nanoseconds>;
};

/// A clock that holds back what belongs after the warm-up until it is told that this is over: a stream that is blocked
/// while a module is loaded is blocked for good.
template <class C>
concept KnowsWarmUp = requires(C& clock) { clock.warmed_up(); };

template <TimedOperation O>
void prepare(const O& operation, std::size_t operands) {
  if (operation.prepare != nullptr) operation.prepare(operation.state, operands);
}

/// Null: its iterations are timed as a whole.
template <class O>
[[nodiscard]] Phases* phases_of(const O& operation) {
  if constexpr (requires { { operation.phases } -> std::convertible_to<Phases*>; }) return operation.phases;
  else return nullptr;
}

/// Prepares a sample of an operation with phases: runs one untimed iteration, and prepares again. Training
/// makes the same step over and over; in a sample of one step, what others left in the caches would count: 16 % of
/// the forward of a cuDNN LSTM, which waits for the host (H200).
template <TimedOperation O>
void lead_in(const O& operation, std::size_t operands) {
  prepare(operation, operands);
  operation.run(operation.state, operands, 1);
  prepare(operation, operands);
}

/// One sample by a clock that need not know whom it times: prepares, then returns the time of all iterations together;
/// of their phases, if there are any.
template <class C, TimedOperation O>
[[nodiscard]] Nanoseconds sample_plainly(C& clock, const O& operation, std::size_t operands, std::int64_t iterations) {
  const auto run = [&] { operation.run(operation.state, operands, iterations); };
  Phases* const phases = phases_of(operation);
  if (phases == nullptr) {
    prepare(operation, operands);
    return clock.time(run);
  }
  lead_in(operation, operands);
  PlainLaps<C> laps(clock, *phases);
  phases->reset();
  phases->listen(laps, run);
  return phases->total();
}

}  // namespace pace::timing
