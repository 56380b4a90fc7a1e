// InterruptionWatch: leaves out cycles in which another process had the core within a sample.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/result/options.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Looks after each sample whether the kernel preempted the measuring thread while it was timed.
///
/// A cycle counts if that happened in none of its samples. It also counts if this process's own threads may have been
/// the cause, since what they take is the implementation's cost. Where few cycles are left, pace rests before each
/// sample: a thread that has slept gets the core for some milliseconds at a stretch. If few are left even so, or a
/// sample takes longer than such a stretch, all cycles count from then on.
///
/// Samples are left out by counts of preemptions, never by their time. So twins stay exchangeable, as the error rates
/// assume. Of calls whose times differ, the long ones are preempted more often: unevenness() tells.
class InterruptionWatch {
 public:
  /// How it chooses.
  struct Limits {
    /// Cycles after which it looks back, and share of the budget after which it does with fewer, but at least so many.
    std::size_t window = 16, fewest_in_window = 4;
    double of_budget = 0.125;
    /// Least share of cycles that must be left.
    double fewest = 0.25;
    /// Rest before each sample.
    Nanoseconds rest = std::chrono::milliseconds(3);
    /// Longest sample, by its CPU time. Linux gives a core to one thread for about 3 ms while others wait for it.
    Nanoseconds longest_sample = std::chrono::milliseconds(8);
    /// CPU time of the process's other threads, as a share of the time off the core, from which on they are the cause.
    double of_own_threads = 0.1;
  };

  /// Watches `sides` implementations. Without a clock that knows of preemptions all functions do nothing.
  InterruptionWatch(timing::Clock& clock, std::size_t sides, const Options& options)
      : InterruptionWatch(clock, sides, options, {}) {}
  /// The same with other limits, for tests.
  InterruptionWatch(timing::Clock& clock, std::size_t sides, const Options& options, Limits limits)
      : clock_(clock),
        limits_(limits),
        // An interference of 1 tolerates everything.
        drops_(options.max_interference < 1),
        longest_window_(limits.of_budget * options.budget),
        sides_(sides) {
    clock_.watch_cpu(drops_);
  }
  InterruptionWatch(const InterruptionWatch&) = delete;
  InterruptionWatch& operator=(const InterruptionWatch&) = delete;
  ~InterruptionWatch() { clock_.watch_cpu(false); }

  /// Rests, if rests help.
  void sample_started() {
    if (!drops_ || !resting_) return;
    const Nanoseconds start = clock_.now();
    clock_.pause(limits_.rest);
    rested_ += clock_.now() - start;
  }

  void sample_ended(std::size_t side) {
    const auto use = clock_.last_cpu_use();
    if (!use) return;
    knows_ = true;
    sides_[side].of_cycle += use->own;
    if (use->own > limits_.longest_sample) drops_ = false;
    clean_cycle_ = clean_cycle_ && !use->preempted;
    const bool by_own_threads = use->others > limits_.of_own_threads * use->off;
    by_others_ = by_others_ || (use->preempted && !by_own_threads);
  }

  /// Ends a cycle. Returns whether it counts.
  [[nodiscard]] bool keeps_cycle() {
    const bool by_others = std::exchange(by_others_, false), is_clean = std::exchange(clean_cycle_, true);
    kept_ = !by_others || !drops_;
    clean_ = clean_ && (is_clean || !kept_);
    dropped_ += !kept_;
    ++cycles_;
    whole_ += !by_others;
    for (auto& side : sides_) {
      side.all += side.of_cycle;
      if (kept_) side.kept += side.of_cycle;
      side.of_cycle = {};
    }
    return kept_;
  }

  void cycle_ended(Nanoseconds elapsed) {
    const Nanoseconds rests = rested_ - std::exchange(last_rested_, rested_);
    lost_ += kept_ ? rests : elapsed - last_;
    last_ = elapsed;
    const bool is_long = elapsed - window_began_ >= longest_window_ && cycles_ >= limits_.fewest_in_window;
    if (!drops_ || (cycles_ < limits_.window && !is_long)) return;
    const bool are_few = static_cast<double>(whole_) < limits_.fewest * static_cast<double>(cycles_);
    if (are_few && resting_) drops_ = false;
    resting_ = drops_ && (resting_ || are_few);
    cycles_ = whole_ = 0;
    window_began_ = elapsed;
  }

  /// Number of cycles that were left out.
  [[nodiscard]] std::size_t dropped() const { return dropped_; }
  /// Whether it gave up leaving cycles out, so that later ones have others' time in them.
  [[nodiscard]] bool gave_up() const { return dropped_ > 0 && !drops_; }
  /// Whether nothing preempted the thread in the cycles that count, as far as the clock knows.
  [[nodiscard]] bool clean() const { return knows_ && clean_; }
  /// How much more CPU time one side takes in all cycles than in those that count, over the same of another side. 1:
  /// those that count stand for all.
  [[nodiscard]] double unevenness() const {
    double least = 0, most = 0;
    for (const auto& side : sides_) {
      if (side.kept.count() <= 0) return 1;
      const double change = side.all / side.kept;
      least = least > 0 ? std::min(least, change) : change;
      most = std::max(most, change);
    }
    return least > 0 ? most / least : 1;
  }
  /// Time of rests, and of cycles that were left out.
  [[nodiscard]] Nanoseconds lost() const { return lost_; }
  /// Time of rests.
  [[nodiscard]] Nanoseconds took() const { return rested_; }

 private:
  /// CPU time of the samples of one side: of this cycle, of all, and of those that count.
  struct Side {
    Nanoseconds of_cycle{}, all{}, kept{};
  };

  timing::Clock& clock_;
  const Limits limits_;
  bool drops_;
  const Nanoseconds longest_window_;
  std::vector<Side> sides_;
  Nanoseconds rested_{}, last_rested_{}, lost_{}, last_{}, window_began_{};
  std::size_t cycles_ = 0, whole_ = 0, dropped_ = 0;
  bool by_others_ = false, clean_cycle_ = true, kept_ = true, clean_ = true, resting_ = false, knows_ = false;
};

}  // namespace pace::detail
