// Definitions of judged.hpp; see base/config.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pace/base/cut_text.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/report/judged.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"

namespace pace::report {

PACE_INLINE int badness(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return 0;
    case Verdict::undecided:
      return 1;
    case Verdict::invalid:
      return 2;
    case Verdict::failed:
      return 3;
  }
  return 4;
}

PACE_INLINE std::optional<Verdict> worst_verdict(const ImplementationResult& result) {
  std::optional<Verdict> worst;
  for (const auto& judgement : result.judgements)
    if (!worst || badness(judgement.verdict) > badness(*worst)) worst = judgement.verdict;
  return worst;
}

PACE_INLINE std::optional<bool> is_correct(const ImplementationResult& result) {
  if (result.outcome == Outcome::wrong) return false;
  if (result.outcome == Outcome::measured && result.checked) return true;
  return std::nullopt;
}

PACE_INLINE std::string all_messages(const ImplementationResult& result) {
  std::string text = result.message;
  for (const auto& judgement : result.judgements) {
    if (judgement.verdict == Verdict::passed) continue;
    if (!text.empty()) text += "; ";
    text += judgement.message;
  }
  return text;
}

PACE_INLINE std::string warning_of(const std::string& comparison, const ImplementationResult& row,
                                   const Judgement& judgement) {
  if (!judgement.acceptable || judgement.verdict == Verdict::passed) return "";
  return printable((comparison.empty() ? "" : comparison + ", ") + row.name + ": " + judgement.expectation + ": " +
                   to_string(judgement.verdict) + ", let through: " + cut_text(in_one_line(judgement.message)));
}

PACE_INLINE std::vector<std::string> warnings_of(const Result& result) {
  const std::string name = case_name(result);
  std::vector<std::string> lines;
  for (const auto& disturbance : result.conditions.disturbances)
    lines.push_back(printable(name + ": no verdict: " + cut_text(disturbance)));
  if (result.stop_reason == StopReason::deadline)
    lines.push_back(printable(name + ": the rounds ended early, for want of time"));
  std::string unreached;
  for (const auto& row : result.implementations) {
    if (row.outcome == Outcome::unreached) unreached = row.message;
    if (row.outcome == Outcome::measured && row.warm_up_iterations > 0 && !row.warmed_up)
      lines.push_back(printable(name + ", " + row.name + ": its times had not settled when the warm-up ended"));
    for (const auto& judgement : row.judgements)
      if (const auto line = warning_of(name, row, judgement); !line.empty()) lines.push_back(line);
  }
  if (!unreached.empty()) lines.push_back(printable(name + ": not measured: " + cut_text(unreached)));
  return lines;
}

}  // namespace pace::report
