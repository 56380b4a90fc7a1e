// SynchronisedWallClock: the host's time until the device is done. HostClock: the host's time until a call returns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "pace/gpu/device.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::gpu {

namespace detail {

/// The least time of 20 empty samples, which is the time of reading the clock.
template <class Time>
[[nodiscard]] Nanoseconds least_empty(Time&& time) {
  Nanoseconds least = Nanoseconds::max();
  for (int attempt = 0; attempt < 20; ++attempt)
    if (const Nanoseconds took = time(); took.count() > 0) least = std::min(least, took);
  return least == Nanoseconds::max() ? Nanoseconds(1) : least;
}

}  // namespace detail

/// Times calls by the host's clock until every stream of the device is done, so that no work escapes it. The time
/// includes the host's work.
template <Device D>
class SynchronisedWallClock final : public timing::Clock {
 public:
  /// Times calls on `device`, which must outlive the clock.
  explicit SynchronisedWallClock(D& device) : device_(device) {}

  Nanoseconds time(FunctionRef<void()> body) override {
    device_.synchronise();
    const Nanoseconds start = device_.now();
    body();
    device_.synchronise();
    return device_.now() - start;
  }
  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }
  [[nodiscard]] Nanoseconds resolution() override {
    if (resolution_.count() == 0) resolution_ = detail::least_empty([&] { return time([] {}); });
    return resolution_;
  }
  [[nodiscard]] std::string name() const override { return "wall"; }

  void begin_lap() override {
    device_.synchronise();
    lap_ = device_.now();
  }
  [[nodiscard]] Nanoseconds end_lap() override {
    device_.synchronise();
    return device_.now() - lap_;
  }

 private:
  D& device_;
  Nanoseconds resolution_{}, lap_{};
};

/// Times calls by the host's clock until they return: the time of preparing and launching work, not of the work itself.
template <Device D>
class HostClock final : public timing::Clock {
 public:
  /// Number of calls between two waits for the device. If its queue of about a thousand launches were full, the host
  /// would wait for the device, and a call may make many launches.
  static constexpr std::int64_t batch = 32;

  /// Times calls on `device`, which must outlive the clock.
  explicit HostClock(D& device) : device_(device) {}

  /// Times `body`, with an empty queue at its start. `body` should queue few launches.
  Nanoseconds time(FunctionRef<void()> body) override {
    device_.synchronise();
    const Nanoseconds start = device_.now();
    body();
    const Nanoseconds took = device_.now() - start;
    device_.synchronise();
    return took;
  }
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    if (subject.phases() != nullptr) return sample_plainly(subject, operands, iterations);
    subject.prepare(operands);
    Nanoseconds total{};
    for (std::int64_t done = 0; done < iterations; done += batch)
      total += time([&] { subject.run(operands, std::min(batch, iterations - done)); });
    return total;
  }
  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }
  [[nodiscard]] Nanoseconds resolution() override {
    if (resolution_.count() == 0) resolution_ = detail::least_empty([&] { return time([] {}); });
    return resolution_;
  }
  [[nodiscard]] std::string name() const override { return "host"; }

  /// Starts the time of a phase, with an empty queue.
  void begin_lap() override {
    device_.synchronise();
    lap_ = device_.now();
  }
  [[nodiscard]] Nanoseconds end_lap() override { return device_.now() - lap_; }

 private:
  D& device_;
  Nanoseconds resolution_{}, lap_{};
};

}  // namespace pace::gpu
