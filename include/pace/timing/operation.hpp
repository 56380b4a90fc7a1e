// Operation: one implementation as the measuring loop sees it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pace/timing/sampling.hpp"

namespace pace::timing {

/// Type-erased by function pointers: one indirect call per sample, never one per iteration.
struct Operation {
  void* state = nullptr;
  /// Timed: `iterations` calls of the user's code on operand set `operands`.
  void (*run)(void* state, std::size_t operands, std::int64_t iterations) = nullptr;
  /// Untimed, before every run: restores what the last run changed. May be null.
  void (*prepare)(void* state, std::size_t operands) = nullptr;
  /// What the last run returned, for a clock that replays runs instead of making them; and gives it back, spoilt,
  /// before each replay, which must write it anew.
  std::shared_ptr<void> (*keep_output)(void* state) = [](void*) { return std::shared_ptr<void>(); };
  void (*put_back_output)(void* state, const std::shared_ptr<void>& output) =
      [](void*, const std::shared_ptr<void>&) {};
  /// Untimed, after every sample: moves what the last call returned out of the memory that it was written to, which the
  /// next sample, of this implementation or another, then writes its own outputs to.
  void (*finish)(void* state) = [](void*) {};
  /// Called while an exception that came out of a sample is handled: may throw one that says whose sample it was.
  void (*failed)(void* state) = [](void*) {};
  /// Parts of an iteration that are timed apart; null: there are none.
  timing::Phases* phases = nullptr;
};

/// One sample: prepares, times `iterations` iterations, and finishes. Returns the time of all of them together.
template <class Clock>
Nanoseconds take_sample(Clock& clock, const Operation& operation, std::size_t operands, std::int64_t iterations) {
  Nanoseconds time{};
  if constexpr (timing::SamplesOperations<Clock, Operation>) {
    try {
      time = clock.sample(operation, operands, iterations);
    } catch (...) {
      operation.failed(operation.state);
      throw;
    }
  } else {
    time = timing::sample_plainly(clock, operation, operands, iterations);
  }
  operation.finish(operation.state);
  return time;
}

}  // namespace pace::timing
