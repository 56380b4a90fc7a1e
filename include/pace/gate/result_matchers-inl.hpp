// How Correct and AsExpected examine a result.
#pragma once

#include "pace/gate/result_matchers.hpp"

#include <string>

#include "pace/base/cut_text.hpp"

namespace pace {

namespace detail {

/// Faults and open questions of implementations, one line each.
struct Findings {
  std::string problems, unreached;
  bool refuted = false;

  void look_at(const ImplementationResult& row) {
    row.examined->outcome = true;
    refuted = refuted || at_fault(row.outcome);
    if (row.outcome == Outcome::unreached) {
      unreached += "\n  '" + row.name + "' was not measured: " + cut_text(row.message);
    } else if (row.outcome != Outcome::measured) {
      problems += "\n  '" + row.name + "' " + to_string(row.outcome) + ": " + cut_text(row.message);
    } else if (!row.checked) {
      problems += "\n  '" + row.name + "' was not checked: " +
                  (row.context.has(Severity::unproven) ? row.context.describe(Severity::unproven)
                                                       : "its outputs hold nothing that can be compared");
    }
  }
  [[nodiscard]] MatchResult match() const {
    if (!problems.empty()) return {false, refuted, "was expected to be correct, but:" + problems};
    return {true, refuted, unreached.empty() ? "is correct" : "is not known to be incorrect:" + unreached};
  }
};

/// Appends the judgements of `result` that close the gate to `problems`, one line each. Returns whether one failed.
[[nodiscard]] inline bool add_closed(const Result& result, std::string& problems) {
  bool failed = false;
  for (const auto& row : result.implementations) {
    row.examined->judgements = true;
    for (const auto& judgement : row.judgements) {
      if (judgement.deferred) continue;
      failed = failed || judgement.verdict == Verdict::failed;
      // Wrong implementations, and those that did not run, are listed already. One that was not reached proves no
      // claim.
      if (!judgement.acceptable && (row.outcome == Outcome::measured || row.outcome == Outcome::unreached))
        problems += std::string("\n") + to_string(judgement.verdict) + ": " +
                    (result.phase.empty() || result.phase == host_phase ? "" : "of its " + result.phase + " phase, ") +
                    (row.examined->shown ? '\'' + row.name + "' was expected to have a " + judgement.expectation +
                                               "; the table above has the figures, and what to do"
                                         : cut_text(judgement.message));
    }
  }
  return failed;
}

}  // namespace detail

PACE_INLINE MatchResult Correct::examine(const Result& result) const {
  // Both met and refuted, so that its negation is met, too: a result without figures must fail nothing.
  if (!result.passed_over.empty()) return {true, true, "is not examined: " + result.passed_over};
  detail::Findings findings;
  for (const auto& row : result.implementations) findings.look_at(row);
  if (result.implementations.empty()) findings.problems = "\n  it has no implementations";
  if (!result.lost_device.empty()) findings.problems += "\n  its device was lost: " + cut_text(result.lost_device);
  return findings.match();
}

PACE_INLINE MatchResult Correct::examine(const ImplementationResult& row) const {
  detail::Findings findings;
  findings.look_at(row);
  return findings.match();
}

PACE_INLINE MatchResult AsExpected::examine(const Result& result) const {
  if (!result.passed_over.empty()) return Correct().examine(result);
  const MatchResult correct = Correct().examine(result);
  std::string problems = correct.met ? "" : '\n' + correct.text;
  bool refuted = detail::add_closed(result, problems) || correct.refuted;
  for (const auto& phase : result.phases) refuted = detail::add_closed(phase, problems) || refuted;
  return {problems.empty(), refuted, problems.empty() ? "is as expected" : problems};
}

}  // namespace pace
