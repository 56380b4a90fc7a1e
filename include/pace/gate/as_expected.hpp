// AsExpected: correct, and everything that the comparison itself expects holds.
#pragma once

#include <string>

#include "pace/core/judgement_hook.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/correct.hpp"
#include "pace/gate/matcher.hpp"

namespace pace {

/// Catch2 matcher for a Result whose comparison stated expectations (Comparison::expect): every implementation is
/// Correct, and no judgement closes the gate.
class AsExpected : public Matcher {
 public:
  bool match(const Result& result) const {
    const bool met = holds(result);
    if (!met && Correct().holds(result)) ++gates_found_closed();
    return met;
  }
  [[nodiscard]] bool holds(const Result& result) const {
    const Correct correct;
    problems_ = correct.holds(result) ? "" : '\n' + correct.toString();
    look_at(result);
    for (const auto& phase : result.phases) look_at(phase);
    return problems_.empty();
  }
  [[nodiscard]] bool fails(const Result& result) const {
    static_cast<void>(holds(result));
    if (Correct().fails(result) || has_failed(result)) return true;
    for (const auto& phase : result.phases)
      if (has_failed(phase)) return true;
    return false;
  }
  [[nodiscard]] std::string toString() const { return problems_.empty() ? "is as expected" : problems_; }

 private:
  [[nodiscard]] static bool has_failed(const Result& result) {
    for (const auto& each : result.implementations)
      for (const auto& judgement : each.judgements)
        if (judgement.verdict == Verdict::failed) return true;
    return false;
  }
  void look_at(const Result& result) const {
    for (const auto& each : result.implementations)
      for (const auto& judgement : each.judgements)
        // What is wrong or did not run has been named already; what was not reached proves no claim.
        if (!judgement.acceptable && (each.outcome == Outcome::measured || each.outcome == Outcome::unreached))
          problems_ += std::string("\n") + to_string(judgement.verdict) + ": " +
                       (result.phase.empty() ? "" : "of its " + result.phase + " phase, ") + judgement.message;
  }

  mutable std::string problems_;
};

}  // namespace pace
