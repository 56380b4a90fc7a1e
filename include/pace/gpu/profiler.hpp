// ProfilerClock: the time in which the device is busy, by its own profiler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/gpu/activity.hpp"
#include "pace/gpu/owned.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::gpu {

/// Options of ProfilerClock.
struct ProfilerClockOptions {
  /// Whether the L2 cache is flushed before each call of a sample. The flush is not a part of the time.
  bool cold = false;
  /// Memory that is read to flush the cache, in multiples of the L2's size.
  double flush = 3;
};

/// Times kernels, copies and fills on all streams without the gaps between them, by the device's profiler: a lower
/// bound of the times of other clocks. A sample takes milliseconds more than what it times, so that this clock suits
/// few samples and the calibration of other clocks.
template <TracesActivities D>
class ProfilerClock final : public timing::Clock {
 public:
  /// Times calls on `device`, which must outlive the clock.
  explicit ProfilerClock(D& device, ProfilerClockOptions options = {}) : device_(device), options_(options) {}

  /// Returns the time in which the device is busy for `body`; 0 if it does nothing. Never flushes the cache.
  Nanoseconds time(FunctionRef<void()> body) override {
    last_ = trace(device_, body);
    return busy_time(last_);
  }

  /// Takes a sample. Throws Unsupported for a subject with phases. With ProfilerClockOptions::cold, throws Error unless
  /// all calls have the same number of activities, which shows where each ends.
  Nanoseconds sample(timing::Subject& subject, std::size_t operands, std::int64_t iterations) override {
    if (subject.phases() != nullptr)
      throw Unsupported("the profiler's clock does not tell the phases of an iteration apart; expected another clock");
    subject.prepare(operands);
    if (!options_.cold) return time([&] { subject.run(operands, iterations); });
    const auto stream = device_.current_stream();
    if (!cache_) {
      const double bytes = options_.flush * static_cast<double>(device_.l2_bytes());
      auto cache = own_buffer(device_, static_cast<std::size_t>(bytes));
      per_flush_ = trace(device_, [&] { device_.evict(cache.get(), stream); }).size();
      cache_.emplace(std::move(cache));
    }
    const auto all = trace(device_, [&] {
      for (std::int64_t i = 0; i < iterations; ++i) {
        device_.evict(cache_->get(), stream);
        subject.run(operands, 1);
      }
    });
    const auto calls = static_cast<std::size_t>(iterations);
    if (all.size() % calls != 0 || all.size() / calls < per_flush_)
      throw Error("the profiler saw " + std::to_string(all.size()) + " activities in " + std::to_string(calls) +
                  " calls; expected the same number in each");
    const std::size_t each = all.size() / calls;
    last_.clear();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (i % each >= per_flush_) last_.push_back(all[i]);
    return busy_time(last_);
  }

  /// The activities of the last sample, in the order of start times.
  [[nodiscard]] std::span<const Activity> last() const { return last_; }

  [[nodiscard]] Nanoseconds now() const override { return device_.now(); }
  /// CUPTI's time stamps step by 32 ns on the H200.
  [[nodiscard]] Nanoseconds resolution() override { return Nanoseconds(32); }
  [[nodiscard]] std::string name() const override { return options_.cold ? "profiler, cold" : "profiler"; }

 private:
  D& device_;
  const ProfilerClockOptions options_;
  std::optional<Owned<D, typename D::Buffer>> cache_;
  std::size_t per_flush_ = 0;
  std::vector<Activity> last_;
};

}  // namespace pace::gpu
