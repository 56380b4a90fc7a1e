// Subjects: real CPU work of 100 to 200 us, and the same with a known share of work added.
#pragma once

#include <cstddef>
#include <optional>

#include "pace/core/options.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/expectation.hpp"

namespace pace::selftest {

/// Kinds of work: arithmetic, a product, a copy.
inline constexpr std::size_t subjects = 3;

/// What is compared with a "baseline" that does a subject's work once.
struct Candidate {
  const char* name = "candidate";
  /// The share of that work which is done once more; what comes out does not depend on it. Both sides are the same
  /// machine code, called with another number, so that nothing but the work differs.
  double extra = 0;
  std::optional<Expectation> expectation = std::nullopt;
};

/// Runs a comparison of the subject of kind `which` modulo `subjects`, whose name the result has.
[[nodiscard]] Result compare_subject(std::size_t which, const Options& options, const Candidate& candidate = {});

}  // namespace pace::selftest
