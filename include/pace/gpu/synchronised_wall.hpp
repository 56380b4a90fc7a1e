// SynchronisedWallClock: the host's time until the whole device is done. HostClock: until the host is.
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

/// The least of 20 empty samples: what reading the clock costs.
template <class Time>
[[nodiscard]] Nanoseconds least_empty(Time&& time) {
  Nanoseconds least = Nanoseconds::max();
  for (int attempt = 0; attempt < 20; ++attempt)
    if (const Nanoseconds took = time(); took.count() > 0) least = std::min(least, took);
  return least == Nanoseconds::max() ? Nanoseconds(1) : least;
}

}  // namespace detail

/// Waits for every stream of the device, so that no work escapes it; and counts what the host does.
template <Device D>
class SynchronisedWallClock final : public timing::Clock {
 public:
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

/// What a call costs the host until it returns: preparing and launching, not the work itself.
template <Device D>
class HostClock final : public timing::Clock {
 public:
  /// Calls between two waits for the device. A full queue, of about a thousand launches, would make the host wait for
  /// the device, and a call may be many launches.
  static constexpr std::int64_t batch = 32;

  explicit HostClock(D& device) : device_(device) {}

  /// Starts with nothing queued. `body` should queue little.
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

  /// Each phase starts with nothing queued.
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
