// What becomes of a ComparisonPlan.
#pragma once

#include "pace/compare/plan.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/compare/session.hpp"
#include "pace/core/activity.hpp"
#include "pace/core/error.hpp"
#include "pace/gate/panel.hpp"
#include "pace/timing/wall.hpp"
#ifdef PACE_CUDA
#include "pace/gpu/cuda/comparison_clock.hpp"
#include "pace/gpu/cuda/unused_memory.hpp"
#endif

namespace pace::detail {

PACE_INLINE void ComparisonPlan::add(Planned implementation, std::vector<std::string> of_phases) {
  const bool first = std::none_of(implementations.begin(), implementations.end(),
                                  [](const auto& each) { return each.make != nullptr; });
  if (!first && of_phases != phases)
    throw Error("comparison '" + name + "': '" + implementation.name +
                "' has other phases than those before it; expected "
                "either training steps or plain callables");
  phases = std::move(of_phases);
  implementations.push_back(std::move(implementation));
}

PACE_INLINE void check_by_reference(ComparisonPlan& plan) {
  using Method = check::CheckOptions::Method;
  if (plan.check.method != Method::allclose && plan.check.method != Method::float64_reference)
    throw Error("comparison '" + plan.name +
                "': float64_reference() and check() with another method exclude each other; expected one of them");
  plan.check.method = Method::float64_reference;
}

[[nodiscard]] inline bool recall(const ComparisonPlan& plan, const std::string& inputs, Result& result) {
  if (!run_context().recall(plan.name, inputs, result)) return false;
  for (const auto& phase : plan.phases) {
    auto& part = result.phases.emplace_back();
    if (run_context().recollection->recall(plan.name + '/' + phase, part))
      part.phase = phase;
    else
      result.phases.pop_back();
  }
  return true;
}
inline void publish(Result& result) {
  if (run_context().defers_judgements) gate::defer_judgements(result);
  run_context().publish(result);
  for (const auto& phase : result.phases) run_context().publish(phase);
}

/// Where the calls run: on a GPU if any operand lies there.
[[nodiscard]] inline at::Device device_of_operands(const ComparisonPlan& plan) {
  if (plan.device) return *plan.device;
  for (const auto& tensor : plan.operands->tensors())
    if (tensor.is_cuda()) return tensor.device();
  return at::kCPU;
}

/// An implementation that has ended an earlier process of this run is not called again.
inline void heed_fates(ComparisonPlan& plan) {
  RunContext::PriorFailure fate;
  while (run_context().recollection != nullptr && run_context().recollection->next_fate(plan.name, fate)) {
    const auto index = static_cast<std::size_t>(fate.implementation < 0 ? 0 : fate.implementation);
    if (index >= plan.implementations.size()) continue;
    plan.implementations[index].make = nullptr;
    plan.implementations[index].refusal = std::move(fate.message);
    plan.implementations[index].outcome = fate.outcome;
  }
}

inline void check_plan(const ComparisonPlan& plan) {
  validate(plan.options);
  const auto complain = [&](const std::string& what) { throw Error("comparison '" + plan.name + "': " + what); };
  if (std::count_if(plan.implementations.begin(), plan.implementations.end(),
                    [](const auto& each) { return each.is_baseline; }) != 1)
    complain("needs exactly one baseline; call .baseline(name, function) once");
  for (auto each = plan.implementations.begin(); each != plan.implementations.end(); ++each)
    if (std::any_of(plan.implementations.begin(), each, [&](const auto& other) { return other.name == each->name; }))
      complain("has two implementations named '" + each->name + "'; each needs a name of its own");
  const auto planned = [&](const std::string& name, bool as_candidate) {
    return std::any_of(plan.implementations.begin(), plan.implementations.end(),
                       [&](const auto& each) { return each.name == name && !(as_candidate && each.is_baseline); });
  };
  for (const auto& [candidate, expectation] : plan.stated) {
    const std::string& phase = expectation.phase();
    if (!phase.empty() && std::find(plan.phases.begin(), plan.phases.end(), phase) == plan.phases.end())
      complain("expects something of the phase '" + phase + "', which its iterations do not have");
    const bool of_time = expectation.is_of_time();
    if (!candidate.empty() && !planned(candidate, of_time))
      complain("expects something of '" + candidate + "', which is not one of its " +
               (of_time ? "candidates" : "implementations"));
    if (!of_time) continue;
    const std::string& reference = expectation.demand().reference;
    if (!reference.empty() && !planned(reference, false))
      complain("expects something to be faster than '" + reference + "', which is not one of its implementations");
    if (!candidate.empty() && candidate == reference) complain("expects '" + candidate + "' to be faster than itself");
  }
}

PACE_INLINE Result run_plan(ComparisonPlan& plan) {
  if (const auto device = device_of_operands(plan); device.is_cuda()) {
#ifdef PACE_CUDA
    // Last of all, when graphs, operands and outputs are gone.
    const cuda::UnusedMemoryGivenBack afterwards;
    cuda::CudaDevice gpu(device.has_index() ? device.index() : 0);
    cuda::ComparisonClock clock(gpu);
    // A kernel that never ends must be found before the program is killed for it.
    gpu.limit_call_timeout(std::max<Nanoseconds>(time_left(clock), std::chrono::seconds(1)));
    return run_plan(plan, clock);
#else
    throw Error("comparison '" + plan.name + "': its operands are on " + device.str() +
                ", but this program was built without CUDA; build it with --config=cuda");
#endif
  }
  timing::WallClock clock;
  return run_plan(plan, clock);
}

PACE_INLINE Result run_plan(ComparisonPlan& plan, timing::Clock& clock) {
  check_plan(plan);
  const std::string inputs = plan.inputs.empty() ? plan.operands->describe() : plan.inputs;
  if (Result known; recall(plan, inputs, known)) {
    publish(known);
    return known;
  }
  const AtWork at_work(plan.name);
  heed_fates(plan);
  activity()->watch(true);
  Options options = plan.options;
  options.device_counts =
      options.device_counts || std::any_of(plan.stated.begin(), plan.stated.end(),
                                           [](const auto& each) { return each.expectation.needs_device_counts(); });
  Result result = run_session(clock, plan, options);
  bool held = true;
  result.inputs = inputs;
  timing::ModeClock* const modes = clock.modes();
  result.device = clock.device_name();
  for (auto& phase : result.phases) {
    phase.inputs = result.inputs;
    phase.device = result.device;
  }
  for (auto& each : result.implementations) {
    each.bytes = plan.bytes;
    each.flops = plan.flops;
    if (modes != nullptr && each.time && (plan.bytes || plan.flops)) held = modes->hold_against_limits(each) && held;
  }
  if (!held)
    result.notes.push_back(
        "The times are not held against what this GPU can do at most: there was no memory left to "
        "measure that.");
  const auto rates = gate::share_among_phases(plan.stated, gate::Rates{plan.options.alpha, plan.options.beta});
  gate::judge_all(result, plan.stated, rates);
  for (auto& phase : result.phases) gate::judge_all(phase, plan.stated, rates);
  std::vector<std::string> notes = plan.notes;
  for (auto& note : result.notes) notes.push_back(std::move(note));
  result.notes = std::move(notes);
  publish(result);
  return result;
}

}  // namespace pace::detail
