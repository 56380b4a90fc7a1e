// A machine with a clock. Tests choose its faults, and their moments.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "pace/timing/clock.hpp"
#include "pace/timing/machine_counters.hpp"

namespace faults {

using pace::Nanoseconds;

/// Stands still unless measured code moves it, as pace::test::FakeClock does. Shares are of the time that passes.
class FaultyMachine final : public pace::timing::Clock {
 public:
  double steal = 0, others = 0, waiting = 0, throttled = 0;
  /// CPU seconds of all threads of the process in a second of the measuring thread.
  double cores = 1;
  /// The CPU time of other threads grows by steps of this length; 0: all the time.
  Nanoseconds cpu_step{};
  /// Seconds of the clock in a second.
  double rate = 1;
  /// How long the first reading of the clock in each sample takes: the clock shows the time of the end of it.
  Nanoseconds first_reading{};
  /// The time of all pauses so far.
  Nanoseconds paused{};
  /// The counters cannot be read.
  bool unreadable = false;
  /// The process may not use all CPUs.
  bool restricted = false;

  /// Once, when `at` has passed: the process stands still that long; the clock alone jumps; the machine sleeps.
  struct Event {
    Nanoseconds at{-1}, stop{}, jump{}, sleep{};
  } event;

  Nanoseconds time(pace::FunctionRef<void()> body) override {
    const auto start = read(first_reading);
    body();
    const auto end = read({});
    last_ = {};
    last_.add(start, end);
    return end.at - start.at;
  }
  [[nodiscard]] Nanoseconds now() const override { return now_; }
  void pause(Nanoseconds time) override {
    paused += time;
    pass(time, false);
  }
  [[nodiscard]] Nanoseconds resolution() override { return Nanoseconds(10); }
  [[nodiscard]] std::string name() const override { return "faulty"; }

  void advance(Nanoseconds time) {
    pass(time, true);
    if (event.at.count() < 0 || true_time_ < event.at) return;
    event.at = Nanoseconds(-1);
    pass(event.stop, false);
    now_ += event.jump;
    slept_ += event.sleep;
  }

  [[nodiscard]] pace::timing::TwoClocks last_sample() const override { return last_; }

  [[nodiscard]] std::optional<pace::timing::ThreadCounters> thread_counters() const override {
    const Nanoseconds known = cpu_step.count() > 0 ? std::floor(other_threads_ / cpu_step) * cpu_step : other_threads_;
    return pace::timing::ThreadCounters{process_, switches_, 0, process_ + known, cpu_step};
  }

  [[nodiscard]] std::optional<pace::timing::MachineCounters> counters() const override {
    if (unreadable) return std::nullopt;
    pace::timing::MachineCounters counters;
    // Two cores, in ticks of 10 ms.
    const double total = 2 * true_time_.count() / 1e7, own = (process_ + other_threads_).count() / 1e7;
    counters.total_ticks = total;
    counters.steal_ticks = stolen_.count() / 1e7;
    counters.idle_ticks = total - own - stolen_.count() / 1e7 - others_.count() / 1e7;
    counters.process_cpu = process_ + other_threads_;
    counters.thread_cpu = process_;
    counters.involuntary_switches = switches_;
    counters.voluntary_switches = 0;
    counters.throttled = throttled_;
    counters.raw = true_time_;
    counters.slept = slept_;
    counters.restricted = restricted;
    return counters;
  }

 private:
  [[nodiscard]] std::uint64_t ticks() const {
    constexpr double ticks_in_a_nanosecond = 3;
    return static_cast<std::uint64_t>(ticks_in_a_nanosecond * true_time_.count());
  }
  [[nodiscard]] pace::timing::ClockReading read(Nanoseconds takes) {
    pace::timing::ClockReading reading;
    reading.before = ticks();
    pass(takes, true);
    reading.at = now_;
    reading.after = ticks();
    return reading;
  }

  void pass(Nanoseconds time, bool running) {
    true_time_ += time;
    now_ += rate * time;
    if (!running) return;
    const Nanoseconds own = (1 - waiting) * time;
    process_ += own;
    other_threads_ += (cores - 1) * own;
    others_ += others * 2 * time;
    // A share of the time that this machine wanted: own + others + stolen.
    stolen_ += steal / (1 - steal) * (own + others * 2 * time);
    throttled_ += throttled * time;
    switches_ += waiting > 0;
  }

  pace::timing::TwoClocks last_;
  Nanoseconds now_{1e9}, true_time_{}, process_{}, other_threads_{}, others_{}, stolen_{}, throttled_{}, slept_{};
  std::int64_t switches_ = 0;
};

}  // namespace faults
