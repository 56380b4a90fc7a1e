// The promise, by simulation: where the hypothesis holds, at most a share alpha of all runs ever rejects it.
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <boost/math/distributions/binomial.hpp>
#include <catch2/catch_test_macros.hpp>

#include "pace/stats/replicate_test.hpp"
#include "pace/stats/sequential_test.hpp"
#include "tests/support/random.hpp"

namespace {

using pace::stats::Assumption;
using pace::test::Random;
namespace stats = pace::stats;

constexpr double alpha = 0.05;
constexpr int runs = 20'000;

/// More rejections than this have probability 1e-6 if each has probability alpha. A test of no power would not do
/// either: fewer than a quarter of alpha would say that the simulation looks at nothing.
bool within_promise(int rejections) {
  const boost::math::binomial_distribution<double> promise(runs, alpha);
  return rejections <= quantile(complement(promise, 1e-6)) && rejections > runs * alpha / 4;
}

using PValue = double (*)(const stats::SequentialTest&);
double by_test(const stats::SequentialTest& test) { return test.p_above(); }
double by_wealth_alone(const stats::SequentialTest& test) { return test.above().p_value(); }

/// How many runs of `length` observations ever reject "at or below 0" at `level`. `path(random)` makes a source.
template <class Path>
int rejections(Path path, std::size_t length, Assumption assumption, double level = alpha, PValue p_value = by_test) {
  int rejected = 0;
  for (int run = 0; run < runs; ++run) {
    Random random(static_cast<std::uint64_t>(run) * 7919 + 1);
    auto next = path(random);
    stats::SequentialTest test(0, assumption);
    for (std::size_t i = 0; i < length && p_value(test) > level; ++i) test.add(next());
    rejected += p_value(test) <= level;
  }
  return rejected;
}

/// Identical code on a machine that drifts, throttles now and then and remembers: which of two labels gets which half
/// of a cycle is a coin, as pace::timing::Schedule tosses it.
auto relabelled(Random& random) {
  return [&random, noise = 0.0, drift = 0.0]() mutable {
    noise = 0.95 * noise + random.normal();
    drift += 0.1 + (random.uniform() < 0.02 ? 5 * random.laplace() : 0);
    const double first = std::exp(0.01 * (noise + drift)), then = std::exp(0.01 * (noise + 1.5 * drift + 2));
    return random.coin() ? std::log(first / then) : std::log(then / first);
  };
}

TEST_CASE("symmetric noise of any tail rejects no more often than promised") {
  const int normal = rejections([](Random& r) { return [&r] { return r.normal(); }; }, 80, Assumption::symmetry);
  const int student = rejections([](Random& r) { return [&r] { return r.student3(); }; }, 80, Assumption::symmetry);
  const int spiked = rejections([](Random& r) { return [&r] { return r.contaminated(); }; }, 80, Assumption::symmetry);
  CAPTURE(normal, student, spiked);
  CHECK(within_promise(normal));
  CHECK(within_promise(student));
  CHECK(within_promise(spiked));
}

TEST_CASE("identical code on a drifting, remembering machine rejects no more often than promised") {
  const int found = rejections(relabelled, 80, Assumption::symmetry);
  CAPTURE(found);
  CHECK(within_promise(found));
}

TEST_CASE("without the coin, drift does reject: the simulation can fail") {
  const auto fixed_order = [](Random& random) {
    return [&random, noise = 0.0]() mutable {
      noise = 0.95 * noise + random.normal();
      return noise;
    };
  };
  CHECK_FALSE(within_promise(rejections(fixed_order, 80, Assumption::symmetry)));
}

TEST_CASE("skewed times with their median at the threshold reject no more often than promised") {
  const auto skewed = [](Random& r) { return [&r] { return -std::log(r.uniform()) - std::log(2.0); }; };
  const int by_sign = rejections(skewed, 80, Assumption::median);
  CAPTURE(by_sign);
  CHECK(within_promise(by_sign));
  // Symmetry is a real assumption of scores alone: the mean of these lies above their median.
  CHECK(within_promise(rejections(skewed, 80, Assumption::symmetry)));
  CHECK_FALSE(within_promise(rejections(skewed, 80, Assumption::symmetry, alpha, by_wealth_alone)));
}

TEST_CASE("where one side alone stalls, a median at the threshold is rejected about as often as promised") {
  // A quarter of the cycles has a stall; the others lie as far below on average as leaves the median at 0, which is the
  // quantile 2/3 of theirs. By the centre of scores all runs reject in the end.
  const auto stalling = [](Random& r) { return [&r] { return r.uniform() < 0.25 ? 50 : r.normal() - 0.4307; }; };
  constexpr double level = 0.001;
  const int found = rejections(stalling, 300, Assumption::symmetry, level);
  CAPTURE(found);
  CHECK(found <= 3 * runs * level);
}

TEST_CASE("observations are skewed once six lie far on one side and none on the other") {
  stats::FarObservations far;
  for (int i = 0; i < 20; ++i) far.add(i % 2 == 0 ? 1 : -1, 1);
  for (int i = 0; i < 5; ++i) far.add(9, 1);
  CHECK_FALSE(far.skewed());
  far.add(9, 1);
  CHECK(far.skewed());
  for (int i = 0; i < 6; ++i) far.add(-9, 1);
  CHECK_FALSE(far.skewed());
}

TEST_CASE("a confidence sequence covers the centre at all times as often as it says") {
  int missed = 0;
  constexpr int fewer_runs = 2'000;
  for (int run = 0; run < fewer_runs; ++run) {
    Random random(static_cast<std::uint64_t>(run) + 1);
    std::vector<double> sample(60);
    for (auto& each : sample) each = 3 + random.student3();
    bool any = false;
    for (std::size_t n = 4; n <= sample.size(); n += 4)
      any = any || !stats::confidence_sequence(std::span(sample).first(n), 0.05, 0.05).contains(3);
    missed += any;
  }
  const boost::math::binomial_distribution<double> promise(fewer_runs, 0.1);
  CAPTURE(missed);
  CHECK(missed <= quantile(complement(promise, 1e-6)));
  CHECK(missed > fewer_runs / 40);
}

TEST_CASE("replicates with their mean on the threshold, or below, reject no more often than promised") {
  // By mean, in deviations: at 0 the promise is used up to a fair part, below it is not.
  for (const double mean : {0.0, -0.2}) {
    int rejected = 0;
    constexpr int fewer_runs = 1'500;
    for (int run = 0; run < fewer_runs; ++run) {
      Random random(static_cast<std::uint64_t>(run) + 11);
      stats::ReplicateTest test(1);
      for (int i = 0; i < 8 && test.p_above() > alpha; ++i) test.add(1 + 0.01 * (mean + random.normal()));
      rejected += test.p_above() <= alpha;
    }
    const boost::math::binomial_distribution<double> promise(fewer_runs, alpha);
    CAPTURE(mean, rejected);
    CHECK(rejected <= quantile(complement(promise, 1e-6)));
    if (mean == 0) CHECK(rejected > fewer_runs * alpha / 4);
  }
}

}  // namespace
