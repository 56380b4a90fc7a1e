// Baseline alone: samples of the baseline with nothing beside them, which show whether something slows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pace/compare/implementation.hpp"
#include "pace/core/options.hpp"
#include "pace/core/units.hpp"
#include "pace/stats/median_interval.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Times of a call of the baseline alone: on each set of operands a median with its interval. Of these, the fastest
/// and the slowest are kept, since identical code differs by where its operands lie.
struct AloneTimes {
  Interval<double> fastest{};  ///< of the median in nanoseconds
  Interval<double> slowest{};  ///< of the median in nanoseconds
  double cores = 0;            ///< CPU seconds of the process in a second; 0: unknown
};

/// Share of the budget that the samples of the baseline alone take at most, before the rounds and again after them: of
/// calls that are too long for that, fewer samples are taken, which take up to `most_alone_share`.
inline constexpr double alone_share = 0.05, most_alone_share = 0.5;

/// Samples `baseline` on each of `sets` sets of operands, after as many calls as it takes to find the length of a
/// sample. Returns nothing if the fewest samples that have an interval would take longer than `most_alone_share` of the
/// budget. Throws what the baseline throws.
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

  AloneTimes found;
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

/// Share by which a slowdown must exceed the intervals of two measurements. The same code differs from core to core and
/// from moment to moment of a machine with other work: on a virtual machine whose cores were in use, honest operators
/// looked slowed by a quarter.
inline constexpr double slowed_share = 0.5;

/// Returns whether all of `now` is slower than all of `then` by more than `share`.
[[nodiscard]] inline bool slower_than(const AloneTimes& now, const AloneTimes& then, double share = slowed_share) {
  return now.fastest.low > (1 + share) * then.slowest.high;
}

}  // namespace pace::detail
