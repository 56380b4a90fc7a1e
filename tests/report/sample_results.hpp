// Made-up results with round figures, one of every outcome.
#pragma once

#include <cmath>
#include <string>

#include "pace/result/result.hpp"

namespace sample {

inline pace::ImplementationResult measured(const std::string& name, double median) {
  pace::ImplementationResult result;
  result.name = name;
  result.outcome = pace::Outcome::measured;
  result.checked = true;
  result.max_abs_error = 0.25;
  result.first_call = pace::Nanoseconds(10 * median);
  result.warm_up_iterations = 30;
  result.warmed_up = true;
  auto& time = result.time.emplace();
  time.samples = 2;
  time.min = pace::Nanoseconds(median / 2);
  time.q20 = time.min;
  time.median = pace::Nanoseconds(median);
  time.q80 = time.max = pace::Nanoseconds(2 * median);
  // As far above the median as the table still shows without a line of their own.
  time.q99 = pace::Nanoseconds(1.5 * median);
  time.mean = pace::Nanoseconds(1.05 * median);
  time.interval = pace::Interval<pace::Nanoseconds>{time.min, time.max, 0.95};
  time.spread = 0.125;
  result.samples = {time.min, time.max};
  return result;
}

inline pace::ImplementationResult baseline(const std::string& name, double median) {
  auto result = measured(name, median);
  result.is_baseline = true;
  return result;
}

inline pace::ImplementationResult candidate(const std::string& name, double median, double speedup) {
  auto result = measured(name, median);
  auto& summary = result.speedup.emplace();
  summary.observations = 2;
  summary.ties = 1;
  summary.q20 = summary.median = summary.q80 = summary.mean = speedup;
  summary.interval = pace::Interval<double>{speedup / 2, speedup * 2, 0.95};
  result.log_ratios = {std::log(speedup)};
  return result;
}

/// Neither timed nor checked.
inline pace::ImplementationResult without_figures(const std::string& name, pace::Outcome outcome,
                                                  const std::string& message) {
  pace::ImplementationResult result;
  result.name = name;
  result.outcome = outcome;
  result.message = message;
  return result;
}

inline pace::Result comparison(const std::string& name) {
  pace::Result result;
  result.name = name;
  result.iterations = 40;
  result.rounds = 16;
  result.stop_reason = pace::StopReason::budget;
  result.elapsed = pace::Nanoseconds(1e9);
  result.clock = "fake";
  result.clock_resolution = pace::Nanoseconds(20);
  result.confidence = 0.95;
  result.seed = 7;
  result.implementations = {baseline("eager", 4000), candidate("fused", 2000, 2)};
  return result;
}

}  // namespace sample
