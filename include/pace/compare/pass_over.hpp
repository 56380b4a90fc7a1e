// pass_over: leaves out the comparisons that RunContext::cases passes over.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "pace/result/result.hpp"
#include "pace/run/planned_case.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/plan.hpp"

namespace pace::detail {

/// Describes the comparison before it is measured.
[[nodiscard]] inline PlannedCase describe(const ComparisonPlan& plan) {
  PlannedCase planned{.name = plan.name, .inputs = plan.describe_inputs()};
  double warm_ups = 0;
  for (const auto& each : plan.implementations) {
    planned.implementations.insert(each.is_baseline ? planned.implementations.begin() : planned.implementations.end(),
                                   each.name);
    warm_ups += each.make != nullptr ? 1 : 0;
  }
  for (const auto& [candidate, expectation] : plan.stated)
    planned.expectations.push_back((candidate.empty() ? "" : candidate + ": ") + expectation.describe());
  const Options& options = plan.options;
  planned.budget = (plan.stated.empty() ? options.budget : std::max(options.budget, options.least_duration)) +
                   warm_ups * options.warm_up;
  planned.audit = options.audit;
  return planned;
}

/// Returns the result of a comparison that is passed over; nothing if it is to be measured.
[[nodiscard]] inline std::optional<Result> pass_over(const ComparisonPlan& plan) {
  if (run_context().cases == nullptr) return std::nullopt;
  std::string why = run_context().cases->passes_over(describe(plan));
  if (why.empty()) return std::nullopt;
  Result result;
  result.name = plan.name;
  result.inputs = plan.describe_inputs();
  result.seed = plan.options.seed;
  for (const auto& each : plan.implementations) {
    auto& row = result.implementations.emplace_back();
    row.name = each.name;
    row.is_baseline = each.is_baseline;
    row.outcome = Outcome::unreached;
    row.message = why;
  }
  result.passed_over = std::move(why);
  return result;
}

}  // namespace pace::detail
