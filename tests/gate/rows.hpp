// Rows of results made up for the gate's tests.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/result/result.hpp"
#include "pace/stats/summary.hpp"
#include "tests/support/random.hpp"

namespace rows {

inline pace::ImplementationResult measured(const std::string& name) {
  pace::ImplementationResult row;
  row.name = name;
  row.outcome = pace::Outcome::measured;
  row.checked = true;
  return row;
}

/// A candidate known by its summary alone.
inline pace::ImplementationResult summary(double low, double median, double high) {
  auto row = measured("fused");
  row.speedup.emplace();
  row.speedup->observations = 50;
  row.speedup->median = median;
  row.speedup->interval = pace::Interval<double>{low, high, 0.95};
  return row;
}

/// A candidate measured in `cycles` cycles of two rounds and 4 ms, beside a baseline 'eager' of 1 ms that never varies:
/// its log ratios scatter by `noise` about ln(speedup).
inline pace::ImplementationResult sampled(double speedup, double noise, std::size_t cycles, std::uint64_t seed = 1) {
  auto row = measured("fused");
  row.context.baseline = "eager";
  row.context.rounds_per_cycle = 2;
  row.context.cycle = pace::Nanoseconds(4e6);
  pace::test::Random random(seed);
  for (std::size_t cycle = 0; cycle < cycles; ++cycle) {
    const double ratio = std::log(speedup) + noise * random.normal();
    row.log_ratios.push_back(ratio);
    row.samples.insert(row.samples.end(), 2, pace::Nanoseconds(1e6 * std::exp(-ratio)));
  }
  if (cycles > 0) row.speedup = pace::stats::summarize_speedup(row.log_ratios, 0.95);
  return row;
}

/// A candidate as fast as a baseline of 1 ms, both with noise of 1 %. Each sample where `stalls(i)` is true takes
/// `factor` times as long.
template <class Stalls>
pace::ImplementationResult stalling(std::size_t cycles, double factor, Stalls stalls, std::uint64_t seed = 1) {
  auto row = measured("fused");
  row.context.baseline = "eager";
  row.context.rounds_per_cycle = 2;
  pace::test::Random random(seed);
  std::vector<pace::Nanoseconds> baseline;
  for (std::size_t i = 0; i < 2 * cycles; ++i) {
    baseline.push_back(pace::Nanoseconds(1e6 * std::exp(0.01 * random.normal())));
    row.samples.push_back(pace::Nanoseconds(1e6 * std::exp(0.01 * random.normal()) * (stalls(i) ? factor : 1)));
  }
  row.log_ratios = pace::stats::paired_log_ratios(baseline, row.samples, 2);
  row.context.baseline_samples = std::make_shared<const std::vector<pace::Nanoseconds>>(std::move(baseline));
  return row;
}

}  // namespace rows
