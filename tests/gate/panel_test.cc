// Several demands at once: the stopping rule, and error rates shared among them.
#include "pace/gate/panel.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/gate/times.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/gate/rows.hpp"
#include "tests/support/random.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using pace::FasterThan;
using pace::Nanoseconds;
using pace::NoSlowerThan;
using pace::SpeedupAtLeast;
using pace::Verdict;
using pace::gate::Demand;
using pace::gate::Panel;
using pace::gate::Rates;
using pace::test::Random;
using Samples = std::vector<std::vector<Nanoseconds>>;

/// Cycles of two rounds until the panel has decided, at most `most`. `time(i)` is a time of implementation i.
template <class Time>
std::size_t cycles_until_decided(Panel& panel, Samples& samples, Time time, std::size_t most) {
  for (std::size_t cycle = 1; cycle <= most; ++cycle) {
    for (std::size_t i = 0; i < samples.size(); ++i)
      for (int round = 0; round < 2; ++round) samples[i].push_back(Nanoseconds(time(i)));
    panel.add_cycle(samples, samples[0].size() - 2, 2, 1);
    if (panel.decided()) return cycle;
  }
  return most + 1;
}

TEST_CASE("rates are shared by Holm's procedure, each side for itself") {
  const std::vector<Demand> demands{SpeedupAtLeast(1).demand(), NoSlowerThan(1).demand(), SpeedupAtLeast(1).demand()};
  // Alpha's p-values: above of claims, below of guards: 0.01, 0.9, 0.02. Beta's are the others.
  const std::vector<double> above{0.01, 0.003, 0.02}, below{1, 0.9, 1};
  const auto rates = [&](double alpha, double beta) {
    return pace::gate::shared_rates(3, Rates{alpha, beta}, [&](std::size_t i) -> pace::gate::WeighedDemand {
      return {demands[i], above[i], below[i]};
    });
  };
  CHECK_THAT(rates(0.03, 0.03).alpha, WithinRel(0.015, 1e-12));  // 0.01 <= 0.03/3, then 0.02 > 0.03/2
  CHECK_THAT(rates(0.04, 0.03).alpha, WithinRel(0.04, 1e-12));   // ... and with 0.04, 0.02 <= 0.04/2
  CHECK_THAT(rates(0.03, 0.03).beta, WithinRel(0.015, 1e-12));   // the guard passes: 0.003 <= 0.03/3
  CHECK_THAT(rates(0.03, 0.006).beta, WithinRel(0.002, 1e-12));
}

TEST_CASE("an expectation with rates of its own takes no share") {
  const std::vector<Demand> demands{SpeedupAtLeast(1).demand(), SpeedupAtLeast(1).alpha(0.2).demand()};
  const auto rates = pace::gate::shared_rates(
      2, Rates{0.01, 0.02}, [&](std::size_t i) -> pace::gate::WeighedDemand { return {demands[i], 1.0, 1.0}; });
  CHECK(rates.alpha == 0.01);
  CHECK(rates.beta == 0.01);  // 0.02 between two
}

TEST_CASE("rounds end when the last demand is decided, and not before") {
  Random random(3);
  const double speedups[] = {1, 1.3, 1.01};
  const auto time = [&](std::size_t i) { return 1e6 / speedups[i] * std::exp(0.01 * random.normal()); };
  Panel one({1e-3, 1e-2}), both({1e-3, 1e-2});
  one.watch(SpeedupAtLeast(1.2).demand(), 1, 0);
  both.watch(SpeedupAtLeast(1.2).demand(), 1, 0);
  both.watch(NoSlowerThan(1.0).demand(), 2, 0);  // a difference as large as the noise takes longer
  CHECK_FALSE(both.decided());
  CHECK(both.size() == 2);
  Samples samples(3);
  const auto quick = cycles_until_decided(one, samples, time, 1000);
  CHECK(quick == 12);
  Samples more(3);
  const auto slow = cycles_until_decided(both, more, time, 1000);
  CHECK(slow > quick);
  CHECK(slow < 100);
}

TEST_CASE("the rule and the judgement afterwards say the same") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    Panel panel({1e-3, 1e-2});
    const auto guard = NoSlowerThan(1.02);
    panel.watch(guard.demand(), 1, 0);
    Samples samples(2);
    const double slowdown = seed % 2 == 0 ? 1.05 : 1.0;
    const auto cycles = cycles_until_decided(
        panel, samples, [&](std::size_t i) { return 1e6 * (i == 1 ? slowdown : 1) * std::exp(0.01 * random.normal()); },
        1000);
    auto row = rows::measured("candidate");
    row.samples = samples[1];
    row.log_ratios = pace::stats::paired_log_ratios(samples[0], samples[1], 2);
    row.context.rounds_per_cycle = 2;
    CAPTURE(seed, cycles);
    CHECK(cycles < 60);
    CHECK(guard.judge(row).verdict == (seed % 2 == 0 ? Verdict::failed : Verdict::passed));
    // One cycle earlier nothing was decided.
    row.log_ratios.pop_back();
    CHECK(guard.judge(row).verdict == Verdict::undecided);
  }
}

TEST_CASE("a slow side is decided by the size of the difference, by the rule as by the judgement afterwards") {
  // `side`: the time of the longer side within a cycle, two samples of three iterations.
  const auto decided = [](double factor, Nanoseconds side, std::size_t cycles) {
    Panel panel({1e-3, 1e-2});
    const auto guard = NoSlowerThan(1.02);
    panel.watch(guard.demand(), 1, 0);
    Samples samples(2);
    for (std::size_t i = 0; i < cycles; ++i) {
      samples[0].insert(samples[0].end(), 2, side / 6 / std::max(factor, 1.0));
      samples[1].insert(samples[1].end(), 2, side / 6 / std::max(factor, 1.0) * factor);
      panel.add_cycle(samples, samples[0].size() - 2, 2, 3);
    }
    auto row = rows::measured("candidate");
    row.samples = samples[1];
    row.log_ratios = pace::stats::paired_log_ratios(samples[0], samples[1], 2);
    row.context.rounds_per_cycle = 2;
    row.context.iterations = 3;
    const auto verdict = guard.judge(row).verdict;
    CHECK(panel.decided() == (verdict != Verdict::undecided));
    return verdict;
  };
  const Nanoseconds slow = 1.01 * pace::gate::slow_side, quick = 0.99 * pace::gate::slow_side;
  CHECK(decided(20'000, slow, 2) == Verdict::undecided);
  CHECK(decided(20'000, slow, 3) == Verdict::failed);
  CHECK(decided(20'000, quick, 3) == Verdict::undecided);
  CHECK(decided(20'000, quick, 12) == Verdict::failed);
  CHECK(decided(10.1, slow, 3) == Verdict::undecided);
  CHECK(decided(10.3, slow, 3) == Verdict::failed);
  CHECK(decided(0.05, slow, 2) == Verdict::passed);
}

TEST_CASE("samples of fixed size are not looked at before their time") {
  Panel panel({1e-3, 1e-2});
  panel.watch(SpeedupAtLeast(1.2).fixed_size().demand(), 1, 0);
  Samples samples(2);
  CHECK(cycles_until_decided(panel, samples, [](std::size_t i) { return i == 0 ? 2e6 : 1e6; }, 100) == 101);
}

TEST_CASE("times are watched without a baseline") {
  Panel panel({1e-3, 1e-2});
  panel.watch(pace::WithinTime(Nanoseconds(1e6)).demand(), 0, 0);
  Samples samples(1);
  CHECK(cycles_until_decided(panel, samples, [](std::size_t) { return 9e5; }, 100) == 12);
}

/// A result of three candidates, 60 cycles each, on the samples of a shared baseline.
pace::Result three_candidates() {
  pace::Result result;
  result.name = "case";
  const char* names[] = {"eager", "quick", "same", "slow"};
  const double speedups[] = {1, 1.3, 1, 0.8};
  Random random(5);
  for (std::size_t i = 0; i < 4; ++i) {
    auto& row = result.implementations.emplace_back(rows::measured(names[i]));
    row.is_baseline = i == 0;
    row.context.baseline = "eager";
    row.context.rounds_per_cycle = 4;
    for (int sample = 0; sample < 240; ++sample)
      row.samples.push_back(Nanoseconds(1e6 / speedups[i] * std::exp(0.02 * random.normal())));
  }
  const auto baseline = std::make_shared<const std::vector<Nanoseconds>>(result.implementations[0].samples);
  for (auto& row : result.implementations) row.context.baseline_samples = row.is_baseline ? nullptr : baseline;
  for (auto& row : result.implementations)
    if (!row.is_baseline)
      row.log_ratios = pace::stats::paired_log_ratios(result.implementations[0].samples, row.samples, 4);
  return result;
}

TEST_CASE("every candidate is judged by what was stated for it") {
  auto result = three_candidates();
  const std::vector<pace::gate::Stated> stated{{"", NoSlowerThan(1.1)}, {"quick", SpeedupAtLeast(1.2)}};
  pace::gate::judge_all(result, stated, {1e-3, 1e-2});
  CHECK(result["eager"].judgements.empty());
  REQUIRE(result["quick"].judgements.size() == 2);
  CHECK(result["quick"].judgements[0].verdict == Verdict::passed);
  CHECK(result["quick"].judgements[1].verdict == Verdict::passed);
  REQUIRE(result["same"].judgements.size() == 1);
  CHECK(result["same"].judgements[0].verdict == Verdict::passed);
  CHECK(result["slow"].judgements[0].verdict == Verdict::failed);
  // Two of four are decided on the costly side (the claim passed, one guard failed), so Holm leaves a half of 0.1 %.
  CHECK_THAT(result["slow"].judgements[0].message, ContainsSubstring("wrongly failed: 0.05 %"));
}

TEST_CASE("a candidate known by its summary alone is judged by that") {
  pace::Result result;
  result.name = "case";
  result.implementations = {rows::measured("eager"), rows::summary(1.2, 1.3, 1.4)};
  result.implementations[0].is_baseline = true;
  const std::vector<pace::gate::Stated> stated{{"", SpeedupAtLeast(1.2)}, {"", SpeedupAtLeast(1.5)}};
  pace::gate::judge_all(result, stated, {1e-3, 1e-2});
  REQUIRE(result["fused"].judgements.size() == 2);
  CHECK(result["fused"].judgements[0].verdict == Verdict::passed);
  CHECK(result["fused"].judgements[1].verdict == Verdict::failed);
}

TEST_CASE("judgements rest on the tests of the rule, and are those that the samples alone would have") {
  const std::vector<pace::gate::Stated> stated{{"", NoSlowerThan(1.1)},
                                               {"quick", FasterThan("same")},
                                               {"slow", pace::WithinTime(Nanoseconds(1.1e6))},
                                               {"same", SpeedupAtLeast(1.2).fixed_size()}};
  const std::vector<std::size_t> timed{0, 1, 2, 3};
  auto judged = three_candidates(), alone = judged, unwatched = judged;
  std::vector<Panel> panels{pace::gate::watch_all(judged, timed, stated, {1e-3, 1e-2})};
  pace::gate::judge_all(unwatched, stated, {1e-3, 1e-2}, panels);
  Samples samples;
  for (const auto& row : judged.implementations) samples.push_back(row.samples);
  for (std::size_t first = 0; first < samples[0].size(); first += 4) panels[0].add_cycle(samples, first, 4, 1);
  pace::gate::judge_all(judged, stated, {1e-3, 1e-2}, panels);
  pace::gate::judge_all(alone, stated, {1e-3, 1e-2});
  for (std::size_t i = 1; i < judged.implementations.size(); ++i) {
    const auto& row = judged.implementations[i];
    REQUIRE(row.judgements.size() == 2);
    for (std::size_t j = 0; j < row.judgements.size(); ++j) {
      CAPTURE(row.name, j);
      CHECK(row.judgements[j].message == alone.implementations[i].judgements[j].message);
      CHECK(row.judgements[j].verdict != Verdict::undecided);
      // The rule has seen no cycle; a sample of fixed size is none of its tests.
      CHECK((unwatched.implementations[i].judgements[j].verdict == Verdict::undecided) ==
            (row.name != "same" || j == 0));
    }
  }
}

TEST_CASE("one candidate against another") {
  auto result = three_candidates();
  const std::vector<pace::gate::Stated> stated{
      {"quick", FasterThan("same")}, {"slow", FasterThan("same")}, {"", FasterThan("eager")}};
  pace::gate::judge_all(result, stated, {1e-3, 1e-2});
  CHECK(result["quick"].judgements.at(0).verdict == Verdict::passed);
  CHECK_THAT(result["quick"].judgements.at(0).message, ContainsSubstring("as fast as 'same'"));
  CHECK(result["slow"].judgements.at(0).verdict == Verdict::failed);
  CHECK(result["quick"].judgements.at(1).verdict == Verdict::passed);
  // Exactly on the threshold: open.
  CHECK(result["same"].judgements.at(0).verdict == Verdict::undecided);

  auto without = three_candidates();
  without.implementations[2].outcome = pace::Outcome::wrong;
  without.implementations[2].samples.clear();
  without.implementations[2].log_ratios.clear();
  const std::vector<pace::gate::Stated> against{{"quick", FasterThan("same")}, {"", FasterThan("same")}};
  pace::gate::judge_all(without, against, {1e-3, 1e-2});
  CHECK(without["quick"].judgements.at(0).verdict == Verdict::invalid);
  CHECK_THAT(without["quick"].judgements.at(0).message, ContainsSubstring("'same'\nwhy: that one was not measured"));
  // It is not compared with itself.
  CHECK(without["same"].judgements.empty());
}

TEST_CASE("identical candidates: any wrong verdict at all is as rare as promised, however early the rounds end") {
  // Three candidates and their baseline run one code. "No slower than 1.00x" holds for all; failing any is wrong. The
  // baseline's noise is in all three, so their verdicts depend on each other.
  constexpr double alpha = 0.05;
  constexpr int runs = 2000;
  int wrong = 0;
  for (int run = 0; run < runs; ++run) {
    Random random(static_cast<std::uint64_t>(run) + 1);
    Panel panel({alpha, alpha});
    pace::Result result;
    for (std::size_t i = 0; i < 4; ++i) {
      auto& row = result.implementations.emplace_back(rows::measured(std::string(1, static_cast<char>('a' + i))));
      row.is_baseline = i == 0;
      row.context.rounds_per_cycle = 2;
      if (i > 0) panel.watch(NoSlowerThan(1.0).demand(), i, 0);
    }
    Samples samples(4);
    // The worst time to stop: as soon as one of them is rejected at its share.
    const auto rejected = [&] {
      return std::ranges::any_of(panel.watched(), [&](const auto& each) { return each.p_below <= alpha / 3; });
    };
    for (int cycle = 0; cycle < 80 && !rejected(); ++cycle)
      (void)cycles_until_decided(
          panel, samples, [&](std::size_t) { return 1e6 * std::exp(0.01 * random.normal()); }, 1);
    for (std::size_t i = 1; i < 4; ++i)
      result.implementations[i].log_ratios = pace::stats::paired_log_ratios(samples[0], samples[i], 2);
    const std::vector<pace::gate::Stated> stated{{"", NoSlowerThan(1.0)}};
    pace::gate::judge_all(result, stated, {alpha, alpha});
    bool any = false;
    for (const auto& row : result.implementations)
      for (const auto& judgement : row.judgements) any = any || judgement.verdict == Verdict::failed;
    wrong += any;
  }
  const boost::math::binomial_distribution<double> promise(runs, alpha);
  CAPTURE(wrong);
  CHECK(wrong <= quantile(complement(promise, 1e-6)));
  CHECK(wrong > runs * alpha / 4);
}

TEST_CASE("where the host has a time of its own, guards are about that, too, and claims are not") {
  using pace::WhenUndecided;
  const auto guard = NoSlowerThan(1.02);
  const std::vector<pace::gate::Stated> stated{{"a", guard},
                                               {"b", guard.on_device()},
                                               {"c", SpeedupAtLeast(1.2).on_host()},
                                               {"d", SpeedupAtLeast(1.2)},
                                               {"e", guard.in_phase("backward")},
                                               {"f", guard.when_undecided(WhenUndecided::close)}};
  using Place = std::tuple<std::string, std::string, WhenUndecided>;
  const auto places = [&](bool of_both) {
    std::vector<Place> found;
    for (const auto& [name, expectation] : pace::gate::share_among_clocks(stated, of_both))
      found.emplace_back(name, expectation.phase(), expectation.demand().when_undecided);
    return found;
  };
  constexpr auto by_burden = WhenUndecided::by_burden, close = WhenUndecided::close;
  CHECK(places(true) == std::vector<Place>{{"a", "", by_burden},
                                           {"a", "host", WhenUndecided::let_through},
                                           {"b", "", by_burden},
                                           {"c", "host", by_burden},
                                           {"d", "", by_burden},
                                           {"e", "backward", by_burden},
                                           {"f", "", close},
                                           {"f", "host", close}});
  CHECK(places(false) == std::vector<Place>{{"a", "", by_burden},
                                            {"b", "", by_burden},
                                            {"c", "host", by_burden},
                                            {"d", "", by_burden},
                                            {"e", "backward", by_burden},
                                            {"f", "", close}});
}

}  // namespace
