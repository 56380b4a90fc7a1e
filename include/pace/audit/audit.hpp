// start_audit: the checks of Audit::standard and Audit::strict.
#pragma once

#include <memory>

#include "pace/base/config.hpp"
#include "pace/subject/plan.hpp"
#include "pace/timing/clock.hpp"
#include "pace/verify/candidate_audit.hpp"

namespace pace::detail {

/// StartAudit for the level of `plan`. Forks the untouched baseline, where that is safe.
[[nodiscard]] std::unique_ptr<PendingAudit> start_audit(timing::Clock& clock, const ComparisonPlan& plan,
                                                        BaselineSamples samples);

}  // namespace pace::detail

#ifdef PACE_HEADER_ONLY
#include "pace/audit/audit-inl.hpp"
#endif
