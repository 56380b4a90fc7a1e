// Warnings: what must not be overlooked in a result although nothing failed, as lines of text.
#pragma once

#include <string>
#include <vector>

#include "pace/core/result.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/text.hpp"

namespace pace::report {

/// A gate that is open although nothing was proven: one line. Empty for every other.
[[nodiscard]] inline std::string warning_of(const std::string& comparison, const ImplementationResult& row,
                                            const Judgement& judgement) {
  if (!judgement.acceptable || judgement.verdict == Verdict::passed) return "";
  return printable((comparison.empty() ? "" : comparison + ", ") + row.name + ": " + judgement.expectation + ": " +
                   to_string(judgement.verdict) + ", let through: " + judgement.message);
}

/// One line each.
[[nodiscard]] inline std::vector<std::string> warnings_of(const Result& result) {
  std::vector<std::string> lines;
  for (const auto& disturbance : result.conditions.disturbances)
    lines.push_back(printable(result.name + ": no verdict: " + disturbance));
  if (result.stop_reason == StopReason::deadline)
    lines.push_back(printable(result.name + ": the rounds ended early, for want of time"));
  std::string unreached;
  for (const auto& row : result.implementations) {
    if (row.outcome == Outcome::unreached) unreached = row.message;
    if (row.outcome == Outcome::measured && row.warm_up_iterations > 0 && !row.warmed_up)
      lines.push_back(printable(result.name + ", " + row.name + ": its times had not settled when the warm-up ended"));
    for (const auto& judgement : row.judgements)
      if (const auto line = warning_of(result.name, row, judgement); !line.empty()) lines.push_back(line);
  }
  if (!unreached.empty()) lines.push_back(printable(result.name + ": not measured: " + unreached));
  return lines;
}

}  // namespace pace::report
