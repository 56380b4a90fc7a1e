// Correct and AsExpected: matchers for whole results.
#pragma once

#include "pace/base/config.hpp"
#include "pace/gate/matcher.hpp"
#include "pace/result/result.hpp"

namespace pace {

/// Matcher for a whole Result or one implementation, which must have run with the baseline's outputs. One that threw,
/// was refused or was never compared is not correct. One that was not reached in time is let through; the exit code
/// shows it (pace::RunAccount). `!Correct()` is met by an implementation that ran and is not correct.
class Correct : public Matcher<Correct> {
 public:
  /// Returns the match of all implementations of `result`.
  [[nodiscard]] MatchResult examine(const Result& result) const;
  /// Returns the match of one implementation.
  [[nodiscard]] MatchResult examine(const ImplementationResult& row) const;
};

/// Matcher for the Result of a comparison with expectations (Comparison::expect). Every implementation must be Correct,
/// and no judgement may close the gate, on the whole or on a phase. Deferred judgements (`--processes`) close no gate.
class AsExpected : public Matcher<AsExpected> {
 public:
  /// Returns the match of `result` with its phases.
  [[nodiscard]] MatchResult examine(const Result& result) const;
};

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/result_matchers-inl.hpp"
#endif
