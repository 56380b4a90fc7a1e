// Operation: one implementation as the measuring loop sees it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pace::measure {

/// Type-erased by function pointers: one indirect call per sample, never one per iteration.
struct Operation {
  void* state = nullptr;
  /// Timed: `iterations` calls of the user's code on operand set `operands`.
  void (*run)(void* state, std::size_t operands, std::int64_t iterations) = nullptr;
  /// Untimed, before every run: restores what the last run changed. May be null.
  void (*prepare)(void* state, std::size_t operands) = nullptr;
};

/// One sample: prepares, then times `iterations` iterations. Returns the time of all of them together.
template <class Clock>
auto take_sample(Clock& clock, const Operation& operation, std::size_t operands, std::int64_t iterations) {
  if (operation.prepare != nullptr) operation.prepare(operation.state, operands);
  return clock.time([&] { operation.run(operation.state, operands, iterations); });
}

}  // namespace pace::measure
