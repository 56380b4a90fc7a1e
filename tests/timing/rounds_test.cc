#include "pace/timing/rounds.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "pace/stats/summary.hpp"
#include "tests/support/fake_clock.hpp"

namespace {

using Catch::Matchers::WithinAbs;
using pace::Nanoseconds;
using pace::OperandPolicy;
using pace::Options;
using pace::StopReason;
using pace::test::Call;
using pace::test::FakeClock;
using pace::test::FakeOperation;
using pace::timing::Rounds;
using pace::timing::Schedule;
using pace::timing::Subject;

Options budget(double nanoseconds) {
  Options options;
  options.budget = Nanoseconds(nanoseconds);
  options.hard_limit = Nanoseconds(100 * nanoseconds);
  return options;
}

TEST_CASE("a sample is the time per iteration, filed under what took it") {
  FakeClock clock;
  std::vector<Call> log;
  FakeOperation a(clock, 0, [](std::size_t) { return Nanoseconds(7); }, &log);
  FakeOperation b(clock, 1, [](std::size_t) { return Nanoseconds(9); }, &log);
  const std::array<Subject*, 2> operations{&a, &b};
  Schedule schedule(2, OperandPolicy::crossover, 1);
  // One cycle takes 2 x (70 + 90) = 320.
  const auto rounds = pace::timing::run_rounds(clock, operations, 10, schedule, 1, budget(1000));
  CHECK(rounds.rounds == 8);
  CHECK(rounds.stop_reason == StopReason::budget);
  CHECK(rounds.elapsed == Nanoseconds(1280));
  REQUIRE(rounds.samples.size() == 2);
  REQUIRE(rounds.samples[0].size() == 8);
  REQUIRE(rounds.samples[1].size() == 8);
  for (const auto sample : rounds.samples[0]) CHECK_THAT(sample.count(), WithinAbs(7, 1e-9));
  for (const auto sample : rounds.samples[1]) CHECK_THAT(sample.count(), WithinAbs(9, 1e-9));
  CHECK(log.size() == 16);
  CHECK(a.prepared == 8);
  CHECK(b.prepared == 8);
}

TEST_CASE("what a sample throws leaves it, whatever the subject makes of that") {
  struct Throws final : Subject {
    explicit Throws(bool tells) : tells_(tells) {}
    void run(std::size_t, std::int64_t) override { throw std::runtime_error("out of luck"); }
    void failed() override {
      ++failures;
      if (tells_) throw std::logic_error("told");
    }
    int failures = 0;

   private:
    bool tells_;
  };
  FakeClock clock;
  Throws silent(false), telling(true);
  CHECK_THROWS_AS(pace::timing::take_sample(clock, silent, 0, 1), std::runtime_error);
  CHECK_THROWS_AS(pace::timing::take_sample(clock, telling, 0, 1), std::logic_error);
  CHECK(silent.failures + telling.failures == 2);
}

TEST_CASE("a clock hears of each cycle before its samples") {
  struct Hearing final : FakeClock {
    std::size_t cycles = 0;
    void begin_cycle() override { ++cycles; }
  } clock;
  std::vector<std::size_t> cycle_of_sample;
  const auto hear = [&](std::size_t) {
    cycle_of_sample.push_back(clock.cycles);
    return Nanoseconds(100);
  };
  FakeOperation a(clock, 0, hear), b(clock, 1, hear);
  const std::array<Subject*, 2> operations{&a, &b};
  Schedule schedule(2, OperandPolicy::crossover, 1);
  (void)pace::timing::run_rounds(clock, operations, 1, schedule, 1, budget(800));
  CHECK(cycle_of_sample == std::vector<std::size_t>{1, 1, 1, 1, 2, 2, 2, 2});
}

TEST_CASE("past the budget rounds go on until an interval is possible, but not past the hard limit") {
  FakeClock clock;
  FakeOperation a(clock, 0, [](std::size_t) { return Nanoseconds(100); });
  const std::array<Subject*, 1> operations{&a};
  Schedule schedule(1, OperandPolicy::crossover, 1);
  const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 6, budget(10));
  CHECK(rounds.rounds == 6);
  Options tight = budget(10);
  tight.hard_limit = Nanoseconds(250);
  CHECK(pace::timing::run_rounds(clock, operations, 1, schedule, 6, tight).rounds == 3);
}

TEST_CASE("there is no more than max_rounds, in whole cycles, and never less than one cycle") {
  FakeClock clock;
  FakeOperation a(clock, 0, [](std::size_t) { return Nanoseconds(1); });
  const std::array<Subject*, 3> operations{&a, &a, &a};
  Schedule schedule(3, OperandPolicy::crossover, 1);
  Options options = budget(1e9);
  options.max_rounds = 8;
  const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 1, options);
  CHECK(rounds.rounds == 6);
  CHECK(rounds.stop_reason == StopReason::max_rounds);
  options.max_rounds = 1;
  CHECK(pace::timing::run_rounds(clock, operations, 1, schedule, 1, options).rounds == 3);
}

TEST_CASE("time that the rule does not count prolongs the rounds, up to the hard limit") {
  FakeClock clock;
  FakeOperation a(clock, 0, [](std::size_t) { return Nanoseconds(50); });
  FakeOperation b(clock, 1, [](std::size_t) { return Nanoseconds(50); });
  const std::array<Subject*, 2> operations{&a, &b};
  struct Waited final : pace::timing::StoppingRule {
    double share = 0;
    Nanoseconds elapsed{};
    bool enough(const Rounds& so_far) override { return elapsed = so_far.elapsed, false; }
    [[nodiscard]] Nanoseconds not_counted() const override { return share * elapsed; }
  } rule;
  const auto elapsed_with = [&](double share) {
    rule.share = share;
    Schedule schedule(2, OperandPolicy::crossover, 1);
    auto options = budget(1000);
    options.hard_limit = Nanoseconds(6000);
    const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 1, options, {}, &rule);
    CHECK(rounds.stop_reason == StopReason::budget);
    return rounds.elapsed.count();
  };
  CHECK(elapsed_with(0) == 1000);
  CHECK(elapsed_with(0.5) == 2000);
  CHECK(elapsed_with(0.95) == 6000);
}

TEST_CASE("a stopping rule is asked after every cycle and obeyed") {
  FakeClock clock;
  FakeOperation a(clock, 0, [](std::size_t) { return Nanoseconds(1); });
  const std::array<Subject*, 2> operations{&a, &a};
  Schedule schedule(2, OperandPolicy::crossover, 1);
  struct AfterSix final : pace::timing::StoppingRule {
    std::vector<std::size_t> asked;
    bool enough(const Rounds& so_far) override {
      asked.push_back(so_far.rounds);
      return so_far.rounds == 6;
    }
  } rule;
  const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 1, budget(1e9), {}, &rule);
  CHECK(rounds.stop_reason == StopReason::rule);
  CHECK(rule.asked == std::vector<std::size_t>{2, 4, 6});
}

TEST_CASE("a cycle that an observer leaves out is no part of the samples, and takes time") {
  FakeClock clock;
  FakeOperation a(clock, 0, [&](std::size_t) { return clock.now(); });
  const std::array<Subject*, 2> operations{&a, &a};
  struct Picky final : pace::timing::RoundObserver {
    std::vector<bool> keeps;
    std::vector<std::size_t> seen;
    [[nodiscard]] bool keeps_cycle() override { return seen.size() >= keeps.size() || keeps[seen.size()]; }
    void cycle_ended(const Rounds& so_far) override { seen.push_back(so_far.rounds); }
  } picky;
  picky.keeps = {false, true, false, false, true};
  const std::array<pace::timing::RoundObserver*, 1> observers{&picky};
  clock.advance(Nanoseconds(1));
  Options options = budget(1e9);
  options.max_rounds = 4;
  Schedule schedule(2, OperandPolicy::crossover, 1);
  const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 1, options, observers);
  CHECK(picky.seen == std::vector<std::size_t>{0, 2, 2, 2, 4});
  CHECK(rounds.rounds == 4);
  // A sample takes as long as all before: of five cycles with four samples each, the second and the last remain.
  double sum = 0;
  for (const auto& samples : rounds.samples) {
    REQUIRE(samples.size() == 4);
    for (const auto sample : samples) sum += sample.count();
  }
  CHECK_THAT(sum, WithinAbs((1 << 8) - (1 << 4) + (1 << 20) - (1 << 16), 1e-6));
}

TEST_CASE("if all cycles are left out, the rounds end with the budget and have the last one") {
  FakeClock clock;
  FakeOperation a(clock, 0, [](std::size_t) { return Nanoseconds(50); });
  const std::array<Subject*, 2> operations{&a, &a};
  struct Never final : pace::timing::RoundObserver {
    [[nodiscard]] bool keeps_cycle() override { return false; }
  } never;
  const std::array<pace::timing::RoundObserver*, 1> observers{&never};
  Schedule schedule(2, OperandPolicy::crossover, 1);
  const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 3, budget(1000), observers);
  CHECK(rounds.stop_reason == StopReason::budget);
  CHECK(rounds.rounds == 2);
  CHECK_THAT(rounds.elapsed.count(), WithinAbs(1000, 1e-9));
}

TEST_CASE("each round starts with its preparation, untimed") {
  FakeClock clock;
  std::vector<Call> log;
  FakeOperation a(clock, 0, [](std::size_t) { return Nanoseconds(5); }, &log);
  const std::array<Subject*, 2> operations{&a, &a};
  Schedule schedule(2, OperandPolicy::crossover, 1);
  Options options = budget(1e9);
  options.max_rounds = 4;
  struct Observer final : pace::timing::RoundObserver {
    Observer(FakeClock& by, const std::vector<Call>& of) : clock(by), log(of) {}
    FakeClock& clock;
    const std::vector<Call>& log;
    std::vector<std::size_t> started, calls;
    void round_started(std::size_t round) override {
      started.push_back(round);
      calls.push_back(log.size());
      clock.advance(Nanoseconds(1000));
    }
    [[nodiscard]] Nanoseconds took() const override { return Nanoseconds(1000) * static_cast<double>(started.size()); }
  } observer(clock, log);
  const std::array<pace::timing::RoundObserver*, 1> observers{&observer};
  const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 1, options, observers);
  CHECK(observer.started == std::vector<std::size_t>{0, 1, 2, 3});
  CHECK(observer.calls == std::vector<std::size_t>{0, 2, 4, 6});
  for (const auto sample : rounds.samples[1]) CHECK_THAT(sample.count(), WithinAbs(5, 1e-9));
  // The observers' time is no part of a cycle's time: two rounds of two samples.
  CHECK_THAT(rounds.observed.count(), WithinAbs(4000, 1e-9));
  CHECK_THAT(pace::timing::time_of_cycle(rounds, 2).count(), WithinAbs(2 * 2 * 5, 1e-9));
}

TEST_CASE("crossover cancels what placement does to identical code; fixed operands do not") {
  const auto bias = [](OperandPolicy policy) {
    FakeClock clock;
    const auto cost = [](std::size_t operands) { return Nanoseconds(operands == 0 ? 100 : 107); };
    FakeOperation a(clock, 0, cost), b(clock, 1, cost);
    const std::array<Subject*, 2> operations{&a, &b};
    Schedule schedule(2, policy, 5);
    const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 6, budget(1e5));
    const auto ratios = pace::stats::paired_log_ratios(rounds.samples[0], rounds.samples[1], 2);
    return pace::stats::summarize_speedup(ratios, 0.95).median;
  };
  CHECK_THAT(bias(OperandPolicy::crossover), WithinAbs(1, 1e-12));
  CHECK_THAT(bias(OperandPolicy::fixed), WithinAbs(100.0 / 107.0, 1e-12));
}

TEST_CASE("a machine that speeds up as it goes favours no implementation") {
  // Each call is 1 % faster than the last: with a fixed order the second place would win by 1 %.
  FakeClock clock;
  double cost = 1e6;
  const auto drifting = [&](std::size_t) { return Nanoseconds(cost *= 0.99); };
  FakeOperation a(clock, 0, drifting), b(clock, 1, drifting);
  const std::array<Subject*, 2> operations{&a, &b};
  Schedule schedule(2, OperandPolicy::crossover, 6);
  Options options = budget(1e12);
  options.max_rounds = 100;
  const auto rounds = pace::timing::run_rounds(clock, operations, 1, schedule, 1, options);
  for (const double ratio : pace::stats::paired_log_ratios(rounds.samples[0], rounds.samples[1], 2))
    // Two rounds apart the drift itself moves by 2 x 1 %, which pairing within the cycle leaves as 0 or +-1 %^2-sized.
    CHECK_THAT(ratio, WithinAbs(0, 1e-12));
}

}  // namespace
