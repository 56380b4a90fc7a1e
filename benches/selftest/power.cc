// Power: how often, and how soon, a gate finds added work, and how near that is to the optimum.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/bounds.hpp"
#include "benches/selftest/fresh_options.hpp"
#include "benches/selftest/progress.hpp"
#include "benches/selftest/quiet.hpp"
#include "benches/selftest/replay.hpp"
#include "benches/selftest/settings.hpp"
#include "benches/selftest/subjects.hpp"
#include "pace/stats/betting.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sample_number.hpp"
#include "pace/stats/spread.hpp"

namespace {

using namespace pace::benches::selftest;
using pace::Verdict;

constexpr double alpha = 1e-3, beta = 1e-2;

/// Added work, and the guard that is to notice it, or not to mind.
struct Line {
  double extra, limit;
  [[nodiscard]] bool guilty() const { return 1 + extra > limit; }
};

constexpr std::array<Line, 8> lines{
    {{0, 1.02}, {0.005, 1.00}, {0.005, 1.02}, {0.01, 1.00}, {0.01, 1.02}, {0.02, 1.00}, {0.05, 1.00}, {0.05, 1.02}}};

/// The counts of one subject's gates, to compare with the least cost of any test.
struct Seen {
  std::vector<double> log_ratios;
  double cycles = 0, gates = 0;
};

/// Cycles of all gates together, and those that Wald's bound asks for at the deviation measured.
struct Cost {
  double cycles = 0, wald = 0, wald_robust = 0;
};

Cost cost_of(const std::array<Seen, subjects>& seen, double threshold) {
  Cost cost;
  for (const Seen& each : seen) {
    if (each.log_ratios.empty()) continue;
    std::vector<double> sorted = each.log_ratios;
    std::sort(sorted.begin(), sorted.end());
    const double effect = pace::stats::median(sorted) - threshold;
    double squares = 0;
    for (const double ratio : sorted) squares += (ratio - threshold - effect) * (ratio - threshold - effect);
    const double deviation = std::sqrt(squares / static_cast<double>(sorted.size()));
    const double robust = pace::stats::median_absolute_deviation(sorted);
    cost.cycles += each.cycles;
    cost.wald += each.gates * pace::stats::wald_sample_number(effect, deviation, alpha, beta);
    cost.wald_robust += each.gates * pace::stats::wald_sample_number(effect, robust, alpha, beta);
  }
  return cost;
}

double at(std::vector<double> values, double q) {
  std::sort(values.begin(), values.end());
  return pace::stats::quantile(values, q);
}

/// Runs the gates of one line, prints it, and returns how many verdicts were wrong.
std::size_t run(const Line& line, std::size_t planned) {
  const auto guard = pace::NoSlowerThan(line.limit);
  const double threshold = guard.demand().threshold;
  std::array<Seen, subjects> seen;
  std::size_t passed = 0, failed = 0, disturbed = 0, gates = 0;
  std::vector<double> milliseconds;
  Progress progress("power, +" + std::to_string(100 * line.extra).substr(0, 3) + " %", planned);
  const Deadline deadline(std::chrono::seconds(2));
  for (; gates < planned && !deadline.over(); ++gates) {
    auto options = fresh_options();
    options.budget = std::chrono::seconds(2);
    // The verdict of the test itself; where pace would not give one is counted apart.
    options.max_interference = 1;
    const auto result = compare_subject(gates, options, {.name = "slower", .extra = line.extra, .expectation = guard});
    const auto& row = result["slower"];
    REQUIRE(row.outcome == pace::Outcome::measured);
    disturbed += !pace::find_disturbances(result.conditions, result.elapsed, 0.9).empty();
    const Verdict verdict = row.judgements.at(0).verdict;
    passed += verdict == Verdict::passed;
    failed += verdict == Verdict::failed;
    milliseconds.push_back(result.elapsed.count() / 1e6);
    Seen& mine = seen[gates % subjects];
    mine.cycles += static_cast<double>(row.log_ratios.size());
    mine.gates += 1;
    mine.log_ratios.insert(mine.log_ratios.end(), row.log_ratios.begin(), row.log_ratios.end());
    progress.show(gates + 1);
  }
  const auto share = [&](std::size_t count) { return 100 * static_cast<double>(count) / static_cast<double>(gates); };
  const std::size_t right = line.guilty() ? failed : passed;
  const Cost cost = cost_of(seen, threshold);
  const double each = static_cast<double>(gates);
  std::printf("+%.1f %%  NoSlowerThan(%.2f) %6zu %9.1f%% %9.1f%% %9.1f%% %11.1f%% %9.1f%% %9.1f %9.1f %9.1f",
              100 * line.extra, line.limit, gates, share(failed), share(passed), share(gates - passed - failed),
              100 * lower_bound(right, gates), share(disturbed), at(milliseconds, 0.5), at(milliseconds, 0.99),
              cost.cycles / each);
  // With fewer cycles than signs alone need, the bound asks for the impossible of a test that knows no deviation.
  if (cost.wald / each >= static_cast<double>(pace::stats::fewest_for_rejection(alpha)) && right == gates)
    std::printf(" %9.1f %6.2f %6.2f\n", cost.wald / each, cost.cycles / cost.wald, cost.cycles / cost.wald_robust);
  else
    std::printf(" %9.1f      -      -\n", cost.wald / each);
  std::fflush(stdout);
  return line.guilty() ? passed : failed;
}

TEST_CASE("work that was added is found, and none that was not", "[power]") {
  const Quiet quiet;
  const std::size_t planned = std::max<std::size_t>(settings().gates / 10, 2);
  std::printf("\nPower: real work added to one of two equal sides; a budget of 2 s each\n");
  std::printf("%-28s %6s %10s %10s %10s %12s %10s %9s %9s %9s %9s %6s %6s\n", "work   gate", "gates", "failed",
              "passed", "undecided", "right, least", "disturbed", "ms, half", "ms, 99 %", "cycles", "Wald", "ratio",
              "robust");
  for (const Line& line : lines) {
    const std::size_t wrong = run(line, planned);
    INFO("+" << 100 * line.extra << " % against NoSlowerThan(" << line.limit << "): " << wrong << " wrong verdicts");
    CHECK(wrong < too_many(planned, line.guilty() ? beta : alpha, check_error));
  }
  std::printf(
      "right, least: of all gates, with 95 %% confidence. disturbed: other work took so much of the machine that pace\n"
      "would have withheld the verdict. Wald: mean cycles that any test needs at the deviation measured; ratio:\n"
      "pace's over that; robust: over that at a deviation without the outliers.\n");
}

}  // namespace
