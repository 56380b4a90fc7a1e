#include "pace/gate/replicates.hpp"

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "pace/gate/times.hpp"

namespace {

using pace::Verdict;
using pace::gate::Finding;
using pace::gate::Replicates;

Finding guard(double limit, double speedup, const std::string& comparison = "case") {
  return {
      comparison, "mine", "guard", {.guard = true, .limit = limit, .closes_when_undecided = false}, std::log(speedup)};
}
Finding claim(double limit, double speedup) {
  return {"case", "mine", "claim", {.guard = false, .limit = limit}, std::log(speedup)};
}

TEST_CASE("processes decide together what none of them can alone") {
  Replicates replicates;
  // 10 % slower in every process, which scatter by half a per cent; 2 % are allowed.
  const std::vector<double> speedups{0.905, 0.900, 0.910, 0.902, 0.908, 0.906, 0.904, 0.903};
  std::size_t processes = 0;
  while (!replicates.decided() && processes < speedups.size())
    replicates.add_process({guard(1.02, speedups[processes++])});
  REQUIRE(replicates.gates().size() == 1);
  CHECK(replicates.gates()[0].judgement.verdict == Verdict::failed);
  CHECK_FALSE(replicates.acceptable());
  // Five agree so well; fewer prove nothing at one in a thousand.
  CHECK(processes >= 4);
  CHECK(processes <= 6);
  CHECK(replicates.processes() == processes);
}

TEST_CASE("a guard that the processes do not decide is told apart from one that they pass") {
  Replicates open, passed;
  for (const double speedup : {0.90, 1.10, 0.95}) open.add_process({guard(1.02, speedup), claim(1.02, speedup)});
  CHECK(open.gates()[0].judgement.verdict == Verdict::undecided);
  CHECK(open.gates()[0].judgement.unresolved);
  CHECK_FALSE(open.gates()[1].judgement.unresolved);  // a claim is closed
  Replicates without_figures;
  without_figures.add_process({guard(1.02, std::nan(""))});
  CHECK(without_figures.gates()[0].judgement.unresolved);
  for (const double speedup : {1.201, 1.199, 1.200, 1.202, 1.198, 1.200, 1.201})
    passed.add_process({guard(1.02, speedup)});
  CHECK(passed.gates()[0].judgement.verdict == Verdict::passed);
  CHECK_FALSE(passed.gates()[0].judgement.unresolved);
}

TEST_CASE("a claim about which one process left out a check is undecided, and a guard is judged as ever") {
  Replicates replicates, slower;
  for (const double speedup : {1.201, 1.199, 1.200, 1.202, 1.198, 1.200, 1.201, 1.199}) {
    auto checked = claim(1.02, speedup), unchecked = claim(1.02, speedup), of_guard = guard(1.02, speedup);
    unchecked.comparison = "unchecked";
    if (replicates.processes() == 3) unchecked.unchecked = of_guard.unchecked = "it was not checked further";
    of_guard.comparison = "guard";
    replicates.add_process({checked, unchecked, of_guard});
    unchecked.demanded.limit = 1.3;
    slower.add_process({unchecked});
  }
  REQUIRE(replicates.gates().size() == 3);
  CHECK(replicates.gates()[0].judgement.verdict == Verdict::passed);
  CHECK(replicates.gates()[1].judgement.verdict == Verdict::undecided);
  CHECK_FALSE(replicates.gates()[1].judgement.acceptable);
  CHECK(
      replicates.gates()[1].judgement.message.ends_with("on which no claim may rest\nwhy: it was not checked further"));
  CHECK(replicates.gates()[2].judgement.verdict == Verdict::passed);
  CHECK_FALSE(replicates.decided());
  CHECK(slower.gates()[0].judgement.verdict == Verdict::failed);
}

TEST_CASE("a guard that is let through by name leaves nothing unresolved") {
  Replicates replicates, without_figures;
  auto named = guard(1.02, 0.95);
  named.demanded.allowed_undecided = true;
  replicates.add_process({named});
  named.centre = std::nan("");
  without_figures.add_process({named});
  for (const auto* each : {&replicates, &without_figures}) {
    CHECK(each->gates()[0].judgement.verdict == Verdict::undecided);
    CHECK(each->acceptable());
    CHECK_FALSE(each->gates()[0].judgement.unresolved);
  }
}

TEST_CASE("the verdict agrees with judge_replicates") {
  const std::vector<double> centres{0.20, 0.25, 0.18, 0.22, 0.21, 0.24};
  Replicates replicates;
  for (const double each : centres) replicates.add_process({claim(1.10, std::exp(each))});
  pace::ImplementationResult row;
  row.name = "mine";
  const auto judgement = pace::SpeedupAtLeast(1.10).judge_replicates(row, centres);
  CHECK(replicates.gates()[0].judgement.verdict == judgement.verdict);
  CHECK(judgement.verdict == Verdict::passed);
  CHECK(replicates.gates()[0].judgement.message == judgement.message);
  // Deviation, by hand: mean 0.21667, squares .000278 .001111 .001344 .000011 .000044 .000544 = .003333 over 5.
  CHECK_THAT(replicates.gates()[0].deviation, Catch::Matchers::WithinAbs(std::sqrt(0.0033333 / 5), 1e-5));
}

TEST_CASE("what scatters between processes is not proven, however sure each of them is") {
  Replicates replicates;
  for (const double speedup : {1.06, 0.97, 1.08, 0.95, 1.04, 0.99, 1.02, 0.96})
    replicates.add_process({claim(1.00, speedup), guard(1.00, speedup)});
  REQUIRE(replicates.gates().size() == 2);
  CHECK(replicates.gates()[0].judgement.verdict == Verdict::undecided);
  CHECK_FALSE(replicates.gates()[0].judgement.acceptable);
  CHECK(replicates.gates()[1].judgement.verdict == Verdict::undecided);
  CHECK(replicates.gates()[1].judgement.acceptable);
  CHECK_FALSE(replicates.decided());
  CHECK_FALSE(replicates.acceptable());
}

TEST_CASE("a process counts once for a gate, and gates are told apart") {
  Replicates replicates;
  replicates.add_process({guard(1.02, 1), guard(1.02, 0.5), guard(1.05, 1), guard(1.02, 1, "other"), claim(1.02, 1)});
  replicates.add_process({guard(1.02, 1), guard(1.02, std::nan(""))});
  REQUIRE(replicates.gates().size() == 4);
  CHECK(replicates.gates()[0].centres == std::vector<double>{0, 0});
  CHECK(replicates.gates()[1].centres.size() == 1);
  CHECK(replicates.gates()[2].centres.size() == 1);
  CHECK(replicates.gates()[3].centres.size() == 1);
}

TEST_CASE("nothing found is nothing proven") {
  Replicates replicates;
  replicates.add_process({});
  CHECK_FALSE(replicates.decided());
  CHECK_FALSE(replicates.acceptable());
  // A gate that no process has figures for: open to a guard, closed to a claim.
  replicates.add_process({guard(1.02, std::nan(""))});
  CHECK(replicates.acceptable());
  CHECK_FALSE(replicates.decided());
  replicates.add_process({claim(1.02, std::nan(""))});
  CHECK_FALSE(replicates.acceptable());
  CHECK(std::isnan(pace::gate::centre_of({})));
  pace::ImplementationResult row;
  row.log_ratios = {3, 1, 2};
  CHECK(pace::gate::centre_of(row) == 2);
  row.context.excess_in_rounds = std::exp(1.0);
  CHECK(pace::gate::centre_of(row) == 1);
  // How much the rounds owe to known values is not known without an interval on new ones.
  auto open = row;
  open.context.excess_in_rounds = 1;
  open.context.likely_excess_in_rounds = 1.5;
  CHECK(pace::gate::centre_of(open) == 2);
  open.on_unseen_values.emplace().median = 1.5;
  CHECK(std::isnan(pace::gate::centre_of(open)));
  open.on_unseen_values->interval = pace::Interval<double>{1, 2, 0.999};
  CHECK(pace::gate::centre_of(open) == 2);
  row.context.disturbance = "Other work took part.";
  CHECK(std::isnan(pace::gate::centre_of(row)));
}

TEST_CASE("a judgement on a speed-up carries what was demanded") {
  pace::ImplementationResult row;
  row.name = "mine";
  row.outcome = pace::Outcome::measured;
  row.log_ratios = std::vector<double>(20, 0.1);
  row.context.alpha = 5e-4;
  const auto expectation = pace::NoSlowerThan(1.02).beta(0.05);
  const auto judgement = expectation.judge(row);
  REQUIRE(judgement.speed);
  CHECK(judgement.speed->guard);
  CHECK(judgement.speed->limit == 1.02);
  CHECK(judgement.speed->alpha == 5e-4);
  CHECK(judgement.speed->beta == 0.05);
  CHECK_FALSE(judgement.speed->closes_when_undecided);
  const auto other = pace::SpeedupAtLeast(1.5).judge(row);
  REQUIRE(other.speed);
  CHECK_FALSE(other.speed->guard);
  CHECK(other.speed->closes_when_undecided);
  CHECK_FALSE(judgement.speed->allowed_undecided);
  CHECK(expectation.when_undecided(pace::WhenUndecided::let_through).judge(row).speed->allowed_undecided);
  CHECK_FALSE(pace::WithinTime(pace::Nanoseconds(5)).judge(row).speed);
}

}  // namespace
