// The result of a comparison that was not run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"

namespace pace::benches {

/// One row per implementation that says why the comparison was not run.
[[nodiscard]] inline Result refusal(std::string name, const std::vector<std::string>& implementations,
                                    const std::string& why, Outcome outcome = Outcome::refused) {
  Result result;
  result.name = std::move(name);
  result.confidence = run_context().options.confidence;
  for (const auto& each : implementations) {
    auto& row = result.implementations.emplace_back();
    row.name = each;
    row.is_baseline = result.implementations.size() == 1;
    row.message = why;
    row.outcome = outcome;
  }
  return result;
}

/// The same where the baseline, the first implementation, ended an earlier process of the run.
[[nodiscard]] inline Result without_baseline(const std::string& name, const std::vector<std::string>& implementations,
                                             const RunContext::PriorFailure& failure) {
  Result result = refusal(name, implementations,
                          "there is no baseline to compare with: '" + implementations.front() + "' " +
                              to_string(failure.outcome) + ": " + failure.message);
  result.implementations.front().outcome = failure.outcome;
  result.implementations.front().message = failure.message;
  return result;
}

}  // namespace pace::benches
