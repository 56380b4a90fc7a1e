// Means and high quantiles: identical code is rejected no more often than promised, even if stalls hit both sides.
// Calls that seldom take long are found.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>

#include "pace/stats/mean_test.hpp"
#include "pace/stats/quantile_test.hpp"
#include "tests/support/random.hpp"

namespace {

using Catch::Matchers::WithinAbs;
using Catch::Matchers::WithinRel;
using pace::Nanoseconds;
using pace::test::Random;
namespace stats = pace::stats;

constexpr double alpha = 0.05;
constexpr int runs = 1000;

/// The times of the two rounds of one cycle, by side.
struct Cycle {
  std::array<Nanoseconds, 2> reference, own;
};
/// Makes cycles, one after another.
using Source = std::function<Cycle()>;

/// Two sides whose samples are all independent.
Source independent(std::function<double()> reference, std::function<double()> own) {
  return [reference = std::move(reference), own = std::move(own)] {
    return Cycle{{Nanoseconds(reference()), Nanoseconds(reference())}, {Nanoseconds(own()), Nanoseconds(own())}};
  };
}
Source identical(const std::function<double()>& time) { return independent(time, time); }

double mean_of(const std::array<Nanoseconds, 2>& times) { return (times[0].count() + times[1].count()) / 2; }

/// The number of runs of at most `length` cycles that ever prove one of both at alpha, which ends the run.
struct Rejections {
  int slower = 0, within = 0;
};
Rejections of_mean(double limit, const std::function<Source(Random&)>& source, std::size_t length = 200) {
  Rejections found;
  for (int run = 0; run < runs; ++run) {
    Random random(static_cast<std::uint64_t>(run) * 7919 + 1);
    const auto next = source(random);
    stats::MeanTest test(limit);
    bool slower = false, within = false;
    for (std::size_t i = 0; i < length && !(slower || within); ++i) {
      const Cycle cycle = next();
      test.add(mean_of(cycle.reference), mean_of(cycle.own));
      slower = slower || test.p_slower() <= alpha;
      within = within || test.p_within() <= alpha;
    }
    found.slower += slower;
    found.within += within;
  }
  return found;
}
Rejections of_quantile(double limit, const std::function<Source(Random&)>& source, std::size_t length = 400) {
  Rejections found;
  for (int run = 0; run < runs; ++run) {
    Random random(static_cast<std::uint64_t>(run) * 7919 + 1);
    const auto next = source(random);
    stats::QuantileTest test(0.95, limit);
    bool slower = false, within = false;
    for (std::size_t i = 0; i < length && !(slower || within); ++i) {
      const Cycle cycle = next();
      test.add(cycle.reference, cycle.own);
      slower = slower || test.p_slower() <= alpha;
      within = within || test.p_within() <= alpha;
    }
    found.slower += slower;
    found.within += within;
  }
  return found;
}

/// Whether so many rejections are no sign of more than `alpha` of them: more have probability 1e-6.
bool as_promised(int rejections) {
  const boost::math::binomial_distribution<double> promise(runs, alpha);
  return rejections <= quantile(complement(promise, 1e-6));
}

/// Noise that hits both sides of identical code alike.
struct Noise {
  std::string name;
  std::function<Source(Random&)> source;
};
std::vector<Noise> all_noise() {
  return {{"normal, 1 %", [](Random& r) { return identical([&r] { return 1000 * std::exp(0.01 * r.normal()); }); }},
          // The variance is infinite, and nearly the mean.
          {"Pareto with exponent 1.1",
           [](Random& r) { return identical([&r] { return 1000 * std::pow(r.uniform(), -1 / 1.1); }); }},
          {"two modes, 13 % of samples at three times the time",
           [](Random& r) {
             return identical([&r] { return (r.uniform() < 0.13 ? 3000 : 1000) * std::exp(0.01 * r.normal()); });
           }},
          {"stalls a thousand times as long, in 1 % of samples",
           [](Random& r) {
             return identical([&r] { return (r.uniform() < 0.01 ? 1e6 : 1000) * std::exp(0.01 * r.normal()); });
           }},
          {"drift, and a machine that remembers, behind the coin of each cycle", [](Random& r) -> Source {
             return [&r, noise = 0.0, drift = 0.0]() mutable {
               noise = 0.95 * noise + r.normal();
               drift += 0.1 + (r.uniform() < 0.02 ? 5 * std::abs(r.laplace()) : 0);
               const Nanoseconds first(1000 * std::exp(0.01 * (noise + drift)));
               const Nanoseconds then(1000 * std::exp(0.01 * (noise + 1.5 * drift + 2)));
               return r.coin() ? Cycle{{first, first}, {then, then}} : Cycle{{then, then}, {first, first}};
             };
           }}};
}

TEST_CASE("identical code is proven neither slower nor faster in its mean more often than promised") {
  for (const auto& noise : all_noise()) {
    const auto found = of_mean(1, noise.source);
    INFO(noise.name << ": slower in " << found.slower << " of " << runs << ", within in " << found.within);
    CHECK(as_promised(found.slower));
    CHECK(as_promised(found.within));
  }
}

TEST_CASE("identical code is proven neither slower nor faster in a high quantile more often than promised") {
  for (const auto& noise : all_noise()) {
    const auto found = of_quantile(1, noise.source);
    INFO(noise.name << ": slower in " << found.slower << " of " << runs << ", within in " << found.within);
    CHECK(as_promised(found.slower));
    CHECK(as_promised(found.within));
  }
}

TEST_CASE("equal means of different shapes are proven apart no more often than promised: no symmetry is assumed") {
  // A tenth at 1720 and the rest at 920: a mean of 1000.
  const auto two_modes = [](Random& r) { return [&r] { return r.uniform() < 0.1 ? 1720.0 : 920.0; }; };
  const auto one = [] { return 1000.0; };
  const auto of_own = of_mean(1, [&](Random& r) { return independent(one, two_modes(r)); });
  const auto of_reference = of_mean(1, [&](Random& r) { return independent(two_modes(r), one); });
  CAPTURE(of_own.slower, of_own.within, of_reference.slower, of_reference.within);
  for (const int each : {of_own.slower, of_own.within, of_reference.slower, of_reference.within})
    CHECK(as_promised(each));
}

TEST_CASE("what takes longer in the mean is proven to, by one call in thirty as by all of them") {
  const auto slower = [](double share, double factor) {
    return of_mean(
        1.02,
        [=](Random& r) {
          return independent(
              [&r] { return 1000 * std::exp(0.01 * r.normal()); },
              [=, &r] { return (r.uniform() < share ? factor : 1) * 1000 * std::exp(0.01 * r.normal()); });
        },
        1000);
  };
  const int seldom = slower(1.0 / 30, 100).slower, rarely = slower(1.0 / 300, 1000).slower,
            modes = slower(0.13, 3).slower, all = slower(1, 1.1).slower;
  CAPTURE(seldom, rarely, modes, all);
  CHECK(seldom > 0.99 * runs);
  CHECK(rarely > 0.2 * runs);
  CHECK(modes > 0.99 * runs);
  CHECK(all > 0.99 * runs);
}

TEST_CASE("a wide margin is proven to be kept, and a quantile beyond its limit to be broken") {
  const auto normal = [](Random& r) { return [&r] { return 1000 * std::exp(0.01 * r.normal()); }; };
  CHECK(of_mean(1.05, [&](Random& r) { return identical(normal(r)); }, 400).within > 0.99 * runs);
  const auto tailed = [](Random& r) {
    return [&r] { return (r.uniform() < 0.2 ? 2000 : 1000) * std::exp(0.01 * r.normal()); };
  };
  CHECK(of_quantile(1.5, [&](Random& r) { return independent(normal(r), tailed(r)); }).slower > 0.99 * runs);
  CHECK(of_quantile(1.5, [&](Random& r) { return identical(normal(r)); }).within > 0.5 * runs);
}

TEST_CASE("a mean test by hand") {
  stats::MeanTest test(1);
  test.add(100, 100);
  CHECK(test.p_slower() == 1);  // the first cycle sets the typical time
  test.add(100, 1e9);
  // Every level counts at most its multiple of 100: X = (level - 1) / level, bet at three stakes.
  double wealth = 0;
  for (const double level : {2., 8., 32., 128., 512., 2048.})
    for (const double stake : {0.9, 0.25, 0.06}) wealth += (1 + stake * (level - 1) / level) / 18;
  CHECK_THAT(test.p_slower(), WithinRel(1 / wealth, 1e-12));
  CHECK(test.p_within() == 1);
  CHECK(test.cycles() == 2);
  CHECK_THAT(test.ratio(), WithinRel((100 + 1e9) / 200, 1e-12));
  // An infinity is no cycle.
  test.add(HUGE_VAL, 1);
  CHECK(test.cycles() == 2);
}

TEST_CASE("times within a limit below 1 stay within it while the machine is slower") {
  stats::MeanTest test(0.5);
  for (int cycle = 0; cycle < 40; ++cycle) {
    const double load = cycle < 20 ? 1 : 5;
    test.add(100 * load, 45 * load);
  }
  CHECK(test.p_slower() == 1);
}

TEST_CASE("a quantile test by hand") {
  stats::QuantileTest test(0.5, 2);
  const auto add = [&](double reference, double own) {
    const std::array<Nanoseconds, 2> of_reference{Nanoseconds(reference), Nanoseconds(reference)};
    const std::array<Nanoseconds, 2> of_own{Nanoseconds(own), Nanoseconds(own)};
    test.add(of_reference, of_own);
  };
  add(100, 1e9);
  CHECK(test.p_slower() == 1);  // the first cycle sets the threshold
  add(100, 200);                // neither side is above its threshold
  CHECK(test.p_slower() == 1);
  add(100, 201);
  CHECK_THAT(test.p_slower(), WithinRel(1 / ((1.9 + 1.25 + 1.06) / 3), 1e-12));
  CHECK(test.p_within() == 1);
}

}  // namespace
