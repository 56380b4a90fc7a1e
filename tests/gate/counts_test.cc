#include "pace/gate/counts.hpp"

#include <cstddef>
#include <iterator>
#include <limits>
#include <optional>

#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/catch2.hpp"
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
  CHECK(pace::AtMost(pace::Count::operator_calls, 3).judge(row).verdict == Verdict::passed);
  CHECK(pace::AtMost(pace::Count::operator_calls, 4).judge(row).verdict == Verdict::passed);
  const auto failed = pace::AtMost(pace::Count::operator_calls, 2).judge(row);
  CHECK(failed.verdict == Verdict::failed);
  CHECK_FALSE(failed.acceptable);
  CHECK(failed.expectation == "count of at most 2 operator calls");
  CHECK(failed.message ==
        "'fused' makes 3 operator calls in one call, 1 more than expected (at most 2 operator calls)");
  CHECK(pace::AtMost(pace::Count::allocations, 1).judge(row).message ==
        "'fused' makes 1 allocation in one call (at most 1 allocation)");
  CHECK(pace::AtMost(pace::Count::allocations, 0).judge(row).verdict == Verdict::failed);
  CHECK(pace::AtMost(pace::Count::bytes_allocated, 4096).judge(row).verdict == Verdict::passed);
  CHECK(pace::AtMost(pace::Count::bytes_allocated, 4095).judge(row).message ==
        "'fused' allocates 4096 bytes in one call, 1 more than expected (at most 4095 bytes)");
}

pace::ImplementationResult with_peak(std::int64_t own, std::optional<std::int64_t> of_baseline) {
  auto row = counted(3, 2, 8192);
  row.counts->peak_bytes = own;
  row.context.baseline = "eager";
  row.context.baseline_peak_bytes = of_baseline;
  return row;
}

TEST_CASE("a peak is a count, and absent where equal calls differ in it") {
  auto row = with_peak(4096, {});
  CHECK(pace::AtMost(pace::Count::peak_bytes, 4096).judge(row).verdict == Verdict::passed);
  CHECK(pace::AtMost(pace::Count::peak_bytes, 4095).judge(row).message ==
        "'fused' takes 4096 peak bytes in one call, 1 more than expected (at most 4095 peak bytes)");
  row.counts->peak_bytes.reset();
  row.why_uncounted = "the peaks of its calls differ";
  const auto open = pace::AtMost(pace::Count::peak_bytes, 4096).judge(row);
  CHECK(open.verdict == Verdict::invalid);
  CHECK_THAT(open.message, Catch::Matchers::ContainsSubstring("the peaks of its calls differ"));
  CHECK(pace::AtMost(pace::Count::allocations, 2).judge(row).verdict == Verdict::passed);
}

TEST_CASE("a peak is held against the baseline's to the byte, and a baseline of none allows none") {
  const auto limit = pace::PeakMemoryAtMost(1.5);
  CHECK(limit.describe() == "peak memory of at most 1.50000x the baseline's");
  CHECK(limit.judge(with_peak(1500, 1000)).message ==
        "'fused' takes at most 1500 bytes at once in one call, and 'eager' 1000 bytes (at most 1.50000x of that "
        "allowed)");
  CHECK(limit.judge(with_peak(1501, 1000)).verdict == Verdict::failed);
  CHECK_THAT(limit.judge(with_peak(1501, 1000)).message,
             Catch::Matchers::ContainsSubstring("more than 1.50000x of that") &&
                 Catch::Matchers::ContainsSubstring("try: free what it no longer needs"));
  CHECK(limit.judge(with_peak(0, 0)).verdict == Verdict::passed);
  CHECK(limit.judge(with_peak(1, 0)).verdict == Verdict::failed);
  CHECK(limit.judge(with_peak(1, {})).verdict == Verdict::invalid);
  CHECK(limit.judge(counted(1, 1, 1)).verdict == Verdict::invalid);
  auto baseline = with_peak(1, 1);
  baseline.is_baseline = true;
  CHECK(limit.judge(baseline).verdict == Verdict::invalid);
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()})
    CHECK_THROWS_AS(pace::PeakMemoryAtMost(wrong), pace::Error);
}

TEST_CASE("an exact count fails on both sides") {
  const auto row = counted(3, 1, 4096);
  CHECK(pace::Exactly(pace::Count::operator_calls, 3).judge(row).verdict == Verdict::passed);
  CHECK(pace::Exactly(pace::Count::operator_calls, 4).judge(row).message ==
        "'fused' makes 3 operator calls in one call, 1 fewer than expected (exactly 4 operator calls)");
  CHECK(pace::Exactly(pace::Count::allocations, 0).judge(row).verdict == Verdict::failed);
  CHECK(pace::Exactly(pace::Count::bytes_allocated, 4096).judge(row).acceptable);
}

TEST_CASE("what a call asks of a GPU is counted apart, and only there") {
  auto row = counted(3, 1, 4096);
  CHECK(pace::AtMost(pace::Count::kernels, 2).judge(row).verdict == Verdict::invalid);
  CHECK(pace::AtMost(pace::Count::kernels, 2).needs_device_counts());
  CHECK_FALSE(pace::AtMost(pace::Count::operator_calls, 2).needs_device_counts());
  row.device_counts = pace::DeviceCounts{.kernels = 2, .launches = 1, .synchronisations = 0};
  CHECK(pace::AtMost(pace::Count::kernels, 2).judge(row).verdict == Verdict::passed);
  CHECK(pace::Exactly(pace::Count::kernels, 1).judge(row).message ==
        "'fused' runs 2 kernels in one call, 1 more than expected (exactly 1 kernel)");
  CHECK(pace::AtMost(pace::Count::launches, 0).judge(row).verdict == Verdict::failed);
  CHECK(pace::Exactly(pace::Count::launches, 1).judge(row).verdict == Verdict::passed);
  CHECK(pace::Exactly(pace::Count::synchronisations, 0).judge(row).verdict == Verdict::passed);
  CHECK(pace::AtMost(pace::Count::synchronisations, 0).judge(row).acceptable);
  // It cannot be captured.
  CHECK(pace::AtMost(pace::Count::graph_nodes, 9).judge(row).verdict == Verdict::invalid);
  row.device_counts->graph_nodes = 3;
  CHECK(pace::AtMost(pace::Count::graph_nodes, 3).judge(row).verdict == Verdict::passed);
  CHECK(pace::Exactly(pace::Count::graph_nodes, 2).judge(row).verdict == Verdict::failed);
}

TEST_CASE("an uncounted row is invalid and a wrong one has failed, so that neither is undecided") {
  auto row = rows::measured("fused");
  CHECK(pace::AtMost(pace::Count::operator_calls, 9).judge(row).verdict == Verdict::invalid);
  row.why_uncounted = "its calls differ";
  CHECK(pace::AtMost(pace::Count::operator_calls, 9).judge(row).message ==
        "'fused' has no count of operator calls\nwhy: its calls differ");
  for (const auto outcome : {Outcome::wrong, Outcome::threw, Outcome::refused, Outcome::unreached}) {
    row = counted(3, 1, 4096);
    row.outcome = outcome;
    const auto judgement = pace::AtMost(pace::Count::operator_calls, 9).judge(row);
    const bool ran = outcome == Outcome::wrong || outcome == Outcome::threw;
    CHECK(judgement.verdict == (ran ? Verdict::failed : Verdict::invalid));
    CHECK_FALSE(judgement.acceptable);
  }
}

TEST_CASE("the baseline's row can be judged, too, and counts serve as Catch2 matchers") {
  auto row = counted(3, 1, 4096);
  row.is_baseline = true;
  CHECK_THAT(row, pace::AtMost(pace::Count::operator_calls, 3));
  CHECK_THAT(row, !pace::AtMost(pace::Count::operator_calls, 2) && pace::Exactly(pace::Count::allocations, 1));
  const auto two = pace::AtMost(pace::Count::operator_calls, 2);
  CHECK_FALSE(two.match(row));
  CHECK(two.examine(row).text ==
        "was expected to have a count of at most 2 operator calls\nfailed: 'fused' makes 3 operator calls in one call, "
        "1 more than expected (at most 2 operator calls)");
}

TEST_CASE("the table has every count once") {
  for (std::size_t i = 0; i < std::size(pace::gate::count_entries); ++i)
    CHECK(pace::gate::count_entries[i].count == static_cast<pace::Count>(i));
  CHECK_THROWS_AS(pace::AtMost(static_cast<pace::Count>(std::size(pace::gate::count_entries)), 1), pace::Error);
}

TEST_CASE("a setting that means nothing to a count is an error rather than ignored") {
  const auto count = pace::AtMost(pace::Count::kernels, 1);
  CHECK_THROWS_AS(count.alpha(0.01), pace::Error);
  CHECK_THROWS_AS(count.beta(0.01), pace::Error);
  CHECK_THROWS_AS(count.fixed_size(), pace::Error);
  CHECK_THROWS_AS(count.in_phase("backward"), pace::Error);
}

TEST_CASE("a negative count is an error") {
  CHECK_THROWS_AS(pace::AtMost(pace::Count::operator_calls, -1), pace::Error);
  CHECK_THROWS_AS(pace::Exactly(pace::Count::bytes_allocated, -1), pace::Error);
}

pace::ImplementationResult with_instructions(double ratio_low, double ratio_high) {
  auto row = rows::measured("fused");
  row.context.baseline = "eager";
  row.instructions = pace::InstructionCount{900, 1000, ratio_low, ratio_high, "callgrind"};
  return row;
}

TEST_CASE("a ratio of instructions passes up to its limit and fails beyond it, and the message names both") {
  const auto passed = pace::InstructionsAtMost(1.02).judge(with_instructions(1.02, 1.02));
  CHECK(passed.verdict == Verdict::passed);
  CHECK(passed.acceptable);
  CHECK(passed.expectation == "ratio of instructions of at most 1.02000x");
  CHECK(passed.message ==
        "'fused' executes 1.02000x the instructions of 'eager' in one call (at most 1.02000x allowed)");
  const auto failed = pace::InstructionsAtMost(1.02).judge(with_instructions(1.0201, 1.0201));
  CHECK(failed.verdict == Verdict::failed);
  CHECK_FALSE(failed.acceptable);
  CHECK(failed.message ==
        "'fused' executes 1.02010x the instructions of 'eager' in one call, more than 1.02000x\ntry: find what "
        "made it longer, or allow more");
}

/// `fused` and `eager` with these branches of a call, by samples of so many calls.
pace::ImplementationResult with_branches(double low, double high, double eager_low = 1000, double eager_high = 1000,
                                         std::int64_t calls = 100) {
  auto row = rows::measured("fused");
  row.context.baseline = "eager";
  row.counters = {{.name = "branches",
                   .calls = calls,
                   .low = low,
                   .high = high,
                   .baseline_low = eager_low,
                   .baseline_high = eager_high}};
  return row;
}

TEST_CASE("events of the CPU are judged by all counts of both sides") {
  const auto rule = pace::CounterAtMost("branches", 1.05);
  CHECK(rule.needs_counter() == "branches");
  CHECK(rule.describe() == "ratio of branches of at most 1.05000x");
  const auto passed = rule.judge(with_branches(50, 50.01, 1000, 1000.5));
  CHECK(passed.verdict == Verdict::passed);
  CHECK(passed.message ==
        "branches in one call: 50 to 50.01 of 'fused', 1000 to 1000.5 of 'eager' (at most 1.05000x of that allowed)");
  const auto failed = rule.judge(with_branches(1080, 1080));
  CHECK(failed.verdict == Verdict::failed);
  CHECK(failed.message ==
        "branches in one call: 1080 of 'fused', 1000 of 'eager', more than 1.05000x of that\ntry: find what made them "
        "more, or allow more");
}

TEST_CASE("a ratio of events may exceed its limit by 0.1 %") {
  const auto verdict = [](double low, double high) {
    return pace::CounterAtMost("branches", 1).judge(with_branches(low, high)).verdict;
  };
  CHECK(verdict(1000.9, 1000.9) == Verdict::passed);
  CHECK(verdict(1001.1, 1001.1) == Verdict::failed);
  // On both sides of it.
  CHECK(verdict(1000.9, 1001.1) == Verdict::undecided);
}

TEST_CASE("counts of one side that lie more than 0.1 % and two events of a sample apart decide nothing") {
  const auto rule = pace::CounterAtMost("branches", 100);
  const auto undecided = rule.judge(with_branches(10, 12));
  CHECK(undecided.verdict == Verdict::undecided);
  CHECK(undecided.message ==
        "branches in one call: 10 to 12 of 'fused', 1000 of 'eager'\nwhy: counts of the same calls lie more than 0.1 % "
        "apart, such as by threads that wait for work\ntry: --threads 1");
  // So do the baseline's.
  CHECK(rule.judge(with_branches(10, 10, 1000, 1002)).verdict == Verdict::undecided);
  CHECK(rule.judge(with_branches(10, 10, 1000, 1000.9)).verdict == Verdict::passed);
  // One and three events of a sample.
  CHECK(rule.judge(with_branches(10, 10.01)).verdict == Verdict::passed);
  CHECK(rule.judge(with_branches(10, 10.03)).verdict == Verdict::undecided);
}

TEST_CASE("no events are at most as many as none") {
  auto row = with_branches(0, 0, 0, 0);
  CHECK(pace::CounterAtMost("branches", 1).judge(row).verdict == Verdict::passed);
  CHECK_FALSE(row.counters[0].ratio());
  row.counters[0].low = row.counters[0].high = 1;
  CHECK(pace::CounterAtMost("branches", 1).judge(row).verdict == Verdict::failed);
}

TEST_CASE("two stray events in a sample decide nothing, and three do") {
  auto row = with_branches(0, 0, 0, 0);
  row.counters[0].calls = 10'000;
  row.counters[0].low = row.counters[0].high = 2e-4;
  CHECK(pace::CounterAtMost("branches", 1).judge(row).verdict == Verdict::passed);
  row.counters[0].low = row.counters[0].high = 3e-4;
  CHECK(pace::CounterAtMost("branches", 1).judge(row).verdict == Verdict::failed);
}

TEST_CASE("a counter that cannot be read, of either side, has no verdict") {
  const auto message = [](const pace::ImplementationResult& row, const char* name) {
    const auto judgement = pace::CounterAtMost(name, 2).judge(row);
    CHECK(judgement.verdict == Verdict::invalid);
    return judgement.message;
  };
  auto row = with_branches(1, 1);
  CHECK(message(row, "page_faults") ==
        "'fused' has no count of page faults beside the baseline's\nwhy: this run did not count them\ntry: --counters "
        "page_faults");
  row.counters[0].baseline_low = std::nullopt;
  CHECK_THAT(message(row, "branches"), Catch::Matchers::ContainsSubstring("why: the baseline's could not be counted"));
  row.counters[0].missing = "no such counter";
  CHECK_THAT(message(row, "branches"), Catch::Matchers::ContainsSubstring("why: no such counter"));
}

TEST_CASE("only counters that count equal calls alike are gates") {
  for (const char* const name : {"branch_misses", "cycles", "cache_misses", "dram_bytes", "branches taken"})
    CHECK_THROWS_WITH(pace::CounterAtMost(name, 1),
                      Catch::Matchers::ContainsSubstring("expected one of: instructions, branches, page_faults"));
  CHECK_THROWS_AS(pace::CounterAtMost("branches", 0), pace::Error);
}

TEST_CASE("counts that do not agree decide only what all of them decide") {
  CHECK(pace::InstructionsAtMost(1.1).judge(with_instructions(0.9, 1.1)).verdict == Verdict::passed);
  CHECK(pace::InstructionsAtMost(0.8).judge(with_instructions(0.9, 1.1)).verdict == Verdict::failed);
  const auto open = pace::InstructionsAtMost(1).judge(with_instructions(0.9, 1.1));
  CHECK(open.verdict == Verdict::undecided);
  CHECK_FALSE(open.acceptable);
  CHECK(open.message ==
        "'fused' executes 0.900000x to 1.10000x the instructions of 'eager' in one call\nwhy: the counts lie on both "
        "sides of 1.00000x");
}

TEST_CASE("without counts there is no verdict on instructions, and a limit must be a positive number") {
  const auto uncounted = pace::InstructionsAtMost(1).judge(rows::measured("fused"));
  CHECK(uncounted.verdict == Verdict::invalid);
  CHECK_FALSE(uncounted.acceptable);
  auto alone = with_instructions(1, 1);
  alone.instructions->ratio_low = alone.instructions->ratio_high = std::nullopt;
  CHECK(pace::InstructionsAtMost(1).judge(alone).verdict == Verdict::invalid);
  auto wrong = with_instructions(1, 1);
  wrong.outcome = Outcome::wrong;
  CHECK(pace::InstructionsAtMost(2).judge(wrong).verdict == Verdict::failed);
  CHECK_THROWS_AS(pace::InstructionsAtMost(0), pace::Error);
  CHECK_THROWS_AS(pace::InstructionsAtMost(std::numeric_limits<double>::quiet_NaN()), pace::Error);
}

}  // namespace
