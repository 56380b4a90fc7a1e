// TimerClock: a compatible timer as a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "benches/timers/summary.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::benches::timers {

/// The treatment of calls that write to their operands.
enum class LastCall {
  timed,  ///< the last call of a sample is one that the timer made
  anew,   ///< one more call ends each sample, untimed, on operands that were restored before it
};

/// These timers choose themselves how often they call. So a sample is their figure for one call, times the iterations,
/// and takes as long as they please: at least some 100 ms. All calls of a sample are on the same operands: if calls
/// write to them, each finds the values left by the one before. Then only LastCall::anew ends with comparable outputs.
///
/// `D` needs now(), and synchronise() if calls do not end before they return: a device, or a clock of the host.
template <class D>
class TimerClock final : public timing::Clock {
 public:
  using Timer = std::function<Milliseconds(D&, const std::function<void()>&)>;

  /// `resolution`: of the timer's source. The default is the documented one of events.
  TimerClock(D& device, std::string name, Timer timer, Nanoseconds resolution = Nanoseconds(500),
             LastCall last_call = LastCall::timed)
      : device_(device),
        name_(std::move(name)),
        timer_(std::move(timer)),
        resolution_(resolution),
        last_call_(last_call) {}

  /// Runs `body` once between two readings of the host's time; waits for the device, if there is one, before each.
  Nanoseconds time(FunctionRef<void()> body) override {
    wait();
    const Nanoseconds start = device_.now();
    body();
    wait();
    return device_.now() - start;
  }
  /// Runs one iteration as often as the timer calls it.
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    subject.prepare(operands);
    const Nanoseconds one(timer_(device_, [&] { subject.run(operands, 1); }));
    if (last_call_ == LastCall::anew) {
      wait();
      subject.prepare(operands);
      subject.run(operands, 1);
      wait();
    }
    return static_cast<double>(iterations) * one;
  }
  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }
  [[nodiscard]] Nanoseconds resolution() override { return resolution_; }
  [[nodiscard]] std::string name() const override { return name_; }

 private:
  void wait() {
    if constexpr (requires(D& device) { device.synchronise(); }) device_.synchronise();
  }

  D& device_;
  std::string name_;
  Timer timer_;
  Nanoseconds resolution_;
  LastCall last_call_;
};

}  // namespace pace::benches::timers
