#include "pace/stats/median_interval.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <catch2/catch_test_macros.hpp>

namespace {

namespace stats = pace::stats;

TEST_CASE("six values are the fewest at 95 %: all on one side has probability 2/64") {
  CHECK_FALSE(stats::median_interval_rank(5, 0.95));  // 2/32 = 0.0625
  REQUIRE(stats::median_interval_rank(6, 0.95));      // 2/64 = 0.03125
  CHECK(*stats::median_interval_rank(6, 0.95) == 1);
  CHECK(stats::fewest_for_median_interval(0.95) == 6);
  CHECK(stats::fewest_for_median_interval(0.5) == 2);
  CHECK_FALSE(stats::median_interval_rank(0, 0.95));
}

TEST_CASE("ten values at 95 % give the second smallest and the second largest") {
  // P(X <= 1) = 11/1024 = 0.0107 <= 0.025 < P(X <= 2) = 56/1024 = 0.0547.
  const std::vector<double> sorted{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
  const auto interval = stats::median_interval(sorted, 0.95);
  REQUIRE(interval);
  CHECK(interval->low == 2);
  CHECK(interval->high == 9);
  CHECK(interval->confidence == 0.95);
}

TEST_CASE("the rank is the largest that the binomial distribution allows, at every n") {
  for (const double confidence : {0.5, 0.9, 0.95, 0.995, 0.9999}) {
    for (const std::size_t n : {1u, 7u, 50u, 999u, 1075u, 2000u, 20000u}) {
      const boost::math::binomial_distribution<double> sign(static_cast<double>(n), 0.5);
      const auto tails = [&](std::size_t rank) { return 2 * boost::math::cdf(sign, static_cast<double>(rank - 1)); };
      const auto rank = stats::median_interval_rank(n, confidence);
      CAPTURE(n, confidence);
      if (rank) {
        CHECK(tails(*rank) <= 1 - confidence + 1e-9);
        if (2 * (*rank + 1) <= n) CHECK(tails(*rank + 1) > 1 - confidence - 1e-9);
      } else {
        CHECK(tails(1) > 1 - confidence - 1e-9);
      }
    }
  }
}

TEST_CASE("the interval covers the true median as often as it says") {
  // 2000 samples of 25 skewed values with median ln 2. Expected coverage at n = 25, rank 8: 95.67 %; three standard
  // errors are 1.4 %.
  std::mt19937_64 random(7);
  std::exponential_distribution<double> skewed(1);
  int covered = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> sample(25);
    for (auto& value : sample) value = skewed(random);
    std::ranges::sort(sample);
    covered += stats::median_interval(sample, 0.95)->contains(std::log(2.0));
  }
  CHECK(covered > 1885);
  CHECK(covered < 1941);
}

TEST_CASE("a confidence outside (0, 1) is refused") {
  CHECK_THROWS_AS(stats::median_interval_rank(10, 1.0), pace::Error);
  CHECK_THROWS_AS(stats::median_interval_rank(10, 0.0), pace::Error);
}

}  // namespace
