// How others decide whether one side is slower, each in its documented form, for comparison on the same samples.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "benches/selftest/bootstrap.hpp"
#include "benches/selftest/rank_test.hpp"
#include "pace/stats/quantile.hpp"

namespace pace::benches::selftest {

enum class Claim { none, slower, faster };

/// Times of both sides, in the order of measuring.
struct TwoSamples {
  std::span<const double> baseline, candidate;
};

namespace detail {

[[nodiscard]] inline std::vector<double> sorted(std::span<const double> sample) {
  std::vector<double> copy(sample.begin(), sample.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

[[nodiscard]] inline double median_of(std::span<const double> sample) { return stats::median(sorted(sample)); }

[[nodiscard]] inline Claim by_sign(double difference) { return difference > 0 ? Claim::slower : Claim::faster; }

}  // namespace detail

/// TorchBench's regression detector (pytorch/benchmark, regression_detector.py): a change of more than
/// 7 % between two runs' medians.
[[nodiscard]] inline Claim torchbench(const TwoSamples& samples) {
  const double before = detail::median_of(samples.baseline);
  const double change = (detail::median_of(samples.candidate) - before) / before;
  return std::abs(change) > 0.07 ? detail::by_sign(change) : Claim::none;
}

/// PyTorch's operator_benchmark gate (pytorch/pytorch, benchmarks/operator_benchmark, the check of expected results):
/// speed-up over the stored time below 0.5, or 1.5 and more.
[[nodiscard]] inline Claim operator_benchmark(const TwoSamples& samples) {
  const double speedup = detail::median_of(samples.baseline) / detail::median_of(samples.candidate);
  return speedup < 0.5 ? Claim::slower : speedup >= 1.5 ? Claim::faster : Claim::none;
}

/// nvbench-compare as it was (NVIDIA/nvbench, nvbench_compare_legacy.py): means differ by more than the smaller of the
/// two relative standard deviations. Below five samples nvbench knows no deviation, and claims nothing.
[[nodiscard]] inline Claim nvbench_legacy(const TwoSamples& samples) {
  if (std::min(samples.baseline.size(), samples.candidate.size()) < 5) return Claim::none;
  const auto before = moments(samples.baseline), after = moments(samples.candidate);
  const double noise = std::min(std::sqrt(before.variance) / before.mean, std::sqrt(after.variance) / after.mean);
  const double change = (after.mean - before.mean) / before.mean;
  return std::abs(change) > noise ? detail::by_sign(change) : Claim::none;
}

/// nvbench-compare-robust (NVIDIA/nvbench, nvbench_compare_robust.py, default preset): the intervals from the least
/// time to the third quartile lie apart, by 0.5 % at least. nvbench also wants the same in clock cycles, which a CPU's
/// wall clock has not; everything else it calls SAME or ambiguous.
[[nodiscard]] inline Claim nvbench_robust(const TwoSamples& samples) {
  constexpr double clear_gap = 0.005;
  const auto before = detail::sorted(samples.baseline), after = detail::sorted(samples.candidate);
  // Nearest rank, as nvbench takes its quartiles.
  const auto third_quartile = [](const std::vector<double>& sample) {
    return sample[static_cast<std::size_t>(std::ceil(0.75 * static_cast<double>(sample.size()))) - 1];
  };
  const double before_high = third_quartile(before), after_high = third_quartile(after);
  if ((after.front() - before_high) / before_high >= clear_gap) return Claim::slower;
  if ((before.front() - after_high) / after_high >= clear_gap) return Claim::faster;
  return Claim::none;
}

/// criterion.rs (analysis/compare.rs and its book, "Analysis Process"): a t-test on resamples at 0.05. Then both ends
/// of the 95 % bootstrap interval of the relative change of means must lie beyond the noise threshold of 1 %. It
/// resamples 100,000 times; a thousand serve here, which blurs the two limits by 1 % of themselves.
[[nodiscard]] inline Claim criterion(const TwoSamples& samples) {
  constexpr double significance = 0.05, noise = 0.01;
  SplitMix64 random(1);
  if (bootstrap_t_test(samples.baseline, samples.candidate, random) >= significance) return Claim::none;
  const auto change = bootstrap_change(samples.baseline, samples.candidate, 0.95, random);
  if (change.low > noise) return Claim::slower;
  if (change.high < -noise) return Claim::faster;
  return Claim::none;
}

/// The U-test at 0.05 on the samples of one process: google/benchmark's compare.py, and many a script.
[[nodiscard]] inline Claim mann_whitney(const TwoSamples& samples) {
  const auto test = rank_test(samples.candidate, samples.baseline);
  const double half = static_cast<double>(samples.baseline.size() * samples.candidate.size()) / 2;
  return test.p_value < 0.05 ? detail::by_sign(test.u - half) : Claim::none;
}

/// benchstat (golang.org/x/perf/cmd/benchstat): ten runs a side (-count=10), each the mean of its iterations; the exact
/// U-test at 0.05 between the ten and the ten. Here a run is a tenth of the samples, in their order.
[[nodiscard]] inline Claim benchstat(const TwoSamples& samples) {
  const auto runs = [](std::span<const double> sample) {
    std::array<double, 10> means{};
    for (std::size_t run = 0; run < means.size(); ++run) {
      const std::size_t first = run * sample.size() / means.size(), end = (run + 1) * sample.size() / means.size();
      means[run] = moments(sample.subspan(first, end - first)).mean;
    }
    return means;
  };
  if (std::min(samples.baseline.size(), samples.candidate.size()) < 10) return Claim::none;
  const auto before = runs(samples.baseline), after = runs(samples.candidate);
  return mann_whitney({before, after});
}

struct RuleOfOthers {
  std::string_view name;
  Claim (*judge)(const TwoSamples&);
};

inline constexpr std::array<RuleOfOthers, 7> rules_of_others{{
    {"fixed 7 % (TorchBench)", torchbench},
    {"fixed 50 % (operator_benchmark)", operator_benchmark},
    {"nvbench-compare, legacy", nvbench_legacy},
    {"nvbench-compare-robust", nvbench_robust},
    {"criterion.rs, 1 % noise threshold", [](const TwoSamples& samples) { return criterion(samples); }},
    {"Mann-Whitney 0.05", mann_whitney},
    {"benchstat, 10 runs a side", benchstat},
}};

}  // namespace pace::benches::selftest
