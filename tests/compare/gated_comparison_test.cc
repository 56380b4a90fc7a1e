// Comparisons that state their expectations: measured until these are decided, on a clock and with noise made up here.
#include "pace/compare/comparison.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/catch2.hpp"
#include "tests/support/comparisons.hpp"
#include "tests/support/fake_clock.hpp"
#include "tests/support/random.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::WithinRel;
using pace::FasterThan;
using pace::Nanoseconds;
using pace::NoSlowerThan;
using pace::Outcome;
using pace::SpeedupAtLeast;
using pace::StopReason;
using pace::Verdict;
using pace::test::FakeClock;
using pace::test::not_compared;

/// A machine whose calls take their due time, times noise of 1 %, and that slows down by 20 % as it goes.
class Machine {
 public:
  explicit Machine(std::uint64_t seed = 1) : random_(seed) {}

  /// Something that takes `time` ns.
  auto taking(double time) {
    return [this, time] {
      drift_ += 1e-5 * (1.2 - drift_);
      clock.advance(Nanoseconds(time * drift_ * std::exp(0.01 * random_.normal())));
    };
  }
  FakeClock clock;

 private:
  pace::test::Random random_;
  double drift_ = 1;
};

/// Samples of a single call; no warm-up to speak of.
pace::Options many_rounds() {
  pace::Options options;
  options.audit = pace::Audit::strict;
  options.budget = Nanoseconds(1e8);  // 25,000 rounds of two calls
  options.hard_limit = Nanoseconds(1e9);
  // Audits take numbers from the noise of the machine.
  options.check_seed = 1;
  options.least_duration = {};
  options.warm_up = Nanoseconds(1);
  options.min_sample = Nanoseconds(1);
  options.resolutions_per_sample = 1;
  options.max_rounds = 4000;
  return options;
}

TEST_CASE("a candidate that is 5 % slower fails a guard early") {
  Machine machine;
  const auto result = pace::compare("slower")
                          .options(many_rounds())
                          .baseline("eager", machine.taking(2000))
                          .candidate("fused", machine.taking(2100))
                          .expect(NoSlowerThan(1.02))
                          .run(machine.clock);
  CHECK(result.stop_reason == StopReason::rule);
  CHECK(result.rounds <= 80);
  REQUIRE(result["fused"].judgements.size() == 1);
  CHECK(result["fused"].judgements[0].verdict == Verdict::failed);
  INFO(result["fused"].judgements[0].message);
  CHECK_FALSE(result["fused"].acceptable());
  CHECK_THAT(result["fused"].judgements[0].message, ContainsSubstring("try: find what made it slower"));
  CHECK(result["fused"].speedup->anytime);
  // A matcher afterwards says the same.
  CHECK(NoSlowerThan(1.02).judge(result["fused"]).verdict == Verdict::failed);
  CHECK_THAT(result["fused"], !NoSlowerThan(1.02));
}

/// Guards a candidate that is 5 % slower, in 400 rounds at most.
pace::Result guarded_for_400_rounds(pace::StopPolicy stop) {
  Machine machine;
  auto options = many_rounds();
  options.stop = stop;
  options.max_rounds = 400;
  return pace::compare("slower")
      .options(options)
      .baseline("eager", machine.taking(2000))
      .candidate("fused", machine.taking(2100))
      .expect(NoSlowerThan(1.02))
      .run(machine.clock);
}

TEST_CASE("with figures asked for as well, the whole budget is spent, and the verdict is the same") {
  const auto result = guarded_for_400_rounds(pace::StopPolicy::budget);
  CHECK(result.stop_reason == StopReason::max_rounds);
  CHECK(result.rounds == 400);
  REQUIRE(result["fused"].judgements.size() == 1);
  CHECK(result["fused"].judgements[0].verdict == Verdict::failed);
  CHECK_FALSE(result["fused"].speedup->anytime);
}

/// While it exists, several processes decide together.
struct Deferring {
  Deferring() { pace::run_context().defers_judgements = true; }
  ~Deferring() { pace::run_context().defers_judgements = false; }
};

TEST_CASE(
    "where several processes decide together, the rounds take the whole budget, whatever options are set in code") {
  const Deferring deferring;
  const auto result = guarded_for_400_rounds(pace::StopPolicy::decided);
  CHECK(result.stop_reason == StopReason::max_rounds);
  CHECK(result["fused"].judgements.at(0).deferred);
}

TEST_CASE("several processes refuse a guard on a mean or a quantile") {
  const Deferring deferring;
  const auto run = [&](const pace::Expectation& expectation) {
    Machine machine;
    (void)pace::compare("equal")
        .options(many_rounds())
        .baseline("eager", machine.taking(2000))
        .candidate("fused", machine.taking(2000))
        .expect("fused", expectation)
        .run(machine.clock);
  };
  const auto why =
      ContainsSubstring("cannot be judged by several processes (--processes); expected NoSlowerThan or one");
  CHECK_THROWS_WITH(run(pace::MeanNoSlowerThan(1.02)), why);
  CHECK_THROWS_WITH(run(pace::QuantileNoSlowerThan(0.9, 1.02)), why);
}

TEST_CASE("an equal candidate passes a guard early") {
  Machine machine;
  const auto result = pace::compare("equal")
                          .options(many_rounds())
                          .baseline("eager", machine.taking(2000))
                          .candidate("fused", machine.taking(2000))
                          .expect("fused", NoSlowerThan(1.02))
                          .run(machine.clock);
  CHECK(result.stop_reason == StopReason::rule);
  CHECK(result.rounds <= 80);
  CHECK(result["fused"].judgements.at(0).verdict == Verdict::passed);
  CHECK_THAT(result["fused"].speedup->median, WithinRel(1.0, 0.02));
}

TEST_CASE("a candidate on the threshold stays undecided to the end, and the message says what would help") {
  Machine machine;
  const auto result = pace::compare("open")
                          .options(many_rounds())
                          .baseline("eager", machine.taking(2000))
                          .candidate("fused", machine.taking(2040))
                          .expect(NoSlowerThan(1.02))
                          .expect(SpeedupAtLeast(1 / 1.02))
                          .run(machine.clock);
  CHECK(result.stop_reason == StopReason::max_rounds);
  REQUIRE(result["fused"].judgements.size() == 2);
  CHECK(result["fused"].judgements[0].verdict == Verdict::undecided);
  CHECK(result["fused"].judgements[0].acceptable);
  CHECK(result["fused"].judgements[1].verdict == Verdict::undecided);
  CHECK_FALSE(result["fused"].judgements[1].acceptable);
  CHECK_THAT(result["fused"].judgements[0].message,
             ContainsSubstring("which holds 1.02x") && ContainsSubstring("today's noise"));
  CAPTURE(result);
  CHECK_FALSE(pace::AsExpected().match(result));
}

TEST_CASE("with nothing expected the rounds go on to the end, and are judged afterwards all the same") {
  Machine machine;
  auto options = many_rounds();
  options.max_rounds = 200;
  const auto result = pace::compare("plain")
                          .options(options)
                          .check(not_compared())
                          .baseline("eager", machine.taking(2000))
                          .candidate("fused", machine.taking(1500))
                          .run(machine.clock);
  CHECK(result.stop_reason == StopReason::max_rounds);
  CHECK(result.rounds == 200);
  CHECK_FALSE(result["fused"].speedup->anytime);
  CHECK(result["fused"].judgements.empty());
  CHECK(SpeedupAtLeast(1.2).judge(result["fused"]).verdict == Verdict::passed);
  CHECK(SpeedupAtLeast(1.5).judge(result["fused"]).verdict == Verdict::failed);
  CHECK(FasterThan("eager").judge(result["fused"]).verdict == Verdict::passed);
  CHECK(pace::WithinTime(Nanoseconds(2000)).judge(result["fused"]).verdict == Verdict::passed);
  CHECK(pace::WithinTime(Nanoseconds(1000)).judge(result["eager"]).verdict == Verdict::failed);
}

TEST_CASE("candidates against each other, with one error rate for all, until all is decided") {
  Machine machine;
  const auto result = pace::compare("three")
                          .options(many_rounds())
                          .check(not_compared())
                          .baseline("eager", machine.taking(2000))
                          .candidate("quick", machine.taking(1000))
                          .candidate("slow", machine.taking(2500))
                          .expect("quick", FasterThan("slow"))
                          .expect(NoSlowerThan(1.1))
                          .expect("quick", pace::WithinTime(Nanoseconds(1500)))
                          .run(machine.clock);
  CHECK(result.stop_reason == StopReason::rule);
  REQUIRE(result["quick"].judgements.size() == 3);
  for (const auto& judgement : result["quick"].judgements) CHECK(judgement.verdict == Verdict::passed);
  CHECK_THAT(result["quick"].judgements[0].message, ContainsSubstring("2.5") && ContainsSubstring("as fast as 'slow'"));
  CHECK(result["slow"].judgements.at(0).verdict == Verdict::failed);
  CHECK(result.baseline().judgements.empty());
}

TEST_CASE("an implementation that is gone decides nothing, and holds up no other") {
  Machine machine;
  const auto result = pace::compare("gone")
                          .options(many_rounds())
                          .baseline("eager", machine.taking(2000))
                          .candidate("fused", machine.taking(2000))
                          .refused({.name = "compiled", .reason = "no compiler here"})
                          .expect(NoSlowerThan(1.05))
                          .expect("fused", FasterThan("compiled"))
                          .run(machine.clock);
  CHECK(result.stop_reason == StopReason::rule);
  CHECK(result["fused"].judgements.at(0).verdict == Verdict::passed);
  CHECK(result["fused"].judgements.at(1).verdict == Verdict::invalid);
  CHECK(result["compiled"].judgements.at(0).verdict == Verdict::invalid);
  INFO(result["compiled"].judgements[0].message);
  CHECK_FALSE(result["compiled"].acceptable());
}

TEST_CASE("slow subjects get the cycles that a verdict takes, past the budget") {
  Machine machine;
  auto options = many_rounds();
  options.budget = Nanoseconds(20'000);  // five rounds
  const auto run = [&](bool expecting) {
    auto comparison = pace::compare("slow");
    comparison.options(options)
        .check(not_compared())
        .baseline("eager", machine.taking(2000))
        .candidate("fused", machine.taking(1000));
    if (expecting) comparison.expect(SpeedupAtLeast(1.5));
    return comparison.run(machine.clock);
  };
  const auto gated = run(true);
  CHECK(gated.stop_reason == StopReason::rule);
  CHECK(gated.rounds == 24);
  CHECK(gated["fused"].judgements.at(0).verdict == Verdict::passed);
  CHECK(run(false).rounds < 24);
}

TEST_CASE("a verdict takes the least duration, past a shorter budget, and counts all of it") {
  const auto run = [](Nanoseconds least, auto ratio) {
    Machine machine;
    auto options = many_rounds();
    options.budget = Nanoseconds(1e5);
    options.least_duration = least;
    return pace::compare("brief")
        .options(options)
        .check(not_compared())
        .baseline("eager", [&] { machine.taking(2000)(); })
        .candidate("fused", [&] { machine.taking(2000 * ratio(machine.clock.now()))(); })
        .expect(NoSlowerThan(1.02))
        .expect(SpeedupAtLeast(0.98))
        .run(machine.clock);
  };
  const auto equal = [](Nanoseconds) { return 1.0; };
  const auto at_once = run({}, equal), later = run(Nanoseconds(1e6), equal);
  CHECK(at_once.elapsed < Nanoseconds(1e6));
  CHECK(later.stop_reason == StopReason::rule);
  CHECK(later.elapsed >= Nanoseconds(1e6));
  for (const auto& judgement : later["fused"].judgements) CHECK(judgement.verdict == Verdict::passed);
  // Twice as fast for a fifth of the time, and three times slower afterwards.
  const auto ageing = run(Nanoseconds(1e6), [](Nanoseconds now) { return now < Nanoseconds(2e5) ? 0.5 : 3.0; });
  for (const auto& judgement : ageing["fused"].judgements) {
    INFO(judgement.message);
    CHECK(judgement.verdict != Verdict::passed);
  }
}

/// A guarded candidate as fast as its baseline, at a hundred times the noise. A `share` of the calls takes a hundred
/// times as long: on both sides, or on the candidate's alone.
pace::Result stalling(bool both, double share, std::uint64_t seed) {
  Machine machine(seed);
  pace::test::Random random(seed + 1000);
  auto options = many_rounds();
  // Long enough that no candidate is without a stall by chance.
  options.least_duration = Nanoseconds(4e6);
  const auto taking = [&](bool stalls) {
    return
        [&machine, &random, stalls, share] { machine.taking(2000 * (stalls && random.uniform() < share ? 100 : 1))(); };
  };
  return pace::compare("stalling")
      .options(options)
      .baseline("eager", taking(both))
      .candidate("fused", taking(true))
      .expect(NoSlowerThan(1.02))
      .run(machine.clock);
}

TEST_CASE("a guard fails for calls that seldom take long, and not for stalls of the machine on both sides") {
  int failed = 0, undecided = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto slower = stalling(/*both=*/false, 1.0 / 30, seed);
    const auto& judgement = slower["fused"].judgements.at(0);
    INFO(judgement.message);
    CHECK(judgement.verdict == Verdict::failed);
    CHECK_THAT(judgement.message, ContainsSubstring("the mean is proven to lie above"));
    CHECK_THAT(1 / slower["fused"].speedup->mean, WithinRel(4.3, 0.5));
    CHECK(slower["fused"].time->q99 > 10 * slower["fused"].time->median);
    const auto verdict = stalling(/*both=*/true, 1.0 / 30, seed)["fused"].judgements.at(0).verdict;
    failed += verdict == Verdict::failed;
    undecided += verdict == Verdict::undecided;
  }
  CAPTURE(undecided);
  CHECK(failed == 0);
  CHECK(undecided <= 4);
}

TEST_CASE("rounds that end before the least duration leave every gate undecided, and say so") {
  Machine machine;
  auto options = many_rounds();
  options.least_duration = Nanoseconds(1e9);
  options.max_rounds = 100;
  const auto result = pace::compare("brief")
                          .options(options)
                          .baseline("eager", machine.taking(2000))
                          .candidate("fused", machine.taking(4000))
                          .expect(NoSlowerThan(1.02))
                          .run(machine.clock);
  CHECK(result.stop_reason == StopReason::max_rounds);
  const auto& judgement = result["fused"].judgements.at(0);
  CHECK(judgement.verdict == Verdict::undecided);
  CHECK(judgement.unresolved);
  CHECK_THAT(judgement.message, ContainsSubstring("a verdict needs 1.00 s (--least-duration)"));
  // A matcher afterwards says the same.
  CHECK(NoSlowerThan(1.02).judge(result["fused"]).verdict == Verdict::undecided);
}

TEST_CASE("expectations that cannot be met by any run are errors before it") {
  const auto nothing = [] {};
  const auto message = [&](auto state) {
    auto comparison = pace::compare("x");
    comparison.baseline("a", nothing).candidate("b", nothing);
    state(comparison);
    try {
      comparison.run();
    } catch (const pace::Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(message([](auto& comparison) { comparison.expect(FasterThan("c")); }) ==
        "comparison 'x': expects something to be faster than 'c', which is not one of its implementations");
  CHECK(message([](auto& comparison) { comparison.expect("b", FasterThan("b")); }) ==
        "comparison 'x': expects 'b' to be faster than itself");
  CHECK(message([](auto& comparison) { comparison.expect("a", SpeedupAtLeast(1)); }) ==
        "comparison 'x': expects something of 'a', which is not one of its candidates");
  CHECK(message([](auto& comparison) {
          pace::Options options;
          options.audit = pace::Audit::strict;
          options.alpha = 0.7;
          comparison.options(options);
        }) == "options: alpha must lie between 0 and 0.5, such as 0.001");
}

/// An error budget of the run while the object lives.
struct WithBudget {
  explicit WithBudget(double alpha) {
    pace::run_context().suite_budget = std::make_shared<pace::SuiteBudget>(pace::SuiteBudget{.alpha = alpha});
  }
  ~WithBudget() { pace::run_context().suite_budget = nullptr; }
  WithBudget(const WithBudget&) = delete;
  WithBudget& operator=(const WithBudget&) = delete;
};

/// A comparison of two implementations of equal time. The candidate is expected to be equal.
pace::Result compare_equal(Machine& machine, const std::vector<pace::Expectation>& expectations) {
  auto comparison = pace::compare("equal");
  comparison.options(many_rounds())
      .check(not_compared())
      .baseline("eager", machine.taking(2000))
      .candidate("fused", machine.taking(2000));
  for (const auto& each : expectations) comparison.expect(each);
  return comparison.run(machine.clock);
}

TEST_CASE("comparisons that are gated spend parts of the error budget of the run, and others none") {
  const WithBudget budget(0.012);
  Machine machine;
  const auto first = compare_equal(machine, {NoSlowerThan(1.1)});
  const auto counted = compare_equal(machine, {pace::AtMost(pace::Count::allocations, 1)});
  const auto measured = compare_equal(machine, {});
  const auto second = compare_equal(machine, {NoSlowerThan(1.1), SpeedupAtLeast(0.9)});

  CHECK(first.gate_number == 1);
  CHECK(counted.gate_number == 0);
  CHECK(measured.gate_number == 0);
  CHECK(second.gate_number == 2);
  // Half of 0.012 / (1 * 2), and half of 0.012 / (2 * 3). Holm's procedure gives the last of two gates all of that.
  CHECK_THAT(first["fused"].judgements.at(0).message, ContainsSubstring("wrongly passed: 1 %, wrongly failed: 0.3 %"));
  CHECK_THAT(second["fused"].judgements.at(0).message, ContainsSubstring("wrongly failed: 0.1 %"));
  CHECK_THAT(second["fused"].judgements.at(1).message, ContainsSubstring("wrongly passed: 0.1 %"));
  CHECK_THAT(first["fused"].context.alpha, WithinRel(0.003, 1e-9));
  CHECK_THAT(second["fused"].context.alpha, WithinRel(0.001, 1e-9));
  CHECK(counted["fused"].context.alpha == 0);
  CHECK(measured["fused"].context.alpha == 0);
}

TEST_CASE("matchers share the other half of the part of their comparison, in the order in which they come") {
  const WithBudget budget(0.012);
  Machine machine;
  const auto first = compare_equal(machine, {NoSlowerThan(1.1)});
  const auto measured = compare_equal(machine, {});
  const auto rate = [](const pace::Result& result, const pace::Expectation& expectation) {
    return expectation.judge(result["fused"]).speed->alpha;
  };
  CHECK_THAT(rate(first, NoSlowerThan(1.2)), WithinRel(0.003 / 2, 1e-9));
  CHECK_THAT(rate(first, SpeedupAtLeast(0.8)), WithinRel(0.003 / 6, 1e-9));
  // The same demand is the same question, though Catch2 or a test asks it again, and of a copy.
  const pace::Result copy = first;
  CHECK_THAT(rate(copy, NoSlowerThan(1.2)), WithinRel(0.003 / 2, 1e-9));
  // Descriptions round; demands that differ by less have parts of their own.
  CHECK_THAT(rate(first, NoSlowerThan(1.2000001)), WithinRel(0.003 / 12, 1e-9));
  CHECK_THAT(first["fused"], NoSlowerThan(1.3));
  CHECK_THAT(rate(copy, NoSlowerThan(1.4)), WithinRel(0.003 / 30, 1e-9));
  CHECK(pace::run_context().suite_budget->gated == 1);

  // A comparison that states nothing has no place until something judges it.
  CHECK_THAT(rate(measured, NoSlowerThan(1.2)), WithinRel(0.001 / 2, 1e-9));
  CHECK_THAT(NoSlowerThan(1.3).judge(measured["fused"]).message, ContainsSubstring("wrongly failed: 0.01667 %"));
  CHECK(compare_equal(machine, {NoSlowerThan(1.1)}).gate_number == 3);
}

TEST_CASE("error rates of a comparison's own are refused beside the error budget of the run") {
  const WithBudget budget(0.01);
  Machine machine;
  CHECK_THROWS_MATCHES(
      compare_equal(machine, {NoSlowerThan(1.1).alpha(1e-4)}), pace::Error,
      Message("comparison 'equal': a time of at most 1.10x the baseline's has an error rate of its own "
              "(.alpha()), which does not go with --suite-alpha, the error rate of all gates of the "
              "run; expected one of them"));
  CHECK_THROWS_MATCHES(compare_equal(machine, {pace::EnergyAtMost(1.05)}), pace::Error,
                       Message("comparison 'equal': expects an energy of at most 1.050x the baseline's, which does not "
                               "go with --suite-alpha; why: it has an error rate of its own"));
  auto options = many_rounds();
  options.alpha = 1e-4;
  auto comparison = pace::compare("own");
  comparison.options(options).baseline("eager", machine.taking(2000)).candidate("fused", machine.taking(2000));
  CHECK_THROWS_MATCHES(comparison.run(machine.clock), pace::Error,
                       Message("comparison 'own': its options have an alpha of their own (0.01 %), which does not go "
                               "with --suite-alpha, the error rate of all gates of the run; expected one of them"));
  CHECK(pace::run_context().suite_budget->gated == 0);
  const auto result = compare_equal(machine, {NoSlowerThan(1.1).beta(1e-3)});
  CHECK_THROWS_MATCHES(NoSlowerThan(1.1).alpha(1e-4).judge(result["fused"]), pace::Error,
                       Message("a time of at most 1.10x the baseline's of 'fused' in 'equal' has an error rate of its "
                               "own (.alpha()), which does not go with --suite-alpha; expected one of them"));
}

TEST_CASE("a comparison whose result is known keeps its place in the error budget") {
  struct Known : pace::RunContext::Checkpoint {
    explicit Known(pace::Result result) : result_(std::move(result)) { pace::run_context().recollection = this; }
    ~Known() override { pace::run_context().recollection = nullptr; }
    [[nodiscard]] bool knows(const std::string& /*name*/) const override { return true; }
    bool recall(const std::string& /*name*/, pace::Result& result) override { return result = result_, true; }
    bool next_fate(const std::string& /*name*/, pace::RunContext::PriorFailure& /*fate*/) override { return false; }
    pace::Result result_;
  };
  Machine machine;
  pace::Result earlier;
  {
    const WithBudget budget(0.012);
    (void)compare_equal(machine, {NoSlowerThan(1.1)});
    earlier = compare_equal(machine, {NoSlowerThan(1.1)});
  }
  REQUIRE(earlier.gate_number == 2);
  for (auto& row : earlier.implementations) row.context.budget = nullptr;  // as in a file
  const WithBudget budget(0.012);
  const auto matched_rate = [](const pace::Result& result) {
    return NoSlowerThan(1.2).judge(result["fused"]).speed->alpha;
  };
  {
    const Known known(earlier);
    const auto result = compare_equal(machine, {NoSlowerThan(1.1)});
    CHECK(result.gate_number == 2);
    CHECK_THAT(result["fused"].context.alpha, WithinRel(0.001, 1e-9));
    CHECK_THAT(matched_rate(result), WithinRel(0.0005, 1e-9));
    CHECK(pace::run_context().suite_budget->gated == 0);
  }
}

}  // namespace
