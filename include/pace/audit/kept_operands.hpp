// Kept operands: those that an implementation keeps something for, such as packed weights.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/audit/context.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/check/outputs.hpp"
#include "pace/unseen/answers.hpp"

namespace pace::detail {

/// Whether the baseline's outputs on two draws differ while the operand tensors `kept` stay equal. True if it does not
/// take a draw.
[[nodiscard]] inline bool answer_changes_beside(AuditContext& context, std::span<const std::size_t> kept) {
  std::optional<UnseenAnswers> first;
  for (const bool again : {false, true}) {
    const auto values = context.answers->unseen().operands->clone();
    auto tensors = values->tensors();
    context.source->draw(context.answers->unseen().kind, tensors, kept);
    auto answered = context.answers->baseline_output_for(context.baseline(), tensors, context.answers->unseen().seed);
    context.repair(0);
    if (!answered) return true;
    if (!again) {
      first = std::move(answered);
      continue;
    }
    const auto options = without_reference(context.answers->options);
    if (!check::outputs_match(first->expected.output, answered->expected.output, options).correct) return true;
    for (const std::size_t each : context.operands.mutated)
      if (!check::outputs_match(first->expected.operands[each], answered->expected.operands[each], options).correct)
        return true;
  }
  return false;
}

/// An implementation may keep something for some operands, such as packed weights, if unseen values of the others still
/// have to be computed. `effect_with(kept)` tells whether an effect shows while these keep their values. Returns the
/// fewest operands, beside declared ones, with which it is gone; nothing if there are none. If the others do not change
/// the output, keeping these is keeping the answer.
[[nodiscard]] inline std::vector<std::size_t> find_kept_operands(
    AuditContext& context, FunctionRef<bool(std::span<const std::size_t>)> effect_with) {
  constexpr std::size_t most_tried = 8;
  std::vector<std::size_t> undeclared;
  for (const std::size_t each : context.source->positions())
    if (std::ranges::find(context.operands.constant, each) == context.operands.constant.end())
      undeclared.push_back(each);
  // Operands that calls write to change with each call.
  const auto may_stay = [&](std::vector<std::size_t> of) {
    std::erase_if(of, [&](std::size_t each) { return context.operands.may_change(each); });
    return of;
  };
  const auto shows_with = [&](std::vector<std::size_t> kept) {
    kept.insert(kept.end(), context.operands.constant.begin(), context.operands.constant.end());
    return effect_with(kept);
  };
  const auto all_but = [](std::vector<std::size_t> of, std::size_t one) {
    std::erase(of, one);
    return of;
  };
  if (undeclared.size() < 2) return {};
  for (std::size_t tried = 0; tried < std::min(undeclared.size(), most_tried); ++tried) {
    auto kept = may_stay(all_but(undeclared, undeclared[tried]));
    if (kept.empty() || shows_with(kept)) continue;
    for (const std::size_t each : undeclared)
      if (kept.size() > 1 && kept.size() <= most_tried && !shows_with(all_but(kept, each))) kept = all_but(kept, each);
    // as of calls that only write to the others
    if (!answer_changes_beside(context, kept)) return {};
    return kept;
  }
  return {};
}
}  // namespace pace::detail
