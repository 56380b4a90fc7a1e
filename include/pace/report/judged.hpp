// One word for several judgements, and one text for whatever is not fine.
#pragma once

#include <optional>
#include <string>

#include "pace/core/result.hpp"

namespace pace::report {

/// How bad a verdict is, where one word stands for several: failed, invalid, undecided, passed.
[[nodiscard]] inline int badness(Verdict verdict) {
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

/// The worst verdict of the implementation's judgements; empty if nothing was expected of it.
[[nodiscard]] inline std::optional<Verdict> worst_verdict(const ImplementationResult& result) {
  std::optional<Verdict> worst;
  for (const auto& judgement : result.judgements)
    if (!worst || badness(judgement.verdict) > badness(*worst)) worst = judgement.verdict;
  return worst;
}

/// Whether the outputs are known to be right (true) or wrong (false); empty if they were never compared.
[[nodiscard]] inline std::optional<bool> is_correct(const ImplementationResult& result) {
  if (result.outcome == Outcome::wrong) return false;
  if (result.outcome == Outcome::measured && result.checked) return true;
  return std::nullopt;
}

/// Why the outcome is not `measured`, then each judgement that did not pass; separated by "; ".
[[nodiscard]] inline std::string all_messages(const ImplementationResult& result) {
  std::string text = result.message;
  for (const auto& judgement : result.judgements) {
    if (judgement.verdict == Verdict::passed) continue;
    if (!text.empty()) text += "; ";
    text += judgement.message;
  }
  return text;
}

}  // namespace pace::report
