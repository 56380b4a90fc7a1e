// Replayer: times a kernel that is launched alone, repeatedly, by the clocks of all other times.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/gpu/activity.hpp"
#include "pace/gpu/graph.hpp"
#include "pace/gpu/overhead.hpp"
#include "pace/gpu/profiler.hpp"
#include "pace/kernels/kernel.hpp"
#include "pace/timing/phases.hpp"
#include "pace/timing/subject.hpp"

namespace pace::kernel {

/// Options of Replayer.
struct ReplayOptions {
  /// Approximate time of all launches of one sample. The first launch runs on a device that was idle, and takes some 5
  /// us longer than the others on an H200. So a sample must have many launches.
  Nanoseconds sample = std::chrono::milliseconds(1);
  std::int64_t least_launches = 8;   ///< least number of launches of one sample
  std::int64_t most_launches = 256;  ///< largest number of launches of one sample
  /// Number of samples of each kind. The median of the distribution lies outside of the range of eight samples with a
  /// probability of 0.8 %.
  std::size_t samples = 8;
  /// Number of launches with an empty cache, each a sample; 0: none.
  std::int64_t cold_launches = 8;
};

/// Times of a kernel that was launched alone.
struct ReplayTimes {
  KernelTime hot;                               ///< with its operands in the cache
  std::optional<KernelTime> cold;               ///< with an empty cache; absent: not measured
  std::optional<UnderProfiler> under_profiler;  ///< by two clocks at a time; absent: the profiler missed launches
  Nanoseconds help{};                           ///< subtracted time of copies and fills before each launch
  Nanoseconds restoring{};                      ///< subtracted time of restoring memory before each launch
};

/// Whether a kernel does less work `alone` than `in_its_place`: its time and 300 ns are less than half. A kernel may
/// end at once if a counter or a semaphore is as its own last run left it. A warmer cache makes a smaller difference:
/// we saw 2.56 and 1.69 us.
[[nodiscard]] inline bool does_less_alone(Nanoseconds alone, Nanoseconds in_its_place) {
  return alone + std::chrono::nanoseconds(300) < 0.5 * in_its_place;
}

namespace detail {

/// The summary of `samples` less `clock_adds`, each at least 0.
[[nodiscard]] inline KernelTime time_of(std::vector<Nanoseconds> samples, Nanoseconds clock_adds) {
  for (auto& each : samples) each = std::max(Nanoseconds{}, each - clock_adds);
  return summary_of(std::move(samples));
}

/// A function that queues a launch, as a subject of the clocks. Subjects of one function object are identical.
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

/// As Launched, with something before each launch that is not timed. A clock with a cold cache flushes it in between.
class LaunchedAfter final : public timing::Subject {
 public:
  LaunchedAfter(const std::function<void()>& before, const std::function<void()>& launch)
      : before_(before), launch_(launch) {}
  void run(std::size_t /*operands*/, std::int64_t launches) override {
    for (std::int64_t i = 0; i < launches; ++i) {
      if (before_) before_();
      phases_.begin(0);
      launch_();
      phases_.end(0);
    }
  }
  [[nodiscard]] timing::Phases* phases() override { return &phases_; }

 private:
  const std::function<void()>&before_, &launch_;
  timing::Phases phases_{{"launch"}};
};

/// Calls `first` and then `second`; empty if both are.
[[nodiscard]] inline std::function<void()> one_after_another(std::function<void()> first,
                                                             std::function<void()> second) {
  if (!first) return second;
  if (!second) return first;
  return [first = std::move(first), second = std::move(second)] {
    first();
    second();
  };
}

}  // namespace detail

/// Times kernels that are launched alone, less the time that the clocks add.
template <gpu::TracesActivities D>
class Replayer {
 public:
  /// Times kernels on `device`, which must outlive the object.
  explicit Replayer(D& device, ReplayOptions options = {})
      : device_(device),
        options_(options),
        hot_(device, {.calls = options.most_launches}),
        cold_(device, {.cold = true}),
        profiler_(device),
        cold_profiler_(device, {.cold = true}) {}

  /// Measures the time that the clocks add. `short_kernel()` queues a kernel as gpu::measure_overhead() requires it.
  /// Takes about a third of a second.
  void calibrate(std::function<void()> short_kernel) {
    short_kernel_ = std::move(short_kernel);
    detail::Launched launched(short_kernel_);
    in_hot_ = gpu::measure_overhead(hot_, profiler_, launched).per_kernel;
    if (options_.cold_launches > 0) in_cold_ = gpu::measure_overhead(cold_, cold_profiler_, launched, 9, 12).per_call;
    calibrate_profiled();
    forget();
  }
  /// The time between two kernels of a graph, while no profiler records.
  [[nodiscard]] Nanoseconds gap() const { return in_hot_; }

  /// Times a kernel. `prepare()` restores the device's memory to its state before the kernel in the call; `launch()`
  /// queues the kernel on the current stream. `help()`, if not empty, queues work that must precede each launch, such
  /// as a fill of a counter with zeros, and its time is subtracted. `restore()`, if not empty, queues copies that must
  /// precede both, since the kernel works in place; their time is subtracted, too, and a cold cache is flushed after
  /// them. Requires calibrate().
  [[nodiscard]] ReplayTimes time(const std::function<void()>& prepare, const std::function<void()>& launch,
                                 const std::function<void()>& help = {}, const std::function<void()>& restore = {}) {
    ReplayTimes times;
    const std::function<void()> before = detail::one_after_another(restore, help);
    std::function<void()> all = detail::one_after_another(before, launch);
    Nanoseconds cost{}, profiled_cost{};
    if (before) {
      prepare();
      cost = cost_of(before);
      profiled_cost = profiled_cost_of(before);
      if (help) times.help = restore ? cost_of(help) : cost;
      times.restoring = std::max(Nanoseconds{}, cost - times.help);
    }
    // Both kinds of samples take turns, so that changes of the device's temperature affect both.
    std::vector<Nanoseconds> hot, by_profiler, by_clock;
    prepare();
    const std::int64_t launches = launches_of_a_sample(all);
    for (std::size_t turn = 0; turn < turns; ++turn) {
      prepare();
      for (const Nanoseconds each : hot_samples(all, launches, (options_.samples + turns - 1) / turns))
        hot.push_back(each);
      prepare();
      if (const auto seen = profiled_sample(all, launches, help || restore ? 2 : 1)) {
        by_profiler.push_back(seen->by_profiler);
        by_clock.push_back(seen->by_clock - profiled_adds_.in_each_of(launches) - profiled_cost);
      }
    }
    times.hot = detail::time_of(std::move(hot), in_hot_ + cost);
    if (by_profiler.size() == turns)
      times.under_profiler = {.by_profiler = gpu::detail::upper_median(std::move(by_profiler)),
                              .by_clock = std::max(Nanoseconds{}, gpu::detail::upper_median(std::move(by_clock)))};
    if (options_.cold_launches > 0) {
      prepare();
      std::function<void()> helped = detail::one_after_another(help, launch);
      times.cold =
          detail::time_of(restore ? cold_samples_after(restore, helped, options_.cold_launches) : cold_samples(helped),
                          in_cold_ + times.help);
    }
    forget();
    return times;
  }

  /// Whether launches with an empty cache take another time if `restore()` precedes each, and not only the first. They
  /// do if the shorter time plus 300 ns is less than 90 % of the longer one. The other arguments are as for time().
  [[nodiscard]] bool takes_another_time(const std::function<void()>& prepare, const std::function<void()>& launch,
                                        const std::function<void()>& help, const std::function<void()>& restore) {
    const std::function<void()> helped = detail::one_after_another(help, launch);
    const auto median = [&](const std::function<void()>& before) {
      prepare();
      return gpu::detail::upper_median(
          cold_samples_after(before, helped, std::max(options_.cold_launches, options_.least_launches)));
    };
    const Nanoseconds on_what_was_left = median({}), restored = median(restore);
    forget();
    const auto [less, more] = std::minmax(on_what_was_left, restored);
    return less + std::chrono::nanoseconds(300) < 0.9 * more;
  }

  /// Returns the median time of one launch, with the gaps inside it and after it. `before()`, if not empty, precedes
  /// each launch, and its time is subtracted.
  [[nodiscard]] Nanoseconds whole_time(const std::function<void()>& launch, const std::function<void()>& before = {}) {
    std::function<void()> all = detail::one_after_another(before, launch);
    const std::int64_t launches = launches_of_a_sample(all);
    const Nanoseconds median = gpu::detail::upper_median(hot_samples(all, launches, options_.samples));
    forget();
    return before ? std::max(Nanoseconds{}, median - cost_of(before)) : median;
  }

 private:
  static constexpr std::size_t turns = 3;

  /// The time that `help` adds to a following kernel, measured with the short kernel. Without a kernel, a fill would
  /// overlap with the next fill.
  [[nodiscard]] Nanoseconds cost_of(const std::function<void()>& help) {
    const Nanoseconds helped = whole_time([&] {
      help();
      short_kernel_();
    });
    return std::max(Nanoseconds{}, helped - whole_time(short_kernel_));
  }

  /// As cost_of(), while the profiler records.
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

  /// The time that the clock adds while the profiler records: to each launch, and to the first one of a sample.
  struct ProfiledAdds {
    Nanoseconds launch{}, sample{};
    [[nodiscard]] Nanoseconds in_each_of(std::int64_t launches) const {
      return launch + sample / static_cast<double>(launches);
    }
  };

  /// Measures ProfiledAdds by samples of many and of few launches of the short kernel.
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

  /// A rest before each kind of sample, since a device that has been idle has another clock rate than a busy one.
  static void rest() { std::this_thread::sleep_for(std::chrono::milliseconds(3)); }

  /// The time of one launch with the gap after it.
  [[nodiscard]] Nanoseconds hot_sample(std::function<void()>& launch, std::int64_t launches) {
    detail::Launched launched(launch);
    return hot_.sample(launched, 0, launches) / static_cast<double>(launches);
  }

  [[nodiscard]] std::int64_t launches_of_a_sample(std::function<void()>& launch) {
    const Nanoseconds about = std::max(hot_sample(launch, options_.least_launches), Nanoseconds(100));
    return std::clamp(static_cast<std::int64_t>(options_.sample / about), options_.least_launches,
                      options_.most_launches);
  }

  /// `count` samples, each as the time of one launch.
  [[nodiscard]] std::vector<Nanoseconds> hot_samples(std::function<void()>& launch, std::int64_t launches,
                                                     std::size_t count) {
    static_cast<void>(hot_sample(launch, launches));  // uploads the graph to the device
    rest();
    std::vector<Nanoseconds> samples;
    for (std::size_t i = 0; i < count; ++i) samples.push_back(hot_sample(launch, launches));
    return samples;
  }

  /// Times of launches with an empty cache, with the time that a pair of events adds.
  [[nodiscard]] std::vector<Nanoseconds> cold_samples(std::function<void()>& launch) {
    detail::Launched launched(launch);
    // The first launch uploads the graph to the device.
    for (int sample = 0; sample < 2; ++sample) static_cast<void>(cold_.sample(launched, 0, options_.cold_launches));
    return {cold_.last_times().begin(), cold_.last_times().end()};
  }

  /// As cold_samples(), with `before()` before each launch, outside of the times and before the cache is flushed.
  [[nodiscard]] std::vector<Nanoseconds> cold_samples_after(const std::function<void()>& before,
                                                            const std::function<void()>& launch,
                                                            std::int64_t launches) {
    detail::LaunchedAfter launched(before, launch);
    for (int sample = 0; sample < 2; ++sample) static_cast<void>(cold_.sample(launched, 0, launches));
    const std::vector<Nanoseconds> times(cold_.last_times().begin(), cold_.last_times().end());
    // A later subject can have the same address.
    cold_.forget();
    return times;
  }

  /// Times launches by both clocks, by `hot_` with the gaps after them; hot_sample() must have captured them. Each
  /// launch has at least `nodes` activities, the kernel last.
  [[nodiscard]] std::optional<UnderProfiler> profiled_sample(std::function<void()>& launch, std::int64_t launches,
                                                             std::size_t nodes) {
    UnderProfiler seen;
    rest();
    const auto activities = gpu::trace(device_, [&] {
      // At the first launch of a graph, the profiler takes 0.4 ms; that launch does not count.
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

  /// Frees the graphs of kernels that have been timed.
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
