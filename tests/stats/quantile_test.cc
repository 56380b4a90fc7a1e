#include "pace/stats/quantile.hpp"

#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace {

using Catch::Matchers::WithinRel;
namespace stats = pace::stats;

TEST_CASE("quantiles interpolate linearly, as numpy.quantile does") {
  const std::vector<double> sorted{1, 2, 4, 8};
  CHECK(stats::quantile(sorted, 0) == 1);
  CHECK(stats::quantile(sorted, 1) == 8);
  CHECK_THAT(stats::quantile(sorted, 0.2), WithinRel(1.6, 1e-12));  // rank 0.6
  CHECK_THAT(stats::quantile(sorted, 0.5), WithinRel(3.0, 1e-12));  // rank 1.5
  CHECK_THAT(stats::quantile(sorted, 0.8), WithinRel(5.6, 1e-12));  // rank 2.4
}

TEST_CASE("a single value is every quantile") {
  const std::vector<double> one{7};
  CHECK(stats::quantile(one, 0.2) == 7);
  CHECK(stats::median(one) == 7);
  CHECK(stats::median_lower(one) == 7);
}

TEST_CASE("the lower median is an element, the usual one a mean") {
  const std::vector<double> even{1, 2, 4, 8};
  CHECK(stats::median(even) == 3);
  CHECK(stats::median_lower(even) == 2);
  const std::vector<double> odd{1, 2, 4};
  CHECK(stats::median(odd) == 2);
  CHECK(stats::median_lower(odd) == 2);
}

TEST_CASE("an exact rank beside an infinity stays finite") {
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> sorted{1, 2, infinity};
  CHECK(stats::quantile(sorted, 0.5) == 2);
}

TEST_CASE("quantiles refuse an empty sample and a q outside [0, 1]") {
  const std::vector<double> empty, one{1};
  CHECK_THROWS_AS(stats::quantile(empty, 0.5), pace::Error);
  CHECK_THROWS_AS(stats::median_lower(empty), pace::Error);
  CHECK_THROWS_AS(stats::quantile(one, 1.1), pace::Error);
  CHECK_THROWS_AS(stats::quantile(one, -0.1), pace::Error);
  CHECK_THROWS_AS(stats::quantile(one, std::numeric_limits<double>::quiet_NaN()), pace::Error);
}

}  // namespace
