// FigureClock: all device clocks behind one, so that the same calls can be timed in several ways one after another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "pace/timing/clock.hpp"
#include "pace/gpu/event.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/timing/sampling.hpp"
#include "pace/gpu/synchronised_wall.hpp"
#include "pace/timing/tells_figures.hpp"
#include "pace/core/options.hpp"

namespace pace::gpu {

/// Starts as the event clock.
template <TracesActivities D>
class FigureClock {
 public:
  explicit FigureClock(D& device)
      : device_(device), event_(device), graph_(device), cold_(device, {.cold = true}), host_(device),
        profiler_(device), wall_(device) {}

  /// `automatic` is the event clock.
  void select(ClockChoice figure) { selected_ = figure == ClockChoice::automatic ? ClockChoice::hot : figure; }
  [[nodiscard]] ClockChoice selected() const { return selected_; }

  template <class Body>
  Nanoseconds time(Body&& body) {
    return with_selected([&](auto& clock) { return clock.time(body); });
  }
  template <timing::TimedOperation O>
  Nanoseconds sample(const O& operation, std::size_t operands, std::int64_t iterations) {
    return with_selected([&](auto& clock) {
      if constexpr (timing::SamplesOperations<std::remove_reference_t<decltype(clock)>, O>)
        return clock.sample(operation, operands, iterations);
      else return timing::sample_plainly(clock, operation, operands, iterations);
    });
  }
  [[nodiscard]] Nanoseconds now() const { return device_.now(); }
  [[nodiscard]] Nanoseconds resolution() {
    return with_selected([](auto& clock) { return clock.resolution(); });
  }
  [[nodiscard]] std::string name() const { return to_string(selected_); }

  /// The host's thread launches and waits for the device by asking again and again, whichever clock is selected: while
  /// it is put aside, no call is launched and none is seen to end.
  [[nodiscard]] timing::ThreadCounters thread_counters() const
    requires timing::CountsThread<D>
  {
    return device_.thread_counters();
  }
  [[nodiscard]] timing::MachineCounters counters() const
    requires timing::CountsMachine<D>
  {
    return device_.counters();
  }

  void warmed_up() { event_.warmed_up(); }
  [[nodiscard]] bool usable() const { return device_.usable(); }
  /// Frees what was captured.
  void forget() {
    graph_.forget();
    cold_.forget();
  }

 private:
  template <class Use>
  auto with_selected(Use&& use) {
    switch (selected_) {
      case ClockChoice::cold: return use(cold_);
      case ClockChoice::graph: return use(graph_);
      case ClockChoice::host: return use(host_);
      case ClockChoice::profiler: return use(profiler_);
      case ClockChoice::wall: return use(wall_);
      case ClockChoice::automatic:
      case ClockChoice::hot: break;
    }
    return use(event_);
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
