// WallClock: the host's monotonic clock, for subjects that run on the CPU.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>

#include "pace/timing/clock.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/machine_counters.hpp"

namespace pace::timing {

/// Times samples by std::chrono::steady_clock.
class WallClock final : public Clock {
 public:
  Nanoseconds time(FunctionRef<void()> body) override {
    const auto start = std::chrono::steady_clock::now();
    body();
    return std::chrono::steady_clock::now() - start;
  }

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
  Nanoseconds resolution_{};
};

}  // namespace pace::timing
