#include "pace/stats/multiplicity.hpp"

#include <cstddef>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

namespace {

using Catch::Matchers::WithinRel;
namespace stats = pace::stats;

TEST_CASE("a suite's alpha is shared evenly") {
  CHECK_THAT(stats::alpha_share(0.01, 100), WithinRel(1e-4, 1e-12));
  CHECK(stats::alpha_share(0.01, 1) == 0.01);
  CHECK(stats::alpha_share(0.01, 0) == 0.01);
}

TEST_CASE("what a sequence of hypotheses spends sums to the whole, and never exceeds it") {
  CHECK_THAT(stats::spent_share(1), WithinRel(1.0 / 2, 1e-12));
  CHECK_THAT(stats::spent_share(2), WithinRel(1.0 / 6, 1e-12));
  CHECK_THAT(stats::spent_share(3), WithinRel(1.0 / 12, 1e-12));
  double spent = 0;
  for (std::size_t k = 1; k <= 100'000; ++k) {
    spent += stats::spent_share(k);
    if (k == 9 || k == 100'000) CHECK_THAT(spent, WithinRel(1 - 1.0 / static_cast<double>(k + 1), 1e-9));
  }
  CHECK(spent < 1);
}

TEST_CASE("Holm by hand") {
  const auto level = [](std::vector<double> p, double alpha) { return stats::holm_level(p, alpha); };
  // 0.01 <= 0.06/4; 0.019 <= 0.06/3; 0.04 > 0.06/2: two are rejected, the rest are held to 0.03.
  CHECK_THAT(level({0.04, 0.01, 0.9, 0.019}, 0.06), WithinRel(0.03, 1e-12));
  // None, though each is below alpha: 0.025 > 0.06/3.
  CHECK_THAT(level({0.025, 0.025, 0.025}, 0.06), WithinRel(0.02, 1e-12));
  // One rejection after another: 0.02, then 0.03, then 0.06.
  CHECK_THAT(level({0.055, 0.02, 0.03}, 0.06), WithinRel(0.06, 1e-12));
  CHECK_THAT(level({0.02, 0.03, 0.061}, 0.06), WithinRel(0.06, 1e-12));
  CHECK_THAT(level({0.5}, 0.06), WithinRel(0.06, 1e-12));
  CHECK_THAT(level({}, 0.06), WithinRel(0.06, 1e-12));
}

TEST_CASE("Holm rejects whatever Bonferroni does, and no more than each alone") {
  for (int seed = 0; seed < 200; ++seed) {
    std::vector<double> p;
    for (int i = 0; i < 7; ++i) p.push_back(((seed * 31 + i * 17) % 97) / 97.0 * 0.03);
    const double level = stats::holm_level(p, 0.05);
    CHECK(level >= 0.05 / 7);
    CHECK(level <= 0.05);
  }
}

}  // namespace
