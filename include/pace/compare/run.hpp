// run_comparison: from a plan to a published result.
#pragma once

#include "pace/base/config.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/plan.hpp"

namespace pace::timing {
class Clock;
}

namespace pace::detail {

/// Checks, measures and judges. Publishes the result to the listeners of run_context(), and returns it. Throws Error if
/// the plan is ill-formed. Times by the wall clock, or by the clocks of the operands' GPU.
[[nodiscard]] Result run_comparison(const ComparisonPlan& plan);
/// The same by `clock`.
[[nodiscard]] Result run_comparison(const ComparisonPlan& plan, timing::Clock& clock);

}  // namespace pace::detail

#ifdef PACE_HEADER_ONLY
#include "pace/compare/run-inl.hpp"
#endif
