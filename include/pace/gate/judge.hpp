// Judge: from the figures of one implementation to a verdict, with the reason in words.
#pragma once

#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"

namespace pace::gate {

/// Whether the judgement needs no figures, since nothing was measured, so nothing can be said; then it is `judgement`.
[[nodiscard]] bool judge_without_figures(const Demand& demand, const ImplementationResult& row,
                                         const ImplementationResult* reference, Judgement& judgement);

/// Where only a summary is left: on its interval, at whatever confidence that has.
[[nodiscard]] Judgement judge_summary(const Demand& demand, const ImplementationResult& row);

/// The verdict on one implementation from what was observed of it, in the order in which it was: passed, failed, or
/// undecided; each of the first two wrong at most as often as `rates` says. `evidence` must be that of `observations`.
[[nodiscard]] Judgement judge_observations(const Demand& demand, const std::string& name, const GateContext& context,
                                           const std::vector<double>& observations, const Evidence& evidence,
                                           const Rates& rates);

/// The same from a row of a result. `reference` is the row of the implementation that the demand names, where it is not
/// the baseline. A row that holds a summary but no samples is judged on the summary's interval.
[[nodiscard]] Judgement judge_row(const Demand& demand, const ImplementationResult& row,
                                  const ImplementationResult* reference, const Rates& rates);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/judge-inl.hpp"
#endif
