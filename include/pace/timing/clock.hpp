// Clock: times samples. The wall clock, the clocks of a device and the fake clocks of tests derive from it.
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/timing/energy.hpp"
#include "pace/timing/event_count.hpp"
#include "pace/timing/gpu_reading.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/phases.hpp"
#include "pace/timing/subject.hpp"

namespace pace::timing {

class ModeClock;

/// One reading of a clock between two readings of the CPU's counter.
struct ClockReading {
  std::uint64_t before = 0;  ///< ticks of the CPU's counter before the reading
  Nanoseconds at{};          ///< time of the clock
  std::uint64_t after = 0;   ///< ticks of the CPU's counter after the reading
};

/// Stretches of time by two clocks. Nobody can read both at one instant, and a reading takes some hundred nanoseconds
/// longer after its code has left the caches. So ticks have an error: those that pass during readings.
struct TwoClocks {
  double ticks = 0;        ///< by the CPU's counter; 0: unknown
  double tick_error = 0;   ///< the true number of ticks lies within this distance of `ticks`
  Nanoseconds by_clock{};  ///< by the clock
  double stretches = 0;    ///< their number: one for each phase of each iteration, or one for a whole sample

  /// Adds the stretch between two readings. Each read the clock at some moment within. So the stretch has at least the
  /// ticks between the inner counter readings, and at most those between the outer.
  void add(const ClockReading& start, const ClockReading& end) {
    const auto longest = static_cast<double>(end.after - start.before);
    const double shortest = end.before > start.after ? static_cast<double>(end.before - start.after) : 0;
    ticks += (longest + shortest) / 2;
    tick_error += (longest - shortest) / 2;
    by_clock += end.at - start.at;
    ++stretches;
  }
};

/// Times samples of a Subject, with one virtual call per sample and none per iteration. Functions that only some clocks
/// implement do nothing by default.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Runs `body` once and returns how long it took on the device of this clock.
  virtual Nanoseconds time(FunctionRef<void()> body) = 0;

  /// Prepares `subject` and times `iterations` iterations on operand set `operands`. Returns the time of all iterations
  /// together. The subject's Phases, if any, get the times of the phases.
  virtual Nanoseconds sample(Subject& subject, std::size_t operands, std::int64_t iterations) {
    return sample_plainly(subject, operands, iterations);
  }

  /// Times `iterations` iterations of a prepared subject by time(), or by begin_lap() and end_lap() if they have
  /// phases. Returns the time of all iterations, or of all their phases, together.
  Nanoseconds time_prepared(Subject& subject, std::size_t operands, std::int64_t iterations);

  /// The host's time since some fixed point, for budgets and limits.
  [[nodiscard]] virtual Nanoseconds now() const = 0;
  /// Idles for `time`, so that later measurements do not depend on recent work. By default no time passes.
  virtual void pause(Nanoseconds /*time*/) {}
  /// The smallest time that time() distinguishes from zero.
  [[nodiscard]] virtual Nanoseconds resolution() = 0;
  /// Name of this way of timing in results, such as `wall` or `graph`.
  [[nodiscard]] virtual std::string name() const = 0;
  /// Name of the device on which calls run, such as `NVIDIA H200`; empty: the CPU, or unknown.
  [[nodiscard]] virtual std::string device_name() const { return {}; }

  /// Starts the time of a phase; by default, at now().
  virtual void begin_lap() { lap_ = now(); }
  /// Returns the time since begin_lap().
  [[nodiscard]] virtual Nanoseconds end_lap() { return now() - lap_; }

  /// Called when the warm-up is over. A clock may delay until then anything that is unsafe before. (A stream that is
  /// blocked while a module is loaded never runs again.)
  virtual void warmed_up() {}
  /// Called before each cycle of rounds. Discards what a clock prepared for several samples and what affects their
  /// time, such as the capture of a graph. Only then are cycles independent observations.
  virtual void begin_cycle() {}

  /// The last sample by this clock and by the CPU's counter, without the preparation.
  [[nodiscard]] virtual TwoClocks last_sample() const { return {}; }
  /// Whether last_cpu_use() is wanted of later samples, beside which that takes some microseconds. It is not at first.
  virtual void watch_cpu(bool /*wanted*/) {}
  /// What the timed stretch of the last sample took of the CPU; nothing: unknown to this clock, or not wanted.
  [[nodiscard]] virtual std::optional<CpuUse> last_cpu_use() const { return std::nullopt; }
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

  /// Counts what `names`, of counter_entries, say over `calls` calls of `subject`, which it prepares. Returns one count
  /// for each name, in their order. All are of the same calls if the counters permit it; a count that the others leave
  /// no counter for has the reason. Throws what the subject throws.
  [[nodiscard]] virtual std::vector<EventCount> count_events(const std::vector<std::string>& names,
                                                             Subject& /*subject*/, std::int64_t /*calls*/) {
    return std::vector<EventCount>(names.size(), {.missing = "this clock has no counters"});
  }
  /// Called after the last of several counts. Gives up what only counts need, and what would slow down timed calls.
  virtual void end_counts() noexcept {}
  /// Bandwidths of the machine on which calls run, for a lower limit of times; null: unknown to this clock.
  [[nodiscard]] virtual HostBandwidth* host_bandwidth() { return nullptr; }

  /// This clock as a ModeClock, if it has several ways to time the same calls; otherwise null.
  [[nodiscard]] virtual ModeClock* modes() { return nullptr; }

 protected:
  Clock() = default;
  Clock(const Clock&) = default;             ///< protected, so that no clock is sliced
  Clock& operator=(const Clock&) = default;  ///< protected, so that no clock is sliced

  /// Prepares the subject, calls prepared(), and takes a sample by time_prepared().
  Nanoseconds sample_plainly(Subject& subject, std::size_t operands, std::int64_t iterations);
  /// Called when a sample is prepared, just before it is timed.
  virtual void prepared() {}

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
  /// Frees what the clock keeps for earlier calls, such as their graphs.
  virtual void forget() = 0;

  /// What the selected way of timing adds to each call; nothing: it adds nothing, or that is unknown. Measured once per
  /// process and way of timing, between samples.
  [[nodiscard]] virtual std::optional<ClockOverhead> overhead() { return std::nullopt; }
  /// Why times by the selected way of timing are not those of another process, as a full sentence with what to do:
  /// variables of the environment that were left set. Empty if there is nothing of the kind.
  [[nodiscard]] virtual std::string distortion() const { return {}; }

  /// Available memory of the device, in bytes; nothing: unknown.
  [[nodiscard]] virtual std::optional<std::int64_t> available_memory() const { return std::nullopt; }
  /// Measures the device memory of one `call`, and keeps its result alive until then; nothing: unknown.
  [[nodiscard]] virtual std::optional<DeviceMemory> memory_of(FunctionRef<std::any()> /*call*/) { return std::nullopt; }
  /// Counts kernels, launches and waits of one call; nothing if two calls differ, or if unknown.
  [[nodiscard]] virtual std::optional<DeviceCounts> device_counts_of(FunctionRef<void()> /*call*/) {
    return std::nullopt;
  }
  /// Describes work of `call` that escapes the timing; nothing if there is none.
  [[nodiscard]] virtual std::optional<std::string> find_escape(FunctionRef<void()> /*call*/) { return std::nullopt; }
  /// Returns an object whose destructor restores the current stream.
  [[nodiscard]] virtual std::shared_ptr<void> keep_stream() { return {}; }
  /// Enters into `row` the implementation's share of the device's measured peak. Returns false if the peak could not be
  /// measured.
  [[nodiscard]] virtual bool hold_against_limits(ImplementationResult& /*row*/) { return true; }
  /// Returns a lower limit of the time of a call that moves `traffic` without cache hits. Nothing if it is unknown, or
  /// not above `time`, the time of such a call.
  [[nodiscard]] virtual std::optional<Nanoseconds> least_cold_time(const LeastTraffic& /*traffic*/,
                                                                   Nanoseconds /*time*/) {
    return std::nullopt;
  }
  /// Reads clock, temperature and power of the GPU; nothing: unknown. Call it between cycles, since a driver takes up
  /// to a millisecond.
  [[nodiscard]] virtual std::optional<GpuReading> look_at_gpu() const { return std::nullopt; }
  /// Reads the clock and what reduces it, and nothing else where that is quicker. Call it between samples.
  [[nodiscard]] virtual std::optional<GpuReading> look_at_clock() const { return look_at_gpu(); }
  /// Begins to record the GPU's energy; null: it has no counter of it.
  [[nodiscard]] virtual std::unique_ptr<EnergyRecording> record_energy() { return nullptr; }
  /// Looks for others that used the GPU in the last `period`. Takes some milliseconds.
  [[nodiscard]] virtual GpuSharing look_for_others(Nanoseconds /*period*/) const { return {}; }
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

/// Prepares a sample of a subject with phases, by one untimed iteration between two preparations. Training repeats the
/// same step, but another subject has filled the caches. That would affect a sample of one step: 16 % of the forward of
/// a cuDNN LSTM, which is bound by the host (H200).
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
  prepared();
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

/// Takes one sample: prepares `subject`, times `iterations` iterations on operand set `operands`, and finishes. Returns
/// the time of all iterations together. Throws what the subject throws, after Subject::failed().
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
