// Subject: timed code, as the interface for warm-up, calibration, rounds and clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "pace/timing/phases.hpp"

namespace pace::timing {

/// Timed code, with one virtual call per sample and none per iteration.
class Subject {
 public:
  virtual ~Subject() = default;

  /// Timed: calls the user's code `iterations` times on operand set `operands`.
  virtual void run(std::size_t operands, std::int64_t iterations) = 0;

  /// Untimed, before every run: restores what the last run changed.
  virtual void prepare(std::size_t /*operands*/) {}

  /// Untimed, after every sample: moves the last call's output away, so that the next sample, of any subject, can write
  /// its outputs to the same memory.
  virtual void finish() {}

  /// Returns the output of the last run, for a clock that captures and replays a run. A replayed graph writes to the
  /// captured output's memory. So the output outlives the capture, and is checked after the last replay.
  [[nodiscard]] virtual std::shared_ptr<void> keep_output() { return {}; }

  /// Takes back the result of keep_output() before each replay, and poisons it, so that the replay must write it again.
  virtual void put_back_output(const std::shared_ptr<void>& /*output*/) {}

  /// Called while handling an exception from a sample. May throw another exception that names this subject.
  virtual void failed() {}

  /// Separately timed parts of an iteration; null if there are none.
  [[nodiscard]] virtual Phases* phases() { return nullptr; }

  /// Subjects with equal identities are the same code, for which a clock keeps one graph.
  [[nodiscard]] virtual const void* identity() const { return this; }

 protected:
  Subject() = default;
  Subject(const Subject&) = default;             ///< protected, so that no subject is sliced
  Subject& operator=(const Subject&) = default;  ///< protected, so that no subject is sliced
};

}  // namespace pace::timing
