#include "benches/selftest/bounds.hpp"

#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace {

using namespace pace::benches::selftest;
using Catch::Matchers::WithinRel;

TEST_CASE("bounds of a rate, by hand") {
  // None of n: (1 - p)^n = 0.05.
  CHECK_THAT(upper_bound(0, 10'000), WithinRel(1 - std::pow(0.05, 1e-4), 1e-9));
  CHECK_THAT(lower_bound(50, 50), WithinRel(std::pow(0.05, 1.0 / 50), 1e-9));
  // One of two: 1 - p^2 = 0.05.
  CHECK_THAT(upper_bound(1, 2), WithinRel(std::sqrt(0.95), 1e-9));
  CHECK(upper_bound(2, 2) == 1);
  CHECK(lower_bound(0, 2) == 0);
}

TEST_CASE("a count is too many when chance hardly reaches it") {
  // Two fair coins: both with 1/4, one or more with 3/4.
  CHECK(too_many(2, 0.5, 0.8) == 1);
  CHECK(too_many(2, 0.5, 0.3) == 2);
  CHECK(too_many(2, 0.5, 0.2) == 3);
  // 500 gates at 1e-3: seven or more have probability 1.0e-6, six or more 1.4e-5 (Poisson of 0.5).
  CHECK(too_many(500, 1e-3, 2.5e-6) == 7);
}

}  // namespace
