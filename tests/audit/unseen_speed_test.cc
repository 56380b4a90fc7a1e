// The speed-up on unseen values, by made-up samples.
#include "pace/audit/unseen_ratios.hpp"

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "pace/audit/baseline_limit.hpp"
#include "pace/gate/excess.hpp"
#include "tests/support/random.hpp"

namespace {

using Catch::Matchers::WithinAbs;
using pace::Nanoseconds;
using pace::SpeedupSummary;
using pace::detail::BaselineLimit;
using pace::detail::log_ratio_in_few_calls;
using pace::detail::log_ratio_on_unseen_values;
using pace::detail::PairRatio;
using pace::detail::speed_on_unseen_values;
using pace::detail::UnseenRequest;
using pace::gate::excess_of;

SpeedupSummary between(double low, double high) {
  SpeedupSummary speedup;
  speedup.median = std::sqrt(low * high);
  speedup.interval = pace::Interval<double>{low, high, 0.999};
  return speedup;
}

/// Pairs whose log ratios scatter by `noise` about ln(speedup), as many as are asked for.
struct Pairs {
  double speedup, noise;
  std::size_t taken = 0;
  pace::test::Random random{1};
  double operator()() {
    ++taken;
    return std::log(speedup) + noise * random.normal();
  }
};

std::optional<SpeedupSummary> measure(double in_rounds, Pairs& pairs, std::size_t most = 1000) {
  return speed_on_unseen_values(
      in_rounds,
      [&] {
        const double ratio = pairs();
        return std::optional(PairRatio{ratio, ratio});
      },
      [&](std::size_t more) { return pairs.taken + more <= most; });
}

TEST_CASE(
    "the excess of rounds is what no likely speed-up on unseen values has, if it is proven and more than a twentieth") {
  CHECK_THAT(excess_of(2, 1.9, between(1, 1.25)), WithinAbs(1.6, 1e-12));
  CHECK(excess_of(1.3, 1.29, between(1, 1.25)) == 1);
  CHECK(excess_of(2, 1.2, between(1, 1.25)) == 1);
  CHECK(excess_of(1, 1, between(1.2, 1.25)) == 1);
  CHECK(excess_of(2, 1.9, SpeedupSummary()) == 1);
  // The extremes of a few pairs prove less than an interval.
  auto few = between(1, 1.25);
  few.interval->confidence = 0;
  CHECK(excess_of(1.6, 1.6, few) == 1);
  CHECK_THAT(excess_of(2, 1.9, few), WithinAbs(1.6, 1e-12));
}

TEST_CASE("the likely excess is that over the median, if it counts") {
  CHECK_THAT(pace::gate::likely_excess_of(1.5, between(0.8, 1.25)), WithinAbs(1.5, 1e-12));
  CHECK(pace::gate::likely_excess_of(1.04, between(0.8, 1.25)) == 1);
  CHECK(pace::gate::likely_excess_of(1.5, SpeedupSummary()) == 1);
}

TEST_CASE("the excess over another implementation belongs to the ratio of both") {
  const auto row = [](double in_rounds, std::optional<SpeedupSummary> on_unseen_values) {
    pace::ImplementationResult made;
    made.speedup.emplace().median = in_rounds;
    made.on_unseen_values = on_unseen_values;
    return made;
  };
  const auto sort = row(2.6, between(1.95, 2)), other = row(1.3, between(0.95, 1));
  CHECK(pace::gate::excess_over(sort, other) == 1);
  CHECK_THAT(pace::gate::excess_over(row(2.6, between(0.9, 0.95)), other), WithinAbs(2, 1e-12));
  CHECK(pace::gate::excess_over(sort, row(1, std::nullopt)) == 1);
  CHECK(pace::gate::excess_over(row(2.6, std::nullopt), other) == 1);
  // By the medians.
  using pace::gate::likely_excess_over;
  CHECK(likely_excess_over(row(2.6, between(2, 2)), row(1.3, between(1, 1))) == 1);
  CHECK_THAT(likely_excess_over(row(2.6, between(1, 4)), row(1.3, between(0.8, 5))), WithinAbs(2, 1e-12));
  CHECK(likely_excess_over(row(2.6, std::nullopt), other) == 1);
  CHECK(likely_excess_over(sort, row(1, std::nullopt)) == 1);
}

TEST_CASE("samples of the implementation that are slow now and then count by how often they are at least") {
  // One sample in so many is slow by four times, of one side or of both in turn.
  const auto every = [](std::size_t period, bool own, bool baseline) {
    std::size_t taken = 0;
    return speed_on_unseen_values(
        1,
        [&] {
          ++taken;
          const double seen = taken % period != 0 ? 0 : own && (!baseline || taken % (2 * period) != 0) ? -1 : 1;
          return std::optional(
              PairRatio{std::min(seen * std::log(4.0), 0.0), own || baseline ? seen * std::log(4.0) : 0});
        },
        [](std::size_t) { return true; });
  };
  const auto slow = every(8, true, false);
  REQUIRE(slow);
  CHECK(slow->observations == 176);
  // 22 of 176 are slow: 0.06 at least by the bound of Clopper and Pearson.
  CHECK_THAT(slow->median, WithinAbs(1 / (1 + 0.125 * 3), 1e-9));
  CHECK_THAT(slow->interval->high, WithinAbs(1 / (1 + 0.06 * 3), 0.01));
  CHECK(slow->interval->low == slow->median);
  for (const auto& both : {every(8, true, true), every(8, false, true), every(100, true, false)}) {
    REQUIRE(both);
    CHECK(both->median == 1);
  }
  // Its own samples on the values given are slow as often, in other pairs.
  std::size_t number = 0;
  const auto on_all = speed_on_unseen_values(
      1,
      [&] {
        const bool slow_on_new = ++number % 8 == 0, slow_on_given = number % 8 == 4;
        const double on_unseen = slow_on_new ? -std::log(4.0) : 0;
        return std::optional(PairRatio{on_unseen, on_unseen, on_unseen + (slow_on_given ? std::log(4.0) : 0)});
      },
      [](std::size_t) { return true; });
  REQUIRE(on_all);
  CHECK(on_all->median == 1);
  // Other work interrupts more samples of an implementation that takes far longer.
  std::size_t taken = 0;
  const auto longer = speed_on_unseen_values(
      0.05,
      [&] {
        const double ratio = std::log(0.05) - (++taken % 8 == 0 ? std::log(4.0) : 0);
        return std::optional(PairRatio{ratio, ratio});
      },
      [](std::size_t) { return true; });
  REQUIRE(longer);
  CHECK_THAT(longer->median, WithinAbs(0.05, 1e-12));
}

TEST_CASE("in few calls an implementation takes longer by no more than on the values given") {
  const auto speedup = [](double on_unseen, double on_given) {
    const pace::detail::CallTimes own{.on_unseen = Nanoseconds(on_unseen), .on_given = Nanoseconds(on_given)};
    return std::exp(log_ratio_in_few_calls(Nanoseconds(4000), own, Nanoseconds(3000), Nanoseconds(500)));
  };
  CHECK_THAT(speedup(1500, 1500), WithinAbs(6, 1e-12));
  CHECK_THAT(speedup(1500, 700), WithinAbs(3800.0 / 1300, 1e-12));
  CHECK_THAT(speedup(1500, 400), WithinAbs(4000.0 / 1500, 1e-12));
  CHECK_THAT(speedup(1500, 9000), WithinAbs(6, 1e-12));
  // Without a sample on these, as far as the baseline does.
  CHECK_THAT(speedup(1500, 0), WithinAbs(6, 1e-12));
}

TEST_CASE("what short calls take longer beside the rounds is the same for both sides, and at most 2 us") {
  const auto speedup = [](double baseline, double own, double usual, double usual_own = 1) {
    return std::exp(log_ratio_on_unseen_values(Nanoseconds(baseline), Nanoseconds(own), Nanoseconds(usual),
                                               Nanoseconds(usual_own)));
  };
  CHECK_THAT(speedup(1000, 500, 1000), WithinAbs(2, 1e-12));
  CHECK_THAT(speedup(1300, 800, 1000), WithinAbs(2, 1e-12));
  CHECK_THAT(speedup(900, 450, 1000), WithinAbs(2, 1e-12));
  // By their shares both take longer, which allows more.
  CHECK_THAT(speedup(1000, 2000, 500), WithinAbs(0.5, 1e-12));
  CHECK_THAT(speedup(1e6, 1e6 + 1e5, 5e5), WithinAbs(1e6 / 1.1e6, 1e-12));
  CHECK_THAT(speedup(1e5, 5e4, 5e4), WithinAbs(98.0 / 48, 1e-12));
  // No call counts as shorter than in the rounds, so no speed is infinite.
  CHECK_THAT(speedup(3200, 2010, 1200, 200), WithinAbs(6, 1e-12));
  CHECK_THAT(speedup(3200, 1700, 1200, 200), WithinAbs(6, 1e-12));
  CHECK_THAT(speedup(5000, 1000, 1000, 1000), WithinAbs(5, 1e-12));
}

TEST_CASE(
    "on a device what writing leaves in the cache is known by samples on the values given, up to a factor of two") {
  const auto speedup = [](double baseline, double own, double baseline_on_given, double own_on_given,
                          double in_rounds) {
    const auto times = [](double on_unseen, double on_given) {
      return pace::detail::CallTimes{.on_unseen = Nanoseconds(on_unseen), .on_given = Nanoseconds(on_given)};
    };
    // In the rounds the baseline takes 1 ms.
    return std::exp(pace::detail::log_ratio_beside_given(times(baseline, baseline_on_given), times(own, own_on_given),
                                                         Nanoseconds(1e6), Nanoseconds(1e6 / in_rounds), in_rounds));
  };
  // Writing memory makes the calls of one side slower, with any values.
  CHECK_THAT(speedup(1e6, 0.3e6, 1e6, 0.3e6, 5), WithinAbs(5, 1e-9));
  // The candidate computes on unseen values only.
  CHECK_THAT(speedup(1e6, 1e6, 1e6, 0.2e6, 5), WithinAbs(1, 1e-9));
  // ... and where samples differ from the rounds'.
  CHECK_THAT(speedup(1e6, 1e6, 1e6, 1e6, 5), WithinAbs(2, 1e-9));
}

TEST_CASE(
    "the baseline's time on unseen values counts up to a quarter more than its share before any candidate was called") {
  BaselineLimit norm;
  CHECK(norm.longest() == BaselineLimit::none);
  norm.take_rounds(Nanoseconds(1000));
  CHECK(norm.longest() == Nanoseconds(1250));
  norm.learn(Nanoseconds(300), Nanoseconds(200));
  CHECK(norm.longest() == Nanoseconds(1875));
  CHECK(norm.longest_without_process() == Nanoseconds(3000));
  // Calls on unseen values are not taken to be faster than repeated ones.
  norm.learn(Nanoseconds(100), Nanoseconds(200));
  CHECK(norm.longest() == Nanoseconds(1250));
  norm.learn(BaselineLimit::none, BaselineLimit::none);
  CHECK(norm.longest() == Nanoseconds(1250));

  const UnseenRequest request(16, std::vector<std::size_t>{0, 63});
  CHECK((request.kept_operands() == std::vector<std::size_t>{0, 63}));
  CHECK_FALSE(norm.longest_by_untouched(request, Nanoseconds(1e9)));
  norm.time_untouched_by([](const UnseenRequest& made, Nanoseconds longest) {
    return made.calls == 16 && longest == Nanoseconds(1e9) ? std::optional(Nanoseconds(400)) : std::nullopt;
  });
  CHECK(norm.longest_by_untouched(request, Nanoseconds(1e9)) == Nanoseconds(500));
  CHECK_FALSE(norm.longest_by_untouched(request, Nanoseconds(1e8)));
  // Operands that do not fit into the request would have other values there.
  CHECK_FALSE(norm.longest_by_untouched(UnseenRequest(16, std::vector<std::size_t>{64}), Nanoseconds(1e9)));
}

TEST_CASE("more pairs are taken only where the first ones are suspicious, until their interval is narrow") {
  Pairs honest{1.5, 0.01};
  const auto found = measure(1.5, honest);
  REQUIRE(found);
  CHECK(found->observations == honest.taken);
  CHECK(honest.taken == pace::stats::fewest_for_median_interval(0.999));
  REQUIRE(found->interval);
  CHECK(found->interval->contains(1.5));

  Pairs steady{1, 0.001};
  CHECK(measure(1.5, steady)->observations == honest.taken);
  Pairs noisy{1, 0.2};
  const auto after_more = measure(1.5, noisy);
  REQUIRE(after_more);
  CHECK(after_more->observations == 8 * honest.taken);
  CHECK(excess_of(1.5, 1.45, *after_more) > 1.05);
}

TEST_CASE("without time for an interval nothing is found, and without time for more the first pairs count") {
  Pairs pairs{1, 0.2};
  CHECK_FALSE(measure(1.5, pairs, 2));
  CHECK(pairs.taken == 1);
  Pairs three{1, 0.01};
  const auto extremes = measure(1.5, three, 5);
  REQUIRE(extremes);
  CHECK(extremes->observations == 3);
  REQUIRE(extremes->interval);
  CHECK(extremes->interval->confidence == 0);
  CHECK(excess_of(1.5, 1.5, *extremes) > 1.3);
  Pairs few{1, 0.2};
  const auto found = measure(1.5, few, 20);
  REQUIRE(found);
  CHECK(found->observations == 11);
  CHECK_FALSE(speed_on_unseen_values(1.5, [] { return std::optional<PairRatio>(); }, [](std::size_t) { return true; }));
}

}  // namespace
