// Counts of calls, and candidates that do less on values which they have seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "pace/audit/context.hpp"
#include "pace/audit/findings.hpp"
#include "pace/audit/kept_operands.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/call_counter.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/verify/observed_call.hpp"

namespace pace::detail {

/// Enters into `found` the counts of one call, if they are the same whenever the operands are, and a fault or a note if
/// calls do less on values that were seen before. `unseen` and `given` are calls on unseen values and on those given.
inline void count_calls(AuditContext& audit, Implementation& implementation, const ObservedCall& unseen,
                        const ObservedCall& given, Examination& found) {
  const auto text_of = [](const CallCounts& counts) {
    return std::to_string(counts.operator_calls) + " operator calls and " + std::to_string(counts.bytes_allocated) +
           " bytes allocated";
  };
  found.counts = given.counts;
  if (unseen.counts != given.counts) {
    const ObservedCall again = audit.call(implementation, nullptr);
    if (again.counts != given.counts) {
      found.counts.reset();
      found.why_uncounted =
          "its calls differ on the same operands (" + text_of(given.counts) + ", then " + text_of(again.counts) + ')';
    }
  }
  if (found.counts && !audit.calls_add_up()) {
    // Calls that come back to back can be told apart from single ones.
    const auto calls = 2 + static_cast<std::int64_t>(audit.random.below(3));
    write_values(audit.operands, nullptr, 0);
    const CallCounts all = count_in_a_row(implementation, calls);
    if (all != calls * given.counts) {
      found.counts.reset();
      found.why_uncounted = "a single call counts " + text_of(given.counts) + ", and " + std::to_string(calls) +
                            " calls in a row " + text_of(all);
    }
  }
  if (!audit.answers->takes_unseen() || !audit.is_strict()) return;
  // More on unseen values, every time, and less as soon as they are known: part of the answer is kept.
  const auto values = audit.answers->unseen().operands->clone();
  const auto tensors = values->tensors();
  CallCounts first, second;
  const auto counts_of_call = [&](std::span<const std::size_t> kept) {
    write_values(tensors, audit.operands.tensors[0], kept);
    const OnOtherValues other = audit.unseen_in_use();
    return observe_call(implementation, audit.seed_of(true), audit.answers->given.output).counts;
  };
  // An honest implementation may take turns between algorithms: of up to four, one of the calls after takes the turn of
  // the call on unseen values. A random number of calls lies between the trials for those that take more.
  const auto does_less_with = [&](std::span<const std::size_t> kept) {
    constexpr int trials = 3, calls_after = 4;
    for (int trial = 0; trial < trials; ++trial) {
      for (std::size_t between = audit.random.below(5); between > 0; --between) (void)counts_of_call(kept);
      audit.source->draw(audit.answers->unseen().renewal, tensors, kept);
      first = counts_of_call(kept);
      for (int after = 0; after < calls_after; ++after) {
        second = counts_of_call(kept);
        if (first.operator_calls <= second.operator_calls && first.bytes_allocated <= second.bytes_allocated)
          return false;
      }
    }
    return true;
  };
  if (!does_less_with(audit.operands.keeps)) return;
  const std::string on_both =
      " (" + text_of(first) + " on unseen values, " + text_of(second) + " on the same ones again)";
  if (const auto kept = find_kept_operands(audit, does_less_with); !kept.empty())
    found.note = audit.note_on_kept_operands(implementation, kept);
  else
    found.problem = "it does less on values that it has seen before" + on_both + ": it keeps answers. " +
                    AuditContext::keeps_hint();
}
}  // namespace pace::detail
