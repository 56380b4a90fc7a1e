#include "benches/selftest/rules_of_others.hpp"

#include <cmath>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "tests/support/random.hpp"

using pace::benches::selftest::Claim;
CATCH_REGISTER_ENUM(Claim, Claim::none, Claim::slower, Claim::faster)

namespace {

using namespace pace::benches::selftest;
using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using Sample = std::vector<double>;

Sample times(const Sample& from, double factor) {
  Sample scaled = from;
  for (auto& each : scaled) each *= factor;
  return scaled;
}

TEST_CASE("U and its exact p-value, by hand") {
  // One of the 20 orders of three and three has every value of the first above the second's, and one below.
  const auto apart = rank_test(Sample{4, 5, 6}, Sample{1, 2, 3});
  CHECK(apart.u == 9);
  CHECK_THAT(apart.p_value, WithinRel(2.0 / 20, 1e-12));
  // 2 > 1, 4 > 1 and 4 > 3, three pairs of four; three or more, or one or fewer, in four of the six orders.
  const auto mixed = rank_test(Sample{2, 4}, Sample{1, 3});
  CHECK(mixed.u == 3);
  CHECK_THAT(mixed.p_value, WithinRel(4.0 / 6, 1e-12));
  // Ten and ten: the two-sided 5 % point of the published tables is U = 23.
  Sample low, high;
  for (int i = 0; i < 10; ++i) low.push_back(i);
  for (int i = 0; i < 10; ++i) high.push_back(i + 0.5 + 100);
  CHECK_THAT(rank_test(low, high).p_value, WithinRel(2.0 / 184756, 1e-9));
  CHECK(detail::share_of_orders(10, 10, 23) <= 0.025);
  CHECK(detail::share_of_orders(10, 10, 24) > 0.025);
}

TEST_CASE("ties count half, and bring in the normal approximation") {
  // Ranks 1, 2.5, 2.5, 4: U = 2.5 + 4 - 3 = 3.5. Variance 4/12 (5 - 6/12) = 1.5; z = (3.5 - 2 - 0.5) / sqrt(1.5).
  const auto tied = rank_test(Sample{2, 3}, Sample{1, 2});
  CHECK(tied.u == 3.5);
  CHECK_THAT(tied.p_value, WithinAbs(std::erfc(1 / std::sqrt(1.5) / std::sqrt(2.0)), 1e-12));
  CHECK(rank_test(Sample{1, 1}, Sample{1, 1}).p_value == 1);
}

TEST_CASE("fixed bands") {
  const Sample before{99, 100, 101};
  CHECK(torchbench({before, times(before, 1.069)}) == Claim::none);
  CHECK(torchbench({before, times(before, 1.071)}) == Claim::slower);
  CHECK(torchbench({before, times(before, 0.929)}) == Claim::faster);
  CHECK(operator_benchmark({before, times(before, 1.99)}) == Claim::none);
  CHECK(operator_benchmark({before, times(before, 2.01)}) == Claim::slower);
  CHECK(operator_benchmark({before, times(before, 1 / 1.51)}) == Claim::faster);
}

TEST_CASE("nvbench's old rule: a change of the mean beyond the smaller relative deviation") {
  // Deviation sqrt(10/4) of 100: 1.58 %.
  const Sample before{98, 99, 100, 101, 102};
  CHECK(nvbench_legacy({before, times(before, 1.015)}) == Claim::none);
  CHECK(nvbench_legacy({before, times(before, 1.017)}) == Claim::slower);
  CHECK(nvbench_legacy({before, times(before, 0.983)}) == Claim::faster);
  const Sample wild{60, 80, 100, 120, 150};
  CHECK(nvbench_legacy({before, wild}) == Claim::slower);  // 102 against 100, and `before` is the quiet one
  CHECK(nvbench_legacy({Sample{1, 2, 3, 4}, Sample{9, 9, 9, 9}}) == Claim::none);
}

TEST_CASE("nvbench's new rule: minimum to third quartile lie apart") {
  // Nearest rank: the third of four.
  const Sample before{100, 101, 102, 500};
  CHECK(nvbench_robust({before, Sample{102.4, 103, 104, 105}}) == Claim::none);  // a gap of 0.4 %
  CHECK(nvbench_robust({before, Sample{102.6, 103, 104, 105}}) == Claim::slower);
  CHECK(nvbench_robust({before, Sample{90, 95, 99.4, 1000}}) == Claim::faster);
  CHECK(nvbench_robust({before, Sample{90, 95, 99.6, 1000}}) == Claim::none);
}

TEST_CASE("criterion: significant, and by more than its noise threshold") {
  pace::test::Random random(3);
  Sample before(100), same(100);
  for (auto& each : before) each = 100 + random.normal();
  for (auto& each : same) each = 100 + random.normal();
  CHECK(criterion({before, before}) == Claim::none);
  CHECK(criterion({before, times(same, 1.03)}) == Claim::slower);
  CHECK(criterion({before, times(same, 0.97)}) == Claim::faster);
  // Significant, but within 1 %.
  pace::SplitMix64 bits(1);
  const Sample slightly = times(same, 1.007);
  CHECK(bootstrap_t_test(before, slightly, bits) < 0.05);
  CHECK(criterion({before, slightly}) == Claim::none);
}

TEST_CASE("a bootstrap interval is about as wide as theory has it") {
  pace::test::Random random(4);
  Sample before(400), after(400);
  for (auto& each : before) each = 100 + random.normal();
  for (auto& each : after) each = 102 + random.normal();
  pace::SplitMix64 bits(2);
  const auto change = bootstrap_change(before, after, 0.95, bits);
  // 2 % +- 1.96 sqrt(2 / 400) % = 0.139 %, and chance of a tenth of that.
  CHECK_THAT((change.high - change.low) / 2, WithinAbs(0.00139, 0.00025));
  CHECK(change.contains(moments(after).mean / moments(before).mean - 1));
}

TEST_CASE("the same rank test, on samples and on ten runs of them") {
  Sample before, after;
  for (int i = 0; i < 100; ++i) before.push_back(100 + 0.01 * ((i * 37) % 100));
  // Half of them are slower by the scatter of all of them: in every tenth, so all ten means are.
  for (int i = 0; i < 100; ++i) after.push_back(before[static_cast<std::size_t>(i)] + (i % 2 == 0 ? 1.5 : 0));
  CHECK(mann_whitney({before, after}) == Claim::slower);
  CHECK(mann_whitney({after, before}) == Claim::faster);
  CHECK(benchstat({before, after}) == Claim::slower);
  CHECK(benchstat({after, before}) == Claim::faster);
  CHECK(benchstat({before, before}) == Claim::none);
  CHECK(benchstat({Sample(9, 1.0), Sample(9, 2.0)}) == Claim::none);
}

}  // namespace
