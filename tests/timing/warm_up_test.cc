#include "pace/timing/warm_up.hpp"

#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_clock.hpp"

namespace {

using pace::Nanoseconds;
using pace::Options;
using pace::test::Call;
using pace::test::FakeClock;
using pace::test::FakeOperation;

Options short_samples() {
  Options options;
  options.min_sample = Nanoseconds(1000);
  options.resolutions_per_sample = 1;
  options.warm_up = Nanoseconds(1e6);
  return options;
}

TEST_CASE("warm-up ends when two consecutive blocks agree") {
  FakeClock clock;
  // Four calls at 500 ns, as cold caches would have it, then 100 ns for good: the blocks are 1, 3, 3, 12, 12 calls.
  struct Cooling final : pace::timing::Subject {
    explicit Cooling(FakeClock& by) : clock(by) {}
    FakeClock& clock;
    std::int64_t calls = 0;
    void run(std::size_t /*operands*/, std::int64_t iterations) override {
      for (std::int64_t i = 0; i < iterations; ++i) clock.advance(Nanoseconds(calls++ < 4 ? 500 : 100));
    }
  } subject(clock);
  const auto result = pace::timing::warm_up(clock, subject, 0, short_samples());
  CHECK(result.settled);
  CHECK(result.estimate == Nanoseconds(100));
  CHECK(result.iterations == subject.calls);
  CHECK(subject.calls == 31);
}

TEST_CASE("the estimate comes from the fastest block, not from the last") {
  FakeClock clock;
  // One call is a block; the last two agree within 2 %.
  const std::vector<double> blocks{2000, 1000, 1300, 1310};
  std::size_t next = 0;
  FakeOperation interrupted(clock, 0, [&](std::size_t) { return Nanoseconds(blocks.at(next++)); });
  const auto result = pace::timing::warm_up(clock, interrupted, 0, short_samples());
  CHECK(result.settled);
  CHECK(next == blocks.size());
  CHECK(result.estimate == Nanoseconds(1000));
}

TEST_CASE("warm-up gives up at its cap and says so") {
  FakeClock clock;
  double cost = 2000;
  FakeOperation slower_and_slower(clock, 0, [&](std::size_t) { return Nanoseconds(cost *= 1.05); });
  const auto result = pace::timing::warm_up(clock, slower_and_slower, 0, short_samples());
  CHECK_FALSE(result.settled);
  CHECK(clock.now() >= Nanoseconds(1e6));
  // The cap is looked at between blocks, so it is passed by one block at most.
  CHECK(clock.now() < Nanoseconds(1e6 + 2 * cost));
}

TEST_CASE("a subject longer than the cap runs once") {
  FakeClock clock;
  std::vector<Call> log;
  FakeOperation slow(clock, 0, [](std::size_t) { return Nanoseconds(5e6); }, &log);
  const auto result = pace::timing::warm_up(clock, slow, 3, short_samples());
  REQUIRE(log.size() == 1);
  CHECK(log[0].iterations == 1);
  CHECK(log[0].operands == 3);
  CHECK_FALSE(result.settled);
  CHECK(result.estimate == Nanoseconds(5e6));
}

TEST_CASE("blocks grow until the clock can tell them apart, also from a first reading of zero") {
  FakeClock clock;
  std::vector<Call> log;
  FakeOperation fast(clock, 0, [](std::size_t) { return Nanoseconds(0.5); }, &log);
  const auto result = pace::timing::warm_up(clock, fast, 0, short_samples());
  CHECK(result.settled);
  REQUIRE(log.size() >= 2);
  CHECK(log[0].iterations == 1);
  CHECK(log.back().iterations >= 2000);
  for (std::size_t i = 1; i < log.size(); ++i) CHECK(log[i].iterations <= 10 * log[i - 1].iterations);
  CHECK(fast.prepared == log.size());

  FakeOperation nothing(clock, 0, [](std::size_t) { return Nanoseconds(0); });
  Options options = short_samples();
  options.warm_up = Nanoseconds(0);
  CHECK_FALSE(pace::timing::warm_up(clock, nothing, 0, options).settled);
}

TEST_CASE("a number of iterations is run as it is asked for, one at a time, within the same limit") {
  FakeClock clock;
  std::vector<Call> log;
  int calls = 0;
  // The second iteration is the fastest, and the last two agree.
  FakeOperation subject(clock, 0, [&](std::size_t) { return Nanoseconds(++calls == 2 ? 3e6 : 4e6); }, &log);
  Options options = short_samples();
  options.warm_up_iterations = 5;
  options.warm_up = Nanoseconds(1e9);
  const auto result = pace::timing::warm_up(clock, subject, 1, options);
  REQUIRE(log.size() == 5);
  for (const Call& call : log) {
    CHECK(call.iterations == 1);
    CHECK(call.operands == 1);
  }
  CHECK(result.iterations == 5);
  CHECK(result.settled);
  CHECK(result.estimate == Nanoseconds(3e6));

  options.warm_up_iterations = 0;
  const auto least = pace::timing::warm_up(clock, subject, 0, options);
  CHECK(least.iterations == 1);
  CHECK_FALSE(least.settled);
  CHECK(least.estimate == Nanoseconds(4e6));

  options.warm_up_iterations = 1'000'000;
  options.warm_up = Nanoseconds(10e6);
  CHECK(pace::timing::warm_up(clock, subject, 0, options).iterations == 3);
}

TEST_CASE("the shortest sample is the longer of the two limits") {
  FakeClock clock;
  clock.set_resolution(Nanoseconds(25));
  Options options;
  options.min_sample = Nanoseconds(1000);
  options.resolutions_per_sample = 1000;
  CHECK(pace::timing::shortest_sample(clock, options) == Nanoseconds(25000));
  options.resolutions_per_sample = 10;
  CHECK(pace::timing::shortest_sample(clock, options) == Nanoseconds(1000));
}

}  // namespace
