// settle_without_measuring: refusals, and comparisons that this run passes over.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/compare/pass_over.hpp"
#include "pace/compare/without_runner.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/plan.hpp"

namespace pace::detail {

/// Throws Error for a gate on a mean or a quantile if several processes decide together. Their test is about centres of
/// log ratios, and each process alone would spend the whole error rate.
inline void refuse_for_processes(const ComparisonPlan& plan) {
  if (!run_context().defers_judgements) return;
  for (const auto& [implementation, expectation] : plan.stated)
    if (expectation.is_of_time() && (expectation.demand().about == gate::Statistic::mean ||
                                     expectation.demand().about == gate::Statistic::quantile))
      throw Error("comparison '" + plan.name + "': a " + expectation.describe() +
                  " cannot be judged by several processes (--processes); expected NoSlowerThan or one process");
}

/// Throws Error for an error rate of the comparison or an expectation, if the run has one for all gates.
inline void refuse_own_rates(const ComparisonPlan& plan) {
  const auto& context = run_context();
  if (context.suite_budget == nullptr) return;
  const auto refuse = [&](const std::string& what) {
    throw Error("comparison '" + plan.name + "': " + what +
                ", which does not go with --suite-alpha, the error rate of all gates of the run; expected one of them");
  };
  if (plan.options.alpha != context.options.alpha)
    refuse("its options have an alpha of their own (" + format_percent(plan.options.alpha) + ')');
  for (const auto& [implementation, expectation] : plan.stated)
    if (expectation.is_of_time() && expectation.demand().alpha)
      refuse("a " + expectation.describe() + " has an error rate of its own (.alpha())");
}

/// The inputs of the comparisons of this process, by their name.
[[nodiscard]] inline std::map<std::string, std::set<std::string>>& inputs_by_name() {
  static std::map<std::string, std::set<std::string>> inputs;
  return inputs;
}

/// Whether comparisons of this process used this name for several inputs.
[[nodiscard]] inline bool repeats_name(const std::string& name) { return inputs_by_name()[name].size() > 1; }

/// Returns the result of a comparison that RunContext::cases passes over; nothing if it is to be measured. Throws Error
/// for a plan that is ill-formed, or that this run cannot judge.
[[nodiscard]] inline std::optional<Result> settle_without_measuring(const ComparisonPlan& plan) {
  validate(plan);
  prepare_without_runner();
  refuse_for_processes(plan);
  refuse_own_rates(plan);
  inputs_by_name()[plan.name].insert(plan.describe_inputs());
  return pass_over(plan);
}

}  // namespace pace::detail
