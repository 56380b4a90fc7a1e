// warm_up: runs the user's code until its time has settled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "pace/result/options.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::timing {

/// Result of warm_up().
struct WarmUp {
  std::int64_t iterations = 0;  ///< iterations that were run
  bool settled = false;         ///< the last two blocks agreed within `options.warm_up_agreement`
  Nanoseconds estimate{};       ///< time per iteration of the fastest block, since interrupts only make blocks longer
};

/// Returns the shortest sample that is long enough for the clock: the larger of `options.min_sample` and
/// `options.resolutions_per_sample` resolutions.
[[nodiscard]] inline Nanoseconds shortest_sample(Clock& clock, const Options& options) {
  return std::max(options.min_sample, options.resolutions_per_sample * clock.resolution());
}

namespace detail {

/// Takes `options.warm_up_iterations` samples of one iteration, or fewer if `options.warm_up` is spent before; at least
/// one.
[[nodiscard]] inline WarmUp warm_up_by_count(Clock& clock, Subject& subject, std::size_t operands,
                                             const Options& options) {
  const Nanoseconds deadline = clock.now() + options.warm_up;
  const std::int64_t wanted = std::max<std::int64_t>(1, *options.warm_up_iterations);
  WarmUp result;
  Nanoseconds previous{};
  do {
    const Nanoseconds took = take_sample(clock, subject, operands, 1);
    ++result.iterations;
    result.estimate = result.iterations == 1 ? took : std::min(result.estimate, took);
    const auto [fast, slow] = std::minmax(previous, took);
    result.settled = result.iterations > 1 && slow - fast <= options.warm_up_agreement * fast;
    previous = took;
  } while (result.iterations < wanted && clock.now() < deadline);
  return result;
}

}  // namespace detail

/// Runs blocks of iterations of `subject` on operand set `operands`; at least one block. Ends when two consecutive
/// blocks differ by at most `options.warm_up_agreement` of the faster one, or when `options.warm_up` is spent. A block
/// lasts at least shortest_sample(), or has `options.max_iterations` iterations. If `options.warm_up_iterations` is
/// set, runs that many instead, or fewer if `options.warm_up` is spent before.
[[nodiscard]] inline WarmUp warm_up(Clock& clock, Subject& subject, std::size_t operands, const Options& options) {
  if (options.warm_up_iterations) return detail::warm_up_by_count(clock, subject, operands, options);
  const Nanoseconds shortest = shortest_sample(clock, options);
  const Nanoseconds deadline = clock.now() + options.warm_up;
  const std::int64_t most =
      options.max_iterations > 0 ? options.max_iterations : std::numeric_limits<std::int64_t>::max();
  WarmUp result;
  std::int64_t block = 1;
  Nanoseconds previous{};
  do {
    const Nanoseconds took = take_sample(clock, subject, operands, block);
    result.iterations += block;
    const Nanoseconds each = took / static_cast<double>(block);
    if (took < shortest && block < most) {
      result.estimate = each;
      // The block is too short to compare. It grows at most tenfold, since page faults may have slowed a first block.
      const double wanted = took.count() > 0 ? 1.2 * shortest / took : 10.0;
      block = std::min(
          most, static_cast<std::int64_t>(std::ceil(static_cast<double>(block) * std::clamp(wanted, 2.0, 10.0))));
      previous = {};
      continue;
    }
    result.estimate = previous.count() > 0 ? std::min(result.estimate, each) : each;
    if (previous.count() > 0) {
      const auto [fast, slow] = std::minmax(previous, took);
      result.settled = slow - fast <= options.warm_up_agreement * fast;
    }
    previous = took;
  } while (!result.settled && clock.now() < deadline);
  return result;
}

}  // namespace pace::timing
