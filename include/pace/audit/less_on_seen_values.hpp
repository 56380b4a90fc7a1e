// Less on seen values: candidates whose calls do less on values that they have seen before.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "pace/audit/context.hpp"
#include "pace/audit/kept_operands.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/verify/call_counts.hpp"
#include "pace/verify/candidate_audit.hpp"
#include "pace/verify/observed_call.hpp"

namespace pace::detail {

/// Compares counts of calls on unseen values and on the same values again. If the first ones are always larger, part of
/// the answer is kept: enters a fault, or a note if an operand explains it.
inline void find_less_on_seen_values(AuditContext& context, Implementation& implementation, Examination& found) {
  const auto values = context.answers->unseen().operands->clone();
  const auto tensors = values->tensors();
  CallCounts first, second;
  const auto counts_of_call = [&](std::span<const std::size_t> kept) {
    write_values(tensors, context.operands.tensors[0], kept);
    const UnseenValuesInUse in_use = context.unseen_in_use();
    return observe_call(implementation, context.seed_of(true), context.answers->given.output).counts;
  };
  // An honest implementation may take turns between algorithms. With up to four, a later call takes the first one's
  // turn. Random calls between the trials serve those with more.
  const auto does_less_with = [&](std::span<const std::size_t> kept) {
    constexpr int trials = 3, calls_after = 4;
    for (int trial = 0; trial < trials; ++trial) {
      for (std::size_t between = context.random.below(5); between > 0; --between) (void)counts_of_call(kept);
      context.source->draw(context.answers->unseen().kind, tensors, kept);
      first = counts_of_call(kept);
      for (int after = 0; after < calls_after; ++after) {
        second = counts_of_call(kept);
        if (first.operator_calls <= second.operator_calls && first.bytes_allocated <= second.bytes_allocated)
          return false;
      }
    }
    return true;
  };
  if (!does_less_with(context.operands.constant)) return;
  const std::string on_both =
      " (" + describe(first) + " on unseen values, " + describe(second) + " on the same ones again)";
  if (const auto kept = find_kept_operands(context, does_less_with); !kept.empty()) {
    found.keeps = true;
    found.notes.push_back(context.note_on_kept_operands(implementation, kept));
  } else {
    found.problem =
        "it does less on values that it has seen before" + on_both + ": it keeps answers" + AuditContext::keeps_hint();
  }
}

}  // namespace pace::detail
