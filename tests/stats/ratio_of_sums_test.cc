// Ratios of sums and their errors, by arithmetic.
#include "pace/stats/ratio_of_sums.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <vector>

using Catch::Matchers::WithinRel;
using pace::stats::ratio_of_sums;

TEST_CASE("the ratio is that of the sums, and parts of one ratio have no error") {
  const std::vector<double> tops{2, 4, 6, 8, 2, 4, 6, 8}, bottoms{1, 2, 3, 4, 1, 2, 3, 4};
  const auto found = ratio_of_sums(tops, bottoms);
  CHECK(found.value == 2);
  CHECK(found.relative_error == 0);
  CHECK(found.freedom == 7);
  const auto interval = found.interval(0.95);
  REQUIRE(interval);
  CHECK(interval->low == 2);
  CHECK(interval->high == 2);
}

TEST_CASE("the error is that of Cochran's estimator") {
  // Rests of 1 and -1: sqrt(8 / (8 * 7)) over a mean of 10.
  const std::vector<double> tops{11, 9, 11, 9, 11, 9, 11, 9}, bottoms(8, 5);
  const auto found = ratio_of_sums(tops, bottoms);
  CHECK(found.value == 2);
  CHECK_THAT(found.relative_error, WithinRel(0.0377964473, 1e-8));
  // Student's t with 7 degrees of freedom: 2.3646 at 95 %.
  CHECK_THAT(found.interval(0.95)->high / 2, WithinRel(1.0934754, 1e-4));
  CHECK_THAT(found.interval(0.95)->low * found.interval(0.95)->high, WithinRel(4.0, 1e-12));
}

TEST_CASE("too few parts have no interval, and none have no ratio") {
  const std::vector<double> seven(7, 1.0), one(1, 1.0), none, zero(8, 0.0);
  CHECK_FALSE(ratio_of_sums(seven, seven).interval(0.95));
  CHECK(ratio_of_sums(one, one).value == 1);
  CHECK_FALSE(ratio_of_sums(one, one).interval(0.95));
  CHECK(ratio_of_sums(none, none).value == 0);
  CHECK(ratio_of_sums(zero, zero).value == 0);
}

TEST_CASE("the error of a ratio of ratios has both errors, and the fewer degrees of freedom") {
  const pace::stats::EstimatedRatio top{3, 0.03, 20}, bottom{2, 0.04, 10};
  const auto found = top / bottom;
  CHECK(found.value == 1.5);
  CHECK_THAT(found.relative_error, WithinRel(0.05, 1e-12));
  CHECK(found.freedom == 10);
}
