// MultiModeClock: all device clocks as one, so that the same calls can be timed in several ways one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/left_set.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/gpu/synchronised_wall.hpp"
#include "pace/result/options.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/subject.hpp"

namespace pace::gpu {

/// Times calls on a device by the selected one of the device clocks; initially by EventClock.
template <TracesActivities D>
class MultiModeClock : public timing::ModeClock {
 public:
  /// Makes all clocks for `device`, which must outlive this clock.
  explicit MultiModeClock(D& device)
      : device_(device),
        event_(device),
        graph_(device),
        cold_(device, {.cold = true}),
        host_(device),
        profiler_(device),
        wall_(device) {}

  /// Selects the clock of later samples; ClockChoice::automatic is EventClock.
  void select(ClockChoice mode) override { selected_ = mode == ClockChoice::automatic ? ClockChoice::hot : mode; }
  /// The selected clock, never ClockChoice::automatic.
  [[nodiscard]] ClockChoice selected() const override { return selected_; }

  /// Times `body` by the selected clock.
  Nanoseconds time(FunctionRef<void()> body) override { return clock().time(body); }
  /// Takes a sample by the selected clock.
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    return clock().sample(subject, operands, iterations);
  }
  /// The host's time by the device.
  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }
  /// The resolution of the selected clock.
  [[nodiscard]] Nanoseconds resolution() override { return clock().resolution(); }
  /// The name of the selected clock, by to_string(ClockChoice).
  [[nodiscard]] std::string name() const override { return to_string(selected_); }

  /// Variables of the environment that were left set, and change times by the selected clock (see distortion_of()).
  [[nodiscard]] std::string distortion() const override { return distortion_of(selected_); }

  /// Counters of the calling thread. Whichever clock is selected, this thread launches calls and polls the device:
  /// while it is preempted, no call is launched and no end is seen.
  [[nodiscard]] std::optional<timing::ThreadCounters> thread_counters() const override {
    return device_.thread_counters();
  }
  /// Counters of the host.
  [[nodiscard]] std::optional<timing::MachineCounters> counters() const override { return device_.counters(); }

  /// Lets EventClock queue samples behind blocks.
  void warmed_up() override { event_.warmed_up(); }
  /// Begins a cycle of the selected clock.
  void begin_cycle() override { clock().begin_cycle(); }
  /// Whether the device still works, without waiting for it.
  [[nodiscard]] bool usable() const override { return device_.usable(); }
  /// Frees captured graphs and their memory, and blocks streams as at first.
  void forget() override {
    event_.forget();
    graph_.forget();
    cold_.forget();
  }

 private:
  [[nodiscard]] timing::Clock& clock() {
    switch (selected_) {
      case ClockChoice::cold:
        return cold_;
      case ClockChoice::graph:
        return graph_;
      case ClockChoice::host:
        return host_;
      case ClockChoice::profiler:
        return profiler_;
      case ClockChoice::wall:
        return wall_;
      case ClockChoice::automatic:
      case ClockChoice::hot:
        break;
    }
    return event_;
  }

  D& device_;
  EventClock<D> event_;
  GraphClock<D> graph_, cold_;
  HostClock<D> host_;
  ProfilerClock<D> profiler_;
  SynchronisedWallClock<D> wall_;
  ClockChoice selected_ = ClockChoice::hot;
};

}  // namespace pace::gpu
