#include "pace/timing/instruction_counter.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;

/// Adds the cost of starting a count to the instructions that the work reports.
class FakeCounter final : public pace::timing::InstructionCounter {
 public:
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] std::int64_t count(pace::FunctionRef<void()> work) override {
    executed = start;
    work();
    return executed;
  }
  void rest() override { ++rests; }
  std::int64_t start = 0, executed = 0;
  int rests = 0;
};

TEST_CASE("what does not grow with the calls cancels, and preparing is not counted") {
  FakeCounter counter;
  counter.start = 12345;
  std::vector<std::int64_t> prepared, ran;
  const auto found = pace::timing::instructions_per_call(
      counter, 4, 2,
      [&](std::int64_t number) {
        prepared.push_back(number);
        counter.executed += 1000000 * number;
      },
      [&](std::int64_t number) {
        ran.push_back(number);
        counter.executed += 777 + 90 * number;
      });
  CHECK(found == pace::timing::InstructionsPerCall{90, 90});
  CHECK(prepared == std::vector<std::int64_t>{4, 8, 4, 8});
  CHECK(ran == prepared);
}

TEST_CASE("the fewest and the most of several counts are kept, rounded") {
  FakeCounter counter;
  // Differences of 400, 410 and 391 over four calls: 100, 102.5 and 97.75.
  const std::vector<std::int64_t> counts{400, 800, 400, 810, 400, 791};
  std::size_t next = 0;
  const auto found = pace::timing::instructions_per_call(
      counter, 4, 3, [](std::int64_t) {}, [&](std::int64_t) { counter.executed = counts.at(next++); });
  CHECK(found == pace::timing::InstructionsPerCall{98, 103});
}

TEST_CASE("a counter rests after the last count, and after one that throws") {
  FakeCounter counter;
  const auto nothing = [](std::int64_t) {};
  static_cast<void>(pace::timing::instructions_per_call(counter, 1, 3, nothing, nothing));
  CHECK(counter.rests == 1);
  CHECK_THROWS_WITH(pace::timing::instructions_per_call(
                        counter, 1, 3, nothing, [](std::int64_t) { throw std::runtime_error("a call failed"); }),
                    "a call failed");
  CHECK(counter.rests == 2);
}

TEST_CASE("a counter that ran for a part of the time has no count") {
  using pace::timing::detail::whole_count;
  CHECK(whole_count({.value = 17, .enabled = 1000, .running = 1000}, "cycles") == 17);
  CHECK_THROWS_WITH(whole_count({.value = 17, .enabled = 1000, .running = 250}, "cycles"),
                    ContainsSubstring("counter of cycles ran for 250 of 1000 ns"));
}

TEST_CASE("no calls and no repeats are refused") {
  FakeCounter counter;
  const auto nothing = [](std::int64_t) {};
  CHECK_THROWS_AS(pace::timing::instructions_per_call(counter, 0, 1, nothing, nothing), pace::Error);
  CHECK_THROWS_AS(pace::timing::instructions_per_call(counter, 1, 0, nothing, nothing), pace::Error);
}

TEST_CASE("the sum of a profile is its last total") {
  const std::string head = "# callgrind format\nversion: 1\nevents: Ir\n";
  CHECK(pace::timing::read_callgrind_total(head + "summary: 17\n\nfn=main\n1 25\n\ntotals: 25\n", "p") == 25);
  CHECK(pace::timing::read_callgrind_total(head + "summary: 17\n", "p") == 17);
  CHECK(pace::timing::read_callgrind_total(head + "totals: 98765432100\n", "p") == 98765432100);
  for (const std::string& text : {head, head + "totals: none\n", head + "totals: -1\n", std::string()})
    CHECK_THROWS_WITH(pace::timing::read_callgrind_total(text, "a/profile.1"),
                      ContainsSubstring("a/profile.1") && ContainsSubstring("expected a profile of Callgrind"));
}

TEST_CASE("outside of Valgrind there is no counter by Callgrind") {
  if (pace::timing::runs_under_valgrind()) SKIP("this test runs under Valgrind");
  CHECK_THROWS_AS(pace::timing::CallgrindCounter("prefix"), pace::Unsupported);
}

TEST_CASE("the CPU's counter counts, or is refused with a remedy") {
  try {
    pace::timing::PerfCounter counter;
    volatile std::int64_t sum = 0;
    const auto found = pace::timing::instructions_per_call(
        counter, 10000, 3, [](std::int64_t) {},
        [&](std::int64_t number) {
          for (std::int64_t i = 0; i < number; ++i) sum = sum + i;
        });
    // A pass of the loop is a few instructions, however it is compiled.
    CHECK(found.low >= 2);
    CHECK(found.high <= 40);
    // After a throw nothing is counted until the next count, which is right again.
    CHECK_THROWS_AS(counter.count([] { throw std::runtime_error("a call failed"); }), std::runtime_error);
    CHECK(counter.count([&] {
      for (std::int64_t i = 0; i < 10000; ++i) sum = sum + i;
    }) < 1000000);
  } catch (const pace::Error& refused) {  // Unsupported, or counters that others use
    CHECK_THAT(refused.what(), ContainsSubstring("expected"));
  }
}

}  // namespace
