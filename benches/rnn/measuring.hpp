// How --warmup and --nloops, which count steps, become options of a comparison.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "benches/rnn/command_line.hpp"
#include "pace/core/options.hpp"

namespace pace::benches::rnn {

/// `options` of a comparison of a baseline with `candidates` others, as `line` has them. A sample is one step, as in
/// fastrnns' table. `words` are those of the command line: --budget and --max-rounds, where they are given, end the rounds
/// before --nloops steps; the default budget does not.
[[nodiscard]] inline Options measuring_of(const CommandLine& line, const std::vector<std::string>& words,
                                          Options options, std::size_t candidates) {
  options.max_iterations = 1;
  options.warm_up_iterations = line.warmup;
  const bool own_limit = line.nloops && !is_given(words, "--max-rounds");
  // Rounds are made in cycles of as many as there are runners, and incomplete cycles are left out.
  const std::size_t rounds = static_cast<std::size_t>(line.nloops_of_loop()) + candidates;
  options.max_rounds = own_limit ? rounds : std::min(options.max_rounds, rounds);
  if (!line.nloops || is_given(words, "--budget")) return options;
  constexpr Nanoseconds without_end = std::chrono::hours(24 * 365);
  // Their time is a share of the budget, and stays what it is.
  options.figures *= options.budget / without_end;
  options.budget = options.hard_limit = without_end;
  return options;
}

}  // namespace pace::benches::rnn
