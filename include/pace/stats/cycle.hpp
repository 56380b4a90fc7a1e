// Observations of the tests: one per crossover cycle, from the times of its rounds.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace::stats {

/// Returns the mean over one cycle's rounds of ln(baseline / candidate). In a cycle each side has each place in the
/// order and each operand set once, so that both effects cancel. (A median of single rounds would lie between the two
/// modes that the placement of operands causes.) Not finite if a time is zero. The spans must be equally long.
[[nodiscard]] inline double log_ratio_of_cycle(std::span<const Nanoseconds> baseline,
                                               std::span<const Nanoseconds> candidate) {
  // Sums each side's logarithms first: swapping the sides then changes the sign and no digit. The gate counts signs
  // where times do not scatter.
  double of_baseline = 0, of_candidate = 0;
  for (const auto time : baseline) of_baseline += std::log(time.count());
  for (const auto time : candidate) of_candidate += std::log(time.count());
  return (of_baseline - of_candidate) / static_cast<double>(baseline.size());
}

/// Returns the mean over one cycle's rounds of ln(time in nanoseconds). Not finite if a time is zero.
[[nodiscard]] inline double log_time_of_cycle(std::span<const Nanoseconds> times) {
  double sum = 0;
  for (const auto time : times) sum += std::log(time.count());
  return sum / static_cast<double>(times.size());
}

/// Returns log_ratio_of_cycle() of each `rounds_per_cycle` consecutive rounds. Leaves out an unfinished last cycle, and
/// cycles with a time of zero, which has no logarithm. Throws Error if the sides differ in length or `rounds_per_cycle`
/// is 0.
[[nodiscard]] inline std::vector<double> paired_log_ratios(std::span<const Nanoseconds> baseline,
                                                           std::span<const Nanoseconds> candidate,
                                                           std::size_t rounds_per_cycle) {
  if (baseline.size() != candidate.size()) throw Error("paired_log_ratios: the two sides differ in length");
  if (rounds_per_cycle == 0) throw Error("paired_log_ratios: a cycle has at least one round");
  std::vector<double> ratios;
  ratios.reserve(baseline.size() / rounds_per_cycle);
  for (std::size_t first = 0; first + rounds_per_cycle <= baseline.size(); first += rounds_per_cycle) {
    const double ratio =
        log_ratio_of_cycle(baseline.subspan(first, rounds_per_cycle), candidate.subspan(first, rounds_per_cycle));
    if (std::isfinite(ratio)) ratios.push_back(ratio);
  }
  return ratios;
}

/// Returns log_time_of_cycle() of each `rounds_per_cycle` consecutive rounds. Leaves out an unfinished last cycle, and
/// cycles with a time of zero. Throws Error if `rounds_per_cycle` is 0.
[[nodiscard]] inline std::vector<double> cycle_log_times(std::span<const Nanoseconds> times,
                                                         std::size_t rounds_per_cycle) {
  if (rounds_per_cycle == 0) throw Error("cycle_log_times: a cycle has at least one round");
  std::vector<double> logs;
  logs.reserve(times.size() / rounds_per_cycle);
  for (std::size_t first = 0; first + rounds_per_cycle <= times.size(); first += rounds_per_cycle) {
    const double each = log_time_of_cycle(times.subspan(first, rounds_per_cycle));
    if (std::isfinite(each)) logs.push_back(each);
  }
  return logs;
}

}  // namespace pace::stats
