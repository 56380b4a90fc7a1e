// Twins: the findings of gates of an operator against itself, as a row of a table and as rates.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "benches/selftest/bounds.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::selftest {

/// The verdicts of NoSlowerThan(1.00) and NoSlowerThan(1.01), stated in this order, on some twins.
struct TwinGates {
  std::size_t run = 0, failed = 0, failed_at_1_percent = 0;
  /// ln of the speed-up of each comparison.
  std::vector<double> log_speedups = {};

  /// Adds the candidate of a comparison. Throws if it has no speed-up or fewer than two judgements.
  void add(const ImplementationResult& candidate) {
    const double speedup = candidate.speedup.value().median;
    const Verdict at_1 = candidate.judgements.at(0).verdict, at_1_percent = candidate.judgements.at(1).verdict;
    ++run;
    failed += at_1 == Verdict::failed;
    failed_at_1_percent += at_1_percent == Verdict::failed;
    log_speedups.push_back(std::log(speedup));
  }
  TwinGates& operator+=(const TwinGates& other) {
    run += other.run;
    failed += other.failed;
    failed_at_1_percent += other.failed_at_1_percent;
    log_speedups.insert(log_speedups.end(), other.log_speedups.begin(), other.log_speedups.end());
    return *this;
  }

  /// Standard deviation of the logarithms, with n - 1 in the denominator; 0 of fewer than two.
  [[nodiscard]] double deviation() const {
    if (log_speedups.size() < 2) return 0;
    double mean = 0, squares = 0;
    for (const double each : log_speedups) mean += each / static_cast<double>(log_speedups.size());
    for (const double each : log_speedups) squares += (each - mean) * (each - mean);
    return std::sqrt(squares / static_cast<double>(log_speedups.size() - 1));
  }
  /// The largest of the logarithms' absolute values; 0 of none.
  [[nodiscard]] double largest() const {
    double largest = 0;
    for (const double each : log_speedups) largest = std::max(largest, std::abs(each));
    return largest;
  }
};

/// The heads of the columns of twin_columns().
[[nodiscard]] inline std::string twin_heads() {
  std::array<char, 80> text{};
  std::snprintf(text.data(), text.size(), "%6s %14s %8s %9s %9s", "gates", "failed at 1.00", "at 1.01", "sd",
                "largest");
  return text.data();
}

/// The columns of a table that are the same for all twins.
[[nodiscard]] inline std::string twin_columns(const TwinGates& gates) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%6zu %14zu %8zu %8.3f%% %8.3f%%", gates.run, gates.failed,
                gates.failed_at_1_percent, 100 * gates.deviation(), 100 * gates.largest());
  return text.data();
}

/// Both rates of failed gates, each with the upper end of its interval.
[[nodiscard]] inline std::string twin_rates(const TwinGates& gates) {
  const auto rate = [&](const char* limit, std::size_t failed) {
    std::array<char, 160> text{};
    std::snprintf(text.data(), text.size(), "%zu failed at %s (%.3f %%, at most %.4f %% with 95 %% confidence)", failed,
                  limit, gates.run == 0 ? 0 : 100 * static_cast<double>(failed) / static_cast<double>(gates.run),
                  100 * upper_bound(failed, gates.run));
    return std::string(text.data());
  };
  return std::to_string(gates.run) + " gates: " + rate("1.00", gates.failed) + ", " +
         rate("1.01", gates.failed_at_1_percent);
}

}  // namespace pace::benches::selftest
