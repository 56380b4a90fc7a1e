// Time pairs: times of the same work in two processes, taken in turn.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sign_test.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Times of the same work, taken one right after the other.
struct TimePair {
  Nanoseconds here{};   ///< in this process
  Nanoseconds there{};  ///< in the other one
};

/// Pairs for a decision: 20 of 24 have to agree at `error_of_pairs`.
inline constexpr std::size_t pairs_of_decision = 24;
/// Probability that the work is called slower here though it is not.
inline constexpr double error_of_pairs = 1e-3;
/// Time between two pairs. Spread over more than a second, some pairs meet work that begins or ends on the machine.
inline constexpr Nanoseconds pause_between_pairs = std::chrono::milliseconds(60);

/// The median of one of the times of `pairs`.
[[nodiscard]] inline Nanoseconds median_of(std::span<const TimePair> pairs, Nanoseconds TimePair::* which) {
  std::vector<double> times;
  for (const auto& each : pairs) times.push_back((each.*which).count());
  return Nanoseconds(stats::median(stats::sorted(std::move(times))));
}

/// Whether the work takes more than 1 + `share` times as long here as there, by the sign test of the ratios. `further`:
/// if so many further pairs said so.
[[nodiscard]] inline bool slower_here(std::span<const TimePair> pairs, double share, std::size_t further = 0) {
  std::vector<double> ratios(further, std::numeric_limits<double>::infinity());
  for (const auto& each : pairs) ratios.push_back(each.here / each.there);
  return stats::sign_test(ratios, 1 + share).p_above <= error_of_pairs;
}

/// Takes pairs by `take(number)`, with pauses between them, up to `pairs_of_decision`. Ends early if slower_here()
/// cannot become true, or `take` returns nothing.
[[nodiscard]] inline std::vector<TimePair> take_pairs(timing::Clock& clock, double share,
                                                      FunctionRef<std::optional<TimePair>(std::size_t)> take) {
  std::vector<TimePair> pairs;
  while (pairs.size() < pairs_of_decision) {
    if (!pairs.empty()) clock.pause(pause_between_pairs);
    const auto pair = take(pairs.size());
    if (!pair) break;
    pairs.push_back(*pair);
    if (!slower_here(pairs, share, pairs_of_decision - pairs.size())) break;
  }
  return pairs;
}

}  // namespace pace::detail
