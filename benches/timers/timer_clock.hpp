// TimerClock: a compatible timer as a clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "pace/timing/clock.hpp"
#include "benches/timers/summary.hpp"
#include "pace/gpu/device.hpp"
#include "pace/timing/sampling.hpp"

namespace pace::benches::timers {

/// These timers choose themselves how often they call. So a sample is their figure for one call, times the iterations,
/// and takes as long as they please: at least some 100 ms.
template <gpu::Device D>
class TimerClock {
 public:
  using Timer = std::function<Milliseconds(D&, const std::function<void()>&)>;

  TimerClock(D& device, std::string name, Timer timer)
      : device_(device), name_(std::move(name)), timer_(std::move(timer)) {}

  /// Calls `body` often.
  template <class Body>
  Nanoseconds time(Body&& body) {
    return timer_(device_, [&] { body(); });
  }
  template <timing::TimedOperation O>
  Nanoseconds sample(const O& operation, std::size_t operands, std::int64_t iterations) {
    timing::prepare(operation, operands);
    return static_cast<double>(iterations) * time([&] { operation.run(operation.state, operands, 1); });
  }
  [[nodiscard]] Nanoseconds now() const { return device_.now(); }
  /// Documented of events.
  [[nodiscard]] Nanoseconds resolution() const { return Nanoseconds(500); }
  [[nodiscard]] std::string name() const { return name_; }

 private:
  D& device_;
  std::string name_;
  Timer timer_;
};

}  // namespace pace::benches::timers
