// AsExpected: correct, and everything that the comparison itself expects holds.
#pragma once

#include <string>

#include "pace/core/result.hpp"
#include "pace/gate/correct.hpp"

namespace pace {

/// Catch2 matcher for a Result whose comparison stated expectations (Comparison::expect): every implementation is
/// Correct, and no judgement closes the gate.
class AsExpected {
 public:
  bool match(const Result& result) const {
    const Correct correct;
    problems_ = correct.match(result) ? "" : '\n' + correct.toString();
    look_at(result);
    for (const auto& phase : result.phases) look_at(phase);
    return problems_.empty();
  }
  [[nodiscard]] std::string toString() const { return problems_.empty() ? "is as expected" : problems_; }

 private:
  void look_at(const Result& result) const {
    for (const auto& each : result.implementations)
      for (const auto& judgement : each.judgements)
        // What is wrong or did not run has been named already.
        if (!judgement.acceptable && each.outcome == Outcome::measured)
          problems_ += std::string("\n") + to_string(judgement.verdict) + ": " +
                       (result.phase.empty() ? "" : "of its " + result.phase + " phase, ") + judgement.message;
  }

  mutable std::string problems_;
};

}  // namespace pace
