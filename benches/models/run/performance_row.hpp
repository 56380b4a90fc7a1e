// The columns of a performance run: torchbench's, then pace's.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/files/aot/package_record.hpp"
#include "benches/models/row.hpp"
#include "benches/models/run/backend.hpp"
#include "benches/models/run/warm_up.hpp"
#include "pace/base/c_numbers.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"

namespace pace::benches::models {

struct PerformanceFigures {
  /// Times faster than eager; 0: there is no number, for the reason that `status` names.
  double speedup = 0;
  /// Milliseconds of one iteration; under --compat of one run of --iterations-per-run.
  double abs_latency = 0, eager_latency = 0;
  /// Seconds: the warm-up with the making of the back end, less eager's warm-up.
  double compilation_latency = 0;
  double eager_peak_gigabytes = 0, peak_gigabytes = 0;
  std::optional<Interval<double>> interval = {};
  std::string verdict = "none";
  double spread = 0;
  /// The speed-ups of parts of the training step, if they were timed apart.
  double forward_speedup = 0, backward_speedup = 0, update_speedup = 0;
  double compile_seconds = 0, load_seconds = 0;
  double p_value = 1;
  /// `pass`, or the failure: `fail_to_run`, `warmup_failed`, `OOM`, `fail_accuracy`, ...
  std::string status = "pass";
};

/// The phases of compiling as columns of the file of compilation metrics, in seconds.
[[nodiscard]] inline std::vector<std::pair<std::string, double>> phases_of(const benches::aot::CompileTimes& times) {
  return {{"export_seconds", times.exporting},
          {"forward_seconds", times.forward},
          {"backward_seconds", times.backward},
          {"optimizer_seconds", times.optimizer},
          {"compile_seconds", times.whole}};
}

/// `runnable`: null where none could be made. Dynamo's counts are 1 or 0 here: a model is one graph, captured or not.
/// Under `compat` torchbench's places for graph breaks and skipped CUDA graphs are filled with zeros; else there are no
/// such columns, for nothing here counts any.
inline void fill_performance(Row& row, const PerformanceFigures& figures, const Runnable* runnable, bool compat) {
  const auto number = [&](const char* name, double value) { row.values.emplace_back(name, value); };
  const auto count = [&](const char* name, std::int64_t value) { row.values.emplace_back(name, value); };
  number("speedup", figures.speedup);
  number("abs_latency", figures.abs_latency);
  number("compilation_latency", figures.compilation_latency);
  number("compression_ratio", compression_ratio(figures.eager_peak_gigabytes, figures.peak_gigabytes));
  number("eager_peak_mem", figures.eager_peak_gigabytes);
  number("dynamo_peak_mem", figures.peak_gigabytes);
  const bool captured = runnable != nullptr && runnable->captured;
  const bool backward = captured && runnable->backward_captured;
  count("calls_captured", runnable != nullptr ? runnable->calls_captured : 0);
  count("unique_graphs", captured ? 1 : 0);
  if (compat) {
    count("graph_breaks", 0);
    count("unique_graph_breaks", 0);
  }
  count("autograd_captures", backward ? 1 : 0);
  count("autograd_compiles", backward && runnable->compiled ? 1 : 0);
  if (compat) count("cudagraph_skips", 0);
  number("interval_low", figures.interval ? figures.interval->low : 0);
  number("interval_high", figures.interval ? figures.interval->high : 0);
  row.values.emplace_back("verdict", figures.verdict);
  number("spread", figures.spread);
  number("p_value", figures.p_value);
  number("eager_latency", figures.eager_latency);
  number("forward_speedup", figures.forward_speedup);
  number("backward_speedup", figures.backward_speedup);
  number("update_speedup", figures.update_speedup);
  number("compile_seconds", figures.compile_seconds);
  number("load_seconds", figures.load_seconds);
  row.values.emplace_back("status", figures.status);
  if (runnable != nullptr && runnable->compiling) row.compilation = phases_of(*runnable->compiling);
}

/// `1.234x`, with the interval behind it if there is one.
[[nodiscard]] inline std::string speedup_text(const PerformanceFigures& figures) {
  char text[96];
  const CNumbers c_numbers;
  if (figures.interval)
    std::snprintf(text, sizeof text, "%.3fx [%.3fx, %.3fx]", figures.speedup, figures.interval->low,
                  figures.interval->high);
  else
    std::snprintf(text, sizeof text, "%.3fx", figures.speedup);
  return text;
}

}  // namespace pace::benches::models
