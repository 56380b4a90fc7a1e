#include "pace/stats/sequential_test.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "pace/stats/quantile.hpp"
#include "tests/support/random.hpp"

namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using pace::stats::Assumption;
using pace::test::Random;
namespace stats = pace::stats;

std::vector<double> normal_sample(std::uint64_t seed, std::size_t n, double centre) {
  Random random(seed);
  std::vector<double> sample(n);
  for (auto& each : sample) each = centre + random.normal();
  return sample;
}

TEST_CASE("what two bets prove of symmetric observations, they prove at one error rate together") {
  using Test = stats::SequentialTest;
  CHECK(Test::wealth_share + Test::large_deviation_share <= 1);
  Test test(0), of_median(0, stats::Assumption::median);
  for (int i = 0; i < 12; ++i) {
    test.add(0.1);
    of_median.add(0.1);
  }
  CHECK_THAT(test.p_above(), WithinRel(test.above().p_value() / 0.99, 1e-12));
  CHECK(test.p_below() == 1);
  // Times are bet on in one way.
  CHECK(of_median.p_above() == of_median.above().p_value());
  // A dozen of one sign decide at 0.1 %, as they would without sharing.
  CHECK(test.p_above() <= 1e-3);
}

TEST_CASE("three large deviations decide at 0.1 %, if each is slow and none before them was less") {
  const auto p_after = [](const std::vector<std::pair<double, bool>>& observations) {
    stats::SequentialTest test(1);
    for (const auto& [observation, slow] : observations) test.add(observation, slow);
    return test.p_above();
  };
  CHECK_THAT(p_after({{4, true}, {4, true}}), WithinRel(1e-2, 1e-9));
  CHECK_THAT(p_after({{4, true}, {4, true}, {4, true}}), WithinRel(1e-4, 1e-9));
  for (const auto& other : {std::pair{4.0, false}, {3.3, true}, {-4.0, true}})
    CHECK(p_after({other, {4, true}, {4, true}, {4, true}}) > 1e-2);
  // Which of the two bets decided is known.
  stats::SequentialTest test(1), of_median(1, stats::Assumption::median);
  for (auto* each : {&test, &of_median})
    for (const double observation : {4.0, 4.0, 4.0}) each->add(observation, true);
  CHECK(test.far_above());
  CHECK_FALSE(test.far_below());
  CHECK(test.p_above_by_wealth() > 1e-2);
  CHECK_FALSE(of_median.far_above());
  CHECK(of_median.p_above() == of_median.p_above_by_wealth());
  // One that is not far above ends that evidence, also after it would have sufficed.
  CHECK(p_after({{4, true}, {4, true}, {4, true}, {3.3, true}}) > 1e-2);
  test.add(1, true);
  CHECK_FALSE(test.far_above());
}

TEST_CASE("the spread is the median absolute difference of neighbours, scaled") {
  stats::RecentSpread spread;
  for (const double x : {1.0, 3.0, 2.0}) spread.add(x);
  CHECK(spread.value() == 0);  // two differences are too few
  spread.add(6);
  // Differences 2, 1, 4: median 2.
  CHECK_THAT(spread.value(), WithinRel(2 / (0.6744897501960817 * std::sqrt(2.0)), 1e-14));
  spread.add(14);  // 2, 1, 4, 8: median 3
  CHECK_THAT(spread.value(), WithinRel(3 / (0.6744897501960817 * std::sqrt(2.0)), 1e-14));
}

TEST_CASE("the spread does not depend on the centre, nor on outliers, and forgets") {
  stats::RecentSpread here, there, hit;
  Random random(1);
  for (int i = 0; i < 300; ++i) {
    const double x = random.normal();
    here.add(x);
    there.add(x + 1024);
    hit.add(i % 20 == 0 ? 1e9 : x);
  }
  CHECK_THAT(there.value(), WithinRel(here.value(), 1e-9));
  CHECK_THAT(here.value(), WithinAbs(1, 0.35));
  CHECK_THAT(hit.value(), WithinRel(here.value(), 0.3));
  // Exactly the last 63 differences: as a fresh one that has seen only those.
  std::vector<double> recent;
  stats::RecentSpread fresh;
  for (int i = 0; i < 64; ++i) recent.push_back(5 * random.normal());
  for (const double x : recent) {
    here.add(x);
    fresh.add(x);
  }
  CHECK(here.value() == fresh.value());
}

TEST_CASE("scores are deviations in spreads, up to two; signs without a spread") {
  CHECK(stats::score(0.3, 0.2, Assumption::symmetry) == 0.3 / 0.2);
  CHECK(stats::score(-0.3, 0.2, Assumption::symmetry) == -0.3 / 0.2);
  CHECK(stats::score(5, 0.2, Assumption::symmetry) == 2);
  CHECK(stats::score(-5, 0.2, Assumption::symmetry) == -2);
  CHECK(stats::score(5, 0, Assumption::symmetry) == 1);
  CHECK(stats::score(-5, 0, Assumption::symmetry) == -1);
  CHECK(stats::score(0, 0, Assumption::symmetry) == 0);
  // The median alone: signs, and a tie counts against.
  CHECK(stats::score(5, 0.2, Assumption::median) == 1);
  CHECK(stats::score(-5, 0.2, Assumption::median) == -1);
  CHECK(stats::score(0, 0.2, Assumption::median) == -1);
}

TEST_CASE("a test by hand") {
  // The first four observations have no spread before them: signs. The fifth is scored by the spread of the four,
  // median of 2, 1, 4 = 2 over 0.6745 sqrt(2): (3 - 1) / 2.0967 = 0.9539.
  stats::SequentialTest test(1);
  stats::Wealth above, below;
  for (const double score : {-1.0, 1.0, 1.0, 1.0}) {
    above.bet(score);
    below.bet(-score);
  }
  for (const double x : {0.0, 2.0, 3.0, 7.0}) test.add(x);
  CHECK_THAT(test.above().log_now(), WithinAbs(above.log_now(), 1e-14));
  test.add(3);
  const double spread = 2 / (0.6744897501960817 * std::sqrt(2.0));
  above.bet(2 / spread);
  below.bet(-2 / spread);
  CHECK_THAT(test.above().log_now(), WithinAbs(above.log_now(), 1e-14));
  CHECK_THAT(test.below().log_now(), WithinAbs(below.log_now(), 1e-14));
  CHECK(test.observations() == 5);
  // A NaN is no observation.
  test.add(std::numeric_limits<double>::quiet_NaN());
  test.add(std::numeric_limits<double>::infinity());
  CHECK(test.observations() == 5);
  CHECK_THAT(test.above().log_now(), WithinAbs(above.log_now(), 1e-14));
}

TEST_CASE("turned upside down, the two sides change places") {
  const auto sample = normal_sample(2, 200, 0.1);
  auto mirrored = sample;
  for (auto& each : mirrored) each = -each;
  for (const auto assumption : {Assumption::symmetry, Assumption::median}) {
    const auto test = stats::sequential_test(sample, 0.05, assumption);
    const auto mirror = stats::sequential_test(mirrored, -0.05, assumption);
    CHECK_THAT(mirror.below().log_now(), WithinAbs(test.above().log_now(), 1e-10));
    CHECK_THAT(mirror.above().log_now(), WithinAbs(test.below().log_now(), 1e-10));
  }
}

TEST_CASE("evidence falls as the threshold rises, at every moment") {
  const auto sample = normal_sample(3, 150, 0.4);
  for (const auto assumption : {Assumption::symmetry, Assumption::median}) {
    double last_above = std::numeric_limits<double>::infinity(), last_below = -last_above;
    for (double threshold = -3; threshold <= 3; threshold += 0.1) {
      const auto test = stats::sequential_test(sample, threshold, assumption);
      CHECK(test.above().log_now() <= last_above);
      CHECK(test.below().log_now() >= last_below);
      last_above = test.above().log_now();
      last_below = test.below().log_now();
    }
  }
}

TEST_CASE("units do not matter") {
  const auto sample = normal_sample(4, 150, 0.3);
  auto scaled = sample;
  for (auto& each : scaled) each = 1e-4 * (each - 7);
  CHECK_THAT(stats::sequential_test(scaled, 1e-4 * (0.1 - 7)).above().log_now(),
             WithinAbs(stats::sequential_test(sample, 0.1).above().log_now(), 1e-7));
}

TEST_CASE("a confidence sequence is what the test has not rejected") {
  for (const auto assumption : {Assumption::symmetry, Assumption::median}) {
    const auto sample = normal_sample(5, 120, 0.2);
    const auto interval = stats::confidence_sequence(sample, 1e-3, 1e-2, assumption);
    CHECK_THAT(interval.confidence, WithinAbs(0.989, 1e-12));
    REQUIRE(std::isfinite(interval.low));
    REQUIRE(std::isfinite(interval.high));
    CHECK(interval.low < interval.high);
    constexpr double bit = 1e-6;
    CHECK(stats::sequential_test(sample, interval.low - bit, assumption).above().p_value() <= 1e-3);
    CHECK(stats::sequential_test(sample, interval.low + bit, assumption).above().p_value() > 1e-3);
    CHECK(stats::sequential_test(sample, interval.high + bit, assumption).below().p_value() <= 1e-2);
    CHECK(stats::sequential_test(sample, interval.high - bit, assumption).below().p_value() > 1e-2);
  }
}

TEST_CASE("the centre of scores is the mean of what has no outliers, a median by signs, and lies between two modes") {
  // The first four observations are scored by their sign; every later one lies within two spreads of the centre.
  std::vector<double> two_modes;
  for (int i = 0; i < 400; ++i) two_modes.push_back(i * 7 % 20 < 11 ? 1 : 0);
  CHECK_THAT(stats::centre_of_scores(two_modes), WithinAbs(0.55, 0.01));
  CHECK_THAT(stats::centre_of_scores(two_modes, stats::Assumption::median), WithinAbs(1, 1e-9));
  const auto interval = stats::confidence_sequence(two_modes, 0.025, 0.025);
  CHECK(interval.contains(stats::centre_of_scores(two_modes)));
  CHECK_FALSE(interval.contains(1));
  CHECK(stats::centre_of_scores(std::vector<double>{3, HUGE_VAL}) == 3);
  CHECK_THROWS_AS(stats::centre_of_scores(std::vector<double>{HUGE_VAL}), pace::Error);
}

TEST_CASE("an interval holds the centre of all scores at every moment, and a stricter one contains it") {
  const auto sample = normal_sample(6, 200, 0);
  for (std::size_t n = 1; n <= sample.size(); n += 7) {
    const auto so_far = std::span(sample).first(n);
    CHECK(stats::confidence_sequence(so_far, 0.025, 0.025).contains(stats::centre_of_scores(so_far)));
  }
  const auto last = stats::confidence_sequence(sample, 0.025, 0.025);
  const auto strict = stats::confidence_sequence(sample, 1e-4, 1e-4);
  CHECK(strict.low < last.low);
  CHECK(strict.high > last.high);
}

TEST_CASE("what moves later counts: evidence for the first cycles is lost again, and never stands on both sides") {
  stats::SequentialTest test(0);
  std::vector<double> sample;
  const auto add = [&](double centre, int count, std::uint64_t seed) {
    for (const double each : normal_sample(seed, static_cast<std::size_t>(count), 0)) {
      sample.push_back(centre + 0.01 * each);
      test.add(sample.back());
      CHECK(std::max(test.p_above(), test.p_below()) == 1);
    }
  };
  add(0.5, 20, 1);
  CHECK(test.p_above() < 1e-3);
  add(-1.1, 80, 2);
  CHECK(test.p_above() == 1);
  CHECK(test.p_below() < 1e-2);
  const auto interval = stats::confidence_sequence(sample, 1e-3, 1e-2);
  CHECK(interval.low <= interval.high);
  CHECK(interval.high < 0);
}

TEST_CASE("an interval has no ends before there can be evidence") {
  const std::vector<double> few(8, 0.1);
  const auto interval = stats::confidence_sequence(few, 1e-3, 1e-2);
  CHECK(interval.low == -std::numeric_limits<double>::infinity());
  CHECK(interval.high == std::numeric_limits<double>::infinity());
  CHECK(stats::confidence_sequence({}, 0.1, 0.1).low == -std::numeric_limits<double>::infinity());
  // Twelve that agree have both ends where they are.
  const auto sharp = stats::confidence_sequence(std::vector<double>(12, 0.1), 1e-3, 1e-2);
  CHECK_THAT(sharp.low, WithinAbs(0.1, 1e-9));
  CHECK_THAT(sharp.high, WithinAbs(0.1, 1e-9));
  CHECK_THROWS_AS(stats::confidence_sequence(few, 0, 0.1), pace::Error);
  CHECK_THROWS_AS(stats::confidence_sequence(few, 0.5, 0.5), pace::Error);
}

}  // namespace
