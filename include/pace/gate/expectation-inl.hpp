// How an expectation is judged.
#pragma once

#include "pace/gate/expectation.hpp"

#include <vector>

#include "pace/gate/evidence.hpp"
#include "pace/gate/judge.hpp"

namespace pace {

PACE_INLINE Judgement Expectation::judge_replicates(const ImplementationResult& row,
                                                    const std::vector<double>& centres) const {
  auto demand = demand_.with(row.context.allowance);
  demand.method = gate::Method::replicates;
  return gate::judge_observations(demand, row.name, row.context, centres, gate::weigh(centres, demand),
                                  {row.context.alpha, row.context.beta});
}

PACE_INLINE Judgement Expectation::judge(const ImplementationResult& row) const {
  return gate::judge_row(demand_.with(row.context.allowance), row, nullptr, {row.context.alpha, row.context.beta});
}

}  // namespace pace
