// publish, recall: pass results to the listeners, and recall results of earlier processes of this run.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pace/gate/panel.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/plan.hpp"

namespace pace::detail {

/// Returns the comparison's result from an earlier process of this run, with its `phases`. Returns nothing if a phase
/// is missing, for example because that process ended while writing. Then all is measured again, since no phase would
/// have judgements. If nothing was timed, or the device was lost, phases may be missing: measuring again would not
/// help. Throws InputError if the inputs were different there.
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

/// Returns the phases of a comparison's results: its iterations' phases, and host_phase if something is stated of that.
[[nodiscard]] inline std::vector<std::string> phases_of(const ComparisonPlan& plan,
                                                        std::span<const gate::Stated> stated) {
  std::vector<std::string> phases = plan.phases;
  if (gate::expects_in_phase(stated, host_phase)) phases.emplace_back(host_phase);
  return phases;
}

/// Passes the result and then each of its phases to all listeners, and returns it. Defers judgements if several
/// processes decide together.
inline Result publish(Result result) {
  if (run_context().defers_judgements) gate::defer_judgements(result);
  run_context().publish(result);
  for (const auto& phase : result.phases) run_context().publish(phase);
  return result;
}

}  // namespace pace::detail
