// Parts of a run's error budget (--suite-alpha) for comparisons and matchers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>

#include "pace/result/suite_budget.hpp"
#include "pace/stats/multiplicity.hpp"

namespace pace::gate {

/// Share of a comparison's part for its own expectations (Comparison::expect). Matchers on its result have the rest.
/// The split is fixed beforehand, since a matcher may follow any result.
inline constexpr double stated_share = 0.5;

/// Returns the comparison's part of the run's budget, and gives it the next place if it has none.
[[nodiscard]] inline double part_of_suite(ComparisonBudget& budget) {
  if (budget.gate_number == 0) budget.gate_number = ++budget.suite->gated;
  return budget.suite->alpha * stats::spent_share(budget.gate_number);
}

/// Returns the error rate of all that the comparison states. Gives it a place as part_of_suite() does.
[[nodiscard]] inline double stated_alpha(ComparisonBudget& budget) { return stated_share * part_of_suite(budget); }

/// Returns the error rate of a matcher on the comparison's result. Gives the comparison a place as part_of_suite()
/// does. `demand` identifies the demand and its row. Equal texts have equal rates, since Catch2 matches a value again
/// for a failure's message.
[[nodiscard]] inline double matched_alpha(ComparisonBudget& budget, const std::string& demand) {
  auto& matched = budget.matched;
  const auto found = std::find(matched.begin(), matched.end(), demand);
  const auto place = static_cast<std::size_t>(found - matched.begin()) + 1;
  if (found == matched.end()) matched.push_back(demand);
  return (1 - stated_share) * part_of_suite(budget) * stats::spent_share(place);
}

}  // namespace pace::gate
