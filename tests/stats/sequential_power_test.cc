// The cost of a verdict, by simulation: observations until SequentialTest rejects, against a bound that no test can
// undercut.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "pace/stats/replicate_test.hpp"
#include "pace/stats/sample_number.hpp"
#include "pace/stats/sequential_test.hpp"
#include "tests/support/random.hpp"

namespace {

using pace::test::Random;
namespace stats = pace::stats;

struct Noise {
  const char* name;
  double variance;
  double (Random::*draw)();
};

constexpr Noise noises[] = {{"normal", 1, &Random::normal},
                            {"Laplace", 2, &Random::laplace},
                            {"Student t3", 3, &Random::student3},
                            {"contaminated", 5.95, &Random::contaminated}};

/// Mean number of observations until "at or below 0" is rejected, where the centre is `ratio` standard deviations.
double mean_number(const Noise& noise, double ratio, double alpha, int runs) {
  const double centre = ratio * std::sqrt(noise.variance);
  const int workers = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const auto sum_of_every = [&](int first) {
    double sum = 0;
    for (int run = first; run < runs; run += workers) {
      Random random(static_cast<std::uint64_t>(run) + 1);
      stats::SequentialTest test(0);
      while (test.above().p_value() > alpha) test.add(centre + (random.*noise.draw)());
      sum += static_cast<double>(test.observations());
    }
    return sum;
  };
  std::vector<std::future<double>> parts;
  for (int first = 0; first < workers; ++first) parts.push_back(std::async(std::launch::async, sum_of_every, first));
  double sum = 0;
  for (auto& part : parts) sum += part.get();
  return sum / runs;
}

/// ln(2 / (1 + exp(-2 ratio x))), on average over normal x about `ratio`: nats that one observation holds against the
/// nearest symmetric distribution. By the trapezoidal rule, which is exact to rounding for such integrands.
double exact_evidence(double ratio) {
  double sum = 0;
  constexpr double step = 0.01;
  for (double z = -12; z <= 12; z += step)
    sum += std::exp(-z * z / 2) * (std::log(2.0) - std::log1p(std::exp(-2 * ratio * (ratio + z))));
  return sum * step / std::sqrt(2 * std::acos(-1.0));
}

TEST_CASE("Wald's bound by hand") {
  // Effect and deviation 1: 2 (0.99 ln 990 + 0.01 ln(0.01 / 0.999)) = 2 (6.828728 - 0.046042).
  CHECK(std::abs(stats::wald_sample_number(1, 1, 1e-3, 1e-2) - 13.565372) < 1e-4);
  // It goes with the square of noise over effect.
  CHECK(std::abs(stats::wald_sample_number(0.02, 0.01, 1e-3, 1e-2) - 13.565372 / 4) < 1e-4);
}

TEST_CASE("evidence per observation is the integral, within six per cent") {
  for (const double ratio : {0.01, 0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 3.0, 6.0}) {
    CAPTURE(ratio);
    CHECK(std::abs(stats::evidence_per_observation(ratio) / exact_evidence(ratio) - 1) < 0.06);
  }
}

TEST_CASE("a forecast and the effect within reach undo each other") {
  for (const double effect : {0.001, 0.01, 0.02}) {
    const double n = stats::observations_to_reject(effect, 0.01, 1e-3);
    CHECK(std::abs(stats::effect_within_reach(n, 0.01, 1e-3) / effect - 1) < 1e-9);
  }
  CHECK(std::isinf(stats::observations_to_reject(0, 0.01, 1e-3)));
  CHECK(std::isinf(stats::effect_within_reach(5, 0.01, 1e-3)));
  CHECK(std::isfinite(stats::observations_to_reject(0.01, 0, 1e-3)));
}

// `runs_of(expected)` is the effort for a cell; prints a table if asked to.
template <class RunsOf>
void check_numbers(RunsOf runs_of, bool print) {
  for (const double alpha : {1e-3, 1e-2}) {
    const double beta = 1e-5 / alpha;
    if (print)
      std::printf("\nalpha %g, beta %g: mean cycles (times Wald's bound | times that under symmetry)\n", alpha, beta);
    for (const Noise& noise : noises) {
      if (print) std::printf("  %-13s", noise.name);
      for (const double ratio : {0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0}) {
        const double wald = stats::wald_sample_number(ratio, 1, alpha, beta);
        // The same nats, gained at the best rate of a test that assumes symmetry alone. Such a test needs log2(1 /
        // alpha) observations in any case, so the bound is never lower.
        const double bound = std::max(wald * ratio * ratio / 2 / exact_evidence(ratio), std::log2(1 / alpha));
        const double found = mean_number(noise, ratio, alpha, runs_of(wald));
        const double forecast = stats::observations_to_reject(ratio, 1, alpha);
        if (print) std::printf(" %g: %.0f (%.2f | %.2f)", ratio, found, found / wald, found / bound);
        CAPTURE(alpha, noise.name, ratio, found, wald, bound, forecast);
        CHECK(found <= 1.5 * bound);
        if (ratio <= 0.35) CHECK(found <= 1.55 * wald);
        if (&noise == noises) CHECK(std::abs(forecast / found - 1) < 0.25);
      }
      if (print) std::printf("\n");
    }
  }
}

TEST_CASE("a verdict costs at most 1.5 times what any test must pay that holds for all symmetric noise") {
  check_numbers([](double expected) { return std::clamp(static_cast<int>(150'000 / expected), 60, 1500); }, false);
}

/// Mean number of replicates until ReplicateTest rejects "at or below 0" for normal ones of deviation 1 about `mean`.
double mean_replicates(double mean, double alpha, int runs) {
  double sum = 0;
  for (int run = 0; run < runs; ++run) {
    Random random(static_cast<std::uint64_t>(run) + 1);
    stats::ReplicateTest test(0);
    while (test.p_above() > alpha) test.add(mean + random.normal());
    sum += static_cast<double>(test.replicates());
  }
  return sum / runs;
}

TEST_CASE("replicates needed are as forecast") {
  for (const double ratio : {1.0, 2.0, 4.0}) {
    const double found = mean_replicates(ratio, 1e-3, 40), forecast = stats::replicates_to_reject(ratio, 1, 1e-3);
    CAPTURE(ratio, found, forecast);
    CHECK(std::abs(forecast / found - 1) < 0.25);
  }
}

TEST_CASE("prints the figures of observations and replicates to a verdict", "[.table]") {
  check_numbers([](double expected) { return std::clamp(static_cast<int>(5'000'000 / expected), 1000, 20000); }, true);
  std::printf("\nreplicates (processes) until the mean is proven to lie beyond the threshold, alpha 1e-3 | 1e-2\n ");
  for (const double ratio : {0.5, 1.0, 2.0, 3.0, 4.0, 8.0}) {
    std::printf(" %g:", ratio);
    for (const double alpha : {1e-3, 1e-2}) std::printf(" %.1f", mean_replicates(ratio, alpha, 400));
  }
  std::printf("\n");
}

}  // namespace
