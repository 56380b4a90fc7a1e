// WallClock: the host's monotonic clock, for subjects that run on the CPU.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "pace/timing/clock.hpp"
#include "pace/timing/count_on_cpu.hpp"
#include "pace/timing/hardware_counter.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/machine_counters.hpp"

namespace pace::timing {

/// Times samples by std::chrono::steady_clock. Reads the CPU's counter before and after each reading, as a second clock
/// with a known error: a library may replace the first. Every timed stretch contains two counter readings, of some 10
/// ns each, for all implementations alike.
class WallClock final : public Clock {
 public:
  Nanoseconds time(FunctionRef<void()> body) override {
    const ClockReading start = read();
    body();
    return add(start);
  }

  Nanoseconds sample(Subject& subject, std::size_t operands, std::int64_t iterations) override {
    sample_ = {};
    const Nanoseconds time = sample_plainly(subject, operands, iterations);
    if (watches_cpu_) use_ = cpu_use_between(before_, read_thread_counters(), now() - began_);
    return time;
  }
  void watch_cpu(bool wanted) override {
    watches_cpu_ = wanted;
    use_.reset();
  }
  /// By the kernel's counters of the thread, read just before and after what is timed.
  [[nodiscard]] std::optional<CpuUse> last_cpu_use() const override { return use_; }

  void begin_lap() override { lap_ = read(); }
  [[nodiscard]] Nanoseconds end_lap() override { return add(lap_); }

  [[nodiscard]] TwoClocks last_sample() const override { return steady_ticks_ ? sample_ : TwoClocks{}; }

  [[nodiscard]] Nanoseconds now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
  void pause(Nanoseconds time) override { std::this_thread::sleep_for(time); }

  /// The smallest step of the clock in 20 tries: the larger of its resolution and the time of one reading. Measured
  /// once per object.
  [[nodiscard]] Nanoseconds resolution() override {
    if (resolution_.count() > 0) return resolution_;
    auto smallest = std::numeric_limits<double>::max();
    for (int attempt = 0; attempt < 20; ++attempt) {
      const auto start = now();
      auto end = now();
      while (end == start) end = now();
      smallest = std::min(smallest, (end - start).count());
    }
    return resolution_ = Nanoseconds(smallest);
  }

  [[nodiscard]] std::optional<MachineCounters> counters() const override { return read_machine_counters(); }

  [[nodiscard]] std::optional<ThreadCounters> thread_counters() const override { return read_thread_counters(); }

  [[nodiscard]] std::vector<EventCount> count_events(const std::vector<std::string>& names, Subject& subject,
                                                     std::int64_t calls) override {
    subject.prepare(0);
    auto counts = count_on_cpu(names, [&] { subject.run(0, calls); });
    subject.finish();
    return counts;
  }

  /// Measured once per process.
  [[nodiscard]] HostBandwidth* host_bandwidth() override {
    static HostBandwidth of_machine([](std::size_t bytes) {
      WallClock clock;
      return measure_host_bandwidth(bytes, [&](FunctionRef<void()> body) { return clock.time(body); });
    });
    return &of_machine;
  }

  [[nodiscard]] std::string name() const override { return "wall"; }

 protected:
  void prepared() override {
    if (!watches_cpu_) return;
    began_ = now();
    before_ = read_thread_counters();
  }

 private:
  [[nodiscard]] ClockReading read() const {
    ClockReading reading;
    reading.before = hardware_ticks();
    reading.at = now();
    reading.after = hardware_ticks();
    return reading;
  }

  /// Ends the stretch of time that began at `start`, and returns how long it took.
  [[nodiscard]] Nanoseconds add(const ClockReading& start) {
    const ClockReading end = read();
    sample_.add(start, end);
    return end.at - start.at;
  }

  Nanoseconds resolution_{};
  bool steady_ticks_ = has_steady_ticks();
  TwoClocks sample_;
  Nanoseconds began_{};
  ThreadCounters before_;
  bool watches_cpu_ = false;
  std::optional<CpuUse> use_;
  ClockReading lap_;
};

}  // namespace pace::timing
