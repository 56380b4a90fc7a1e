// Judge: verdict on one implementation's figures, with its reason.
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

/// Returns whether the verdict needs no figures, such as if nothing was measured, and then sets `judgement`.
[[nodiscard]] bool judge_without_figures(const Demand& demand, const ImplementationResult& row,
                                         const ImplementationResult* reference, Judgement& judgement);

/// Returns the message of a user's rule about `what`. If it is empty, names the rule, the verdict, and what the rule
/// should return.
[[nodiscard]] inline std::string message_of_rule(const std::string& description, Judgement said,
                                                 const std::string& what) {
  if (!said.message.empty()) return std::move(said.message);
  return what + " is judged " + to_string(said.verdict) + " by the rule '" + description +
         "', which gives no message; expected one with the measured and the expected figures";
}

/// Judges a row that only has a summary, by its interval and at its confidence.
[[nodiscard]] Judgement judge_summary(const Demand& demand, const ImplementationResult& row);

/// Returns passed, failed or undecided for one implementation's observations, in the order of time. It passes or fails
/// wrongly with probabilities of at most `rates`. `evidence` must be the result of weigh() for `observations`.
[[nodiscard]] Judgement judge_observations(const Demand& demand, const std::string& name, const GateContext& context,
                                           const std::vector<double>& observations, const Evidence& evidence,
                                           const Rates& rates);

/// Returns the verdict on a row of a result. `reference` is the row of the implementation that the demand names, unless
/// that is the baseline. A row with a summary but no samples is judged by the summary's interval.
[[nodiscard]] Judgement judge_row(const Demand& demand, const ImplementationResult& row,
                                  const ImplementationResult* reference, const Rates& rates);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/judge-inl.hpp"
#endif
