// Several ranks: one process for each GPU, measured in lock-step.
//
//   const auto results = pace::ranks::run(2, [](pace::ranks::Rank& rank) {
//     const auto x = at::randn({1 << 20}, rank.gpu());
//     pace::ranks::compare(rank, "all-reduce", x).baseline("nccl", f).candidate("mine", g).run();
//   });
//   CHECK_THAT(results.at(0), pace::AsExpected());
#pragma once

#include "pace/compare.hpp"
#include "pace/ranks/comparison.hpp"
#include "pace/ranks/rank.hpp"
