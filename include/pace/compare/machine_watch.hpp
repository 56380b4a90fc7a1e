// MachineWatch: follows the rounds of one comparison, to say what else happened meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "pace/timing/clock.hpp"
#include "pace/timing/gpu_reading.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/core/conditions.hpp"
#include "pace/stats/sorted.hpp"

namespace pace::detail {

/// Starts when it is made. A clock without counters (a fake one) leaves the figures about the machine empty.
template <timing::Clock C>
class MachineWatch {
 public:
  /// Takes memory for `most_cycles` of `implementations`, so that none is allocated between samples.
  MachineWatch(C& clock, std::size_t most_cycles, std::size_t implementations) : clock_(clock) {
    cycles_.reserve(most_cycles);
    if constexpr (timing::CountsThread<C>) sides_.resize(implementations);
    before_ = read();
  }

  /// Around each sample, so that what happens then is known to have happened to that implementation.
  void begin_sample() {
    if constexpr (timing::CountsThread<C>) {
      sample_began_ = clock_.now();
      thread_before_ = clock_.thread_counters();
    }
  }
  void end_sample([[maybe_unused]] std::size_t implementation) {
    if constexpr (timing::CountsThread<C>) {
      const timing::ThreadCounters thread = clock_.thread_counters();
      const Nanoseconds took = clock_.now() - sample_began_;
      auto& side = sides_[implementation];
      side.sampled += took;
      side.off += took - (thread.cpu - thread_before_.cpu);
      side.involuntary_switches += thread.involuntary_switches - thread_before_.involuntary_switches;
      side.voluntary_switches += thread.voluntary_switches - thread_before_.voluntary_switches;
    }
  }

  /// A cycle ended; `elapsed` is what the clock has told since the first one began.
  void add_cycle(Nanoseconds elapsed) {
    if (cycles_.size() < cycles_.capacity()) cycles_.push_back((elapsed - last_).count());
    last_ = elapsed;
    if constexpr (timing::WatchesGpu<C>) look_at_gpu(elapsed);
  }

  [[nodiscard]] Conditions finish() {
    Conditions conditions;
    if constexpr (timing::CountsMachine<C>) conditions = timing::conditions_between(before_, read());
    conditions.sides = std::move(sides_);
    if (gpu_.readings > 0) {
      conditions.gpu = gpu_;
      conditions.gpu->slowed /= static_cast<double>(gpu_.readings);
      conditions.gpu->power_limited /= static_cast<double>(gpu_.readings);
    }
    if (cycles_.empty()) return conditions;
    const auto cycles = stats::sorted(std::move(cycles_));
    conditions.shortest_cycle = Nanoseconds(cycles.front());
    conditions.longest_cycle = Nanoseconds(cycles.back());
    conditions.median_cycle = Nanoseconds(cycles[cycles.size() / 2]);
    return conditions;
  }

 private:
  /// Not after every cycle: the driver takes up to a millisecond to answer.
  static constexpr Nanoseconds between_looks = std::chrono::milliseconds(20);

  void look_at_gpu(Nanoseconds elapsed) {
    ++cycles_since_look_;
    if (gpu_.readings > 0 && elapsed - last_look_ < between_looks) return;
    last_look_ = elapsed;
    const auto now = clock_.look_at_gpu();
    if (!now) return;
    const bool first = gpu_.readings++ == 0;
    gpu_.lowest_clock = first ? now->clock : std::min(gpu_.lowest_clock, now->clock);
    gpu_.highest_clock = std::max(gpu_.highest_clock, now->clock);
    gpu_.hottest = std::max(gpu_.hottest, now->celsius);
    gpu_.most_power = std::max(gpu_.most_power, now->watts);
    gpu_.slowed += now->slowed;
    gpu_.power_limited += now->power_limited;
    if (!first && now->clock != last_clock_) gpu_.suspect_cycles += cycles_since_look_;
    last_clock_ = now->clock;
    cycles_since_look_ = 0;
  }

  [[nodiscard]] timing::TimedCounters read() {
    timing::TimedCounters reading;
    if constexpr (timing::CountsMachine<C>) {
      reading.from = clock_.now();
      reading.counters = clock_.counters();
      reading.to = clock_.now();
    }
    return reading;
  }

  C& clock_;
  timing::TimedCounters before_;
  Nanoseconds last_{};
  std::vector<double> cycles_;
  Nanoseconds sample_began_{};
  timing::ThreadCounters thread_before_;
  std::vector<SideConditions> sides_;
  /// `slowed` and `power_limited` count readings until the end.
  GpuConditions gpu_;
  Nanoseconds last_look_{};
  double last_clock_ = 0;
  std::size_t cycles_since_look_ = 0;
};

}  // namespace pace::detail
