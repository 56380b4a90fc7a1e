// SidesClock: a clock for code that runs in other processes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/isolate/process.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

/// Times by `clock`. Adds up the thread counters of the sides, since only these run implementations. Adds their CPU
/// time to this program's.
class SidesClock final : public timing::Clock {
 public:
  /// Both must outlive it.
  SidesClock(timing::Clock& clock, const std::vector<SideProcess*>& sides) : clock_(clock), sides_(sides) {}

  Nanoseconds time(FunctionRef<void()> body) override { return clock_.time(body); }
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    return clock_.sample(subject, operands, iterations);
  }
  [[nodiscard]] Nanoseconds now() const override { return clock_.now(); }
  [[nodiscard]] Nanoseconds resolution() override { return clock_.resolution(); }
  [[nodiscard]] std::string name() const override { return clock_.name(); }
  void warmed_up() override { clock_.warmed_up(); }
  void begin_cycle() override { clock_.begin_cycle(); }
  [[nodiscard]] timing::TwoClocks last_sample() const override { return clock_.last_sample(); }
  [[nodiscard]] timing::HostBandwidth* host_bandwidth() override { return clock_.host_bandwidth(); }

  [[nodiscard]] std::optional<timing::ThreadCounters> thread_counters() const override {
    if (!clock_.thread_counters()) return std::nullopt;
    timing::ThreadCounters sum;
    for (const auto* side : sides_) {
      const auto used = side->used();
      sum.cpu += used.cpu;
      sum.process_cpu += used.process_cpu;
      sum.process_cpu_step = std::max(sum.process_cpu_step, used.process_cpu_step);
      sum.involuntary_switches += used.involuntary_switches;
      sum.voluntary_switches += used.voluntary_switches;
    }
    return sum;
  }

  [[nodiscard]] std::optional<timing::MachineCounters> counters() const override {
    auto found = clock_.counters();
    if (found && found->process_cpu)
      for (const auto* side : sides_) *found->process_cpu += side->cpu_time();
    return found;
  }

 private:
  timing::Clock& clock_;
  const std::vector<SideProcess*>& sides_;
};

}  // namespace pace::detail
