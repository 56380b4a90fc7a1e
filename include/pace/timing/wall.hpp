// WallClock: the host's monotonic clock, for subjects that run on the CPU.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "pace/timing/clock.hpp"
#include "pace/timing/hardware_counter.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/machine_counters.hpp"

namespace pace::timing {

/// Times samples by std::chrono::steady_clock. The CPU's counter is read outside of each stretch of time, so that the
/// clock, which a library may replace, has a witness, and no reading is timed.
class WallClock final : public Clock {
 public:
  Nanoseconds time(FunctionRef<void()> body) override {
    const auto ticks = hardware_ticks();
    const auto start = std::chrono::steady_clock::now();
    body();
    const Nanoseconds took = std::chrono::steady_clock::now() - start;
    add(ticks, took);
    return took;
  }

  Nanoseconds sample(Subject& subject, std::size_t operands, std::int64_t iterations) override {
    sample_ = {};
    return sample_plainly(subject, operands, iterations);
  }

  void begin_lap() override {
    lap_ticks_ = hardware_ticks();
    lap_ = now();
  }
  [[nodiscard]] Nanoseconds end_lap() override {
    const Nanoseconds took = now() - lap_;
    add(lap_ticks_, took);
    return took;
  }

  [[nodiscard]] TwoClocks last_sample() const override { return steady_ticks_ ? sample_ : TwoClocks{}; }

  [[nodiscard]] Nanoseconds now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }

  /// The smallest step of the clock in 20 tries, measured once per object: the larger of the counter's step and the
  /// time of one reading.
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

  /// Measured once per process.
  [[nodiscard]] HostBandwidth* host_bandwidth() override {
    static HostBandwidth of_machine([](std::size_t bytes) {
      WallClock clock;
      return measure_host_bandwidth(bytes, [&](FunctionRef<void()> body) { return clock.time(body); });
    });
    return &of_machine;
  }

  [[nodiscard]] std::string name() const override { return "wall"; }

 private:
  void add(std::uint64_t since, Nanoseconds by_clock) {
    sample_.ticks += static_cast<double>(hardware_ticks() - since);
    sample_.by_clock += by_clock;
    ++sample_.stretches;
  }

  Nanoseconds resolution_{};
  bool steady_ticks_ = has_steady_ticks();
  TwoClocks sample_;
  std::uint64_t lap_ticks_ = 0;
  Nanoseconds lap_{};
};

}  // namespace pace::timing
