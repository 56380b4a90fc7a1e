// Verdicts on a few processes a side: tails against tables, a test worked by hand, error rates by simulation.
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "pace/gate/times.hpp"
#include "pace/report/processes.hpp"
#include "pace/stats/student.hpp"
#include "tests/support/random.hpp"

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using pace::NoSlowerThan;
using pace::SpeedupAtLeast;
using pace::Verdict;
using pace::report::Processes;
using pace::stats::student_tail;

TEST_CASE("tails agree with the tables") {
  // Abramowitz and Stegun, table 26.10, and the normal table.
  CHECK(student_tail(318.309, 1) == Approx(0.001).epsilon(1e-4));
  CHECK(student_tail(22.327, 2) == Approx(0.001).epsilon(1e-4));
  CHECK(student_tail(10.2145, 3) == Approx(0.001).epsilon(1e-4));
  CHECK(student_tail(7.1732, 4) == Approx(0.001).epsilon(1e-4));
  CHECK(student_tail(4.0322, 5) == Approx(0.005).epsilon(1e-4));
  CHECK(student_tail(2.2281, 10) == Approx(0.025).epsilon(1e-4));
  CHECK(student_tail(0, 7) == Approx(0.5));
  CHECK(student_tail(-2.2281, 10) == Approx(0.975).epsilon(1e-4));
  CHECK(pace::stats::normal_tail(1.959964) == Approx(0.025).epsilon(1e-5));
  CHECK(pace::stats::quantile_of_tail([](double t) { return student_tail(t, 4); }, 0.001) ==
        Approx(7.1732).epsilon(1e-4));
}

TEST_CASE("five processes a side, by hand") {
  // Means 0.02 and -0.08, both sums of squares 0.001: deviation sqrt(0.002 / 8) = 0.0158114, times sqrt(2/5) is 0.01.
  const Processes processes{{0.04, 0.03, 0.02, 0.01, 0}, {-0.06, -0.07, -0.08, -0.09, -0.10}};
  const auto evidence = pace::report::weigh(processes, -0.05, 0.01, 0.001, {});
  CHECK(evidence.centre == Approx(-0.1));
  // Five standard errors below the threshold, of eight degrees of freedom.
  CHECK(evidence.p_below == Approx(student_tail(5, 8)));
  CHECK(evidence.p_above == Approx(1 - student_tail(5, 8)));
  // Quantiles 2.8965 (0.01) and 4.5008 (0.001).
  CHECK(evidence.interval.low == Approx(-0.1 - 0.028965).epsilon(1e-4));
  CHECK(evidence.interval.high == Approx(-0.1 + 0.045008).epsilon(1e-4));
  CHECK_THAT(evidence.guarantee, ContainsSubstring("5 + 5 processes, which scatter by 1.581 %"));
}

TEST_CASE("one process a side is judged by the spread that is stated or assumed, and says so") {
  const Processes processes{{0}, {-0.1}};
  // 0.1 over 0.05 sqrt(2): not even one and a half deviations.
  const auto assumed = pace::report::weigh(processes, 0, 0.01, 0.001, {});
  CHECK(assumed.p_below == Approx(pace::stats::normal_tail(std::sqrt(2.0))));
  CHECK_THAT(assumed.guarantee, ContainsSubstring("1 + 1 processes, assumed to scatter by at most 5 %"));
  const auto stated = pace::report::weigh(processes, 0, 0.01, 0.001, 0.01);
  CHECK(stated.p_below == Approx(pace::stats::normal_tail(5 * std::sqrt(2.0))));
  CHECK_THAT(stated.guarantee, ContainsSubstring("stated to scatter by at most 1 %"));
  // Four processes leave two degrees of freedom; five are enough to estimate.
  CHECK_THAT(pace::report::weigh({{0, 0.01}, {0, 0.01}}, 0, 0.01, 0.001, {}).guarantee, ContainsSubstring("assumed"));
  CHECK_THAT(pace::report::weigh({{0, 0.01, 0.02, 0.01}, {0}}, 0, 0.01, 0.001, {}).guarantee,
             ContainsSubstring("4 + 1 processes, which scatter"));
}

TEST_CASE("verdicts, and what they say") {
  const auto judged = [](const pace::Expectation& expectation, const Processes& processes) {
    return pace::report::judge(expectation.demand(), "'fused'", "the stored baseline", processes, {},
                               std::optional(0.01))
        .judgement;
  };
  const auto failed = judged(NoSlowerThan(1.02), {{0}, {-0.2}});
  CHECK(failed.verdict == Verdict::failed);
  CHECK_FALSE(failed.acceptable);
  CHECK_THAT(failed.message,
             ContainsSubstring("'fused' takes 1.22x the time of the stored baseline [1.1") &&
                 ContainsSubstring("all of it above 1.02x (wrongly passed: 1 %, wrongly failed: 0.1 %"));
  const auto passed = judged(NoSlowerThan(1.02), {{0}, {0.1}});
  CHECK(passed.verdict == Verdict::passed);
  CHECK(passed.acceptable);
  const auto open = judged(NoSlowerThan(1.02), {{0}, {-0.03}});
  CHECK(open.verdict == Verdict::undecided);
  CHECK(open.acceptable);
  CHECK_THAT(open.message,
             ContainsSubstring("which holds 1.02x") && ContainsSubstring("\ntry: about 19 processes on each side"));
  const auto at_the_limit = judged(SpeedupAtLeast(1.2), {{0}, {std::log(1.2)}});
  CHECK(at_the_limit.verdict == Verdict::undecided);
  CHECK_THAT(at_the_limit.message,
             ContainsSubstring("\nwhy: it is too near the limit for 1000 processes on each side to settle at this "
                               "scatter\ntry: allow more"));
  CHECK_FALSE(judged(SpeedupAtLeast(1.2), {{0}, {0.19}}).acceptable);
  CHECK(judged(SpeedupAtLeast(1.2), {{0}, {0.3}}).verdict == Verdict::passed);
  CHECK(judged(SpeedupAtLeast(1.2), {{0}, {0.1}}).verdict == Verdict::failed);
}

TEST_CASE("an open question is answered by as many processes as the forecast says, and by no fewer") {
  const auto needed = [](double change, const std::optional<double>& spread) {
    return pace::report::processes_for_verdict({{0}, {change}}, 0, 0.01, 0.001, spread);
  };
  // A deviation of 0.01 and a change of -0.01: 2 * 3.0902^2 = 19.1; of +0.01, at the other rate: 2 * 2.3263^2 = 10.8.
  CHECK(needed(-0.01, 0.01) == 20);
  CHECK(needed(0.01, 0.01) == 11);
  CHECK(needed(-1, 0.01) == 1);
  // One deviation of 0.05 is assumed. From three a side on the test would be Student's: 13 a side have 24 degrees of
  // freedom, whose quantile at 0.01 is 2.4922, and 2 * 2.4922^2 = 12.4.
  CHECK(needed(0.05, {}) == 13);
  CHECK(needed(0, 0.01) == std::nullopt);
  CHECK(needed(0.0001, 0.01) == std::nullopt);
  for (const std::size_t count : {19, 20}) {
    const Processes processes{std::vector<double>(count, 0.0), std::vector<double>(count, -0.01)};
    const auto evidence = pace::report::weigh(processes, 0, 0.01, 0.001, 0.01);
    CHECK((evidence.p_below <= 0.001) == (count == 20));
  }
}

TEST_CASE("processes that agree to the last bit do not divide by zero") {
  const Processes same{{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
  const auto on_threshold = pace::report::weigh(same, 0, 0.01, 0.001, {});
  CHECK(on_threshold.p_above == 1);
  CHECK(on_threshold.p_below == 1);
  CHECK(pace::report::weigh(same, -0.02, 0.01, 0.001, {}).p_above == 0);
}

TEST_CASE("identical code is failed as often as stated, and no more") {
  // 20,000 times five processes a side that scatter by 1 %, at a rate of 1 %: 200 expected, 14 the deviation.
  pace::test::Random random(1);
  int wrong = 0;
  for (int i = 0; i < 20'000; ++i) {
    Processes processes{std::vector<double>(5), std::vector<double>(5)};
    for (auto* side : {&processes.then, &processes.now})
      for (double& each : *side) each = 0.01 * random.normal();
    wrong += pace::report::weigh(processes, 0, 0.01, 0.01, {}).p_below <= 0.01;
  }
  CHECK(wrong > 130);
  CHECK(wrong < 270);
}
