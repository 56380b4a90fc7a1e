// Baseline alone: samples of the baseline with nothing beside them.
#pragma once

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include "pace/base/units.hpp"
#include "pace/result/options.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Median times of a call of the baseline alone, on the fastest and the slowest set of operands: identical code depends
/// on where these lie.
struct AloneTimes {
  Interval<double> fastest{};   ///< of the median in nanoseconds
  Interval<double> slowest{};   ///< of the median in nanoseconds
  double cores = 0;             ///< CPU seconds of the process in a second; 0: unknown
  std::int64_t iterations = 1;  ///< of each sample
  Nanoseconds of_sample{};      ///< how long a sample took at first
};

/// Largest share of the budget for samples of the baseline alone, before the rounds and again after them. Long calls
/// get fewer samples, and up to `most_alone_share`.
inline constexpr double alone_share = 0.05, most_alone_share = 0.5;

/// Samples `baseline` on each of `sets` sets of operands. Returns nothing if the fewest samples with an interval would
/// take more than `most_alone_share` of the budget. Throws what the baseline throws.
[[nodiscard]] inline std::optional<AloneTimes> time_alone(timing::Clock& clock, timing::Subject& baseline,
                                                          std::size_t sets, const Options& options) {
  constexpr double confidence = 0.99;
  std::size_t samples = 15;
  const Nanoseconds most = alone_share * options.budget;
  const Nanoseconds wanted = std::min<Nanoseconds>(
      most / static_cast<double>(2 * samples * sets),
      std::max<Nanoseconds>(options.min_sample, options.resolutions_per_sample * clock.resolution()));
  std::int64_t iterations = 1;
  Nanoseconds took = timing::take_sample(clock, baseline, 0, iterations);  // the first sample warms up
  for (took = timing::take_sample(clock, baseline, 0, iterations); took < wanted;
       took = timing::take_sample(clock, baseline, 0, iterations)) {
    constexpr std::int64_t largest = std::int64_t{1} << 30;
    const std::int64_t limit = options.max_iterations > 0 ? options.max_iterations : largest;
    if (iterations >= limit) break;
    iterations = std::min(2 * iterations, limit);
  }
  if (took * static_cast<double>(samples * sets) > most) {
    samples = stats::fewest_for_median_interval(confidence);
    if (took * static_cast<double>(samples * sets) > most) sets = 1;
    if (took * static_cast<double>(samples) > most_alone_share * options.budget) return std::nullopt;
  }

  AloneTimes found{.iterations = iterations, .of_sample = took};
  const auto before = clock.thread_counters();
  const Nanoseconds start = clock.now();
  for (std::size_t set = 0; set < sets; ++set) {
    std::vector<double> times;
    (void)timing::take_sample(clock, baseline, set, iterations);
    for (std::size_t i = 0; i < samples; ++i)
      times.push_back(timing::take_sample(clock, baseline, set, iterations).count() / static_cast<double>(iterations));
    const auto median = stats::median_interval(stats::sorted(std::move(times)), confidence);
    if (!median) return std::nullopt;
    if (set == 0 || median->high < found.fastest.high) found.fastest = *median;
    if (set == 0 || median->low > found.slowest.low) found.slowest = *median;
  }
  const Nanoseconds elapsed = clock.now() - start;
  if (const auto after = clock.thread_counters(); before && after && elapsed.count() > 0)
    found.cores = (after->process_cpu - before->process_cpu) / elapsed;
  return found;
}

/// Takes memory of these sizes in `bytes`, `times` times, so that outputs lie elsewhere while the result lives. Their
/// distance from operands decides how fast the same code is.
[[nodiscard]] inline std::vector<at::Tensor> take_memory(const std::vector<std::int64_t>& bytes, int times) {
  constexpr std::int64_t most_bytes = 1 << 28;
  std::vector<at::Tensor> taken;
  std::int64_t left = most_bytes;
  for (int i = 0; i < times; ++i)
    for (const std::int64_t each : bytes) {
      left -= each;
      if (left >= 0) taken.push_back(at::empty({each}, at::kByte));
    }
  return taken;
}

/// Lets malloc keep freed blocks for the next call. Calls that get new pages of the system take up to ten times as
/// long. The C library of GNU raises its size limit whenever a larger block is freed, so two processes differ by it. A
/// candidate's own settings of malloc stay.
inline void let_malloc_keep_blocks() {
  constexpr std::int64_t bytes = 31 << 20;  // it adapts up to 32 MiB
  (void)at::empty({bytes}, at::kByte);
}

/// Samples of the baseline alone, taken in one process and then in another.
struct Burst {
  int cpu = -1;                 ///< on which it is taken; below 0: any
  std::size_t number = 0;       ///< varies the operands and the states
  std::int64_t iterations = 1;  ///< of each sample
  int samples = 1;              ///< at each state, after one that warms up

  /// States of the heap. Its end decides whether outputs get new pages of the system.
  static constexpr int states = 3;
};

/// Keeps the calling thread on one CPU while it lives.
class OnCpu {
 public:
  /// `cpu` below 0: leaves the thread where it is.
  explicit OnCpu(int cpu) {
    cpu_set_t only;
    CPU_ZERO(&only);
    if (cpu < 0 || cpu >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    CPU_SET(static_cast<std::size_t>(cpu), &only);
    moved_ = ::sched_setaffinity(0, sizeof only, &only) == 0;
  }
  OnCpu(const OnCpu&) = delete;
  OnCpu& operator=(const OnCpu&) = delete;
  ~OnCpu() {
    if (moved_) (void)::sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool moved_ = false;
};

/// Takes `burst` of `baseline`, which has `sets` sets of operands and outputs of these `bytes_of_outputs`. Returns the
/// median time of a call at the fastest state of the heap. Throws what the baseline throws.
[[nodiscard]] inline Nanoseconds time_burst(timing::Clock& clock, timing::Subject& baseline, std::size_t sets,
                                            const std::vector<std::int64_t>& bytes_of_outputs, const Burst& burst) {
  constexpr std::size_t in_a_row = 2;  // once with each process as the first one
  constexpr int outputs_apart = 9, variants = 4;
  const OnCpu on_cpu(burst.cpu);
  let_malloc_keep_blocks();
  const std::size_t set = burst.number / in_a_row % sets;
  const int variant = static_cast<int>(burst.number % variants);
  Nanoseconds shortest(std::numeric_limits<double>::infinity());
  for (int state = 0; state < Burst::states; ++state) {
    const auto taken = take_memory(bytes_of_outputs, state * (1 + variant) * outputs_apart);
    (void)timing::take_sample(clock, baseline, set, burst.iterations);
    std::vector<double> times;
    for (int i = 0; i < burst.samples; ++i)
      times.push_back(timing::take_sample(clock, baseline, set, burst.iterations).count());
    shortest = std::min(shortest, Nanoseconds(stats::median(stats::sorted(std::move(times)))));
  }
  return shortest / static_cast<double>(burst.iterations);
}

/// The baseline must have become slower by this share. It must show beyond the intervals of its times alone, and in
/// pairs of bursts here and in a process without candidates.
inline constexpr double slowed_share = 0.25;
/// The same without such a process, which shows whether the machine has become slower.
inline constexpr double slowed_share_without_process = 1;

}  // namespace pace::detail
