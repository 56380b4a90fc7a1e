// Publish: results leave for the listeners; those that an earlier process of this run has found come back.
#pragma once

#include <optional>
#include <utility>

#include "pace/compare/plan.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/gate/panel.hpp"

namespace pace::detail {

/// What an earlier process of this run found out about the comparison, with its phases. Throws InputError if that was with
/// other inputs.
[[nodiscard]] inline std::optional<Result> recall(const ComparisonPlan& plan) {
  Result known;
  if (!run_context().recall(plan.name, plan.describe_inputs(), known)) return std::nullopt;
  for (const auto& phase : plan.phases) {
    Result part;
    if (!run_context().recollection->recall(plan.name + '/' + phase, part)) continue;
    part.phase = phase;
    known.phases.push_back(std::move(part));
  }
  return known;
}

/// To all listeners, the whole and then each phase; where several processes decide together, with judgements that wait for
/// them. Returns what was published.
inline Result publish(Result result) {
  if (run_context().defers_judgements) gate::defer_judgements(result);
  run_context().publish(result);
  for (const auto& phase : result.phases) run_context().publish(phase);
  return result;
}

}  // namespace pace::detail
