// SuiteBudget: one error rate for all gates of a run (--suite-alpha), and the part of one comparison.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace pace {

/// Error rate of all gates of one run together, and how many comparisons have a part of it. See gate/suite_share.hpp
/// for the parts.
struct SuiteBudget {
  /// Probability that any false claim of the run passes or any guard that holds fails.
  double alpha = 0;
  /// Number of comparisons that have a part, in the order in which they got it.
  std::size_t gated = 0;
};

/// The part of one comparison, which all rows of its result and their copies share. Not thread-safe.
struct ComparisonBudget {
  std::shared_ptr<SuiteBudget> suite;  ///< budget of the run; never null
  /// Place of the comparison among those that have a part, from 1; 0: it has none yet, since nothing judges it.
  std::size_t gate_number = 0;
  /// Demands of matchers on the finished result, in the order in which each was matched first.
  std::vector<std::string> matched = {};
};

}  // namespace pace
