// Correct and AsExpected: matchers of whole results.
#pragma once

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/matcher.hpp"

namespace pace {

/// Matcher for a whole Result or for one implementation of it: it ran and computed what the baseline computes. An
/// implementation that threw, was refused or was never compared is not correct either. One that the program's time did not
/// suffice for is not incorrect: it is let through, and the program's exit code says so (see pace::RunAccount).
/// `!Correct()` asks for one that ran and is not correct.
class Correct : public Matcher<Correct> {
 public:
  [[nodiscard]] MatchResult examine(const Result& result) const;
  [[nodiscard]] MatchResult examine(const ImplementationResult& row) const;
};

/// Matcher for the Result of a comparison that stated expectations (Comparison::expect): every implementation is Correct,
/// and no judgement closes the gate, in no phase either. In one of several processes, which decide together
/// (`--processes`), judgements that are deferred to all of them close nothing.
class AsExpected : public Matcher<AsExpected> {
 public:
  [[nodiscard]] MatchResult examine(const Result& result) const;
};

}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/gate/result_matchers-inl.hpp"
#endif
