// One observation per crossover cycle.
#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/core/units.hpp"

namespace pace::stats {

/// Mean over the rounds of one cycle of ln(baseline / candidate). In a cycle each side has held each place in the order
/// and each operand set once, so both effects cancel before anything is judged (a median of single rounds would fall
/// between the two modes that placement makes). Not finite if a time is zero. The spans are equally long.
[[nodiscard]] inline double log_ratio_of_cycle(std::span<const Nanoseconds> baseline,
                                               std::span<const Nanoseconds> candidate) {
  // Not as a sum of ratios: exchanging the sides must change nothing but the sign, to the last digit, for the gate
  // counts signs where times do not scatter.
  double of_baseline = 0, of_candidate = 0;
  for (const auto time : baseline) of_baseline += std::log(time.count());
  for (const auto time : candidate) of_candidate += std::log(time.count());
  return (of_baseline - of_candidate) / static_cast<double>(baseline.size());
}

/// Mean over the rounds of one cycle of ln(time in nanoseconds). Not finite if a time is zero.
[[nodiscard]] inline double log_time_of_cycle(std::span<const Nanoseconds> times) {
  double sum = 0;
  for (const auto time : times) sum += std::log(time.count());
  return sum / static_cast<double>(times.size());
}

/// log_ratio_of_cycle for each `rounds_per_cycle` consecutive rounds; an unfinished last cycle is dropped, as is a
/// cycle with a time of zero, which has no logarithm. Throws Error if the two sides differ in length.
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

/// log_time_of_cycle for each `rounds_per_cycle` consecutive rounds, with the same exceptions.
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
