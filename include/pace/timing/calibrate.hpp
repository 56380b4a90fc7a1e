// calibrate: one number of iterations per sample for all implementations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pace/result/options.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"
#include "pace/timing/warm_up.hpp"

namespace pace::timing {

/// Result of calibrate().
struct Calibration {
  std::int64_t iterations = 1;  ///< iterations of each sample
  /// Whether the fastest implementation's samples are as long as shortest_sample(). False if the slowest one's would
  /// then exceed `longest`, or if `options.max_iterations` is too small.
  bool reached_target = false;
};

/// Finds the number of iterations at which the fastest implementation's sample is as long as shortest_sample(). All
/// implementations share the number, so that each iteration has the same part of a sample's fixed cost.
///
/// The search ends when two consecutive readings reach the target, since one alone may have been preempted. The slowest
/// implementation's sample takes at most `longest`, and `options.max_iterations` limits the number. `estimates` are
/// times per iteration from the warm-up, one for each of `subjects`. Subject i runs on operand set i modulo
/// `operand_sets`.
[[nodiscard]] inline Calibration calibrate(Clock& clock, std::span<Subject* const> subjects,
                                           std::span<const Nanoseconds> estimates, std::size_t operand_sets,
                                           Nanoseconds longest, const Options& options) {
  const Nanoseconds target = shortest_sample(clock, options);
  const Nanoseconds slowest = *std::max_element(estimates.begin(), estimates.end());
  const Nanoseconds fastest = *std::min_element(estimates.begin(), estimates.end());
  const auto count_for = [](Nanoseconds time, Nanoseconds per_iteration) {
    constexpr double most = 1e12;  // bounds the loop for a body that is empty or optimised away
    return per_iteration.count() > 0 ? std::clamp(time / per_iteration, 1.0, most) : most;
  };
  double most = std::floor(count_for(longest, slowest));
  if (options.max_iterations > 0) most = std::min(most, static_cast<double>(options.max_iterations));

  Calibration result;
  double count = std::min(most, std::ceil(count_for(target, fastest)));
  int readings_in_a_row = 0;
  while (readings_in_a_row < 2) {
    result.iterations = static_cast<std::int64_t>(count);
    Nanoseconds shortest = Nanoseconds::max();
    for (std::size_t i = 0; i < subjects.size(); ++i)
      shortest = std::min(shortest, take_sample(clock, *subjects[i], i % operand_sets, result.iterations));
    if (shortest >= target) {
      ++readings_in_a_row;
      continue;
    }
    readings_in_a_row = 0;
    if (count >= most) return result;
    const double wanted = shortest.count() > 0 ? 1.2 * target / shortest : 10.0;
    count = std::min(most, std::ceil(count * std::clamp(wanted, 1.1, 10.0)));
  }
  result.reached_target = true;
  return result;
}

}  // namespace pace::timing
