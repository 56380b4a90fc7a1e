// A sample of a compatible flow as a Result, with the fields that result files hold and that a process that goes on
// reads again.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/operators/compat/measure.hpp"
#include "benches/operators/compat/models.hpp"
#include "pace/base/units.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/stats/summary.hpp"

namespace pace::benches::operators::compat {

namespace detail {

/// The flow's times are seconds on the CPU, milliseconds on a GPU.
[[nodiscard]] inline double nanoseconds_per_unit(bool gpu) { return gpu ? 1e6 : 1e9; }

[[nodiscard]] inline ImplementationResult row_of(const Measured& measured, std::size_t model, bool gpu) {
  ImplementationResult row;
  row.is_baseline = model == 0;
  if (!std::isfinite(measured.medians[model])) {  // or_infinity(): a kernel that cannot be launched
    row.outcome = Outcome::threw;
    row.message = "its kernel cannot be launched";
    return row;
  }
  row.outcome = measured.mismatches[model] ? Outcome::wrong : Outcome::measured;
  if (measured.mismatches[model]) row.message = "its result differs from the first model's";
  for (const double time : measured.times[model]) row.samples.emplace_back(time * nanoseconds_per_unit(gpu));
  row.time = stats::summarize_times(row.samples, run_context().options.confidence);
  return row;
}

}  // namespace detail

/// `note`: the name of the run. Nothing says how sure the times are, and nothing is judged: the originals do neither.
[[nodiscard]] inline Result sample_result(std::string name, const std::vector<Model>& models, const Measured& measured,
                                          bool gpu, std::string note) {
  Result result;
  result.name = std::move(name);
  result.clock = gpu ? "do_bench" : "timed";
  result.confidence = run_context().options.confidence;
  result.seed = run_context().options.seed;
  result.iterations = 1;
  result.rounds = measured.times.front().size() * models.size();
  result.stop_reason = StopReason::max_rounds;
  result.notes = {std::move(note), "Measured as PyTorch's operatorbench does it (--compat)."};
  for (std::size_t i = 0; i < models.size(); ++i) {
    result.implementations.push_back(detail::row_of(measured, i, gpu));
    result.implementations.back().name = models[i].name;
  }
  return result;
}

/// The medians that a result of sample_result() was made from; none for a sample that was not measured.
[[nodiscard]] inline std::optional<std::vector<double>> medians_of(const Result& result, bool gpu) {
  if (result.clock.empty()) return std::nullopt;
  std::vector<double> medians;
  for (const auto& row : result.implementations)
    medians.push_back(row.time ? row.time->median.count() / detail::nanoseconds_per_unit(gpu) : HUGE_VAL);
  return medians;
}

[[nodiscard]] inline std::size_t mismatches_of(const Result& result) {
  std::size_t mismatches = 0;
  for (const auto& row : result.implementations) mismatches += row.outcome == Outcome::wrong;
  return mismatches;
}

}  // namespace pace::benches::operators::compat
