#include "pace/timing/calibrate.hpp"

#include <array>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/fake_clock.hpp"

namespace {

using pace::Nanoseconds;
using pace::Options;
using pace::test::Call;
using pace::test::FakeClock;
using pace::test::FakeOperation;
using pace::timing::Subject;

Options target(double nanoseconds) {
  Options options;
  options.min_sample = Nanoseconds(nanoseconds);
  options.resolutions_per_sample = 1;
  return options;
}

constexpr Nanoseconds unlimited(1e15);

TEST_CASE("all get the count at which the fastest one reaches the target") {
  FakeClock clock;
  std::vector<Call> log;
  FakeOperation slow(clock, 0, [](std::size_t) { return Nanoseconds(1000); }, &log);
  FakeOperation fast(clock, 1, [](std::size_t) { return Nanoseconds(100); }, &log);
  const std::array<Subject*, 2> operations{&slow, &fast};
  const std::array estimates{Nanoseconds(1000), Nanoseconds(100)};
  const auto result = pace::timing::calibrate(clock, operations, estimates, 2, unlimited, target(50'000));
  CHECK(result.iterations == 500);
  CHECK(result.reached_target);
  // Two readings of both, on an operand set each.
  REQUIRE(log.size() == 4);
  for (const auto& call : log) {
    CHECK(call.iterations == 500);
    CHECK(call.operands == call.operation);
  }
}

TEST_CASE("one operand set serves all when they share it") {
  FakeClock clock;
  std::vector<Call> log;
  FakeOperation a(clock, 0, [](std::size_t) { return Nanoseconds(100); }, &log);
  FakeOperation b(clock, 1, [](std::size_t) { return Nanoseconds(100); }, &log);
  const std::array<Subject*, 2> operations{&a, &b};
  const std::array estimates{Nanoseconds(100), Nanoseconds(100)};
  (void)pace::timing::calibrate(clock, operations, estimates, 1, unlimited, target(1000));
  for (const auto& call : log) CHECK(call.operands == 0);
}

TEST_CASE("a single long reading is not believed") {
  FakeClock clock;
  // The first reading is preempted and looks ten times as long as the code takes.
  int readings = 0;
  std::vector<Call> log;
  FakeOperation operation(clock, 0, [&](std::size_t) { return Nanoseconds(readings++ == 0 ? 100 : 10); }, &log);
  const std::array<Subject*, 1> operations{&operation};
  const std::array estimates{Nanoseconds(100)};
  const auto result = pace::timing::calibrate(clock, operations, estimates, 1, unlimited, target(10'000));
  CHECK(result.reached_target);
  CHECK(result.iterations >= 1000);
  REQUIRE(log.size() >= 3);
  CHECK(log[log.size() - 1].iterations == result.iterations);
  CHECK(log[log.size() - 2].iterations == result.iterations);
}

TEST_CASE("the slowest one bounds the count") {
  FakeClock clock;
  FakeOperation slow(clock, 0, [](std::size_t) { return Nanoseconds(1e6); });
  FakeOperation fast(clock, 1, [](std::size_t) { return Nanoseconds(10); });
  const std::array<Subject*, 2> operations{&slow, &fast};
  const std::array estimates{Nanoseconds(1e6), Nanoseconds(10)};
  const auto result = pace::timing::calibrate(clock, operations, estimates, 2, Nanoseconds(20.5e6), target(50'000));
  CHECK(result.iterations == 20);
  CHECK_FALSE(result.reached_target);
}

TEST_CASE("the options bound the count") {
  FakeClock clock;
  FakeOperation operation(clock, 0, [](std::size_t) { return Nanoseconds(10); });
  const std::array<Subject*, 1> operations{&operation};
  const std::array estimates{Nanoseconds(10)};
  auto options = target(50'000);
  options.max_iterations = 7;
  const auto result = pace::timing::calibrate(clock, operations, estimates, 1, unlimited, options);
  CHECK(result.iterations == 7);
  CHECK_FALSE(result.reached_target);
}

TEST_CASE("a subject slower than the bound still runs once per sample") {
  FakeClock clock;
  FakeOperation slow(clock, 0, [](std::size_t) { return Nanoseconds(1e9); });
  const std::array<Subject*, 1> operations{&slow};
  const std::array estimates{Nanoseconds(1e9)};
  const auto result = pace::timing::calibrate(clock, operations, estimates, 1, Nanoseconds(1e6), target(50'000));
  CHECK(result.iterations == 1);
  CHECK(result.reached_target);
}

}  // namespace
