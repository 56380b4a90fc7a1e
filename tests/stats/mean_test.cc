// Means, on numbers worked out by hand.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include <cmath>
#include <vector>

#include "pace/stats/mean.hpp"

namespace {

using namespace pace::stats;
using Catch::Matchers::WithinRel;

TEST_CASE("means") {
  CHECK_THAT(geometric_mean_of({1, 4}), WithinRel(2.0));
  CHECK_THAT(geometric_mean_of({2, 4, 8}), WithinRel(4.0));
  CHECK_THAT(clipped_geometric_mean_of({0.25, 4}, 1), WithinRel(2.0));
  CHECK(geometric_mean_of({0, 4}) == 0);
  CHECK(mean_of({1, 4}) == 2.5);
  CHECK(std::isnan(mean_of({})));
}

TEST_CASE("the interval of a geometric mean") {
  CHECK_FALSE(geometric_mean_of(std::vector<RatioInterval>{}));
  const auto one = geometric_mean_of(std::vector<RatioInterval>{{2, 1.6, 2.2}});
  REQUIRE(one);
  CHECK_THAT(one->ratio, WithinRel(2.0));
  CHECK_THAT(one->low, WithinRel(1.6));
  CHECK_THAT(one->high, WithinRel(2.2));
  // With four equal ones it is half as wide, in logarithms; below 1.21, above 1.44.
  const auto four = geometric_mean_of(std::vector<RatioInterval>(4, {2, 2 / 1.21, 2 * 1.44}));
  REQUIRE(four);
  CHECK_THAT(four->ratio, WithinRel(2.0));
  CHECK_THAT(four->low, WithinRel(2 / 1.1));
  CHECK_THAT(four->high, WithinRel(2 * 1.2));
  // One that is exact leaves the root of the other's limits.
  const auto two = geometric_mean_of(std::vector<RatioInterval>{{1, 1, 1}, {4, 1, 16}});
  REQUIRE(two);
  CHECK_THAT(two->low, WithinRel(1.0));
  CHECK_THAT(two->high, WithinRel(4.0));
}

}  // namespace
