// How --warmup and --nloops, which count steps, become options of a comparison.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

#include "benches/rnn/command_line.hpp"
#include "pace/result/options.hpp"

namespace pace::benches::rnn {

/// `options` of a comparison of a baseline with `candidates` others, as `line` has them. A sample is one step, as in
/// fastrnns' table. Of `given`, --budget and --max-rounds, where they are given, end the rounds
/// before --nloops steps; the default budget does not.
[[nodiscard]] inline Options measuring_of(const CommandLine& line, const args::Arguments& given, Options options,
                                          std::size_t candidates) {
  options.max_iterations = 1;
  options.warm_up_iterations = line.warmup;
  const bool own_limit = line.nloops && !given.has("--max-rounds");
  // Rounds are made in cycles of as many as there are runners, and incomplete cycles are left out.
  const std::size_t rounds = static_cast<std::size_t>(line.nloops_of_loop()) + candidates;
  options.max_rounds = own_limit ? rounds : std::min(options.max_rounds, rounds);
  if (!line.nloops || given.has("--budget")) return options;
  constexpr Nanoseconds without_end = std::chrono::hours(24 * 365);
  // Their time is a share of the budget, and stays the same.
  options.mode_share *= options.budget / without_end;
  options.budget = options.hard_limit = without_end;
  return options;
}

}  // namespace pace::benches::rnn
