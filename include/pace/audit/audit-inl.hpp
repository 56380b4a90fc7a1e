// Definitions of audit.hpp.
#pragma once

#include "pace/audit/audit.hpp"

#include <memory>

#include "pace/audit/audit_driver.hpp"
#include "pace/audit/untouched_baseline.hpp"
#include "pace/subject/plan.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Owns the untouched baseline, which forks at construction. The driver refers to it.
class ForkedAudit final : public PendingAudit {
 public:
  ForkedAudit(timing::Clock& clock, const ComparisonPlan& plan, BaselineSamples samples)
      : clock_(clock), untouched_(clock, plan, samples) {}
  [[nodiscard]] std::unique_ptr<CandidateAudit> begin(const Prepared& prepared) override {
    return std::make_unique<AuditDriver>(clock_, prepared, untouched_);
  }

 private:
  timing::Clock& clock_;
  UntouchedBaseline untouched_;
};

PACE_INLINE std::unique_ptr<PendingAudit> start_audit(timing::Clock& clock, const ComparisonPlan& plan,
                                                      BaselineSamples samples) {
  return std::make_unique<ForkedAudit>(clock, plan, samples);
}

}  // namespace pace::detail
