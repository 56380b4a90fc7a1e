// enter_counts: the counts of one call, if all calls on the same operands agree.
#pragma once

#include <cstdint>
#include <string>

#include "pace/base/function_ref.hpp"
#include "pace/result/result.hpp"
#include "pace/verify/candidate_audit.hpp"

namespace pace::detail {

[[nodiscard]] inline std::string describe(const CallCounts& counts) {
  return std::to_string(counts.operator_calls) + " operator calls and " + std::to_string(counts.bytes_allocated) +
         " bytes allocated";
}

/// Enters `given`, the counts of a call on the values given, into `found`, or why there are none. If `other`, the
/// counts of another call, differ, or its peak does, `again()` must repeat `given`. `in_a_row(calls)` must count
/// `calls` times `given`. `calls` is 0 if a call changes what the next one does.
inline void enter_counts(const CallCounts& given, const CallCounts& other, FunctionRef<CallCounts()> again,
                         std::int64_t calls, FunctionRef<CallCounts(std::int64_t)> in_a_row, Examination& found) {
  CallCounts agreed = given;
  std::string why;
  if (other != given || other.peak_bytes != given.peak_bytes) {
    const CallCounts repeated = again();
    if (repeated != given) {
      found.why_uncounted =
          "its calls differ on the same operands (" + describe(given) + ", then " + describe(repeated) + ')';
      return;
    }
    if (repeated.peak_bytes != given.peak_bytes) {
      // Threads that allocate side by side need not do so at the same moments.
      const auto text = [](const CallCounts& one) { return std::to_string(one.peak_bytes.value_or(0)) + " bytes"; };
      why = "the peaks of its calls differ on the same operands (" + text(given) + ", then " + text(repeated) + ')';
      agreed.peak_bytes.reset();
    }
  }
  if (calls > 0)
    if (const CallCounts all = in_a_row(calls); all != calls * given) {
      found.why_uncounted = "a single call counts " + describe(given) + ", and " + std::to_string(calls) +
                            " calls in a row " + describe(all);
      return;
    }
  found.counts = agreed;
  found.why_uncounted = why;
}

}  // namespace pace::detail
