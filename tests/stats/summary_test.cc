#include "pace/stats/summary.hpp"

#include <cmath>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "pace/stats/multiplicity.hpp"

namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
namespace stats = pace::stats;

std::vector<Nanoseconds> times(std::initializer_list<double> values) {
  std::vector<Nanoseconds> result;
  for (const double value : values) result.emplace_back(value);
  return result;
}

TEST_CASE("times are summarised whatever their order") {
  const auto summary = stats::summarize_times(times({5, 1, 3, 2, 4, 100}), 0.95);
  CHECK(summary.samples == 6);
  CHECK(summary.min.count() == 1);
  CHECK(summary.max.count() == 100);
  CHECK(summary.median.count() == 3.5);
  CHECK(summary.q20.count() == 2);
  CHECK(summary.q80.count() == 5);
  CHECK_THAT(summary.mean.count(), WithinRel(115.0 / 6, 1e-12));
  CHECK_THAT(summary.q99.count(), WithinRel(5 + 0.95 * 95, 1e-12));
  REQUIRE(summary.interval);
  CHECK(summary.interval->low.count() == 1);
  CHECK(summary.interval->high.count() == 100);
  // Deviations from 3.5: .5 .5 1.5 1.5 2.5 96.5, median 1.5.
  CHECK_THAT(summary.spread, WithinRel(1.4826 * 1.5 / 3.5, 1e-12));
}

TEST_CASE("too few samples have no interval") {
  CHECK_FALSE(stats::summarize_times(times({1, 2, 3}), 0.95).interval);
  CHECK_THROWS_AS(stats::summarize_times({}, 0.95), pace::Error);
}

TEST_CASE("a cycle averages the log ratios of its rounds, so placement cancels") {
  // Buffer B is 5 % slower; both sides run the same code and swap buffers.
  const auto baseline = times({100, 105, 100, 105});
  const auto candidate = times({105, 100, 105, 100});
  const auto ratios = stats::paired_log_ratios(baseline, candidate, 2);
  REQUIRE(ratios.size() == 2);
  CHECK_THAT(ratios[0], WithinAbs(0, 1e-15));
  CHECK_THAT(ratios[1], WithinAbs(0, 1e-15));
}

TEST_CASE("log ratios are baseline over candidate") {
  const auto ratios = stats::paired_log_ratios(times({200, 400}), times({100, 100}), 1);
  REQUIRE(ratios.size() == 2);
  CHECK_THAT(std::exp(ratios[0]), WithinRel(2.0, 1e-12));
  CHECK_THAT(std::exp(ratios[1]), WithinRel(4.0, 1e-12));
}

TEST_CASE("an unfinished cycle and one without a logarithm are dropped") {
  CHECK(stats::paired_log_ratios(times({1, 1, 1}), times({1, 1, 1}), 2).size() == 1);
  CHECK(stats::paired_log_ratios(times({1, 0}), times({1, 1}), 1).size() == 1);
  CHECK(stats::paired_log_ratios(times({1, 1}), times({1, 0}), 2).empty());
  CHECK_THROWS_AS(stats::paired_log_ratios(times({1}), times({1, 1}), 1), pace::Error);
  CHECK_THROWS_AS(stats::paired_log_ratios(times({1}), times({1}), 0), pace::Error);
}

TEST_CASE("a speed-up comes with quantiles, ties and an interval") {
  const std::vector<double> ratios{std::log(2), std::log(2), 0, std::log(4), std::log(8), std::log(2)};
  const auto summary = stats::summarize_speedup(ratios, 0.95);
  CHECK(summary.observations == 6);
  CHECK(summary.ties == 1);
  CHECK_THAT(summary.median, WithinRel(2.0, 1e-12));
  CHECK_THAT(summary.q20, WithinRel(2.0, 1e-12));
  CHECK_THAT(summary.q80, WithinRel(4.0, 1e-12));
  REQUIRE(summary.interval);
  CHECK_THAT(summary.interval->low, WithinRel(1.0, 1e-12));
  CHECK_THAT(summary.interval->high, WithinRel(8.0, 1e-12));
}

TEST_CASE("the interval of a watched speed-up holds its median, which two modes put beside their centre") {
  std::vector<double> ratios;
  for (int i = 0; i < 200; ++i) ratios.push_back(i * 7 % 20 < 11 ? -1 : 0);
  const auto centre = stats::confidence_sequence(ratios, 0.025, 0.025);
  REQUIRE(centre.low > -1);  // the sequence excludes the median
  const auto summary = stats::summarize_watched_speedup(ratios, 0.95);
  CHECK(summary.median == std::exp(-1.0));
  REQUIRE(summary.interval);
  CHECK(summary.interval->low == summary.median);
  CHECK_THAT(summary.interval->high, WithinRel(std::exp(centre.high), 1e-12));
}

TEST_CASE("simultaneous intervals share the error among them") {
  CHECK_THAT(stats::simultaneous_confidence(0.95, 1), WithinRel(0.95, 1e-12));
  CHECK_THAT(stats::simultaneous_confidence(0.95, 5), WithinRel(0.99, 1e-12));
  CHECK_THAT(stats::simultaneous_confidence(0.95, 0), WithinRel(0.95, 1e-12));
}

TEST_CASE("a cycle's log ratio changes its sign, and nothing else, when the sides are exchanged") {
  std::vector<Nanoseconds> one, other;
  for (int i = 0; i < 7; ++i) {
    one.push_back(Nanoseconds(1000.0 / (i + 3)));
    other.push_back(Nanoseconds(1000.0 / (i + 3.1)));
    CHECK(pace::stats::log_ratio_of_cycle(one, other) == -pace::stats::log_ratio_of_cycle(other, one));
  }
  // Each side once on either buffer: no difference, not one of a last digit.
  const std::vector<Nanoseconds> fast_then_slow{Nanoseconds(100), Nanoseconds(130)};
  const std::vector<Nanoseconds> slow_then_fast{Nanoseconds(130), Nanoseconds(100)};
  CHECK(pace::stats::log_ratio_of_cycle(fast_then_slow, slow_then_fast) == 0);
}

}  // namespace
