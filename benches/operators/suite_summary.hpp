// The summary of a replay: quantiles of speed-ups by operator, coverage, and the suite weighted by recorded calls.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/operators/selection.hpp"
#include "benches/operators/speedups.hpp"
#include "pace/base/units.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/mean.hpp"

namespace pace::benches::operators {

/// Time of all recorded calls by two back ends, over the samples that both have.
struct WeightedTime {
  Nanoseconds baseline{}, candidate{};
  [[nodiscard]] std::optional<double> speedup() const {
    if (!(candidate.count() > 0)) return std::nullopt;
    return baseline / candidate;
  }
  void add(const WeightedTime& other) {
    baseline += other.baseline;
    candidate += other.candidate;
  }
};

/// Samples that a back end ended in one way other than measured.
struct EndedSamples {
  std::size_t count = 0;
  std::string why = {};  ///< the reason of the first one
};

/// One back end on one operator.
struct BackendSummary {
  std::string name;
  /// Samples that it was measured on, and those that it ended otherwise.
  std::size_t measured = 0;
  std::map<Outcome, EndedSamples> others = {};
  /// One for each sample that measured it and the baseline, unless their outputs could not be compared: time of the
  /// baseline over its own.
  std::vector<double> speedups = {};
  /// Samples that it was timed on: those that it was measured on, unless instructions were counted in the place of
  /// times; and the sum of its median times on these.
  std::size_t timed = 0;
  double sum_of_milliseconds = 0;
  WeightedTime weighted = {};

  /// Mean of its median times in milliseconds.
  [[nodiscard]] std::optional<double> mean_milliseconds() const {
    if (timed == 0) return std::nullopt;
    return sum_of_milliseconds / static_cast<double>(timed);
  }
};

struct OperatorSummary {
  std::string op;
  std::size_t samples = 0;
  /// As recorded, of the samples that were selected.
  std::int64_t calls = 0;
  std::vector<BackendSummary> backends;  ///< the first one is the baseline
  /// With exactly two candidates a and b: time(a) / time(b) per sample that has both.
  std::vector<double> ratios;
  Nanoseconds elapsed{};

  /// Results of an operator without any: nothing is measured.
  OperatorSummary(std::string name, const std::vector<std::string>& names) : op(std::move(name)) {
    for (const auto& each : names) backends.push_back({.name = each});
  }

  void add(const Result& result, std::int64_t recorded_calls) {
    ++samples;
    calls += recorded_calls;
    for (std::size_t i = 0; i < backends.size() && i < result.implementations.size(); ++i)
      add(backends[i], result.implementations[i], result.implementations[0], static_cast<double>(recorded_calls));
    if (backends.size() != 3 || result.implementations.size() != 3) return;
    const auto &a = result.implementations[1], &b = result.implementations[2];
    if (timed(a) && timed(b)) ratios.push_back(a.time->median / b.time->median);
  }

  /// Whether any sample ran at all.
  [[nodiscard]] bool ran() const { return backends.front().measured > 0; }

 private:
  [[nodiscard]] static bool timed(const ImplementationResult& row) {
    return row.outcome == Outcome::measured && row.time && row.time->median.count() > 0;
  }

  static void add(BackendSummary& backend, const ImplementationResult& row, const ImplementationResult& baseline,
                  double recorded_calls) {
    if (row.outcome == Outcome::measured && row.instructions && !row.time) {
      ++backend.measured;
      return;
    }
    if (!timed(row)) {
      auto& ended = backend.others[row.outcome];
      ++ended.count;
      if (ended.why.empty()) ended.why = row.message;
      return;
    }
    ++backend.measured;
    ++backend.timed;
    backend.sum_of_milliseconds += row.time->median.count() * 1e-6;
    // Outputs that could not be compared may be wrong.
    if (&row == &baseline || !timed(baseline) || row.uncompared) return;
    backend.speedups.push_back(baseline.time->median / row.time->median);
    backend.weighted.add({recorded_calls * baseline.time->median, recorded_calls * row.time->median});
  }
};

/// One candidate over all operators of a suite.
struct SuiteSpeedup {
  std::string name;
  /// How many operators have a median over their samples.
  std::size_t operators = 0;
  double geometric_mean = 0;
  Quantiles quantiles;
  WeightedTime weighted = {};
};

/// Nothing for candidates without a speed-up.
[[nodiscard]] inline std::vector<SuiteSpeedup> suite_speedups(const std::vector<OperatorSummary>& operators) {
  std::vector<SuiteSpeedup> all;
  if (operators.empty()) return all;
  for (std::size_t i = 1; i < operators.front().backends.size(); ++i) {
    std::vector<double> medians;
    SuiteSpeedup suite{.name = operators.front().backends[i].name, .quantiles = {}};
    for (const auto& each : operators) {
      if (each.backends[i].speedups.empty()) continue;
      medians.push_back(quantiles(each.backends[i].speedups).q50);
      suite.weighted.add(each.backends[i].weighted);
    }
    if (medians.empty()) continue;
    suite.operators = medians.size();
    suite.geometric_mean = stats::geometric_mean_of(medians);
    suite.quantiles = quantiles(medians);
    all.push_back(suite);
  }
  return all;
}

}  // namespace pace::benches::operators
