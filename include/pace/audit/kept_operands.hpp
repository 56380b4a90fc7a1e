// Operands for which an implementation keeps what it derives from them, such as packed weights.
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
#include "pace/verify/answers.hpp"

namespace pace::detail {

/// Whether the baseline's answers on two draws of unseen values differ, though operand tensors of the indices `kept`
/// have the same values in both; true where the baseline cannot be asked.
[[nodiscard]] inline bool answer_changes_beside(AuditContext& context, std::span<const std::size_t> kept) {
  std::optional<UnseenAnswers> first;
  for (const bool again : {false, true}) {
    const auto values = context.answers->unseen().operands->clone();
    auto tensors = values->tensors();
    context.source->draw(context.answers->unseen().renewal, tensors, kept);
    auto answered = context.answers->ask(context.baseline(), tensors, context.answers->unseen().seed);
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

/// An implementation may keep what it derives from some operands, such as packed weights, since its calls on other
/// values of the others have to compute. `effect_with(kept)` is whether an effect of unseen values shows if these
/// operands keep theirs. Returns the indices of a set of operands, beside the declared ones, without whose unseen
/// values the effect is gone, and as few of them as it takes; nothing if there is none. With one operand, or where the
/// others do not change the answer, keeping what is derived from them is keeping the answer.
[[nodiscard]] inline std::vector<std::size_t> find_kept_operands(
    AuditContext& context, FunctionRef<bool(std::span<const std::size_t>)> effect_with) {
  constexpr std::size_t most_tried = 8;
  std::vector<std::size_t> undeclared;
  for (const std::size_t each : context.source->positions())
    if (std::ranges::find(context.operands.keeps, each) == context.operands.keeps.end()) undeclared.push_back(each);
  // What calls write to has other values after each of them.
  const auto may_stay = [&](std::vector<std::size_t> of) {
    std::erase_if(of, [&](std::size_t each) { return context.operands.may_change(each); });
    return of;
  };
  const auto shows_with = [&](std::vector<std::size_t> kept) {
    kept.insert(kept.end(), context.operands.keeps.begin(), context.operands.keeps.end());
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
    // As of calls that only write to the other operands.
    if (!answer_changes_beside(context, kept)) return {};
    return kept;
  }
  return {};
}
}  // namespace pace::detail
