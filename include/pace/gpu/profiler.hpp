// ProfilerClock: the time that the device was busy, by its own profiler.
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

struct ProfilerClockOptions {
  /// Before each call of a sample everything is driven out of the L2 cache, which is not counted.
  bool cold = false;
  /// Memory that is read to that end, in sizes of the L2.
  double flush = 3;
};

/// Counts kernels, copies and fills on all streams, and no gaps between them: the shortest honest time. A sample takes
/// milliseconds more than what it times, so it is for checking other clocks, and for few samples.
template <TracesActivities D>
class ProfilerClock final : public timing::Clock {
 public:
  explicit ProfilerClock(D& device, ProfilerClockOptions options = {}) : device_(device), options_(options) {}

  /// 0 if the device did nothing. Hot, whatever the options say.
  Nanoseconds time(FunctionRef<void()> body) override {
    last_ = trace(device_, body);
    return busy_time(last_);
  }

  /// Cold: throws Error unless all calls do equally much, since nothing else shows where one ends.
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

  /// What the last sample was made of, in order of start.
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
