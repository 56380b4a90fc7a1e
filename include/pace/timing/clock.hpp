// Clock: times samples. The wall clock, the clocks of a device and the fake clocks of tests derive from it.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/timing/gpu_reading.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/phases.hpp"
#include "pace/timing/subject.hpp"

namespace pace::timing {

class ModeClock;

/// One reading of a clock between two readings of the CPU's counter.
struct ClockReading {
  std::uint64_t before = 0;  ///< ticks of the CPU's counter before the clock was read
  Nanoseconds at{};          ///< time of the clock
  std::uint64_t after = 0;   ///< ticks of the CPU's counter after the clock was read
};

/// Stretches of time by two clocks. The two cannot be read at one instant: a reading whose code has left the caches
/// takes some hundred nanoseconds longer than others, so that the ticks are known up to what passed during the
/// readings.
struct TwoClocks {
  double ticks = 0;        ///< by the CPU's counter; 0: unknown
  double tick_error = 0;   ///< the true number of ticks lies within this distance of `ticks`
  Nanoseconds by_clock{};  ///< by the clock
  double stretches = 0;    ///< their number: one for each phase of each iteration, or one for a whole sample

  /// Adds the stretch between two readings. The clock was read at some moment within each of them, so that the stretch
  /// has at least the ticks between the inner readings of the counter and at most those between the outer ones.
  void add(const ClockReading& start, const ClockReading& end) {
    const auto longest = static_cast<double>(end.after - start.before);
    const double shortest = end.before > start.after ? static_cast<double>(end.before - start.after) : 0;
    ticks += (longest + shortest) / 2;
    tick_error += (longest - shortest) / 2;
    by_clock += end.at - start.at;
    ++stretches;
  }
};

/// Times samples of a Subject. There is one virtual call per sample, and none per iteration. Functions that only some
/// clocks implement have a default that does nothing.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Runs `body` once and returns how long it took on the device of this clock.
  virtual Nanoseconds time(FunctionRef<void()> body) = 0;

  /// Prepares `subject` and times `iterations` iterations on the operand set of index `operands`. Returns the time of
  /// all iterations together; the times of their phases, if there are any, are in the subject's Phases.
  virtual Nanoseconds sample(Subject& subject, std::size_t operands, std::int64_t iterations) {
    return sample_plainly(subject, operands, iterations);
  }

  /// Times `iterations` iterations of a subject that is prepared, by time(), or by begin_lap() and end_lap() where
  /// iterations have phases. Returns the time of all iterations together, which is that of all phases.
  Nanoseconds time_prepared(Subject& subject, std::size_t operands, std::int64_t iterations);

  /// The host's time since some fixed point, for budgets and limits.
  [[nodiscard]] virtual Nanoseconds now() const = 0;
  /// Lets so much time pass in which this process does nothing, so that what is measured afterwards does not depend on
  /// what the machine did just before. By default none passes.
  virtual void pause(Nanoseconds /*time*/) {}
  /// The smallest time that time() distinguishes from zero.
  [[nodiscard]] virtual Nanoseconds resolution() = 0;
  /// Name of the way of timing in results, such as `wall` or `graph`.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Name of the device on which calls run, such as `NVIDIA H200`; empty: the CPU, or unknown.
  [[nodiscard]] virtual std::string device_name() const { return {}; }

  /// Starts the time of a phase; by default, at now().
  virtual void begin_lap() { lap_ = now(); }
  /// Returns the time since begin_lap().
  [[nodiscard]] virtual Nanoseconds end_lap() { return now() - lap_; }

  /// Called when the warm-up is over: a clock may delay until then what is unsafe before. (A stream that is blocked
  /// while a module is loaded never runs again.)
  virtual void warmed_up() {}
  /// Called before each cycle of rounds. What a clock prepares once for several samples, and what influences their time
  /// (the capture of a graph), it prepares anew here: cycles are independent observations only without it.
  virtual void begin_cycle() {}

  /// The last sample by this clock and by the CPU's counter, without the preparation.
  [[nodiscard]] virtual TwoClocks last_sample() const { return {}; }
  /// Counters of the calling thread; nothing: unknown to this clock.
  [[nodiscard]] virtual std::optional<ThreadCounters> thread_counters() const { return std::nullopt; }
  /// Counters of the machine and this process; nothing: unknown to this clock.
  [[nodiscard]] virtual std::optional<MachineCounters> counters() const { return std::nullopt; }
  /// The same between two readings of this clock.
  [[nodiscard]] std::optional<TimedCounters> timed_counters() const {
    TimedCounters reading;
    reading.from = now();
    auto read = counters();
    if (!read) return std::nullopt;
    reading.counters = *std::move(read);
    reading.to = now();
    return reading;
  }

  /// Bandwidths of the machine on which calls run, below whose times no call can be; null: unknown to this clock.
  [[nodiscard]] virtual HostBandwidth* host_bandwidth() { return nullptr; }

  /// This clock as a ModeClock, if it can time the same calls in several ways; otherwise null.
  [[nodiscard]] virtual ModeClock* modes() { return nullptr; }

 protected:
  Clock() = default;
  Clock(const Clock&) = default;             ///< protected, so that no clock is sliced
  Clock& operator=(const Clock&) = default;  ///< protected, so that no clock is sliced

  /// Prepares the subject, and takes a sample by time_prepared().
  Nanoseconds sample_plainly(Subject& subject, std::size_t operands, std::int64_t iterations);

 private:
  Nanoseconds lap_{};
};

/// A clock that times the same calls in several ways (cold, hot, graph, host), and inspects the device on which they
/// run.
class ModeClock : public Clock {
 public:
  [[nodiscard]] ModeClock* modes() final { return this; }

  /// Selects the way of timing of later samples.
  virtual void select(ClockChoice mode) = 0;
  /// The selected way of timing.
  [[nodiscard]] virtual ClockChoice selected() const = 0;
  /// Whether the device still works, without waiting for it.
  [[nodiscard]] virtual bool usable() const = 0;
  /// Frees what is kept for calls that have been timed, such as their graphs.
  virtual void forget() = 0;

  /// Memory that is available on the device, in bytes; nothing: unknown.
  [[nodiscard]] virtual std::optional<std::int64_t> available_memory() const { return std::nullopt; }
  /// Measures the device memory of one call of `call`, whose result is kept alive until the memory has been
  /// read; nothing: unknown.
  [[nodiscard]] virtual std::optional<DeviceMemory> memory_of(FunctionRef<std::any()> /*call*/) { return std::nullopt; }
  /// Counts kernels, launches and waits of one call; nothing if two calls differ in their counts, or if unknown.
  [[nodiscard]] virtual std::optional<DeviceCounts> device_counts_of(FunctionRef<void()> /*call*/) {
    return std::nullopt;
  }
  /// Returns a description of work of `call` that escapes the timing; nothing if there is none.
  [[nodiscard]] virtual std::optional<std::string> find_escape(FunctionRef<void()> /*call*/) { return std::nullopt; }
  /// Returns an object whose destructor restores the stream that is current now.
  [[nodiscard]] virtual std::shared_ptr<void> keep_stream() { return {}; }
  /// Enters into `row` the share of the device's measured peak that the implementation reaches. Returns false if the
  /// peak could not be measured.
  [[nodiscard]] virtual bool hold_against_limits(ImplementationResult& /*row*/) { return true; }
  /// Returns a lower limit of the time of a call that reads and writes `traffic` and finds none of it in a cache;
  /// nothing: unknown, or not above `time`, which is that of such a call.
  [[nodiscard]] virtual std::optional<Nanoseconds> least_cold_time(const LeastTraffic& /*traffic*/,
                                                                   Nanoseconds /*time*/) {
    return std::nullopt;
  }
  /// Reads clock, temperature and power of the GPU; nothing: unknown. Call it between cycles, since a driver takes up
  /// to a millisecond.
  [[nodiscard]] virtual std::optional<GpuReading> look_at_gpu() const { return std::nullopt; }
};

namespace detail {

/// Times phases by the laps of a clock.
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

/// Prepares a sample of a subject with phases: prepares it, runs one untimed iteration, and prepares it again. Training
/// repeats the same step; without the untimed iteration, a sample of one step would include the effect of the caches
/// that another subject has filled: 16 % of the forward of a cuDNN LSTM, which is bound by the host (H200).
inline void lead_in(Subject& subject, std::size_t operands) {
  subject.prepare(operands);
  subject.run(operands, 1);
  subject.prepare(operands);
}

inline Nanoseconds Clock::sample_plainly(Subject& subject, std::size_t operands, std::int64_t iterations) {
  if (subject.phases() == nullptr)
    subject.prepare(operands);
  else
    lead_in(subject, operands);
  return time_prepared(subject, operands, iterations);
}

inline Nanoseconds Clock::time_prepared(Subject& subject, std::size_t operands, std::int64_t iterations) {
  const auto run = [&] { subject.run(operands, iterations); };
  Phases* const phases = subject.phases();
  if (phases == nullptr) return time(run);
  detail::PlainLaps laps(*this, *phases);
  phases->reset();
  phases->listen(laps, run);
  return phases->total();
}

/// Takes one sample: prepares `subject`, times `iterations` iterations on the operand set of index `operands`, and
/// finishes. Returns the time of all iterations together. Throws what the subject throws, after Subject::failed().
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
