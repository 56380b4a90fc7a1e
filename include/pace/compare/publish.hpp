// Publish: passes results to the listeners, and recalls results of earlier processes of this run.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/compare/plan.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/gate/panel.hpp"

namespace pace::detail {

/// Returns the result of the comparison, with its phases, from an earlier process of this run. Returns nothing if one of
/// the phases that it has, or that something is stated of, is missing there, as where the earlier process ended while it wrote them: then no phase would have its
/// judgements, so all is measured again. Throws InputError if the inputs were different there.
[[nodiscard]] inline std::optional<Result> recall(const ComparisonPlan& plan, std::span<const gate::Stated> stated) {
  std::vector<std::string> phases = plan.phases;
  if (gate::expects_in_phase(stated, host_phase)) phases.emplace_back(host_phase);
  Result known;
  if (!run_context().recall(plan.name, plan.describe_inputs(), known)) return std::nullopt;
  for (const auto& phase : phases) {
    Result part;
    if (!run_context().recollection->recall(plan.name + '/' + phase, part)) return std::nullopt;
    part.phase = phase;
    known.phases.push_back(std::move(part));
  }
  return known;
}

/// Passes the result and then each of its phases to all listeners, and returns it. If several processes decide
/// together, its judgements are deferred.
inline Result publish(Result result) {
  if (run_context().defers_judgements) gate::defer_judgements(result);
  run_context().publish(result);
  for (const auto& phase : result.phases) run_context().publish(phase);
  return result;
}

}  // namespace pace::detail
