// Clock: how a sample is timed. The wall clock, clocks of a device and the fake ones of tests derive from it.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "pace/core/conditions.hpp"
#include "pace/core/function_ref.hpp"
#include "pace/core/options.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/timing/gpu_reading.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/phases.hpp"
#include "pace/timing/subject.hpp"

namespace pace::timing {

class ModeClock;

/// One virtual call a sample. What only some clocks can do has a default that does nothing.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Runs `body` once. Returns how long that took on the device that this clock watches.
  virtual Nanoseconds time(FunctionRef<void()> body) = 0;

  /// Prepares `subject`, and times `iterations` iterations on operand set `operands`. Returns the time of all of them
  /// together; the times of their phases, if there are any, are in the subject's Phases.
  virtual Nanoseconds sample(Subject& subject, std::size_t operands, std::int64_t iterations) {
    return sample_plainly(subject, operands, iterations);
  }

  /// The host's time since some fixed point, by which budgets and caps are kept.
  [[nodiscard]] virtual Nanoseconds now() const = 0;
  /// The smallest difference that time() can tell from zero.
  [[nodiscard]] virtual Nanoseconds resolution() = 0;
  [[nodiscard]] virtual std::string name() const = 0;
  /// The device that calls run on, such as `NVIDIA H200`; empty: the CPU, or unknown.
  [[nodiscard]] virtual std::string device_name() const { return {}; }

  /// Around a part of what a host does. By default by now().
  virtual void begin_lap() { lap_ = now(); }
  [[nodiscard]] virtual Nanoseconds end_lap() { return now() - lap_; }

  /// The warm-up is over: what a clock holds back until then may begin. (A stream that is blocked while a module is loaded
  /// is blocked for good.)
  virtual void warmed_up() {}

  /// Whether the calling thread runs, and what the machine does; none: this clock does not know.
  [[nodiscard]] virtual std::optional<ThreadCounters> thread_counters() const { return std::nullopt; }
  [[nodiscard]] virtual std::optional<MachineCounters> counters() const { return std::nullopt; }

  /// This clock, if it can time the same calls in several ways; else null.
  [[nodiscard]] virtual ModeClock* modes() { return nullptr; }

 protected:
  Clock() = default;
  Clock(const Clock&) = default;
  Clock& operator=(const Clock&) = default;

  /// A sample by time(), or by laps where iterations have phases.
  Nanoseconds sample_plainly(Subject& subject, std::size_t operands, std::int64_t iterations);

 private:
  Nanoseconds lap_{};
};

/// A clock that times the same calls in several ways (cold, hot, graph, host), and knows the device on which they run.
class ModeClock : public Clock {
 public:
  [[nodiscard]] ModeClock* modes() final { return this; }

  virtual void select(ClockChoice mode) = 0;
  [[nodiscard]] virtual ClockChoice selected() const = 0;
  /// Whether the device still answers. Does not wait for it.
  [[nodiscard]] virtual bool usable() const = 0;
  /// Frees what was kept for calls that will not come back.
  virtual void forget() = 0;

  /// In bytes; none: unknown.
  [[nodiscard]] virtual std::optional<std::int64_t> available_memory() const { return std::nullopt; }
  /// The memory of one call, which returns what lives on after it.
  [[nodiscard]] virtual std::optional<DeviceMemory> memory_of(FunctionRef<std::any()> /*call*/) { return std::nullopt; }
  /// What one call asks of the device; none unless two calls count the same.
  [[nodiscard]] virtual std::optional<DeviceCounts> device_counts_of(FunctionRef<void()> /*call*/) {
    return std::nullopt;
  }
  /// What is wrong if work of `call` gets away from what is timed.
  [[nodiscard]] virtual std::optional<std::string> find_escape(FunctionRef<void()> /*call*/) { return std::nullopt; }
  /// Puts the current stream back once what is returned is gone.
  [[nodiscard]] virtual std::shared_ptr<void> keep_stream() { return {}; }
  /// Enters into `row` how near it comes to what the device can do at most. False if that could not be measured.
  [[nodiscard]] virtual bool hold_against_limits(ImplementationResult& /*row*/) { return true; }
  /// Asked between cycles only: a driver takes up to a millisecond to answer.
  [[nodiscard]] virtual std::optional<GpuReading> look_at_gpu() const { return std::nullopt; }
};

namespace detail {

/// What a plain clock hears phases with.
class PlainLaps final : public Lapper {
 public:
  PlainLaps(Clock& clock, Phases& phases) : clock_(clock), phases_(phases) {}
  void begin(std::size_t) override { clock_.begin_lap(); }
  void end(std::size_t phase) override { phases_.add(phase, clock_.end_lap()); }

 private:
  Clock& clock_;
  Phases& phases_;
};

}  // namespace detail

/// Prepares a sample of a subject with phases: runs one untimed iteration, and prepares again. Training makes the same
/// step over and over; in a sample of one step, what others left in the caches would count: 16 % of the forward of a cuDNN
/// LSTM, which waits for the host (H200).
inline void lead_in(Subject& subject, std::size_t operands) {
  subject.prepare(operands);
  subject.run(operands, 1);
  subject.prepare(operands);
}

inline Nanoseconds Clock::sample_plainly(Subject& subject, std::size_t operands, std::int64_t iterations) {
  const auto run = [&] { subject.run(operands, iterations); };
  Phases* const phases = subject.phases();
  if (phases == nullptr) {
    subject.prepare(operands);
    return time(run);
  }
  lead_in(subject, operands);
  detail::PlainLaps laps(*this, *phases);
  phases->reset();
  phases->listen(laps, run);
  return phases->total();
}

/// One sample: prepares, times `iterations` iterations, and finishes. Returns the time of all of them together.
inline Nanoseconds take_sample(Clock& clock, Subject& subject, std::size_t operands, std::int64_t iterations) {
  Nanoseconds time{};
  try {
    time = clock.sample(subject, operands, iterations);
  } catch (...) {
    subject.failed();
    throw;
  }
  subject.finish();
  return time;
}

}  // namespace pace::timing
