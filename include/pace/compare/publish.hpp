// Publish: passes results to the listeners, and recalls results of earlier processes of this run.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/gate/panel.hpp"
#include "pace/result/result.hpp"
#include "pace/result/run_context.hpp"
#include "pace/subject/plan.hpp"

namespace pace::detail {

/// Returns the result of the comparison of this name, with its `phases`, from an earlier process of this run. Returns
/// nothing if one of the phases is missing there, as where the earlier process ended while it wrote them: then no phase
/// would have its judgements, so all is measured again. A result of which nothing was timed, or whose device was lost,
/// is known without them: it would be the same again. Throws InputError if the inputs were different there.
[[nodiscard]] inline std::optional<Result> recall(const std::string& name, const std::string& inputs,
                                                  std::span<const std::string> phases) {
  Result known;
  if (!run_context().recall(name, inputs, known)) return std::nullopt;
  const bool ended_there = known.rounds == 0 || !known.lost_device.empty();
  for (const auto& phase : phases) {
    Result part;
    if (!run_context().recollection->recall(name + '/' + phase, part)) {
      if (ended_there) break;
      return std::nullopt;
    }
    part.phase = phase;
    known.phases.push_back(std::move(part));
  }
  return known;
}

/// Returns the names of the phases of the results of a comparison: those of its iterations, and host_phase if something
/// is stated of that.
[[nodiscard]] inline std::vector<std::string> phases_of(const ComparisonPlan& plan,
                                                        std::span<const gate::Stated> stated) {
  std::vector<std::string> phases = plan.phases;
  if (gate::expects_in_phase(stated, host_phase)) phases.emplace_back(host_phase);
  return phases;
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
