// Subject: code that is timed, as warm-up, calibration, rounds and clocks see it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pace/timing/phases.hpp"

namespace pace::timing {

/// One virtual call a sample, none an iteration.
class Subject {
 public:
  virtual ~Subject() = default;

  /// Timed: `iterations` calls of the user's code on operand set `operands`.
  virtual void run(std::size_t operands, std::int64_t iterations) = 0;

  /// Untimed, before every run: restores what the last run changed.
  virtual void prepare(std::size_t /*operands*/) {}

  /// Untimed, after every sample: moves what the last call returned out of the memory that it was written to, which the
  /// next sample, of this subject or another, then writes its own outputs to.
  virtual void finish() {}

  /// What the last run returned, for a clock that replays runs instead of making them. A replayed graph writes to the
  /// memory of the outputs that were captured: they outlive the capture, and are checked after the last replay.
  [[nodiscard]] virtual std::shared_ptr<void> keep_output() { return {}; }

  /// Takes what keep_output() returned, and poisons it, before each replay, which must write it anew.
  virtual void put_back_output(const std::shared_ptr<void>& /*output*/) {}

  /// Called while an exception that came out of a sample is handled: may throw one that names whose sample it was.
  virtual void failed() {}

  /// Parts of an iteration that are timed apart; null: there are none.
  [[nodiscard]] virtual Phases* phases() { return nullptr; }

  /// Runs with equal identities are the same code, of which a clock keeps one graph.
  [[nodiscard]] virtual const void* identity() const { return this; }

 protected:
  Subject() = default;
  Subject(const Subject&) = default;
  Subject& operator=(const Subject&) = default;
};

}  // namespace pace::timing
