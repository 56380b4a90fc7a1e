// How a count is judged.
#pragma once

#include "pace/gate/count_expectation.hpp"

#include <cstdint>
#include <string>

#include "pace/gate/judge.hpp"

namespace pace {

PACE_INLINE Judgement CountExpectation::judge(const ImplementationResult& row) const {
  Judgement judgement;
  if (gate::judge_without_figures({.quantity = gate::Quantity::time}, row, nullptr, judgement)) {
    judgement.expectation = describe();
    if (judgement.verdict != Verdict::failed) judgement.verdict = Verdict::invalid;
    judgement.acceptable = false;
    return judgement;
  }
  judgement = {.expectation = describe()};
  const std::string own = '\'' + row.name + '\'';
  const auto counted = count_(row);
  if (!counted) {
    const std::string& why = on_device_ ? not_on_a_gpu() : row.why_uncounted;
    judgement.message = own + " has no count of " + noun(2) + ": " + (why.empty() ? "it was not counted" : why);
    return judgement;
  }
  const std::int64_t count = *counted;
  const bool holds = exactly_ ? count == limit_ : count <= limit_;
  judgement.verdict = holds ? Verdict::passed : Verdict::failed;
  judgement.acceptable = holds;
  judgement.message = own + ' ' + verb_ + ' ' + std::to_string(count) + ' ' + noun(count) + " in one call";
  if (!holds) {
    const std::int64_t off = count > limit_ ? count - limit_ : limit_ - count;
    judgement.message += ", " + std::to_string(off) + (count > limit_ ? " more" : " fewer") + " than expected";
  }
  judgement.message += " (" + limit_text() + ')';
  return judgement;
}

}  // namespace pace
