// Replay: a kernel launched alone, again and again, and timed by the clocks that time everything else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "pace/core/units.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/overhead.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/timing/subject.hpp"

namespace pace::kernel {

struct ReplayOptions {
  /// How long the launches of one sample take together, about, but for the least number. The first of them finds a device
  /// that has rested, and takes some 5 us longer than the others on an H200: it must not count for much.
  Nanoseconds sample = std::chrono::milliseconds(1);
  std::int64_t least_launches = 8, most_launches = 256;
  /// How many of each kind. The middle of what they come from lies outside of eight with a probability of 0.8 %.
  std::size_t samples = 8;
  /// Launches with an empty cache, each a sample; 0: no such figure.
  std::int64_t cold_launches = 8;
};

struct ReplayTimes {
  KernelTime hot;
  std::optional<KernelTime> cold;
  /// The same launches by two clocks; none if the profiler missed some.
  std::optional<UnderProfiler> under_profiler;
  /// What was taken away for what must come before each launch.
  Nanoseconds help{};
};

/// Whether a kernel does less alone than in its place: one that finds a counter or a semaphore as its own last run left
/// it may be done at once. A cache that is warmer alone makes a smaller difference (2.56 and 1.69 us).
[[nodiscard]] inline bool does_less_alone(Nanoseconds alone, Nanoseconds in_its_place) {
  return alone + std::chrono::nanoseconds(300) < 0.5 * in_its_place;
}

namespace detail {

/// `clock_adds` is taken away from each; none falls below 0.
[[nodiscard]] inline KernelTime time_of(std::vector<Nanoseconds> samples, Nanoseconds clock_adds) {
  for (auto& each : samples) each = std::max(Nanoseconds{}, each - clock_adds);
  return summary_of(std::move(samples));
}

/// Something that can be queued, as a subject of the clocks. Those of one function are the same subject.
class Launched final : public timing::Subject {
 public:
  explicit Launched(std::function<void()>& launch) : launch_(launch) {}
  void run(std::size_t /*operands*/, std::int64_t launches) override {
    for (std::int64_t i = 0; i < launches; ++i) launch_();
  }
  [[nodiscard]] const void* identity() const override { return &launch_; }

 private:
  std::function<void()>& launch_;
};

}  // namespace detail

/// The clocks that replay, and what they add.
template <gpu::TracesActivities D>
class Replayer {
 public:
  explicit Replayer(D& device, ReplayOptions options = {})
      : device_(device),
        options_(options),
        hot_(device, {.calls = options.most_launches}),
        cold_(device, {.cold = true}),
        profiler_(device),
        cold_profiler_(device, {.cold = true}) {}

  /// `short_kernel` as for gpu::measure_overhead. Takes about a third of a second.
  void calibrate(std::function<void()> short_kernel) {
    short_kernel_ = std::move(short_kernel);
    detail::Launched launched(short_kernel_);
    in_hot_ = gpu::measure_overhead(hot_, profiler_, launched).per_kernel;
    if (options_.cold_launches > 0) in_cold_ = gpu::measure_overhead(cold_, cold_profiler_, launched, 9, 12).per_call;
    calibrate_profiled();
    forget();
  }
  /// Time between two kernels of a graph, without a profiler.
  [[nodiscard]] Nanoseconds gap() const { return in_hot_; }

  /// `prepare` makes the device's memory what it was when the kernel's turn came; `launch` queues it on the current
  /// stream. `help`, if any, queues what must come before each launch, such as filling a counter with zeros; what that
  /// adds is taken away. Call calibrate() first.
  [[nodiscard]] ReplayTimes time(const std::function<void()>& prepare, const std::function<void()>& launch,
                                 const std::function<void()>& help = {}) {
    ReplayTimes times;
    std::function<void()> both = launch;
    Nanoseconds profiled_help{};
    if (help) {
      prepare();
      times.help = cost_of(help);
      profiled_help = profiled_cost_of(help);
      both = [&] {
        help();
        launch();
      };
    }
    // In turns: what heats the device, or lets it cool, does so to both.
    std::vector<Nanoseconds> hot, by_profiler, by_clock;
    prepare();
    const std::int64_t launches = launches_of_a_sample(both);
    for (std::size_t turn = 0; turn < turns; ++turn) {
      prepare();
      for (const Nanoseconds each : hot_samples(both, launches, (options_.samples + turns - 1) / turns))
        hot.push_back(each);
      prepare();
      if (const auto seen = profiled_sample(both, launches, help ? 2 : 1)) {
        by_profiler.push_back(seen->by_profiler);
        by_clock.push_back(seen->by_clock - profiled_adds_.in_each_of(launches) - profiled_help);
      }
    }
    times.hot = detail::time_of(std::move(hot), in_hot_ + times.help);
    if (by_profiler.size() == turns)
      times.under_profiler = {.by_profiler = gpu::detail::upper_median(std::move(by_profiler)),
                              .by_clock = std::max(Nanoseconds{}, gpu::detail::upper_median(std::move(by_clock)))};
    if (options_.cold_launches > 0) {
      prepare();
      times.cold = detail::time_of(cold_samples(both), in_cold_ + times.help);
    }
    forget();
    return times;
  }

  /// Time of one launch, with the gaps inside it and behind it.
  [[nodiscard]] Nanoseconds whole_time(std::function<void()> launch) {
    const std::int64_t launches = launches_of_a_sample(launch);
    const Nanoseconds median = gpu::detail::upper_median(hot_samples(launch, launches, options_.samples));
    forget();
    return median;
  }

 private:
  static constexpr std::size_t turns = 3;

  /// What `help` adds to the kernel that follows: to the short one as to any. A fill alone overlaps with the next one,
  /// which a kernel does not.
  [[nodiscard]] Nanoseconds cost_of(const std::function<void()>& help) {
    const Nanoseconds helped = whole_time([&] {
      help();
      short_kernel_();
    });
    return std::max(Nanoseconds{}, helped - whole_time(short_kernel_));
  }

  /// The same while the profiler watches.
  [[nodiscard]] Nanoseconds profiled_cost_of(const std::function<void()>& help) {
    std::function<void()> helped = [&] {
      help();
      short_kernel_();
    };
    const std::int64_t launches = launches_of_a_sample(helped);
    for (auto* each : {&helped, &short_kernel_}) static_cast<void>(hot_sample(*each, launches));
    const auto with = profiled_sample(helped, launches, 2), without = profiled_sample(short_kernel_, launches, 1);
    forget();
    return with && without ? std::max(Nanoseconds{}, with->by_clock - without->by_clock) : Nanoseconds{};
  }

  /// What the clock adds while the profiler watches: to each launch, and to the first of a sample.
  struct ProfiledAdds {
    Nanoseconds launch{}, sample{};
    [[nodiscard]] Nanoseconds in_each_of(std::int64_t launches) const {
      return launch + sample / static_cast<double>(launches);
    }
  };

  /// From many launches and from few of the short kernel.
  void calibrate_profiled() {
    const auto added = [&](std::int64_t launches) {
      static_cast<void>(hot_sample(short_kernel_, launches));
      std::vector<Nanoseconds> each;
      for (std::size_t turn = 0; turn < turns; ++turn)
        if (const auto seen = profiled_sample(short_kernel_, launches, 1))
          each.push_back(seen->by_clock - seen->by_profiler);
      return each.empty() ? in_hot_ : std::max(Nanoseconds{}, gpu::detail::upper_median(std::move(each)));
    };
    const auto few = options_.least_launches, many = std::max(options_.most_launches, 2 * few);
    const Nanoseconds of_few = added(few), of_many = added(many);
    const double shares = 1.0 / static_cast<double>(few) - 1.0 / static_cast<double>(many);
    profiled_adds_.sample = std::max(Nanoseconds{}, of_few - of_many) / shares;
    profiled_adds_.launch = std::max(Nanoseconds{}, of_many - profiled_adds_.sample / static_cast<double>(many));
  }

  /// A device that has just been idle has another clock than one that has not: each kind of sample after the same rest.
  static void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

  /// With the gap behind it.
  [[nodiscard]] Nanoseconds hot_sample(std::function<void()>& launch, std::int64_t launches) {
    detail::Launched launched(launch);
    return hot_.sample(launched, 0, launches) / static_cast<double>(launches);
  }

  [[nodiscard]] std::int64_t launches_of_a_sample(std::function<void()>& launch) {
    const Nanoseconds about = std::max(hot_sample(launch, options_.least_launches), Nanoseconds(100));
    return std::clamp(static_cast<std::int64_t>(options_.sample / about), options_.least_launches,
                      options_.most_launches);
  }

  /// Times of one launch each.
  [[nodiscard]] std::vector<Nanoseconds> hot_samples(std::function<void()>& launch, std::int64_t launches,
                                                     std::size_t count) {
    static_cast<void>(hot_sample(launch, launches));  // the graph comes to the device with it
    rest();
    std::vector<Nanoseconds> samples;
    for (std::size_t i = 0; i < count; ++i) samples.push_back(hot_sample(launch, launches));
    return samples;
  }

  /// With what the pair of events adds.
  [[nodiscard]] std::vector<Nanoseconds> cold_samples(std::function<void()>& launch) {
    detail::Launched launched(launch);
    // The graph comes to the device with the first.
    for (int sample = 0; sample < 2; ++sample) static_cast<void>(cold_.sample(launched, 0, options_.cold_launches));
    return {cold_.last_times().begin(), cold_.last_times().end()};
  }

  /// Launches that both clocks see, with the gaps behind them by `hot_`; hot_sample() must have captured them. The kernel
  /// is the last of `nodes` things in each launch, at least.
  [[nodiscard]] std::optional<UnderProfiler> profiled_sample(std::function<void()>& launch, std::int64_t launches,
                                                             std::size_t nodes) {
    UnderProfiler seen;
    rest();
    const auto activities = gpu::trace(device_, [&] {
      // What the profiler does at the first launch of a graph takes 0.4 ms.
      static_cast<void>(hot_sample(launch, launches));
      seen.by_clock = hot_sample(launch, launches);
    });
    const auto twice = 2 * static_cast<std::size_t>(launches);
    const std::size_t each = activities.size() / twice;
    if (activities.size() % twice != 0 || each < nodes) return std::nullopt;
    std::vector<Nanoseconds> times;
    for (std::size_t i = activities.size() / 2 + each; i <= activities.size(); i += each)
      times.push_back(activities[i - 1].duration);
    seen.by_profiler = gpu::detail::upper_median(std::move(times));
    return seen;
  }

  /// Graphs of kernels whose turn is over.
  void forget() {
    hot_.forget();
    cold_.forget();
  }

  D& device_;
  ReplayOptions options_;
  gpu::GraphClock<D> hot_, cold_;
  gpu::ProfilerClock<D> profiler_, cold_profiler_;
  std::function<void()> short_kernel_;
  Nanoseconds in_hot_{}, in_cold_{};
  ProfiledAdds profiled_adds_;
};

}  // namespace pace::kernel
