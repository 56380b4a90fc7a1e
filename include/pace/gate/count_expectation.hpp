// Count expectations: gates on what one call does, counted exactly. They have no noise, so they are never undecided.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/expectation.hpp"

namespace pace {

/// A gate on a count of one call. Made by the six classes below; a plain value like Expectation, to state before a
/// run or to judge any row (the baseline's too). `passed` or `failed`; `invalid` where nothing was counted.
class CountExpectation : public gate::Matchable<CountExpectation> {
 public:
  [[nodiscard]] std::string describe() const { return "count of " + limit_text(); }

  [[nodiscard]] Judgement judge(const ImplementationResult& row) const {
    if (auto early = gate::judge_without_figures({.quantity = gate::Quantity::time}, row, nullptr)) {
      early->expectation = describe();
      if (early->verdict != Verdict::failed) early->verdict = Verdict::invalid;
      early->acceptable = false;
      return *early;
    }
    Judgement judgement{.expectation = describe()};
    const std::string own = '\'' + row.name + '\'';
    if (!row.counts) {
      judgement.message = own + " has no count of " + noun(2) + ": " +
                          (row.why_uncounted.empty() ? "it was not counted" : row.why_uncounted);
      return judgement;
    }
    const std::int64_t count = (*row.counts).*which_;
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

 protected:
  /// Throws Error if the limit is negative.
  CountExpectation(std::int64_t CallCounts::* which, const char* verb, const char* one, const char* many,
                   std::int64_t limit, bool exactly)
      : which_(which), verb_(verb), one_(one), many_(many), limit_(limit), exactly_(exactly) {
    if (limit < 0) throw Error(std::string("a count of ") + many + " must be at least 0");
  }

 private:
  [[nodiscard]] std::string noun(std::int64_t count) const { return count == 1 ? one_ : many_; }
  [[nodiscard]] std::string limit_text() const {
    return (exactly_ ? "exactly " : "at most ") + std::to_string(limit_) + ' ' + noun(limit_);
  }

  std::int64_t CallCounts::* which_;
  const char *verb_, *one_, *many_;
  std::int64_t limit_;
  bool exactly_;
};

namespace gate {

struct CountOperators : CountExpectation {
  CountOperators(std::int64_t limit, bool exactly)
      : CountExpectation(&CallCounts::operator_calls, "makes", "operator call", "operator calls", limit, exactly) {}
};
struct CountAllocations : CountExpectation {
  CountAllocations(std::int64_t limit, bool exactly)
      : CountExpectation(&CallCounts::allocations, "makes", "allocation", "allocations", limit, exactly) {}
};
struct CountBytes : CountExpectation {
  CountBytes(std::int64_t limit, bool exactly)
      : CountExpectation(&CallCounts::bytes_allocated, "allocates", "byte", "bytes", limit, exactly) {}
};

}  // namespace gate

/// LibTorch's operators that one call calls, without what these call in turn.
struct OperatorCallsAtMost : gate::CountOperators {
  explicit OperatorCallsAtMost(std::int64_t limit) : CountOperators(limit, false) {}
};
struct OperatorCallsExactly : gate::CountOperators {
  explicit OperatorCallsExactly(std::int64_t count) : CountOperators(count, true) {}
};
/// Blocks that one call takes from LibTorch's CPU allocator, outputs included.
struct AllocationsAtMost : gate::CountAllocations {
  explicit AllocationsAtMost(std::int64_t limit) : CountAllocations(limit, false) {}
};
struct AllocationsExactly : gate::CountAllocations {
  explicit AllocationsExactly(std::int64_t count) : CountAllocations(count, true) {}
};
/// Bytes of these blocks, all together, whether or not they are freed within the call.
struct BytesAllocatedAtMost : gate::CountBytes {
  explicit BytesAllocatedAtMost(std::int64_t limit) : CountBytes(limit, false) {}
};
struct BytesAllocatedExactly : gate::CountBytes {
  explicit BytesAllocatedExactly(std::int64_t count) : CountBytes(count, true) {}
};

/// A count expectation, and the candidate that it was stated for; empty: every candidate.
struct StatedCount {
  std::string candidate;
  CountExpectation expectation;
};

}  // namespace pace
