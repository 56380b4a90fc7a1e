#include "pace/stats/betting.hpp"

#include <cmath>
#include <limits>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
namespace stats = pace::stats;

TEST_CASE("wealth by hand") {
  // Sum over i of p_i (1 + tanh(s_i)) (1 + tanh(-2 s_i)) (1 + tanh(s_i / 2)) with s_i = 0.025 2^i and p_i proportional
  // to 1.15^i, in 50 digits elsewhere.
  stats::Wealth wealth;
  CHECK(wealth.log_now() == 0);
  CHECK(wealth.p_value() == 1);
  wealth.bet(1);
  CHECK_THAT(wealth.log_now(), WithinAbs(0.42633589591508175, 1e-13));
  wealth.bet(-2);
  CHECK_THAT(wealth.log_now(), WithinAbs(-0.9246317418902733, 1e-13));
  wealth.bet(0.5);
  CHECK_THAT(wealth.log_now(), WithinAbs(-0.8402056146390551, 1e-13));
  // The p-value is about all observations: a gain that was lost again is no evidence.
  CHECK(wealth.p_value() == 1);
  for (int i = 0; i < 9; ++i) wealth.bet(1);
  CHECK(wealth.p_value() < 1);
  CHECK_THAT(wealth.p_value(), WithinRel(std::exp(-wealth.log_now()), 1e-13));
}

TEST_CASE("a bet and its opposite are fair: their mean factor is one, at any stake and any score") {
  for (const double score : {0.0, 0.01, 0.3, 1.0, 1.99, 2.0, 7.0}) {
    stats::Wealth before, up, down;
    for (const double past : {0.7, -1.2, 2.0}) {
      before.bet(past);
      up.bet(past);
      down.bet(past);
    }
    up.bet(score);
    down.bet(-score);
    CAPTURE(score);
    CHECK_THAT((std::exp(up.log_now()) + std::exp(down.log_now())) / 2, WithinRel(std::exp(before.log_now()), 1e-12));
  }
}

TEST_CASE("more is never worse") {
  double last = -std::numeric_limits<double>::infinity();
  for (double score = -3; score <= 3; score += 0.125) {
    stats::Wealth wealth;
    wealth.bet(1.5);
    wealth.bet(score);
    CHECK(wealth.log_now() > last);
    last = wealth.log_now();
  }
}

TEST_CASE("wealth neither overflows nor gets stuck at nothing") {
  stats::Wealth wealth;
  for (int i = 0; i < 100'000; ++i) wealth.bet(2);
  // No player gains more than ln 2 an observation; the boldest one almost does.
  CHECK(wealth.log_now() < 100'000 * std::log(2.0));
  CHECK(wealth.log_now() > 100'000 * std::log(2.0) - 10);
  CHECK(wealth.p_value() == 0);

  stats::Wealth ruined;
  for (int i = 0; i < 100'000; ++i) ruined.bet(-2);
  CHECK(std::isfinite(ruined.log_now()));
  CHECK(ruined.log_now() < -1000);
  CHECK(ruined.p_value() == 1);
  // The most cautious player is not ruined: 100,000 losses at 0.05 take as many wins to make good.
  for (int i = 0; i < 110'000; ++i) ruined.bet(2);
  CHECK(ruined.log_now() > 100);
}

TEST_CASE("no verdict comes sooner than signs can carry it") {
  // log2(1000) = 9.97, log2(100) = 6.6, log2(100000) = 16.6; the rest is the cost of eight players.
  CHECK(stats::fewest_for_rejection(1e-3) == 12);
  CHECK(stats::fewest_for_rejection(1e-2) == 9);
  CHECK(stats::fewest_for_rejection(1e-5) == 19);
  CHECK(stats::fewest_for_rejection(1) == 0);
}

}  // namespace
