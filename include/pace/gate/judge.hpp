// Judge: verdict on the figures of one implementation, with its reason.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"

namespace pace::gate {

/// Returns whether the judgement is known without figures, such as if nothing was measured, and sets `judgement` then.
[[nodiscard]] bool judge_without_figures(const Demand& demand, const ImplementationResult& row,
                                         const ImplementationResult* reference, Judgement& judgement);

/// Returns the message of the judgement that a user's rule has made of `what`. If the rule gives none, it is a message
/// that names the rule by its description, the verdict, and what the rule should return.
[[nodiscard]] inline std::string message_of_rule(const std::string& description, Judgement said,
                                                 const std::string& what) {
  if (!said.message.empty()) return std::move(said.message);
  return what + " is judged " + to_string(said.verdict) + " by the rule '" + description +
         "', which gives no message; expected one with the measured and the expected figures";
}

/// Returns the judgement on a row with a summary alone, by the interval of the summary and at its confidence.
[[nodiscard]] Judgement judge_summary(const Demand& demand, const ImplementationResult& row);

/// Returns the verdict on one implementation by its observations, in the order in which they were made: passed, failed
/// or undecided. The probabilities of passing or failing wrongly are at most `rates`. `evidence` must be the result of
/// weigh() for `observations`.
[[nodiscard]] Judgement judge_observations(const Demand& demand, const std::string& name, const GateContext& context,
                                           const std::vector<double>& observations, const Evidence& evidence,
                                           const Rates& rates);

/// Returns the verdict on a row of a result. `reference` is the row of the implementation that the demand names, if
/// that is not the baseline. A row with a summary but no samples is judged by the interval of the summary.
[[nodiscard]] Judgement judge_row(const Demand& demand, const ImplementationResult& row,
                                  const ImplementationResult* reference, const Rates& rates);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/judge-inl.hpp"
#endif
