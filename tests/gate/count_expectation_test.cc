#include "pace/gate/count_expectation.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>

#include "tests/gate/rows.hpp"

namespace {

using pace::Outcome;
using pace::Verdict;

pace::ImplementationResult counted(std::int64_t operators, std::int64_t allocations, std::int64_t bytes) {
  auto row = rows::measured("fused");
  row.counts = pace::CallCounts{operators, allocations, bytes};
  return row;
}

TEST_CASE("a count passes up to its limit and fails beyond it, and the message names both") {
  const auto row = counted(3, 1, 4096);
  CHECK(pace::OperatorCallsAtMost(3).judge(row).verdict == Verdict::passed);
  CHECK(pace::OperatorCallsAtMost(4).judge(row).verdict == Verdict::passed);
  const auto failed = pace::OperatorCallsAtMost(2).judge(row);
  CHECK(failed.verdict == Verdict::failed);
  CHECK_FALSE(failed.acceptable);
  CHECK(failed.expectation == "count of at most 2 operator calls");
  CHECK(failed.message ==
        "'fused' makes 3 operator calls in one call, 1 more than expected (at most 2 operator calls)");
  CHECK(pace::AllocationsAtMost(1).judge(row).message ==
        "'fused' makes 1 allocation in one call (at most 1 allocation)");
  CHECK(pace::AllocationsAtMost(0).judge(row).verdict == Verdict::failed);
  CHECK(pace::BytesAllocatedAtMost(4096).judge(row).verdict == Verdict::passed);
  CHECK(pace::BytesAllocatedAtMost(4095).judge(row).message ==
        "'fused' allocates 4096 bytes in one call, 1 more than expected (at most 4095 bytes)");
}

TEST_CASE("an exact count fails on both sides") {
  const auto row = counted(3, 1, 4096);
  CHECK(pace::OperatorCallsExactly(3).judge(row).verdict == Verdict::passed);
  CHECK(pace::OperatorCallsExactly(4).judge(row).message ==
        "'fused' makes 3 operator calls in one call, 1 fewer than expected (exactly 4 operator calls)");
  CHECK(pace::AllocationsExactly(0).judge(row).verdict == Verdict::failed);
  CHECK(pace::BytesAllocatedExactly(4096).judge(row).acceptable);
}

TEST_CASE("what a call asks of a GPU is counted apart, and only there") {
  auto row = counted(3, 1, 4096);
  CHECK(pace::KernelsAtMost(2).judge(row).verdict == Verdict::invalid);
  CHECK(pace::KernelsAtMost(2).on_device());
  CHECK_FALSE(pace::OperatorCallsAtMost(2).on_device());
  row.device_counts = pace::DeviceCounts{.kernels = 2, .launches = 1, .synchronisations = 0};
  CHECK(pace::KernelsAtMost(2).judge(row).verdict == Verdict::passed);
  CHECK(pace::KernelsExactly(1).judge(row).message ==
        "'fused' runs 2 kernels in one call, 1 more than expected (exactly 1 kernel)");
  CHECK(pace::LaunchesAtMost(0).judge(row).verdict == Verdict::failed);
  CHECK(pace::LaunchesExactly(1).judge(row).verdict == Verdict::passed);
  CHECK(pace::SynchronisationsExactly(0).judge(row).verdict == Verdict::passed);
  CHECK(pace::SynchronisationsAtMost(0).judge(row).acceptable);
  // It cannot be captured.
  CHECK(pace::GraphNodesAtMost(9).judge(row).verdict == Verdict::invalid);
  row.device_counts->graph_nodes = 3;
  CHECK(pace::GraphNodesAtMost(3).judge(row).verdict == Verdict::passed);
  CHECK(pace::GraphNodesExactly(2).judge(row).verdict == Verdict::failed);
}

TEST_CASE("what was not counted is invalid, what is wrong has failed; neither is undecided") {
  auto row = rows::measured("fused");
  CHECK(pace::OperatorCallsAtMost(9).judge(row).verdict == Verdict::invalid);
  row.why_uncounted = "its calls differ";
  CHECK(pace::OperatorCallsAtMost(9).judge(row).message == "'fused' has no count of operator calls: its calls differ");
  for (const auto outcome : {Outcome::wrong, Outcome::threw, Outcome::refused, Outcome::unreached}) {
    row = counted(3, 1, 4096);
    row.outcome = outcome;
    const auto judgement = pace::OperatorCallsAtMost(9).judge(row);
    const bool ran = outcome == Outcome::wrong || outcome == Outcome::threw;
    CHECK(judgement.verdict == (ran ? Verdict::failed : Verdict::invalid));
    CHECK_FALSE(judgement.acceptable);
  }
}

TEST_CASE("the baseline's row can be judged, too, and counts serve as Catch2 matchers") {
  auto row = counted(3, 1, 4096);
  row.is_baseline = true;
  CHECK_THAT(row, pace::OperatorCallsAtMost(3));
  CHECK_FALSE(pace::OperatorCallsAtMost(2).match(row));
  const pace::OperatorCallsAtMost two(2);
  (void)two.match(row);
  CHECK(two.toString() ==
        "was expected to have a count of at most 2 operator calls\nfailed: 'fused' makes 3 operator calls in one call, "
        "1 more than expected (at most 2 operator calls)");
}

TEST_CASE("a negative count is an error") {
  CHECK_THROWS_AS(pace::OperatorCallsAtMost(-1), pace::Error);
  CHECK_THROWS_AS(pace::BytesAllocatedExactly(-1), pace::Error);
}

}  // namespace
