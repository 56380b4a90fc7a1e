// Verdicts on samples, and their messages.
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/gate/evidence.hpp"
#include "pace/gate/forecast.hpp"
#include "pace/gate/judge.hpp"
#include "pace/gate/times.hpp"
#include "pace/result/options.hpp"
#include "tests/gate/rows.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;
using Catch::Matchers::WithinRel;
using pace::FasterThan;
using pace::NoSlowerThan;
using pace::SpeedupAtLeast;
using pace::Verdict;
using pace::WhenUndecided;
using pace::WithinTime;
using rows::sampled;
using rows::stalling;

TEST_CASE("a claim passes only when proven, fails only when disproven, and closes the gate otherwise") {
  CHECK(SpeedupAtLeast(1.2).judge(sampled(1.3, 0.01, 40)).verdict == Verdict::passed);
  CHECK(SpeedupAtLeast(1.2).judge(sampled(1.1, 0.01, 40)).verdict == Verdict::failed);
  const auto open = SpeedupAtLeast(1.2).judge(sampled(1.205, 0.02, 40));
  CHECK(open.verdict == Verdict::undecided);
  CHECK_FALSE(open.acceptable);
  CHECK(SpeedupAtLeast(1.2).when_undecided(WhenUndecided::let_through).judge(sampled(1.205, 0.02, 40)).acceptable);
}

TEST_CASE("a guard fails only when a regression is proven, and lets undecided candidates through") {
  CHECK(NoSlowerThan(1.02).judge(sampled(1.0, 0.01, 40)).verdict == Verdict::passed);
  const auto slower = NoSlowerThan(1.02).judge(sampled(1 / 1.05, 0.01, 40));
  CHECK(slower.verdict == Verdict::failed);
  CHECK_FALSE(slower.acceptable);
  const auto open = NoSlowerThan(1.02).judge(sampled(1 / 1.02, 0.01, 40));
  CHECK(open.verdict == Verdict::undecided);
  CHECK(open.acceptable);
  CHECK_THAT(open.message, ContainsSubstring("; no regression is proven\ntry: "));
  CHECK_FALSE(NoSlowerThan(1.02).when_undecided(WhenUndecided::close).judge(sampled(1 / 1.02, 0.01, 40)).acceptable);
}

TEST_CASE("a guard spends four fifths of its error rate on the median") {
  const auto guard = NoSlowerThan(1.02).demand();
  const pace::gate::TailTests no_times(guard);
  CHECK_THAT(pace::gate::weigh_together(guard, {1, 0.08}, no_times).p_below, WithinRel(0.1));
}

TEST_CASE("a guard that nothing is proven of is told apart from one that passed, unless it says that this will do") {
  CHECK_FALSE(NoSlowerThan(1.02).judge(sampled(1.0, 0.01, 40)).unresolved);
  CHECK_FALSE(NoSlowerThan(1.02).judge(sampled(1 / 1.05, 0.01, 40)).unresolved);
  const auto near = sampled(1 / 1.02, 0.01, 40);
  CHECK(NoSlowerThan(1.02).judge(near).unresolved);
  CHECK_FALSE(NoSlowerThan(1.02).when_undecided(WhenUndecided::let_through).judge(near).unresolved);
  CHECK_FALSE(NoSlowerThan(1.02).when_undecided(WhenUndecided::close).judge(near).unresolved);
  // A claim that is open closes the gate.
  CHECK_FALSE(SpeedupAtLeast(1 / 1.02).judge(near).unresolved);
  CHECK(NoSlowerThan(1.02).judge(sampled(1.0, 0.01, 3)).unresolved);
  CHECK(NoSlowerThan(1.02).judge(rows::summary(0.9, 1, 1.1)).unresolved);
  auto never = sampled(1.0, 0.01, 0);
  never.outcome = pace::Outcome::unreached;
  never.message = "the time was over";
  const auto judgement = NoSlowerThan(1.02).judge(never);
  CHECK(judgement.verdict == Verdict::undecided);
  CHECK(judgement.unresolved);
}

TEST_CASE("a disturbance makes every verdict undecided, whatever the figures say") {
  auto slower = sampled(1 / 1.5, 0.01, 40), faster = sampled(1.5, 0.01, 40);
  slower.context.disturbance = faster.context.disturbance = "The machine slept.";
  for (const auto& row : {slower, faster}) {
    const auto guard = NoSlowerThan(1.02).judge(row), claim = SpeedupAtLeast(1.2).judge(row);
    CHECK(guard.verdict == Verdict::undecided);
    CHECK(guard.acceptable);
    CHECK(guard.unresolved);
    CHECK(claim.verdict == Verdict::undecided);
    CHECK_FALSE(claim.acceptable);
    CHECK_THAT(guard.message, ContainsSubstring("on which no verdict may rest") &&
                                  ContainsSubstring("why: The machine slept.\ntry: "));
    CHECK_THAT(claim.message, ContainsSubstring("on which no verdict may rest\nwhy: The machine slept.\ntry: "));
  }
  // Also where only a summary is left.
  auto summary = rows::summary(0.5, 0.6, 0.7);
  CHECK(NoSlowerThan(1.02).judge(summary).verdict == Verdict::failed);
  summary.context.disturbance = "The machine slept.";
  CHECK(NoSlowerThan(1.02).judge(summary).verdict == Verdict::undecided);
}

TEST_CASE("no disturbance accounts for a thousandfold slowdown in every slow cycle") {
  const auto disturbed = [](double speedup, std::size_t cycles) {
    auto row = sampled(speedup, 0.01, cycles);
    row.context.iterations = 60;
    row.context.disturbance = "The measuring thread waited.";
    return row;
  };
  const auto failed = NoSlowerThan(1.02).judge(disturbed(1 / 20000.0, 3));
  CHECK(failed.verdict == Verdict::failed);
  CHECK_FALSE(failed.acceptable);
  CHECK_THAT(failed.message,
             ContainsSubstring("\nwhy: The measuring thread waited. No disturbance explains so large a factor in every "
                               "cycle.\ntry: find what made it slower"));
  CHECK(NoSlowerThan(1.02).judge(disturbed(1 / 20000.0, 40)).verdict == Verdict::failed);
  // Too few cycles, too small a slowdown, cycles that are over in a time slice, one that is different.
  CHECK(NoSlowerThan(1.02).judge(disturbed(1 / 20000.0, 2)).verdict == Verdict::undecided);
  CHECK(NoSlowerThan(1.02).judge(disturbed(1 / 900.0, 40)).verdict == Verdict::undecided);
  auto quick = disturbed(1 / 20000.0, 40), mixed = quick;
  for (auto& sample : quick.samples) sample *= 1e-7;
  CHECK(NoSlowerThan(1.02).judge(quick).verdict == Verdict::undecided);
  mixed.log_ratios[20] = 0;
  CHECK(NoSlowerThan(1.02).judge(mixed).verdict == Verdict::undecided);
  // Nothing passes on it.
  CHECK(NoSlowerThan(1.02).judge(disturbed(20000, 40)).verdict == Verdict::undecided);
  CHECK(SpeedupAtLeast(1.2).judge(disturbed(20000, 40)).verdict == Verdict::undecided);
}

TEST_CASE("three slow cycles that are each ten times beyond the limit decide, either way") {
  const auto slow = [](double speedup, std::size_t cycles) {
    auto row = sampled(speedup, 0.01, cycles);
    row.context.iterations = 60;
    return row;
  };
  const auto failed = NoSlowerThan(1.02).judge(slow(1 / 20000.0, 3));
  CHECK(failed.verdict == Verdict::failed);
  CHECK_THAT(failed.message, Matches("'fused' takes [0-9.e+]+x the baseline's time, in every cycle more than ten times "
                                     "1.02x \\(wrongly passed: 1 %, wrongly failed: 0.1 %; 3 cycles\\)\ntry: find.*"));
  CHECK(SpeedupAtLeast(1.2).judge(slow(1 / 20000.0, 3)).verdict == Verdict::failed);
  CHECK_THAT(SpeedupAtLeast(1.2).judge(slow(1 / 20000.0, 3)).message,
             ContainsSubstring(", in every cycle less than a tenth of 1.20x"));
  CHECK(NoSlowerThan(1.02).judge(slow(20000, 3)).verdict == Verdict::passed);
  CHECK_THAT(NoSlowerThan(1.02).judge(slow(20000, 3)).message,
             ContainsSubstring(", in every cycle less than a tenth of 1.02x"));
  CHECK(SpeedupAtLeast(1.2).judge(slow(20000, 3)).verdict == Verdict::passed);
  // Two are too few at an error rate of 0.1 %, and enough at 1 %.
  CHECK(NoSlowerThan(1.02).judge(slow(1 / 20000.0, 2)).verdict == Verdict::undecided);
  CHECK(NoSlowerThan(1.02).judge(slow(20000, 2)).verdict == Verdict::passed);
  // A time less than ten times beyond takes the dozen that signs take.
  CHECK(NoSlowerThan(1.02).judge(slow(1 / 9.0, 8)).verdict == Verdict::undecided);
  CHECK(NoSlowerThan(1.02).judge(slow(1 / 9.0, 14)).verdict == Verdict::failed);
  // Where the longer side takes milliseconds, a time slice of another process makes as much, however long the cycle
  // lasts.
  auto quick = slow(1 / 20000.0, 3);
  for (auto& sample : quick.samples) sample *= 1e-7;
  quick.context.cycle = pace::Nanoseconds(1e10);
  CHECK(NoSlowerThan(1.02).judge(quick).verdict == Verdict::undecided);
  auto unknown = slow(1 / 20000.0, 3);
  unknown.context.iterations = 0;
  CHECK(NoSlowerThan(1.02).judge(unknown).verdict == Verdict::undecided);
  // Words follow the deciding test: of eight cycles an interval may do, though none is that far beyond.
  auto close = slow(20000, 8);
  for (std::size_t i = 0; i < close.log_ratios.size(); ++i) close.log_ratios[i] = std::log(i % 2 == 0 ? 1.5 : 1.52);
  const auto by_interval = NoSlowerThan(1.02).judge(close);
  CHECK(by_interval.verdict == Verdict::passed);
  CHECK_THAT(by_interval.message,
             ContainsSubstring(", proven to lie at or below 1.02x") && !ContainsSubstring("tenth"));
  auto later = slow(1 / 20000.0, 5);
  later.log_ratios[4] = 0;
  // One cycle that is not beyond it ends this kind of evidence, be it the last one.
  CHECK(NoSlowerThan(1.02).judge(later).verdict == Verdict::undecided);
  auto broken = slow(1 / 20000.0, 6);
  broken.log_ratios[1] = 0;
  CHECK(NoSlowerThan(1.02).judge(broken).verdict == Verdict::undecided);
}

TEST_CASE("figures that cannot be true are invalid, whichever side would gain by them") {
  auto row = sampled(1.3, 0.01, 40);
  row.context.enter({pace::Severity::impossible, "it would be 130 % of the peak"});
  const auto claim = SpeedupAtLeast(1.2).judge(row);
  CHECK(claim.verdict == Verdict::invalid);
  CHECK_FALSE(claim.acceptable);
  CHECK_THAT(claim.message, EndsWith("which cannot be\nwhy: it would be 130 % of the peak"));
  // Not even where the undecided would be let through.
  const auto guard = NoSlowerThan(1.02).judge(row);
  CHECK(guard.verdict == Verdict::invalid);
  CHECK_FALSE(guard.acceptable);
}

TEST_CASE("faster than the baseline, by its name") {
  CHECK(FasterThan("eager").judge(sampled(1.05, 0.01, 40)).verdict == Verdict::passed);
  CHECK(FasterThan("eager", 1.1).judge(sampled(1.05, 0.01, 40)).verdict == Verdict::failed);
  CHECK(FasterThan("eager").judge(sampled(0.95, 0.01, 40)).verdict == Verdict::failed);
  const auto other = FasterThan("compiled").judge(sampled(1.05, 0.01, 40));
  CHECK(other.verdict == Verdict::invalid);
  CHECK_FALSE(other.acceptable);
  CHECK_THAT(other.message, ContainsSubstring("was compared with 'eager'") && ContainsSubstring(".expect(\"fused\""));
  CHECK(FasterThan("eager").describe() == "speed-up of more than 1.00x over 'eager'");
}

TEST_CASE("a time within budget needs no baseline") {
  using namespace std::chrono_literals;
  CHECK(WithinTime(1ms).judge(sampled(1.05, 0.01, 40)).verdict == Verdict::passed);
  CHECK(WithinTime(1ms).judge(sampled(0.95, 0.01, 40)).verdict == Verdict::failed);
  const auto open = WithinTime(1ms).judge(sampled(1.001, 0.01, 40));
  CHECK(open.verdict == Verdict::undecided);
  CHECK_FALSE(open.acceptable);
  auto baseline = sampled(1.05, 0.01, 40);
  baseline.is_baseline = true;
  baseline.log_ratios.clear();
  CHECK(WithinTime(1ms).judge(baseline).verdict == Verdict::passed);
  CHECK(WithinTime(1ms).describe() == "time of at most 1.00 ms");
  // By the summary alone.
  auto row = rows::measured("fused");
  row.time.emplace().median = pace::Nanoseconds(1e6);
  row.time->interval = pace::Interval<pace::Nanoseconds>{pace::Nanoseconds(9e5), pace::Nanoseconds(1.1e6), 0.95};
  CHECK(WithinTime(1.1ms).judge(row).verdict == Verdict::passed);
  CHECK(WithinTime(1ms).judge(row).verdict == Verdict::undecided);
  const auto late = WithinTime(0.89ms).judge(row);
  CHECK(late.verdict == Verdict::failed);
  CHECK_THAT(late.message, ContainsSubstring("[0.900, 1.10] ms at 95 %, all of it above 890 us"));
}

TEST_CASE("a verdict states the figures, the interval that decided, the threshold and the error rates") {
  const auto passed = SpeedupAtLeast(1.2).judge(sampled(1.5, 0, 20));
  CHECK(passed.message ==
        "'fused' is 1.50x as fast as the baseline [1.50x, 1.50x] at 98.9 %, all of it at or above 1.20x "
        "(wrongly passed: 0.1 %, wrongly failed: 1 %; 20 cycles)");
  const auto failed = NoSlowerThan(1.1).judge(sampled(0.5, 0, 20));
  CHECK(failed.message ==
        "'fused' takes 2.00x the baseline's time [2.00x, 2.00x] at 98.9 %, all of it above 1.10x "
        "(wrongly passed: 1 %, wrongly failed: 0.1 %; 20 cycles)\ntry: find what made it slower, or allow more");
  const auto late = WithinTime(pace::Nanoseconds(5e5)).judge(sampled(1.25, 0, 20));
  CHECK(late.message ==
        "'fused' takes 800 us [800, 800] us at 98.9 %, all of it above 500 us "
        "(wrongly passed: 0.1 %, wrongly failed: 1 %; 20 cycles)\ntry: make the implementation faster, or allow more "
        "time");
}

TEST_CASE("the interval that is printed is the verdict") {
  // Over many rows near the threshold: passed if and only if all of it lies above, and so on.
  int seen[3] = {};
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto row = sampled(1.21, 0.01, 60, seed);
    const pace::gate::Demand demand = SpeedupAtLeast(1.205).demand();
    const auto evidence = pace::gate::weigh(row.log_ratios, demand);
    const auto interval = pace::gate::undecided_thresholds(row.log_ratios, demand, 1e-3, 1e-2);
    const auto verdict = pace::gate::decide(evidence.p_above, evidence.p_below, 1e-3, 1e-2);
    CAPTURE(seed, interval.low, interval.high, demand.threshold);
    CHECK((verdict == Verdict::passed) == (interval.low >= demand.threshold));
    CHECK((verdict == Verdict::failed) == (interval.high < demand.threshold));
    ++seen[static_cast<int>(verdict)];
  }
  CHECK(seen[static_cast<int>(Verdict::passed)] > 2);
  CHECK(seen[static_cast<int>(Verdict::undecided)] > 5);
}

/// A candidate whose cycles take `times`, beside a baseline 'eager' of 9.3 ns.
pace::ImplementationResult taking(const std::vector<double>& times) {
  auto row = rows::measured("tiny");
  row.context.baseline = "eager";
  row.context.rounds_per_cycle = 2;
  for (const double time : times) {
    row.log_ratios.push_back(std::log(9.3 / time));
    row.samples.insert(row.samples.end(), 2, pace::Nanoseconds(time));
  }
  return row;
}

TEST_CASE("the figure that is printed before an interval lies in it, and two modes decide nothing by their centre") {
  // 11 cycles of 20 take 24 ns and the others 9.3 ns, in a mixed order: the centre of scores lies between both.
  std::vector<double> two_modes;
  for (int i = 0; i < 200; ++i) two_modes.push_back(i * 7 % 20 < 11 ? 24 : 9.3);
  CHECK(NoSlowerThan(1.02).judge(taking(two_modes)).message ==
        "'tiny' takes 2.58x the baseline's time [1.000x, 2.58x] at 98.9 %, which holds 1.02x (wrongly passed: 1 %, "
        "wrongly failed: 0.1 %; 200 cycles); no regression is proven\nwhy: the log ratios are skewed or have several "
        "modes: by their centre it takes 1.69x the baseline's time, and too few of them lie on that side of the limit");

  // The first 20 cycles take 9.3 ns, which the others take back, and more of them prove the contrary.
  std::vector<double> slower(20, 9.3);
  slower.resize(45, 24);
  CHECK_THAT(WithinTime(pace::Nanoseconds(12)).judge(taking(slower)).message,
             StartsWith("'tiny' takes 24.0 ns [9.30, 24.0] ns at 98.9 %, which holds 12.0 ns"));
  slower.resize(100, 24);
  CHECK_THAT(WithinTime(pace::Nanoseconds(12)).judge(taking(slower)).message,
             StartsWith("'tiny' takes 24.0 ns [24.0, 24.0] ns at 98.9 %, all of it above 12.0 ns"));
}

TEST_CASE("one call in thirty that takes a hundred times longer fails guards of the mean and of a quantile") {
  const auto never = [](std::size_t) { return false; };
  const auto row = stalling(1500, 100, [](std::size_t i) { return i % 30 == 7; });
  const auto guard = NoSlowerThan(1.02).judge(row);
  INFO(guard.message);
  CHECK(guard.verdict == Verdict::failed);
  // The figure that decides comes first, and the other one is no part of it.
  CHECK_THAT(guard.message,
             Matches("'fused' takes 4\\.[0-9]*x the baseline's time by the mean, and the mean is proven to lie above "
                     "1\\.02x \\(.*\\)\\. "
                     "A guard fails by the mean or by the median, which is here [01]\\.[0-9]+x the baseline's time "
                     "\\[.*\\]\ntry: find what made it slower, or allow more"));
  const auto by_median = NoSlowerThan(1.5).judge(stalling(1500, 2, [](std::size_t i) { return i % 8 != 7; }));
  INFO(by_median.message);
  CHECK(by_median.verdict == Verdict::failed);
  CHECK_THAT(by_median.message,
             Matches("'fused' takes [12]\\.[0-9]+x the baseline's time by the median \\[.*\\] at .*, all of it above "
                     "1\\.50x \\(.*\\)\\. A guard fails by the median or by the mean, which is here 1\\.[0-9]+x the "
                     "baseline's time\ntry: find what made it slower, or allow more"));
  const auto mean = pace::MeanNoSlowerThan(1.05).judge(row),
             quantile = pace::QuantileNoSlowerThan(0.99, 1.5).judge(row);
  CHECK(mean.verdict == Verdict::failed);
  CHECK_THAT(mean.message, StartsWith("'fused' has a mean time of 4.") &&
                               ContainsSubstring("x the baseline's, proven to lie above 1.05x"));
  CHECK(quantile.verdict == Verdict::failed);
  CHECK_THAT(quantile.message, StartsWith("'fused' has a 99 % quantile of "));
  CHECK_FALSE(mean.speed);
  // Without such calls all of them pass; a claim is about the median alone.
  const auto calm = stalling(1500, 1, never);
  for (const auto& guard_of :
       {NoSlowerThan(1.02), pace::MeanNoSlowerThan(1.05), pace::QuantileNoSlowerThan(0.99, 1.5)}) {
    const auto judgement = guard_of.judge(calm);
    INFO(judgement.message);
    CHECK(judgement.verdict == Verdict::passed);
  }
  CHECK(SpeedupAtLeast(0.98).judge(row).verdict == Verdict::passed);
  // Where only own samples are known nothing is said of them.
  auto alone = row;
  alone.context.baseline_samples.reset();
  CHECK(pace::MeanNoSlowerThan(1.05).judge(alone).verdict == Verdict::undecided);
  CHECK(NoSlowerThan(1.02).judge(alone).verdict == Verdict::passed);
}

TEST_CASE("a verdict near its limit says that it is about this process, and what judges several") {
  const std::string several = "so this verdict is about this process", remedy = "--processes 12, which judges up";
  for (const double slower : {1.015, 1.025}) {
    const auto guard = NoSlowerThan(1.02).judge(sampled(1 / slower, 0.002, 400));
    INFO(guard.message);
    CHECK(guard.verdict == (slower < 1.02 ? Verdict::passed : Verdict::failed));
    CHECK_THAT(guard.near_limit,
               StartsWith("within 0.93 % of the limit") && ContainsSubstring(several + "; try: " + remedy));
    CHECK_THAT(guard.message, ContainsSubstring("why: within 0.93 % of the limit") && ContainsSubstring(remedy));
    const auto claim = SpeedupAtLeast(1.2).judge(sampled(1.2 * slower / 1.02, 0.002, 400));
    INFO(claim.message);
    CHECK(claim.verdict == (slower < 1.02 ? Verdict::failed : Verdict::passed));
    CHECK_THAT(claim.message, ContainsSubstring(several) && ContainsSubstring(remedy));
    // Several processes do not judge a time.
    const auto time = WithinTime(pace::Nanoseconds(1e6)).judge(sampled(slower < 1.02 ? 1.01 : 1 / 1.01, 0.002, 400));
    INFO(time.message);
    CHECK(time.verdict == (slower < 1.02 ? Verdict::passed : Verdict::failed));
    CHECK_THAT(time.message, ContainsSubstring("within 5 % of the limit") && !ContainsSubstring("--processes"));
  }
  for (const double slower : {1.0, 1.05})
    CHECK(NoSlowerThan(1.02).judge(sampled(1 / slower, 0.002, 400)).near_limit.empty());
  // Undecided verdicts say how to settle them.
  CHECK(NoSlowerThan(1.02).judge(sampled(1 / 1.02, 0.01, 40)).near_limit.empty());
}

TEST_CASE("a mean that looks slower, which is not proven, leaves a guard undecided") {
  const auto judgement = NoSlowerThan(1.02).judge(stalling(300, 100, [](std::size_t i) { return i % 60 == 7; }));
  INFO(judgement.message);
  CHECK(judgement.verdict == Verdict::undecided);
  CHECK(judgement.unresolved);
  CHECK_THAT(judgement.message, ContainsSubstring("\nwhy: the mean looks slower, which is not proven"));
}

TEST_CASE("a candidate that stalls in 13 % of its calls is slower in the mean, and wrong about the median in no run") {
  // Half of the cycles hold no stall, so that the medians are equal, while the centre of the scores is far off.
  int guards = 0, by_median = 0, claims = 0;
  constexpr int runs = 200;
  for (int run = 0; run < runs; ++run) {
    pace::test::Random random(static_cast<std::uint64_t>(run) + 1);
    const auto row =
        stalling(300, 3, [&](std::size_t) { return random.uniform() < 0.13; }, static_cast<std::uint64_t>(run) + 1);
    const auto guard = NoSlowerThan(1.02).judge(row), claim = SpeedupAtLeast(0.98).judge(row);
    guards += guard.verdict == Verdict::failed;
    by_median += guard.verdict == Verdict::failed &&
                 guard.message.find("by the mean, and the mean is proven to lie above") == std::string::npos;
    claims += claim.verdict == Verdict::failed;
  }
  CAPTURE(guards, by_median, claims);
  CHECK(guards > 0.95 * runs);
  CHECK(by_median == 0);
  CHECK(claims == 0);
}

TEST_CASE("as many digits as tell the interval from the threshold") {
  CHECK_THAT(
      NoSlowerThan(1.02).judge(sampled(1 / 1.021, 0.0005, 40)).message,
      Matches("'fused' takes 1.02[0-9]+x the baseline's time \\[1.02[0-9]+x, 1.02[0-9]+x\\] at 98.9 %, all of it above "
              "1.02x (.|\n)*") &&
          !ContainsSubstring("[1.02x"));
}

TEST_CASE("error rates come from the row, or from the expectation itself") {
  // 14 cycles that agree: enough for 1e-3, too few for 1e-6.
  auto row = sampled(1.3, 0, 14);
  CHECK(SpeedupAtLeast(1.2).judge(row).verdict == Verdict::passed);
  CHECK(SpeedupAtLeast(1.2).alpha(1e-6).judge(row).verdict == Verdict::undecided);
  row.context.alpha = 1e-6;
  CHECK(SpeedupAtLeast(1.2).judge(row).verdict == Verdict::undecided);
  CHECK(SpeedupAtLeast(1.2).alpha(1e-3).judge(row).verdict == Verdict::passed);
  // Failing a claim is the cheap side: beta.
  CHECK(SpeedupAtLeast(1.4).judge(row).verdict == Verdict::failed);
  CHECK(SpeedupAtLeast(1.4).beta(1e-6).judge(row).verdict == Verdict::undecided);
  // Failing a guard is the costly side.
  CHECK(NoSlowerThan(0.7).judge(row).verdict == Verdict::undecided);
  CHECK(NoSlowerThan(0.9).judge(row).verdict == Verdict::passed);
  CHECK_THROWS_AS(SpeedupAtLeast(1).alpha(0), pace::Error);
  CHECK_THROWS_AS(SpeedupAtLeast(1).beta(0.5), pace::Error);
}

TEST_CASE("figures that moved across the threshold are judged by all cycles, not by those that came first") {
  const auto moved = [](std::size_t first, std::size_t then) {
    auto row = sampled(1.3, 0.01, first);
    const auto later = sampled(1.1, 0.01, then);
    row.log_ratios.insert(row.log_ratios.end(), later.log_ratios.begin(), later.log_ratios.end());
    return SpeedupAtLeast(1.2).judge(row);
  };
  CHECK(moved(20, 0).verdict == Verdict::passed);
  CHECK(moved(20, 20).verdict == Verdict::undecided);
  CHECK(moved(20, 60).verdict == Verdict::failed);
}

TEST_CASE("a claim that cannot be proven is not, and a guard is judged as ever") {
  auto slower = sampled(1 / 1.5, 0.01, 40), faster = sampled(1.5, 0.01, 40);
  slower.context.enter({pace::Severity::unproven, "its functions have no operand tensors"});
  faster.context.enter({pace::Severity::unproven, "its functions have no operand tensors"});
  const auto claim = SpeedupAtLeast(1.2).judge(faster);
  CHECK(claim.verdict == Verdict::invalid);
  CHECK_FALSE(claim.acceptable);
  CHECK_THAT(claim.message, EndsWith("which proves nothing\nwhy: its functions have no operand tensors"));
  CHECK(NoSlowerThan(1.02).judge(faster).verdict == Verdict::passed);
  CHECK(SpeedupAtLeast(1.2).judge(slower).verdict == Verdict::failed);
  CHECK(NoSlowerThan(1.02).judge(slower).verdict == Verdict::failed);
}

TEST_CASE("a claim of an implementation that was not checked in full is undecided, and a guard is judged as ever") {
  auto slower = sampled(1 / 1.5, 0.01, 40), faster = sampled(1.5, 0.01, 40);
  for (auto* const row : {&slower, &faster})
    row->context.enter({pace::Severity::unchecked, "it was not checked whether it keeps answers",
                        "give it more time: a longer limit"});
  const auto claim = SpeedupAtLeast(1.2).judge(faster);
  CHECK(claim.verdict == Verdict::undecided);
  CHECK_FALSE(claim.acceptable);
  CHECK_THAT(claim.message,
             EndsWith("on which no claim may rest\nwhy: it was not checked whether it keeps answers\ntry: "
                      "give it more time: a longer limit"));
  // A remedy of both is named once.
  faster.context.enter({pace::Severity::cut_short, "a limit", "a longer limit"});
  CHECK_THAT(SpeedupAtLeast(1.2).judge(faster).message,
             EndsWith("keeps answers\ntry: give it more time: a longer limit"));
  faster.context.enter({pace::Severity::cut_short, "another"});
  CHECK_THAT(SpeedupAtLeast(1.2).judge(faster).message,
             ContainsSubstring("keeps answers; the rounds ended early: another\ntry: give"));
  CHECK(NoSlowerThan(1.02).judge(faster).verdict == Verdict::passed);
  CHECK(SpeedupAtLeast(1.2).judge(slower).verdict == Verdict::failed);
  CHECK(NoSlowerThan(1.02).judge(slower).verdict == Verdict::failed);
}

TEST_CASE("what the rounds owe to values that calls have seen proves nothing") {
  auto row = sampled(1.5, 0.01, 40);
  row.context.excess_in_rounds = 1.4;
  const auto fails = [&](const pace::Expectation& expectation) {
    const auto judgement = expectation.judge(row);
    INFO(judgement.message);
    CHECK(judgement.acceptable == (judgement.verdict == Verdict::passed));
    const bool failed = judgement.verdict == Verdict::failed;
    CHECK(ContainsSubstring("but on unseen values at ").match(judgement.message) == failed);
    return failed;
  };
  CHECK(fails(SpeedupAtLeast(1.2)));
  CHECK_FALSE(fails(SpeedupAtLeast(1.05)));
  CHECK_FALSE(fails(NoSlowerThan(1)));
  row.context.excess_in_rounds = 1.6;
  CHECK(fails(SpeedupAtLeast(1.01)));
  CHECK(fails(NoSlowerThan(1)));
  CHECK_FALSE(fails(NoSlowerThan(1.1)));
  // Without rounds of its own to look at, too.
  auto stored = rows::summary(1.45, 1.5, 1.55);
  stored.context.excess_in_rounds = 1.6;
  CHECK(SpeedupAtLeast(1.01).fixed_size().judge(stored).verdict == Verdict::failed);
  // If the rounds leave it undecided, it fails as well, whether it would be let through or not. Nothing fails on a
  // machine that was disturbed.
  auto noisy = sampled(1, 0.2, 12);
  noisy.context.excess_in_rounds = 1.6;
  CHECK(NoSlowerThan(1.01).judge(noisy).verdict == Verdict::failed);
  CHECK(SpeedupAtLeast(1.01).judge(noisy).verdict == Verdict::failed);
  CHECK_FALSE(SpeedupAtLeast(1.01).when_undecided(WhenUndecided::let_through).judge(noisy).acceptable);
  row.context.disturbance = "Other work took part.";
  CHECK(SpeedupAtLeast(1.2).judge(row).verdict == Verdict::undecided);
}

TEST_CASE("what the median on unseen values does not meet is no proof, of claims and of guards") {
  auto row = sampled(1.5, 0.01, 40);
  row.context.likely_excess_in_rounds = 1.6;
  for (const auto& expectation : {SpeedupAtLeast(1.2), NoSlowerThan(1)}) {
    const auto judgement = expectation.judge(row);
    CHECK(judgement.verdict == Verdict::undecided);
    CHECK_THAT(judgement.message, ContainsSubstring("not so by the median on unseen values"));
    // The missing check may be the reason.
    auto unchecked = row;
    unchecked.context.enter({pace::Severity::unchecked, "it was not checked whether it keeps weights", "give it time"});
    CHECK_THAT(expectation.judge(unchecked).message,
               ContainsSubstring("by the median on unseen values") &&
                   ContainsSubstring("\nwhy: it was not checked whether it keeps weights\ntry: give it time"));
  }
  CHECK(NoSlowerThan(1.1).judge(row).verdict == Verdict::passed);
  CHECK(SpeedupAtLeast(2).judge(row).verdict == Verdict::failed);
}

TEST_CASE("what passes beside a smaller figure on unseen values names that one, too") {
  auto row = sampled(1.5, 0.01, 40);
  const auto message = [&](const pace::Expectation& expectation) {
    const auto judgement = expectation.judge(row);
    CHECK(judgement.verdict == Verdict::passed);
    return judgement.message;
  };
  const auto says = [](const std::string& figure) { return EndsWith("; on unseen values it " + figure); };
  for (const auto& expectation : {SpeedupAtLeast(1.1), NoSlowerThan(1), WithinTime(pace::Nanoseconds(9e5))})
    CHECK_THAT(message(expectation), !ContainsSubstring("on unseen values"));
  row.context.likely_excess_in_rounds = 1.25;
  CHECK_THAT(message(SpeedupAtLeast(1.1)), Matches(".*; on unseen values it is 1[.](19|20)[0-9]*x as "
                                                   "fast as the baseline"));
  CHECK_THAT(message(NoSlowerThan(1)), Matches(".*; on unseen values it takes 0[.]83[0-9]x the "
                                               "baseline's time"));
  CHECK_THAT(message(WithinTime(pace::Nanoseconds(9e5))), Matches(".*; on unseen values it takes 83. us"));
  // Where that is proven, too.
  row.context.excess_in_rounds = 1.2;
  CHECK_THAT(message(SpeedupAtLeast(1.1)), ContainsSubstring("it is 1.2"));
  row = stalling(1500, 1, [](std::size_t) { return false; });
  CHECK_THAT(message(pace::MeanNoSlowerThan(1.4)), !ContainsSubstring("on unseen values"));
  row.context.likely_excess_in_rounds = 1.25;
  CHECK_THAT(message(pace::MeanNoSlowerThan(1.4)), Matches(".*; on unseen values it takes 1[.]2[0-9]x "
                                                           "the baseline's time"));
  // By a summary alone.
  row = rows::summary(1.45, 1.5, 1.55);
  row.context.likely_excess_in_rounds = 1.25;
  CHECK_THAT(message(SpeedupAtLeast(1.1).fixed_size()), says("is 1.20x as fast as the baseline"));
}

TEST_CASE("beside another candidate, the figure on unseen values is the ratio of both candidates' figures") {
  auto row = sampled(3, 0.01, 40), other = sampled(1.5, 0.01, 40, 2);
  other.name = "other";
  const auto on_unseen = [](double median) {
    pace::SpeedupSummary speedup;
    speedup.median = median;
    speedup.interval = pace::Interval<double>{median * 0.99, median * 1.01, 0.999};
    return speedup;
  };
  row.on_unseen_values = on_unseen(2.2);
  other.on_unseen_values = on_unseen(1.4);
  const auto judgement = pace::gate::judge_row(FasterThan("other").demand(), row, &other, {1e-3, 1e-2});
  INFO(judgement.message);
  CHECK(judgement.verdict == Verdict::passed);
  CHECK_THAT(judgement.message, EndsWith("; on unseen values it is 1.57x as fast as 'other'"));
}

TEST_CASE("rounds that were too brief give no verdict, whatever the figures say") {
  auto slower = sampled(1 / 1.5, 0.01, 40), faster = sampled(1.5, 0.01, 40);
  slower.context.enter({pace::Severity::too_brief, "the rounds lasted 2 ms, and a verdict needs 100 ms"});
  faster.context.enter({pace::Severity::too_brief, "the rounds lasted 2 ms, and a verdict needs 100 ms"});
  for (const auto& row : {slower, faster}) {
    const auto guard = NoSlowerThan(1.02).judge(row), claim = SpeedupAtLeast(1.2).judge(row);
    CHECK(guard.verdict == Verdict::undecided);
    CHECK(guard.acceptable);
    CHECK(guard.unresolved);
    CHECK(claim.verdict == Verdict::undecided);
    CHECK_FALSE(claim.acceptable);
    CHECK_THAT(claim.message, ContainsSubstring("on which no verdict may rest yet") &&
                                  ContainsSubstring("\nwhy: " + row.context.find(pace::Severity::too_brief)->why));
  }
}

TEST_CASE("a sample of fixed size needs fewer cycles") {
  const auto row = sampled(1.3, 0.01, 10);
  CHECK(SpeedupAtLeast(1.2).judge(row).verdict == Verdict::undecided);
  // 2^-10 = 0.00098.
  CHECK(SpeedupAtLeast(1.2).fixed_size().judge(row).verdict == Verdict::passed);
  CHECK(SpeedupAtLeast(1.2).fixed_size().judge(sampled(1.3, 0.01, 9)).verdict == Verdict::undecided);
  CHECK(SpeedupAtLeast(1.4).fixed_size().judge(sampled(1.3, 0.01, 7)).verdict == Verdict::failed);  // 2^-7 < 1 %
}

TEST_CASE("too little evidence says so, and how much is missing") {
  const auto open = SpeedupAtLeast(1.2).judge(sampled(1.3, 0.01, 5));
  CHECK(open.verdict == Verdict::undecided);
  CHECK_THAT(open.message, ContainsSubstring("on too little evidence") && ContainsSubstring("more rounds"));
}

TEST_CASE("an open question says what would settle it") {
  const auto demand = SpeedupAtLeast(1.0).demand();
  pace::gate::Evidence evidence;
  evidence.observations = 100;
  evidence.centre = 0.001;
  evidence.deviation = 0.01;
  evidence.p_above = 0.5;
  // ln 1000 + 2.3 nats at ln 2 (1 - exp(-0.01 / (2 ln 2))) = 0.00498 a cycle: 1849 cycles, 100 of them are there.
  const auto forecast = pace::gate::forecast(evidence, demand, 1e-3, 1e-2);
  CHECK(forecast.more == 1749);
  CHECK_FALSE(forecast.hopeless);
  pace::GateContext context;
  const auto said = [&](const pace::gate::Forecast& about) {
    pace::MessageParts message;
    pace::gate::add_forecast(about, evidence, demand, context, message);
    return message.text();
  };
  CHECK(said(forecast) == "\ntry: about 1800 more rounds, which would settle it at today's noise");
  context.rounds_per_cycle = 2;
  context.cycle = pace::Nanoseconds(1e6);
  // 1.2 (100 + 1749) cycles of 1 ms.
  CHECK(said(forecast) ==
        "\ntry: --budget 2.2, since about 3500 more rounds (1.75 s) would settle it at today's noise");
  context.rounds_per_cycle = 10;
  CHECK_THAT(said(forecast), StartsWith("\ntry: --budget 2.2 --max-rounds 23000, since"));
  context.rounds_per_cycle = 1'000'000;
  CHECK(said(forecast) ==
        "\nwhy: about 1800000000 more rounds would settle it at today's noise, more than --max-rounds allows (" +
            std::to_string(pace::most_rounds) + ')');

  // Evidence that was unlucky must come yet, though the mean is reached.
  evidence.observations = 3000;
  evidence.p_above = 1;
  CHECK(pace::gate::forecast(evidence, demand, 1e-3, 1e-2).more == 1849);
  evidence.p_above = 0.01;  // a third of the way is missing, in nats
  CHECK(pace::gate::forecast(evidence, demand, 1e-3, 1e-2).more == 617);

  // A hundred times as many as there are: no.
  evidence.observations = 100;
  evidence.centre = 0.0001;
  const auto never = pace::gate::forecast(evidence, demand, 1e-3, 1e-2);
  CHECK(never.hopeless);
  CHECK_THAT(never.within_reach, WithinRel(0.01 * std::sqrt(2 * 9.2078 / 1000), 0.01));
  CHECK(said(never) ==
        "\nwhy: it is too near the threshold to settle at today's noise: ten times the rounds would tell a difference "
        "of 0.14 %");
  evidence.centre = 0;
  CHECK(pace::gate::forecast(evidence, demand, 1e-3, 1e-2).hopeless);
}

TEST_CASE("several processes: what differs between them is the noise") {
  const auto row = sampled(1.0, 0.01, 40);  // of one of them; its figures do not matter here
  // A guard of 2 %, processes at -0.1 % to 0.2 %: five that agree so well decide.
  const std::vector<double> equal{0.001, -0.0005, 0.0015, 0.0, 0.0005};
  const auto passed = NoSlowerThan(1.02).judge_replicates(row, equal);
  CHECK(passed.verdict == Verdict::passed);
  CHECK_THAT(passed.message, ContainsSubstring("5 processes"));
  std::vector<double> slower = equal;
  for (auto& each : slower) each -= std::log(1.05);
  CHECK(NoSlowerThan(1.02).judge_replicates(row, slower).verdict == Verdict::failed);
  // 2 % of scatter is as large as the margin: open, however small each process's own interval.
  const std::vector<double> scattered{0.02, -0.02, 0.01, -0.015, 0.005};
  const auto open = NoSlowerThan(1.02).judge_replicates(row, scattered);
  CHECK(open.verdict == Verdict::undecided);
  CHECK(open.acceptable);
  CHECK_THAT(open.message, ContainsSubstring("more processes, which would settle it"));
}

TEST_CASE("what processes proved first counts, says that it changed, and is open once they prove the opposite") {
  std::vector<double> moved;
  for (int i = 0; i < 36; ++i) moved.push_back(std::log(i < 6 ? 1.2 : 0.5) + 1e-3 * (i % 3));
  const auto row = sampled(1.0, 0.01, 40);
  const auto first = NoSlowerThan(1.02).judge_replicates(row, {moved.begin(), moved.begin() + 8});
  CHECK(first.verdict == Verdict::passed);
  CHECK_THAT(first.message,
             StartsWith("'fused' takes 0.835x the baseline's time [0.829x, 0.835x] at 98.9 % (by the mean "
                        "of all processes it takes 1.04x the baseline's time, since they changed while "
                        "they were taken), all of it at or below 1.02x"));
  const auto open = NoSlowerThan(1.02).judge_replicates(row, moved);
  CHECK(open.verdict == Verdict::undecided);
  CHECK_THAT(open.message,
             ContainsSubstring("which was proven to lie above 1.02x and below it in turn (36 processes)") &&
                 EndsWith("\nwhy: the figures changed while they were taken\ntry: measure on a quieter "
                          "machine"));
}

TEST_CASE("ill-formed expectations are errors") {
  CHECK_THROWS_AS(FasterThan(""), pace::Error);
  CHECK_THROWS_AS(FasterThan("eager", 0), pace::Error);
  CHECK_THROWS_AS(pace::MeanNoSlowerThan(0), pace::Error);
  CHECK_THROWS_AS(pace::QuantileNoSlowerThan(1, 1.5), pace::Error);
  CHECK_THROWS_AS(pace::QuantileNoSlowerThan(0.99, -1), pace::Error);
  CHECK_THROWS_AS(pace::MeanNoSlowerThan(1.02).fixed_size(), pace::Error);
  CHECK_THROWS_AS(WithinTime(pace::Nanoseconds(0)), pace::Error);
  CHECK_THROWS_AS(WithinTime(pace::Nanoseconds(std::nan(""))), pace::Error);
  CHECK_THROWS_AS(SpeedupAtLeast(std::numeric_limits<double>::infinity()), pace::Error);
}

}  // namespace
