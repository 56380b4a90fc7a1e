#include "benches/selftest/twin_gates.hpp"

#include <cmath>
#include <string>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::WithinRel;
using pace::Verdict;
using pace::benches::selftest::twin_columns;
using pace::benches::selftest::twin_heads;
using pace::benches::selftest::twin_rates;
using pace::benches::selftest::TwinGates;

pace::ImplementationResult candidate(double speedup, Verdict at_1, Verdict at_1_percent) {
  pace::ImplementationResult row;
  row.speedup = pace::SpeedupSummary{.median = speedup};
  for (const Verdict verdict : {at_1, at_1_percent}) row.judgements.emplace_back().verdict = verdict;
  return row;
}

TwinGates three_gates() {
  TwinGates gates;
  gates.add(candidate(1.0, Verdict::undecided, Verdict::passed));
  gates.add(candidate(std::exp(-0.02), Verdict::failed, Verdict::failed));
  gates.add(candidate(std::exp(-0.01), Verdict::failed, Verdict::undecided));
  return gates;
}

TEST_CASE("gates of twins are counted by limit, and only those that failed") {
  const TwinGates gates = three_gates();
  CHECK(gates.run == 3);
  CHECK(gates.failed == 2);
  CHECK(gates.failed_at_1_percent == 1);
}

TEST_CASE("the deviation and the largest difference of twins are about ln(speed-up)") {
  const TwinGates gates = three_gates();
  // 0, -0.02 and -0.01: the squares sum up to 0.0002, over two.
  CHECK_THAT(gates.deviation(), WithinRel(0.01, 1e-9));
  CHECK_THAT(gates.largest(), WithinRel(0.02, 1e-9));
  CHECK(TwinGates().deviation() == 0);
  CHECK(TwinGates().largest() == 0);
}

TEST_CASE("a sum of twins counts all their gates") {
  TwinGates sum = three_gates();
  TwinGates more;
  more.add(candidate(std::exp(0.03), Verdict::passed, Verdict::passed));
  sum += more;
  CHECK(sum.run == 4);
  CHECK(sum.failed == 2);
  CHECK(sum.failed_at_1_percent == 1);
  // Around a mean of 0 the squares sum up to 0.0014, over three.
  CHECK_THAT(sum.deviation(), WithinRel(std::sqrt(0.0014 / 3), 1e-9));
  CHECK_THAT(sum.largest(), WithinRel(0.03, 1e-9));
}

TEST_CASE("a row without a speed-up or with one judgement is no gate of twins") {
  TwinGates gates;
  CHECK_THROWS(gates.add(pace::ImplementationResult()));
  auto one = candidate(1.0, Verdict::passed, Verdict::passed);
  one.judgements.pop_back();
  CHECK_THROWS(gates.add(one));
  CHECK(gates.run == 0);
}

TEST_CASE("the columns of twins end where their heads do") {
  CHECK(twin_columns(three_gates()) == "     3              2        1    1.000%    2.000%");
  CHECK(twin_columns(three_gates()).size() == twin_heads().size());
}

TEST_CASE("rates of twins have their upper bounds") {
  TwinGates gates;
  for (int i = 0; i < 100; ++i) gates.add(candidate(1.0, Verdict::undecided, Verdict::passed));
  // None of 100: 1 - 0.05^(1/100) = 2.9513 %.
  CHECK(twin_rates(gates) ==
        "100 gates: 0 failed at 1.00 (0.000 %, at most 2.9513 % with 95 % confidence), "
        "0 failed at 1.01 (0.000 %, at most 2.9513 % with 95 % confidence)");
  CHECK_THAT(twin_rates(TwinGates()), ContainsSubstring("0 gates: 0 failed at 1.00 (0.000 %, at most 100.0000 %"));
}

}  // namespace
