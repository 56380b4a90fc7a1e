// Subject: code that is timed, as the interface for warm-up, calibration, rounds and clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pace/timing/phases.hpp"

namespace pace::timing {

/// Code that is timed. There is one virtual call per sample, and none per iteration.
class Subject {
 public:
  virtual ~Subject() = default;

  /// Timed: calls the user's code `iterations` times on the operand set of index `operands`.
  virtual void run(std::size_t operands, std::int64_t iterations) = 0;

  /// Untimed, before every run: restores what the last run changed.
  virtual void prepare(std::size_t /*operands*/) {}

  /// Untimed, after every sample: moves the output of the last call to other memory, so that the next sample, of any
  /// subject, can write its outputs to the same memory.
  virtual void finish() {}

  /// Returns the output of the last run, for a clock that captures a run and replays it. A replayed graph writes to the
  /// memory of the captured output, which therefore outlives the capture and is checked after the last replay.
  [[nodiscard]] virtual std::shared_ptr<void> keep_output() { return {}; }

  /// Takes the result of keep_output() back before each replay, and poisons it, so that the replay must write it anew.
  virtual void put_back_output(const std::shared_ptr<void>& /*output*/) {}

  /// Called while an exception from a sample is handled; may throw another exception that names this subject.
  virtual void failed() {}

  /// Parts of an iteration that are timed apart; null if there are none.
  [[nodiscard]] virtual Phases* phases() { return nullptr; }

  /// Subjects with equal identities are the same code, for which a clock keeps one graph.
  [[nodiscard]] virtual const void* identity() const { return this; }

 protected:
  Subject() = default;
  Subject(const Subject&) = default;             ///< protected, so that no subject is sliced
  Subject& operator=(const Subject&) = default;  ///< protected, so that no subject is sliced
};

}  // namespace pace::timing
