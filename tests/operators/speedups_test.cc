// Quantiles of speed-ups, against NumPy's numbers.
#include "benches/operators/speedups.hpp"

#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch_test_macros.hpp>

namespace {

namespace operators = pace::benches::operators;
using operators::SampleTimes;

TEST_CASE("quantiles lie between neighbours as NumPy has them, to the last digit") {
  // numpy.quantile([0.1, 0.7, 1.3, 2.9], [0.2, 0.5, 0.8]), printed in full. From the lower neighbour, the first would
  // be 0.4600000000000001.
  const auto four = operators::quantiles({2.9, 0.1, 1.3, 0.7});
  CHECK(four.q20 == 0.46);
  CHECK(four.q50 == 1.0);
  CHECK(four.q80 == 1.9400000000000006);
  const auto one = operators::quantiles({3});
  CHECK(one.q20 == 3);
  CHECK(one.q50 == 3);
  CHECK(one.q80 == 3);
  const auto six = operators::quantiles({6, 5, 4, 3, 2, 1});
  CHECK(six.q20 == 2);
  CHECK(six.q50 == 3.5);
  CHECK(six.q80 == 5);
  CHECK_THROWS_AS(operators::quantiles({}), pace::Error);
}

TEST_CASE("a time that is no number spoils the quantiles, an endless one only its side") {
  const double infinity = std::numeric_limits<double>::infinity();
  CHECK(std::isnan(operators::quantiles({1, std::nan(""), 2}).q20));
  const auto endless = operators::quantiles({1, 2, infinity, 3, 4, 5});
  CHECK(endless.q20 == 2);
  CHECK(endless.q50 == 3.5);
  CHECK(endless.q80 == 5);
  // A kernel that could not be launched takes for ever: no speed at all.
  CHECK(operators::speedup({{1, infinity}}, 1).q50 == 0);
}

TEST_CASE("a speed-up is time of model 0 over time of model x in the same sample") {
  // Speed-ups of model 1: 2, 3, 1; of model 2: 1, 6, 4; of model 1's time over model 2's: 1/2, 2, 4.
  const SampleTimes times = {{2, 1, 2}, {6, 2, 1}, {4, 4, 1}};
  const auto first = operators::speedup(times, 1);
  CHECK(first.q20 == 1.4);
  CHECK(first.q50 == 2);
  CHECK(first.q80 == 2.6);
  CHECK(operators::speedup(times, 2).q50 == 4);
  CHECK(operators::time_ratio(times, 1, 2).q50 == 2);
  CHECK(operators::mean_times(times) == std::vector<double>{4, 7.0 / 3, 4.0 / 3});
}

TEST_CASE("samples that lack a time are an error") {
  CHECK_THROWS_AS(operators::speedup({{1, 2}, {1}}, 1), pace::Error);
  CHECK_THROWS_AS(operators::speedup({}, 1), pace::Error);
  CHECK_THROWS_AS(operators::mean_times({}), pace::Error);
  CHECK_THROWS_AS(operators::mean_times({{1, 2}, {1}}), pace::Error);
}

}  // namespace
