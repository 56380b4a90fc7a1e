// Skewed noise: how often gates are wrong where the two sides are noisy in different ways, by simulated times.
//
// A gate judges the median of the log ratios of cycles. Here it lies exactly at the gate's factor, so no verdict can be
// proven. Real machines do not keep to such a factor, so the times are drawn instead of measured.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "benches/selftest/bounds.hpp"
#include "benches/selftest/progress.hpp"
#include "benches/selftest/rules_of_others.hpp"
#include "benches/selftest/settings.hpp"
#include "pace/gate/panel.hpp"
#include "pace/gate/times.hpp"
#include "pace/run/run_context.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"
#include "pace/stats/summary.hpp"

namespace {

using namespace pace::benches::selftest;
using pace::Nanoseconds;
using pace::Verdict;
using Generator = std::mt19937_64;

constexpr double alpha = 1e-3, beta = 1e-2;
constexpr std::size_t rounds_per_cycle = 2, most_cycles = 150;
constexpr std::array factors{1.00, 1.02, 1.05};

/// Times of one side, relative to a typical one.
using Noise = double (*)(Generator&);

/// Normal with a deviation of 1 %.
double quiet_noise(Generator& random) { return std::exp(0.01 * std::normal_distribution<double>()(random)); }
/// An exponential tail of 20 % above the least time.
double tailed_noise(Generator& random) { return 1 + 0.2 * std::exponential_distribution<double>()(random); }
/// 13 of 100 samples stall for as long again as they take.
double stalling_noise(Generator& random) {
  return quiet_noise(random) * (std::bernoulli_distribution(0.13)(random) ? 2 : 1);
}
/// Half of the samples take 30 % longer.
double bimodal_noise(Generator& random) {
  return quiet_noise(random) * (std::bernoulli_distribution(0.5)(random) ? 1.3 : 1);
}

struct Kind {
  const char* name;
  Noise baseline, candidate;
  /// Whether the candidate's mean is beyond the factor, so that a guard, which is about the mean as well, fails
  /// rightly.
  bool slower_by_mean = false;
};
constexpr std::array<Kind, 7> kinds{{
    {"normal, both sides", quiet_noise, quiet_noise},
    {"exponential tail, both sides", tailed_noise, tailed_noise},
    {"exponential tail, baseline", tailed_noise, quiet_noise},
    {"exponential tail, candidate", quiet_noise, tailed_noise, true},
    {"two modes, both sides", bimodal_noise, bimodal_noise},
    {"the baseline stalls in 13 %", stalling_noise, quiet_noise},
    {"the candidate stalls in 13 %", quiet_noise, stalling_noise, true},
}};

/// Verdicts of one gate that has the rounds to itself.
Verdict judge_gate(const pace::Expectation& expectation, std::span<const Nanoseconds> baseline,
                   std::span<const Nanoseconds> candidate) {
  pace::gate::Panel panel({alpha, beta});
  panel.watch(expectation.demand(), 1, 0);
  std::vector<std::vector<Nanoseconds>> samples(2);
  for (std::size_t end = rounds_per_cycle; end <= baseline.size() && !panel.decided(); end += rounds_per_cycle) {
    const std::size_t first = end - rounds_per_cycle;
    samples[0].insert(samples[0].end(), baseline.begin() + first, baseline.begin() + end);
    samples[1].insert(samples[1].end(), candidate.begin() + first, candidate.begin() + end);
    panel.add_cycle(samples, first, rounds_per_cycle, 1);
  }
  pace::Result result;
  const auto shared = std::make_shared<const std::vector<Nanoseconds>>(samples[0]);
  for (std::size_t side = 0; side < 2; ++side) {
    auto& row = result.implementations.emplace_back();
    row.name = side == 0 ? "baseline" : "candidate";
    row.is_baseline = side == 0;
    row.outcome = pace::Outcome::measured;
    row.checked = true;
    row.samples = samples[side];
    row.context.baseline = "baseline";
    row.context.rounds_per_cycle = rounds_per_cycle;
    if (side == 0) continue;
    row.context.baseline_samples = shared;
    row.log_ratios = pace::stats::paired_log_ratios(samples[0], samples[1], rounds_per_cycle);
  }
  pace::gate::judge_all(result, std::vector<pace::gate::Stated>{{"", expectation}}, {alpha, beta});
  return result.implementations[1].judgements.at(0).verdict;
}

/// Draws the times of both sides; the candidate's have this factor.
std::array<std::vector<Nanoseconds>, 2> draw(const Kind& kind, double factor, std::size_t cycles, Generator& random) {
  std::array<std::vector<Nanoseconds>, 2> times;
  for (std::size_t i = 0; i < cycles * rounds_per_cycle; ++i) {
    times[0].push_back(Nanoseconds(1e6 * kind.baseline(random)));
    times[1].push_back(Nanoseconds(1e6 * factor * kind.candidate(random)));
  }
  return times;
}

/// Returns the factor of the candidate's times that makes the median of log ratios 0, to 0.003 % of a quiet side.
double equal_medians(const Kind& kind) {
  Generator random(1);
  const auto times = draw(kind, 1, 200'000, random);
  const auto ratios = pace::stats::sorted(pace::stats::paired_log_ratios(times[0], times[1], rounds_per_cycle));
  return std::exp(pace::stats::median(ratios));
}

struct Counts {
  std::size_t gates = 0, guard_failed = 0, guard_undecided = 0, claim_passed = 0, claim_undecided = 0;
  std::array<std::size_t, rules_of_others.size()> others{};
};

Counts count(const Kind& kind, double factor, std::size_t planned, Generator& random, Progress& progress,
             std::size_t done) {
  Counts counts;
  const double equal = equal_medians(kind);
  for (; counts.gates < planned; ++counts.gates) {
    const auto slower = draw(kind, equal * factor, most_cycles, random),
               faster = draw(kind, equal / factor, most_cycles, random);
    const Verdict guard = judge_gate(pace::NoSlowerThan(factor), slower[0], slower[1]);
    const Verdict claim = judge_gate(pace::SpeedupAtLeast(factor), faster[0], faster[1]);
    counts.guard_failed += guard == Verdict::failed;
    counts.guard_undecided += guard == Verdict::undecided;
    counts.claim_passed += claim == Verdict::passed;
    counts.claim_undecided += claim == Verdict::undecided;
    // The rules of others know no factor.
    if (factor == 1) {
      std::array<std::vector<double>, 2> times;
      for (std::size_t side = 0; side < 2; ++side)
        for (const Nanoseconds each : slower[side]) times[side].push_back(each.count());
      for (std::size_t rule = 0; rule < rules_of_others.size(); ++rule)
        counts.others[rule] += rules_of_others[rule].judge({times[0], times[1]}) != Claim::none;
    }
    progress.show(done + counts.gates + 1);
  }
  return counts;
}

double percent(std::size_t count, std::size_t of) { return 100 * static_cast<double>(count) / static_cast<double>(of); }

TEST_CASE("gates keep their promise where noise is skewed, or say that they cannot", "[skew]") {
  const std::size_t planned = std::max<std::size_t>(settings().long_form ? settings().gates : settings().gates / 4, 10);
  Generator random(pace::run_context().options.seed);
  Progress progress("skewed noise", planned * kinds.size() * factors.size());
  std::printf("\nSkewed noise, simulated: %zu gates a line, log ratios whose median is exactly the factor\n", planned);
  std::printf("%-30s %6s   %-30s   %s\n", "noise", "factor", "guards failed (undecided)", "claims passed (undecided)");
  std::array<Counts, kinds.size()> at_one;
  const std::size_t alarms = too_many(planned, alpha, check_error);
  std::size_t done = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind)
    for (const double factor : factors) {
      const Counts counts = count(kinds[kind], factor, planned, random, progress, done);
      done += planned;
      if (factor == 1) at_one[kind] = counts;
      std::printf("%-30s %6.2f   %6zu, at most %7.4f%% (%5.1f%%)%s   %6zu, at most %7.4f%% (%5.1f%%)\n",
                  kinds[kind].name, factor, counts.guard_failed, 100 * upper_bound(counts.guard_failed, planned),
                  percent(counts.guard_undecided, planned), kinds[kind].slower_by_mean ? "*" : " ", counts.claim_passed,
                  100 * upper_bound(counts.claim_passed, planned), percent(counts.claim_undecided, planned));
      std::fflush(stdout);
      INFO(kinds[kind].name << ", factor " << factor);
      CHECK(counts.claim_passed < alarms);
      if (!kinds[kind].slower_by_mean) CHECK(counts.guard_failed < alarms);
    }
  std::printf("* the candidate's mean is slower, which a guard is about as well: no false alarms\n");
  std::printf("claims of a difference by the rules of others at factor 1, by lines:\n%-34s", "");
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) std::printf(" %9zu ", kind * factors.size() + 1);
  std::printf("\n");
  for (std::size_t rule = 0; rule < rules_of_others.size(); ++rule) {
    std::printf("%-34s", std::string(rules_of_others[rule].name).c_str());
    for (const Counts& each : at_one) std::printf(" %9.2f%%", percent(each.others[rule], each.gates));
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace
