// Verdicts on the energy of a call.
#include "pace/gate/energy.hpp"

#include <limits>
#include <optional>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/error.hpp"
#include "tests/gate/rows.hpp"

using Catch::Matchers::ContainsSubstring;
using pace::Interval;
using pace::Verdict;

namespace {

pace::ImplementationResult with_energy(double ratio, std::optional<Interval<double>> interval) {
  auto row = rows::measured("fused");
  row.context.baseline = "eager";
  row.energy = pace::EnergySummary{.millijoules = 1200, .moves = 5, .ratio = ratio, .ratio_interval = interval};
  return row;
}

pace::Judgement judge(double limit, const pace::ImplementationResult& row) {
  return pace::EnergyAtMost(limit).judge(row);
}

}  // namespace

TEST_CASE("energy passes or fails by the interval of its ratio, and the message has the figures") {
  const auto row = with_energy(1.1, Interval<double>{1.08, 1.12, 0.998});
  CHECK(judge(1.12, row).verdict == Verdict::passed);
  CHECK(judge(1.12, row).acceptable);
  CHECK(judge(1.12, row).expectation == "energy of at most 1.120x the baseline's");
  CHECK(judge(1.12, row).message ==
        "'fused' takes 1200 mJ in one call, 1.100x the energy of 'eager' [1.080x, 1.120x] at 99.8 % "
        "(at most 1.120x allowed)");
  CHECK(judge(1.05, row).verdict == Verdict::failed);
  CHECK_THAT(judge(1.05, row).message, ContainsSubstring("more than 1.050x"));
  CHECK(judge(1.1, row).verdict == Verdict::undecided);
  CHECK_FALSE(judge(1.1, row).acceptable);
}

TEST_CASE("a counter that is too coarse decides nothing") {
  const auto found = judge(2, with_energy(1, std::nullopt));
  CHECK(found.verdict == Verdict::undecided);
  CHECK_THAT(found.message, ContainsSubstring("moved only 5 times"));
}

TEST_CASE("a disturbed GPU decides nothing, whatever the figures say") {
  auto row = with_energy(1.1, Interval<double>{1.08, 1.12, 0.998});
  row.context.disturbance = "the GPU is shared";
  const auto found = judge(2, row);
  CHECK(found.verdict == Verdict::undecided);
  CHECK_FALSE(found.acceptable);
  CHECK(found.message == "'fused' takes 1200 mJ in one call, 1.100x the energy of 'eager'\nwhy: the GPU is shared");
}

TEST_CASE("without an energy, or without a ratio, there is nothing to judge") {
  CHECK(judge(2, rows::measured("fused")).verdict == Verdict::invalid);
  CHECK_THAT(judge(2, rows::measured("fused")).message, ContainsSubstring("do not run on a GPU"));
  auto row = with_energy(1, std::nullopt);
  row.energy->missing = "NVIDIA T4 has no counter of energy";
  CHECK(judge(2, row).verdict == Verdict::invalid);
  CHECK_THAT(judge(2, row).message, ContainsSubstring("NVIDIA T4 has no counter"));
  row.energy->missing = "";
  row.energy->ratio.reset();
  CHECK(judge(2, row).verdict == Verdict::invalid);
}

TEST_CASE("a ratio of energies is a positive number") {
  for (const double ratio : {0.0, -1.0, std::numeric_limits<double>::infinity()})
    CHECK_THROWS_AS(pace::EnergyAtMost(ratio), pace::Error);
  CHECK(pace::EnergyAtMost(1).needs_energy());
}
