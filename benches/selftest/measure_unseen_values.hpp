// A row of the tables of unseen values: two implementations by the rounds, which repeat calls on the same values, and
// by calls on unseen values.
#pragma once

#include <cstdio>
#include <string>
#include <utility>

#include <catch2/catch_test_macros.hpp>

#include "pace/compare/comparison.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::selftest {

/// Prints the head of the table.
inline void print_unseen_values_head() { std::printf("%-36s %9s %9s\n", "pair", "rounds", "unseen values"); }

/// Compares the two, which are right and honest. Prints the candidate's speed-up in the rounds and on unseen values,
/// with the number of pairs behind the latter.
template <class Baseline, class Candidate, class... Operands>
void measure_on_unseen_values(const std::string& name, const Options& options, Baseline baseline, Candidate candidate,
                              const Operands&... operands) {
  const auto result = pace::compare(name, operands...)
                          .options(options)
                          .baseline("one", std::move(baseline))
                          .candidate("other", std::move(candidate))
                          .run();
  const auto& row = result["other"];
  INFO(name << ": " << row.message);
  CHECK(row.outcome == Outcome::measured);
  if (!row.speedup || !row.on_unseen_values || !row.on_unseen_values->interval) {
    std::printf("%-36s no figures\n", name.c_str());
    return;
  }
  const auto& interval = *row.on_unseen_values->interval;
  std::printf("%-36s %8.3fx %8.3fx [%.3f, %.3f] %3zu pairs, excess %.3f\n", name.c_str(), row.speedup->median,
              row.on_unseen_values->median, interval.low, interval.high, row.on_unseen_values->observations,
              row.context.excess_in_rounds);
}

}  // namespace pace::benches::selftest
