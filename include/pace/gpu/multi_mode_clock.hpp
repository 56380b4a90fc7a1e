// MultiModeClock: all device clocks behind one, so that the same calls can be timed in several ways one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "pace/core/options.hpp"
#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/gpu/synchronised_wall.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/subject.hpp"

namespace pace::gpu {

/// Starts as the event clock.
template <TracesActivities D>
class MultiModeClock : public timing::ModeClock {
 public:
  explicit MultiModeClock(D& device)
      : device_(device),
        event_(device),
        graph_(device),
        cold_(device, {.cold = true}),
        host_(device),
        profiler_(device),
        wall_(device) {}

  /// `automatic` is the event clock.
  void select(ClockChoice mode) override { selected_ = mode == ClockChoice::automatic ? ClockChoice::hot : mode; }
  [[nodiscard]] ClockChoice selected() const override { return selected_; }

  Nanoseconds time(FunctionRef<void()> body) override { return clock().time(body); }
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    return clock().sample(subject, operands, iterations);
  }
  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }
  [[nodiscard]] Nanoseconds resolution() override { return clock().resolution(); }
  [[nodiscard]] std::string name() const override { return to_string(selected_); }

  /// The host's thread launches and waits for the device by asking again and again, whichever clock is selected: while
  /// it is put aside, no call is launched and none is seen to end.
  [[nodiscard]] std::optional<timing::ThreadCounters> thread_counters() const override {
    return device_.thread_counters();
  }
  [[nodiscard]] std::optional<timing::MachineCounters> counters() const override { return device_.counters(); }

  void warmed_up() override { event_.warmed_up(); }
  [[nodiscard]] bool usable() const override { return device_.usable(); }
  /// Frees what was captured.
  void forget() override {
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
