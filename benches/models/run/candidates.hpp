// The back ends of a run, made and warmed up; those that cannot be are known by why.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/run/backend.hpp"
#include "benches/models/run/input_tensors.hpp"
#include "benches/models/run/iteration.hpp"
#include "benches/models/run/outcome.hpp"
#include "benches/models/run/plan.hpp"
#include "benches/models/run/warm_up.hpp"
#include "pace/base/function_ref.hpp"

namespace pace::benches::models {

struct Candidate {
  std::string name;
  /// None where it could not be made.
  std::optional<Iterating> iterating = {};
  /// Seconds that making it took, in all.
  double make_seconds = 0;
  WarmUp warm_up = {};
  /// Empty while nothing is wrong; else a status and why.
  std::string status = {}, message = {};

  [[nodiscard]] bool usable() const { return iterating && status.empty(); }
};

namespace detail {

/// Calls `work`, which is on behalf of a candidate. A failure is the candidate's status: `OOM`, or `otherwise`.
inline void work_for(Candidate& candidate, const std::string& otherwise, FunctionRef<void()> work) {
  try {
    work();
  } catch (...) {
    const Failed failed = current_failed();
    candidate.status = failed.out_of_memory ? "OOM" : otherwise;
    candidate.message = failed.message;
  }
}

}  // namespace detail

/// Makes a back end of an instance with the values of `from`. A failure is its status: `OOM`, `fail_to_run`.
[[nodiscard]] inline Candidate make_candidate(const std::string& name, const Instance& from, const RunPlan& plan,
                                              const Settings& settings) {
  Candidate candidate{.name = name};
  detail::work_for(candidate, "fail_to_run", [&] {
    Instance copy = copy_instance(from);
    const auto scaler = make_scaler(plan, settings);
    const auto began = std::chrono::steady_clock::now();
    candidate.iterating.emplace(
        Iterating{.runnable = find_backend(name).make(std::move(copy), {.settings = &settings, .scaler = scaler}),
                  .scaler = scaler});
    candidate.make_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  });
  return candidate;
}

/// See add_optimizer(). A failure is the candidate's status, as in make_candidate().
inline void add_optimizer(Candidate& candidate, const Config& config, const Settings& settings, double rate) {
  if (!candidate.usable()) return;
  detail::work_for(candidate, "fail_to_run", [&] { add_optimizer(*candidate.iterating, config, settings, rate); });
}

/// Bytes of the module's tensors and of the inputs.
[[nodiscard]] inline std::int64_t bytes_of(const Instance& instance) {
  std::int64_t bytes = 0;
  for (const auto& tensor : trained_parameters(instance)) bytes += static_cast<std::int64_t>(tensor.nbytes());
  for (const auto& tensor : fixed_tensors(instance)) bytes += static_cast<std::int64_t>(tensor.nbytes());
  for (const auto& input : tensors_of_inputs(instance.model.inputs)) bytes += static_cast<std::int64_t>(input.nbytes());
  return bytes;
}

/// torchbench's warm-up: so many iterations from the instance's own inputs. A failure is the status `warmup_failed`, or
/// `OOM`.
inline void warm_up_candidate(Candidate& candidate, const Settings& settings) {
  if (!candidate.usable()) return;
  const auto& instance = candidate.iterating->runnable.instance;
  const torch::jit::Stack inputs = instance.model.inputs;
  const std::int64_t own = bytes_of(instance) + candidate.iterating->optimizer_bytes;
  const auto call = [&] { (void)iterate(*candidate.iterating, inputs, false); };
  detail::work_for(candidate, "warmup_failed", [&] {
    const auto device = instance.options.device;
    const auto figure = settings.compat ? MemoryFigure::resident_on_cpu : MemoryFigure::peak;
    candidate.warm_up = warm_up(device, settings.warm_up_iterations, own, call, figure);
    if (settings.warm_peak_memory)
      candidate.warm_up.peak_gigabytes = warm_up(device, 1, own, call, figure).peak_gigabytes;
    candidate.warm_up.peak_gigabytes += candidate.iterating->runnable.captured_gigabytes;
  });
}

/// The candidate of that name, or eager where there is none.
[[nodiscard]] inline Candidate& find_candidate(std::vector<Candidate>& candidates, const std::string& name,
                                               Candidate& eager) {
  for (auto& candidate : candidates)
    if (candidate.name == name) return candidate;
  return eager;
}

/// Each once, in order, without eager.
[[nodiscard]] inline std::vector<std::string> candidates_of(const Settings& settings) {
  std::vector<std::string> names;
  for (const auto& name : settings.backends)
    if (name != "eager" && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

/// The names of all rows: the back ends asked for, each once.
[[nodiscard]] inline std::vector<std::string> rows_of(const Settings& settings) {
  std::vector<std::string> names;
  for (const auto& name : settings.backends)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  return names;
}

}  // namespace pace::benches::models
