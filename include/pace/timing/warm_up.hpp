// Warm-up: runs the user's code until it has settled.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "pace/core/options.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::timing {

struct WarmUp {
  std::int64_t iterations = 0;
  /// Two consecutive blocks agreed before the cap.
  bool settled = false;
  /// Per iteration, from the fastest block: what interrupts a block only makes it longer.
  Nanoseconds estimate{};
};

/// Shortest block worth comparing with the next one.
[[nodiscard]] inline Nanoseconds shortest_sample(Clock& clock, const Options& options) {
  return std::max(options.min_sample, options.resolutions_per_sample * clock.resolution());
}

namespace detail {

/// `options.warm_up_iterations` samples of one iteration each, fewer if `options.warm_up` is spent before. At least one.
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

/// Runs blocks of iterations, each at least `shortest_sample` long or of `options.max_iterations`, until two in a row differ by at most
/// `options.warm_up_agreement` of the faster one, or until `options.warm_up` is spent. At least one block.
/// With `options.warm_up_iterations` it runs so many iterations instead, or fewer where `options.warm_up` is spent before.
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
      // Too short to judge by. At most tenfold: a first block slowed by page faults says little of the next.
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
