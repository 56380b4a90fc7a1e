// MachineWatch: records the machine's conditions during the rounds of one comparison.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "pace/measure/gpu_watch.hpp"
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
  /// `leaves_out`: whether interruptions are no part of samples.
  MachineWatch(timing::Clock& clock, std::size_t most_cycles, std::size_t implementations, const Options& options = {},
               bool leaves_out = false)
      : clock_(clock), outside_(implementations), leaves_out_(leaves_out), gpu_(clock, implementations, options) {
    cycles_.reserve(most_cycles);
    if (clock.thread_counters()) sides_.resize(implementations);
    rates_.resize(sides_.size());
    stretches_.resize(sides_.size());
    for (auto& each : rates_) each.reserve(most_cycles * implementations);
    for (auto& each : stretches_) each.reserve(most_cycles * implementations);
    before_ = clock.timed_counters();
  }

  /// Reads the thread's counters around each sample, to know them for each implementation. Reading the CPU time lets
  /// the scheduler put the thread aside, so the clock is read after it here, and before it at the end.
  void sample_started() override {
    gpu_.sample_started();
    if (sides_.empty()) return;
    thread_before_ = clock_.thread_counters().value_or(timing::ThreadCounters{});
    sample_began_ = clock_.now();
    if (first_began_.count() == 0) {
      first_began_ = sample_began_;
      first_thread_ = thread_before_;
    }
  }
  void sample_ended(std::size_t implementation) override {
    if (!sides_.empty()) add_sample(implementation);
    gpu_.sample_ended(implementation);
  }

  void cycle_ended(const timing::Rounds& so_far) override {
    const Nanoseconds elapsed = so_far.elapsed, paused = gpu_.paused() - paused_;
    if (cycles_.size() < cycles_.capacity()) cycles_.push_back((elapsed - last_ - paused).count());
    last_ = elapsed;
    paused_ += paused;
    gpu_.cycle_ended(elapsed);
  }

  /// Leaves out cycles whose sides ran at different clocks of a GPU.
  [[nodiscard]] bool keeps_cycle() override { return gpu_.keeps_cycle(); }
  [[nodiscard]] Nanoseconds took() const override { return gpu_.took(); }

  /// Time so far for cycles that a GPU's clocks spoilt, and for its rests.
  [[nodiscard]] Nanoseconds lost_to_gpu() const { return gpu_.lost(); }

  [[nodiscard]] Nanoseconds interruption() const override { return interruption_; }

  /// Time so far that the measuring thread waited for a core, in samples and between them.
  [[nodiscard]] Nanoseconds waited() const {
    SideConditions all;
    all.off = last_ended_ - first_began_ - (last_thread_.cpu - first_thread_.cpu);
    all.involuntary_switches = last_thread_.involuntary_switches - first_thread_.involuntary_switches;
    all.voluntary_switches = last_thread_.voluntary_switches - first_thread_.voluntary_switches;
    return all.waited();
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
    if (cycles_.empty()) return conditions;
    const auto cycles = stats::sorted(std::move(cycles_));
    conditions.shortest_cycle = Nanoseconds(cycles.front());
    conditions.longest_cycle = Nanoseconds(cycles.back());
    conditions.median_cycle = Nanoseconds(cycles[cycles.size() / 2]);
    return conditions;
  }

 private:
  /// Smaller shares of a sample are not counted as an interruption, nor as other threads' work: an interrupt takes
  /// less.
  static constexpr double notable = 0.05;
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
    last_ended_ = clock_.now();
    last_thread_ = clock_.thread_counters().value_or(timing::ThreadCounters{});
    const auto& thread = last_thread_;
    const Nanoseconds took = last_ended_ - sample_began_, off = took - (thread.cpu - thread_before_.cpu);
    const auto sample = clock_.last_sample();
    auto& side = sides_[implementation];
    ++side.samples;
    side.sampled += took;
    side.off += off;
    note_interruption(implementation, took, off, sample.by_clock);
    side.process_cpu += thread.process_cpu - thread_before_.process_cpu;
    side.process_cpu_step = thread.process_cpu_step;
    if (auto& rates = rates_[implementation];
        sample.ticks > 0 && sample.by_clock.count() > 0 && rates.size() < rates.capacity()) {
      const double clock = sample.by_clock.count();
      rates.push_back({(sample.ticks - sample.tick_error) / clock, (sample.ticks + sample.tick_error) / clock});
      stretches_[implementation].push_back(sample.by_clock.count() / std::max(sample.stretches, 1.0));
    }
    side.involuntary_switches += thread.involuntary_switches - thread_before_.involuntary_switches;
    side.voluntary_switches += thread.voluntary_switches - thread_before_.voluntary_switches;
  }

  /// Finds how long other work had the core during a sample that lasted `timed` of the `took` between two readings of
  /// counters, and `off` of that without the core. The rest of `took` is the preparation, mostly.
  void note_interruption(std::size_t implementation, Nanoseconds took, Nanoseconds off, Nanoseconds timed) {
    interruption_ = {};
    const auto since = [&](auto counter) { return last_thread_.*counter - thread_before_.*counter; };
    const Nanoseconds own = since(&timing::ThreadCounters::cpu), outside = took - timed;
    auto& side = sides_[implementation];
    auto& shortest_outside = outside_[implementation];
    shortest_outside = side.samples > 1 ? std::min(shortest_outside, outside) : outside;
    if (since(&timing::ThreadCounters::involuntary_switches) == 0) return;
    // A subject that waits gives the core up itself, and the work of its other threads is a part of its time.
    const bool of_subject = since(&timing::ThreadCounters::voluntary_switches) > 0 ||
                            since(&timing::ThreadCounters::process_cpu) - own > notable * own;
    if (!leaves_out_ || of_subject || timed.count() <= 0) {
      side.interrupted += off > notable * took;
      return;
    }
    // What the preparation took longer than ever was no part of the sample.
    const Nanoseconds most = std::max(Nanoseconds(0), timed - notable * own);
    interruption_ = std::clamp(off - (outside - shortest_outside), Nanoseconds(0), most);
    side.left_out += interruption_;
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
  /// Of each implementation, the shortest time around a sample between the readings of counters.
  std::vector<Nanoseconds> outside_;
  bool leaves_out_;
  Nanoseconds interruption_{}, first_began_{}, last_ended_{};
  timing::ThreadCounters first_thread_ = {}, last_thread_ = {};
  GpuWatch gpu_;
  Nanoseconds paused_{};
};

}  // namespace pace::detail
