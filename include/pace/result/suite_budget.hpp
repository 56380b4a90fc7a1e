// SuiteBudget: one error rate for all gates of a run (--suite-alpha), and the part of one comparison.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace pace {

/// Error rate of all gates of a run, and the number of comparisons with a part of it. gate/suite_share.hpp divides it.
struct SuiteBudget {
  /// Probability that any false claim of the run passes or any guard that holds fails.
  double alpha = 0;
  /// Number of comparisons that have a part so far.
  std::size_t gated = 0;
};

/// Part of one comparison, shared by all rows of its result and their copies. Not thread-safe.
struct ComparisonBudget {
  std::shared_ptr<SuiteBudget> suite;  ///< budget of the run; never null
  /// Place of the comparison among those with a part, from 1; 0: none yet, since nothing has judged it.
  std::size_t gate_number = 0;
  /// Demands of matchers on the finished result, in the order of their first match.
  std::vector<std::string> matched = {};
};

}  // namespace pace
