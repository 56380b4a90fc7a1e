#include "pace/stats/replicate_test.hpp"

#include <cmath>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
namespace stats = pace::stats;

TEST_CASE("t likelihood ratios agree with a fine numerical integration made elsewhere") {
  struct Case {
    double u;
    std::size_t n;
    double effect, expected;
  };
  for (const Case& each :
       {Case{1.2, 3, 0.5, 0.6695346117}, Case{1.7, 3, 4, 3.6683881719}, Case{-1.5, 4, 2, -12.0527445731},
        Case{1.9, 4, 8, -4.0774211784}, Case{-1.4, 2, 8, -68.8551104057}}) {
    CAPTURE(each.u, each.n, each.effect);
    CHECK_THAT(stats::log_t_likelihood_ratio(each.u, each.n, each.effect), WithinAbs(each.expected, 1e-6));
  }
}

TEST_CASE("one replicate shows its sign and no more") {
  // 2 Phi(effect), and 2 Phi(-effect).
  for (const double effect : {0.25, 1.0, 4.0}) {
    const double up = std::exp(stats::log_t_likelihood_ratio(1, 1, effect));
    const double down = std::exp(stats::log_t_likelihood_ratio(-1, 1, effect));
    CHECK_THAT(up, WithinRel(std::erfc(-effect / std::sqrt(2.0)), 1e-7));
    CHECK_THAT(down, WithinRel(std::erfc(effect / std::sqrt(2.0)), 1e-5));
  }
  stats::ReplicateTest small(0), large(0);
  small.add(1e-9);
  large.add(1e9);
  CHECK(small.p_above() == large.p_above());
}

TEST_CASE("the ratio rises with u: the better the replicates agree, the stronger") {
  for (const double effect : stats::ReplicateTest::effects) {
    double last = -1e300;
    for (double u = -2.4; u <= 2.4; u += 0.1) {
      const double now = stats::log_t_likelihood_ratio(u, 6, effect);
      CHECK(now > last);
      last = now;
    }
  }
}

TEST_CASE("replicates that agree decide after four or five, and their scale does not matter") {
  for (const double scale : {1e-6, 1.0}) {
    stats::ReplicateTest test(0);
    for (const double x : {2.01, 1.99, 2.0}) test.add(scale * x);
    CHECK(test.p_above() > 1e-3);
    for (const double x : {2.02, 1.98}) test.add(scale * x);
    CHECK(test.replicates() == 5);
    CHECK(test.p_above() < 1e-3);
    CHECK(test.p_below() > 0.5);
  }
}

TEST_CASE("scatter between replicates is what counts against them") {
  stats::ReplicateTest near(0), far(0);
  for (const double x : {1.0, 1.1, 0.9, 1.0, 1.05, 0.95}) near.add(x);
  for (const double x : {1.0, 3.0, -0.9, 1.0, 2.05, -0.15}) far.add(x);
  CHECK(near.p_above() < 1e-4);
  CHECK(far.p_above() > 0.05);
}

TEST_CASE("replicates that are the threshold itself, or no numbers, prove nothing") {
  stats::ReplicateTest test(1);
  for (const double x : {1.0, 1.0, 1.0, std::nan("")}) test.add(x);
  CHECK(test.replicates() == 3);
  CHECK(test.p_above() == 1);
  CHECK(test.p_below() == 1);
}

TEST_CASE("an interval is what the test has not rejected, and mirrors") {
  const std::vector<double> replicates{0.021, 0.018, 0.024, 0.019, 0.022, 0.020};
  const auto interval = stats::replicate_interval(replicates, 1e-3, 1e-2);
  CHECK_THAT(interval.confidence, WithinAbs(0.989, 1e-12));
  CHECK(interval.low < 0.018);
  CHECK(interval.high > 0.022);
  CHECK(interval.high < 0.04);
  const auto p_at = [&](double threshold) {
    stats::ReplicateTest test(threshold);
    for (const double x : replicates) test.add(x);
    return test;
  };
  CHECK(p_at(interval.low - 1e-6).p_above() <= 1e-3);
  CHECK(p_at(interval.low + 1e-6).p_above() > 1e-3);
  CHECK(p_at(interval.high + 1e-6).p_below() <= 1e-2);
  CHECK(p_at(interval.high - 1e-6).p_below() > 1e-2);
  CHECK(std::isinf(stats::replicate_interval(std::vector<double>{0.02, 0.021}, 1e-3, 1e-2).low));
  CHECK(std::isinf(stats::replicate_interval({}, 1e-3, 1e-2).high));
  CHECK_THROWS_AS(stats::replicate_interval(replicates, 0, 1e-2), pace::Error);
}

}  // namespace
