// How the findings of several processes are judged together.
#pragma once

#include "pace/gate/replicates.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/gate/judge.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"

namespace pace::gate {

PACE_INLINE void Replicates::add_process(const std::vector<Finding>& findings) {
  ++processes_;
  for (const auto& finding : findings) {
    const std::size_t i = index_of(finding);
    if (std::exchange(last_process_[i], processes_) == processes_) continue;
    if (gates_[i].unchecked.empty()) gates_[i].unchecked = finding.unchecked;
    if (std::isfinite(finding.centre)) gates_[i].centres.push_back(finding.centre);
    judge(gates_[i]);
  }
}

PACE_INLINE bool Replicates::decided() const {
  return !gates_.empty() && std::all_of(gates_.begin(), gates_.end(), [](const ReplicatedGate& gate) {
    return gate.judgement.verdict == Verdict::passed || gate.judgement.verdict == Verdict::failed;
  });
}

PACE_INLINE bool Replicates::acceptable() const {
  return !gates_.empty() && std::all_of(gates_.begin(), gates_.end(),
                                        [](const ReplicatedGate& gate) { return gate.judgement.acceptable; });
}

PACE_INLINE std::size_t Replicates::index_of(const Finding& finding) {
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    const Finding& known = gates_[i].first;
    if (known.comparison == finding.comparison && known.implementation == finding.implementation &&
        known.expectation == finding.expectation && known.demanded.guard == finding.demanded.guard &&
        known.demanded.limit == finding.demanded.limit)
      return i;
  }
  gates_.push_back({.first = finding, .centres = {}, .judgement = {}});
  last_process_.push_back(0);
  return gates_.size() - 1;
}

PACE_INLINE void Replicates::judge(ReplicatedGate& gate) {
  const auto& demanded = gate.first.demanded;
  Demand demand{.burden = demanded.guard ? Burden::guard : Burden::claim,
                .threshold = (demanded.guard ? -1 : 1) * std::log(demanded.limit),
                .limit = demanded.limit,
                .when_undecided = demanded.closes_when_undecided ? WhenUndecided::close
                                  : demanded.allowed_undecided   ? WhenUndecided::let_through
                                                                 : WhenUndecided::by_burden,
                .method = Method::replicates};
  if (gate.centres.empty()) {
    gate.judgement = {.expectation = gate.first.expectation,
                      .verdict = Verdict::undecided,
                      .message = '\'' + gate.first.implementation + "' has no figures from any process yet"};
    demand.leave_open(gate.judgement);
    return;
  }
  const auto evidence = weigh(gate.centres, demand);
  GateContext context;
  context.comparison = gate.first.comparison;
  context.enter(Objection::of(Severity::unchecked, gate.unchecked));
  gate.judgement = judge_observations(demand, gate.first.implementation, context, gate.centres, evidence,
                                      {demanded.alpha, demanded.beta});
  gate.deviation = gate.centres.size() > 1 ? evidence.deviation : 0;
}

PACE_INLINE double centre_of(const ImplementationResult& row) {
  // The audit did not find out whether a declared operand explains the smaller figure on unseen values.
  const bool open = row.on_unseen_values && !row.on_unseen_values->interval && row.context.likely_excess_in_rounds > 1;
  if (row.log_ratios.empty() || !row.context.disturbance.empty() || open)
    return std::numeric_limits<double>::quiet_NaN();
  return stats::median(stats::sorted(row.log_ratios)) - std::log(row.context.excess_in_rounds);
}

}  // namespace pace::gate
