// The result of a sample that was not run.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"

namespace pace::benches::operators {

/// One row per back end that says why the sample was not run.
[[nodiscard]] inline Result refusal(std::string name, const std::vector<std::string>& backends, const std::string& why,
                                    Outcome outcome = Outcome::refused) {
  Result result;
  result.name = std::move(name);
  result.confidence = run_context().options.confidence;
  for (const auto& backend : backends) {
    auto& row = result.implementations.emplace_back();
    row.name = backend;
    row.is_baseline = result.implementations.size() == 1;
    row.message = why;
    row.outcome = outcome;
  }
  return result;
}

}  // namespace pace::benches::operators
