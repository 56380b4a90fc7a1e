#include "pace/stats/sign_test.hpp"

#include <cmath>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace {

using Catch::Matchers::WithinRel;
namespace stats = pace::stats;

TEST_CASE("tails of a fair coin, by hand") {
  CHECK_THAT(stats::upper_tail_of_fair_coin(4, 3), WithinRel(5.0 / 16, 1e-12));
  CHECK_THAT(stats::upper_tail_of_fair_coin(10, 10), WithinRel(1.0 / 1024, 1e-12));
  CHECK_THAT(stats::upper_tail_of_fair_coin(10, 0), WithinRel(1.0, 1e-12));
  CHECK(stats::upper_tail_of_fair_coin(0, 0) == 1);
  CHECK_THAT(stats::upper_tail_of_binomial(3, 2, 0.9), WithinRel(0.972, 1e-12));
  using Binomial = boost::math::binomial_distribution<>;
  CHECK_THAT(stats::least_share(10, 2, 0.05), WithinRel(Binomial::find_lower_bound_on_p(10, 2, 0.05), 1e-9));
  CHECK_THAT(stats::least_share(176, 22, 1e-3), WithinRel(Binomial::find_lower_bound_on_p(176, 22, 1e-3), 1e-9));
  CHECK(stats::least_share(10, 0, 0.05) == 0);
}

TEST_CASE("tails of a fair coin, by a library, for many tosses") {
  const boost::math::binomial_distribution<double> coin(5000, 0.5);
  for (const std::size_t successes : {2500u, 2600u, 2700u, 3000u})
    CHECK_THAT(stats::upper_tail_of_fair_coin(5000, successes),
               WithinRel(boost::math::cdf(complement(coin, static_cast<double>(successes) - 1)), 1e-9));
}

TEST_CASE("signs are counted about the threshold, and ties prove nothing") {
  const std::vector<double> sample{1, 2, 3, 3, 4, 5, std::nan("")};
  const auto test = stats::sign_test(sample, 3);
  CHECK_THAT(test.p_above, WithinRel(57.0 / 64, 1e-12));  // 2 of 6 above: 1 - 7/64
  CHECK_THAT(test.p_below, WithinRel(57.0 / 64, 1e-12));
  CHECK_THAT(stats::sign_test(sample, 0).p_above, WithinRel(1.0 / 64, 1e-12));
  CHECK(stats::sign_test({}, 0).p_above == 1);
}

}  // namespace
