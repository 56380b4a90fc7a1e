#include "benches/selftest/replay.hpp"

#include <cmath>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "pace/stats/betting.hpp"

namespace {

using pace::Verdict;
using pace::benches::selftest::replay;

TEST_CASE("a replay ends where the gate would have") {
  // All on one side: as many as signs need, at the level of that side. 2^-10 is below 1e-3, and a mixture pays more.
  const std::vector<double> slower(100, std::log(0.9));
  const auto failed = replay(pace::NoSlowerThan(1.02), slower);
  CHECK(failed.verdict == Verdict::failed);
  CHECK(failed.cycles == pace::stats::fewest_for_rejection(1e-3));
  const std::vector<double> equal(100, 0.0);
  const auto passed = replay(pace::NoSlowerThan(1.02), equal);
  CHECK(passed.verdict == Verdict::passed);
  CHECK(passed.cycles == pace::stats::fewest_for_rejection(1e-2));
  const auto open = replay(pace::NoSlowerThan(1.00), equal);
  CHECK(open.verdict == Verdict::undecided);
  CHECK(open.cycles == 100);
}

TEST_CASE("samples after the verdict do not count") {
  std::vector<double> turning(60, std::log(0.9));
  turning.insert(turning.end(), 500, std::log(1.1));
  CHECK(replay(pace::NoSlowerThan(1.02), turning).verdict == Verdict::failed);
}

}  // namespace
