// Validation and description of a ComparisonPlan.
#pragma once

#include "pace/subject/plan.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/utf8.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/text.hpp"

namespace pace::detail {

PACE_INLINE void ComparisonPlan::add(Planned implementation, std::vector<std::string> of_phases) {
  const bool first = std::none_of(implementations.begin(), implementations.end(),
                                  [](const auto& each) { return each.make != nullptr; });
  if (!first && of_phases != phases)
    throw Error("comparison '" + name + "': '" + implementation.name +
                "' has other phases than those before it; expected "
                "either training steps or plain callables");
  phases = std::move(of_phases);
  implementations.push_back(std::move(implementation));
}

PACE_INLINE void complain_of_null(const ComparisonPlan& plan, const std::string& which) {
  throw Error("comparison '" + plan.name + "': " + which +
              " is null; expected a function that can be called with the operands");
}

PACE_INLINE void check_by(ComparisonPlan& plan, check::CheckOptions::Method method, const std::string& name) {
  if (plan.check.method != check::CheckOptions::Method::allclose && plan.check.method != method)
    throw Error("comparison '" + plan.name + "': " + name +
                " and another method of check() or of a declaration exclude each other; expected one of them");
  plan.check.method = method;
}

PACE_INLINE std::string ComparisonPlan::describe_inputs() const {
  return inputs.empty() ? operands->describe() : inputs;
}

PACE_INLINE void validate(const ComparisonPlan& plan) {
  pace::validate(plan.options);
  const auto complain = [&](const std::string& what) { throw Error("comparison '" + plan.name + "': " + what); };
  const auto tensors = plan.operands->tensors();
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].layout() != at::kStrided || tensors[i].is_nested())
      complain("operand tensor " + std::to_string(i) + " (of " + std::to_string(tensors.size()) +
               ", counted from 0) is " + check::detail::layout_text(tensors[i]) + ", of shape " +
               check::detail::shape_text(tensors[i]) +
               "; expected dense, strided tensors; try: pass its parts as operands, such as indices and values, or let "
               "each function hold a tensor of its own");
  const auto declares = [&](const std::vector<std::size_t>& operands, const std::string& as) {
    for (const std::size_t i : operands)
      if (i >= tensors.size())
        complain("declares operand tensor " + std::to_string(i) + " (counted from 0) as " + as + "; expected " +
                 check::detail::numbers_below(tensors.size()));
  };
  declares(plan.scratch, "scratch");
  declares(plan.constant, "one that implementations may keep something of (constant)");
  for (const std::size_t i : plan.scratch)
    if (std::ranges::find(plan.constant, i) != plan.constant.end())
      complain("declares operand tensor " + std::to_string(i) +
               " by both scratch() and constant(); why: calls may overwrite a workspace, so that nothing of it stays; "
               "try: one of them");
  check::validate(plan.check);
  if (const auto baselines = std::ranges::count_if(plan.implementations, &Planned::is_baseline); baselines != 1)
    complain("needs exactly one baseline, and has " + (baselines == 0 ? "none" : std::to_string(baselines)) +
             "; try: call .baseline(name, function) once");
  for (auto each = plan.implementations.begin(); each != plan.implementations.end(); ++each)
    if (std::any_of(plan.implementations.begin(), each,
                    [&](const auto& other) { return valid_utf8(other.name) == valid_utf8(each->name); }))
      complain("has two implementations named '" + each->name + "'; each needs a name of its own");
  for (const auto& [what, amount] : {std::pair("bytes", plan.bytes), std::pair("flops", plan.flops)})
    if (amount && !(*amount >= 0 && std::isfinite(*amount)))
      complain(std::string(what) + " of one iteration must be a number from 0 on");
  const auto planned = [&](const std::string& name, bool as_candidate) {
    return std::any_of(plan.implementations.begin(), plan.implementations.end(),
                       [&](const auto& each) { return each.name == name && !(as_candidate && each.is_baseline); });
  };
  for (const auto& each : plan.reuse_outputs)
    if (!planned(each, false))
      complain("declares that '" + each + "' reuses its outputs, which is not one of its implementations");
  for (const auto& [candidate, expectation] : plan.stated) {
    const std::string& phase = expectation.phase();
    if (!phase.empty() && std::find(plan.phases.begin(), plan.phases.end(), phase) == plan.phases.end())
      complain("expects something of the phase '" + phase + "', which its iterations do not have");
    const bool of_time = expectation.is_of_time();
    if (!candidate.empty() && !planned(candidate, of_time))
      complain("expects something of '" + candidate + "', which is not one of its " +
               (of_time ? "candidates" : "implementations"));
    if (!of_time) continue;
    if (candidate.empty() && plan.implementations.size() == 1)
      complain("expects something of its candidates, and has none; try: add one by .candidate(name, function)");
    const std::string& reference = expectation.demand().reference;
    if (!reference.empty() && !planned(reference, false))
      complain("expects something to be faster than '" + reference + "', which is not one of its implementations");
    if (!candidate.empty() && candidate == reference) complain("expects '" + candidate + "' to be faster than itself");
  }
}

}  // namespace pace::detail
