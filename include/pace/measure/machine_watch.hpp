// MachineWatch: records the machine's conditions during the rounds of one comparison.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "pace/measure/gpu_watch.hpp"
#include "pace/measure/interruption_watch.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/options.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/machine_counters.hpp"
#include "pace/timing/rounds.hpp"

namespace pace::detail {

/// Records from construction on. The conditions are empty for a clock without counters, such as a fake.
class MachineWatch final : public timing::RoundObserver {
 public:
  /// Reserves memory for `most_cycles` of `implementations`, so that nothing is allocated between samples.
  MachineWatch(timing::Clock& clock, std::size_t most_cycles, std::size_t implementations, const Options& options = {})
      : clock_(clock), gpu_(clock, implementations, options), interruptions_(clock, implementations, options) {
    cycles_.reserve(most_cycles);
    if (clock.thread_counters()) sides_.resize(implementations);
    rates_.resize(sides_.size());
    stretches_.resize(sides_.size());
    for (auto& each : rates_) each.reserve(most_cycles * implementations);
    for (auto& each : stretches_) each.reserve(most_cycles * implementations);
    before_ = clock.timed_counters();
  }

  /// Reads the thread's counters around each sample, to know them for each implementation.
  void sample_started() override {
    gpu_.sample_started();
    interruptions_.sample_started();
    if (sides_.empty()) return;
    sample_began_ = clock_.now();
    thread_before_ = clock_.thread_counters().value_or(timing::ThreadCounters{});
  }
  void sample_ended(std::size_t implementation) override {
    if (!sides_.empty()) add_sample(implementation);
    interruptions_.sample_ended(implementation);
    gpu_.sample_ended(implementation);
  }

  void cycle_ended(const timing::Rounds& so_far) override {
    const Nanoseconds elapsed = so_far.elapsed, paused = gpu_.paused() + interruptions_.took() - paused_;
    if (kept_ && cycles_.size() < cycles_.capacity()) cycles_.push_back((elapsed - last_ - paused).count());
    last_ = elapsed;
    paused_ += paused;
    gpu_.cycle_ended(elapsed);
    interruptions_.cycle_ended(elapsed);
  }

  /// Leaves out cycles whose sides ran at different clocks of a GPU, and those that another process interrupted.
  [[nodiscard]] bool keeps_cycle() override {
    const bool same_clock = gpu_.keeps_cycle();
    return kept_ = interruptions_.keeps_cycle() && same_clock;
  }
  [[nodiscard]] Nanoseconds took() const override { return gpu_.took() + interruptions_.took(); }

  /// Time so far for cycles that were left out, and for rests.
  [[nodiscard]] Nanoseconds lost() const { return gpu_.lost() + interruptions_.lost(); }

  /// The same, and the time of other samples that the measuring thread waited for a core.
  [[nodiscard]] Nanoseconds lost_or_waited() const {
    Nanoseconds waited{};
    for (const auto& side : sides_) waited += side.waited();
    // The thread waits in cycles that are left out, too.
    return gpu_.lost() + std::max(waited, interruptions_.lost());
  }

  [[nodiscard]] Conditions finish() {
    Conditions conditions;
    if (const auto after = clock_.timed_counters(); before_ && after)
      conditions = timing::conditions_between(*before_, *after);
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      if (rates_[i].size() < fewest_rates) continue;
      const double lowest = median_of(rates_[i], &Rates::lowest), highest = median_of(rates_[i], &Rates::highest);
      auto& side = sides_[i];
      side.ticks_per_nanosecond = (lowest + highest) / 2;
      // The clock stands still between its steps. The limit keeps a slowly read clock from hiding an uneven rate.
      const double step = clock_.resolution().count() / stats::quantile(stats::sorted(std::move(stretches_[i])), 0.5);
      side.tick_error = std::min((highest - lowest) / (highest + lowest) + step, limits::most_tick_error);
    }
    conditions.sides = std::move(sides_);
    conditions.gpu = gpu_.finish();
    conditions.interrupted_cycles = interruptions_.dropped();
    conditions.gave_up_leaving_out = interruptions_.gave_up();
    conditions.unevenness = interruptions_.unevenness();
    // Preemptions of other threads are unknown.
    conditions.uninterrupted =
        interruptions_.clean() && std::ranges::none_of(conditions.sides, &SideConditions::has_other_threads);
    if (cycles_.empty()) return conditions;
    const auto cycles = stats::sorted(std::move(cycles_));
    conditions.shortest_cycle = Nanoseconds(cycles.front());
    conditions.longest_cycle = Nanoseconds(cycles.back());
    conditions.median_cycle = Nanoseconds(cycles[cycles.size() / 2]);
    return conditions;
  }

 private:
  /// Fewest samples that give the clock's rate.
  static constexpr std::size_t fewest_rates = 5;
  /// Ticks of the CPU's counter per nanosecond of the clock, as bounds from one sample.
  struct Rates {
    double lowest = 0, highest = 0;
  };
  [[nodiscard]] static double median_of(const std::vector<Rates>& rates, double Rates::* bound) {
    std::vector<double> values;
    values.reserve(rates.size());
    for (const auto& each : rates) values.push_back(each.*bound);
    return stats::quantile(stats::sorted(std::move(values)), 0.5);
  }

  void add_sample(std::size_t implementation) {
    const auto thread = clock_.thread_counters().value_or(timing::ThreadCounters{});
    const Nanoseconds took = clock_.now() - sample_began_;
    auto& side = sides_[implementation];
    side.sampled += took;
    side.off += took - (thread.cpu - thread_before_.cpu);
    side.process_cpu += thread.process_cpu - thread_before_.process_cpu;
    side.process_cpu_step = thread.process_cpu_step;
    const auto sample = clock_.last_sample();
    if (auto& rates = rates_[implementation];
        sample.ticks > 0 && sample.by_clock.count() > 0 && rates.size() < rates.capacity()) {
      const double clock = sample.by_clock.count();
      rates.push_back({(sample.ticks - sample.tick_error) / clock, (sample.ticks + sample.tick_error) / clock});
      stretches_[implementation].push_back(sample.by_clock.count() / std::max(sample.stretches, 1.0));
    }
    side.involuntary_switches += thread.involuntary_switches - thread_before_.involuntary_switches;
    side.voluntary_switches += thread.voluntary_switches - thread_before_.voluntary_switches;
  }

  timing::Clock& clock_;
  std::optional<timing::TimedCounters> before_;
  Nanoseconds last_{};
  std::vector<double> cycles_;
  Nanoseconds sample_began_{};
  timing::ThreadCounters thread_before_;
  std::vector<SideConditions> sides_;
  /// For each sample of each side: its rates, and its mean stretch length in nanoseconds.
  std::vector<std::vector<Rates>> rates_;
  std::vector<std::vector<double>> stretches_;
  GpuWatch gpu_;
  InterruptionWatch interruptions_;
  Nanoseconds paused_{};
  bool kept_ = true;
};

}  // namespace pace::detail
