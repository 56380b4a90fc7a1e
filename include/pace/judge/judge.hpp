// judge: verdicts from figures.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include <ATen/core/Tensor.h>

#include "pace/base/spelling.hpp"
#include "pace/gate/panel.hpp"
#include "pace/judge/memory_limits.hpp"
#include "pace/measure/gated_rounds.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/plan.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/host_bandwidth.hpp"

namespace pace::detail {

/// Without operand tensors, pace cannot pass unseen values, so cached results always look right. Times then prove no
/// claim, unless `captures` is declared.
inline void note_hidden_inputs(const ComparisonPlan& plan, Result& result) {
  const bool checked = std::ranges::any_of(result.implementations, [](const auto& row) { return row.checked; });
  const bool has_values = std::ranges::any_of(
      plan.operands->tensors(), [](const at::Tensor& each) { return each.defined() && each.numel() > 0; });
  // A training step changes its parameters itself.
  if (!checked || has_values || !plan.phases.empty()) return;
  const std::string why =
      "its functions have no operand tensors that pace could give unseen values, so that cached results would not be "
      "found";
  const std::string remedy = "pass the tensors to " +
                             spelled("pace::compare(name, tensors...)", "pace.compare(name, *tensors)") +
                             ", or declare " + declaration_text(".captures()", "--captures");
  // A baseline alone is compared only with itself.
  const bool compared =
      std::ranges::any_of(result.implementations, [](const auto& row) { return row.checked && !row.is_baseline; });
  if (plan.captures) {
    if (compared) result.notes.push_back("As declared (captures), " + why + '.');
    return;
  }
  if (compared) result.notes.push_back("No claim about times is proven here: " + why + "; try: " + remedy + '.');
  const auto enter = [&](Result& part) {
    for (auto& row : part.implementations) row.context.enter({Severity::unproven, why, remedy});
  };
  enter(result);
  for (auto& phase : result.phases) enter(phase);
}

/// Adds the declared bytes and operations. Holds times against the GPU's peak, and against the memory for `traffic`,
/// the least of every correct call.
inline void hold_against_peaks(timing::Clock& clock, const ComparisonPlan& plan, const timing::LeastTraffic& traffic,
                               Result& result) {
  auto* const modes = result.lost_device.empty() ? clock.modes() : nullptr;
  bool held = true;
  for (auto& row : result.implementations) {
    row.bytes = plan.bytes;
    row.flops = plan.flops;
    if (modes != nullptr && row.time && (plan.bytes || plan.flops)) held = modes->hold_against_limits(row) && held;
  }
  if (!held)
    result.notes.push_back("There was no memory left to measure the peak of this GPU, so no time is held against it.");
  hold_against_memory(clock, traffic, result);
}

/// Judges everything that is stated of `result`. The verdicts of each part together err as often as the rates of
/// `gates` say. `panels` watched the rounds.
inline void judge(const ComparisonPlan& plan, const Gates& gates, std::span<const gate::Panel> panels, Result& result) {
  note_hidden_inputs(plan, result);
  gate::judge_all(result, gates.stated, gates.rates, panels);
  for (auto& phase : result.phases) gate::judge_all(phase, gates.stated, gates.rates, panels);
}

}  // namespace pace::detail
