// The first calls of each implementation, before anything is timed: is it right?
#pragma once

#include <any>
#include <cstddef>
#include <string>
#include <utility>

#include <ATen/core/Tensor.h>

#include "pace/compare/device_state.hpp"
#include "pace/compare/inspector.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/compare/roster.hpp"
#include "pace/compare/time_left.hpp"
#include "pace/compare/verification.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Adds the answer of the baseline, or of the reference that was named for it, on `operands` converted to float64, if such a reference
/// is asked for.
inline void add_reference(Roster& roster, Expected& expected, const OperandSet& operands) {
  if (roster.check.method != check::CheckOptions::Method::float64_reference) return;
  try {
    auto as_double = operands.clone();
    // The callable takes the operands by their static types, so the conversion happens inside the tensors.
    for (auto& tensor : as_double->tensors())
      if (tensor.is_floating_point()) tensor.set_data(tensor.to(at::kDouble));
    roster.operands.sets.push_back(std::move(as_double));
    reset_random_state(roster.options.seed);
    auto& reference = roster.reference ? *roster.reference : *roster.implementations[roster.baseline];
    expected.reference = check::clone_ivalue(reference.call(roster.operands.sets.size() - 1));
  } catch (...) {
    roster.check.method = check::CheckOptions::Method::allclose;
    roster.result.notes.push_back("There is no float64 reference, so outputs were compared directly: " +
                                  current_message());
  }
  // Without its tensors in roster.operands.tensors, the extra set was never part of the rounds.
  roster.operands.sets.resize(roster.operands.tensors.size());
}

/// The first call of each, timed; then checked ones. Those that are wrong, or throw, are taken out. The baseline goes
/// first, for the others are compared with it.
inline void make_first_calls(timing::Clock& clock, Roster& roster, Inspector& inspector) {
  timing::ModeClock* const modes = clock.modes();
  const auto try_one = [&](std::size_t index) {
    auto& implementation = *roster.implementations[index];
    // On a GPU: one that leaves another stream behind must not take the others along.
    const auto stream = modes != nullptr ? modes->keep_stream() : nullptr;
    if (time_left(clock).count() <= 0) return roster.give_up(index, Outcome::unreached, deadline_reason());
    try {
      inspector.repair(0);
      inspector.start();
      roster.row(index).first_call = clock.time([&] { (void)implementation.call(0); });
      if (index == roster.baseline) {
        roster.expected = expect(implementation, roster.operands, roster.options.seed);
        add_reference(roster, roster.expected, roster.first);
      }
      const c10::IValue output = checked_call(implementation, roster.operands, 0, roster.options.seed);
      const Verification verification = verify(roster.expected, output, roster.operands, 0, roster.check);
      roster.row(index).checked = verification.compared;
      roster.row(index).max_abs_error = verification.max_abs_error;
      if (!verification.correct && index == roster.baseline) {
        roster.result.notes.push_back(
            "The baseline does not repeat itself, so nothing was checked: " + verification.message + ".");
        roster.check.method = check::CheckOptions::Method::none;
        roster.row(index).checked = false;
      } else if (!verification.correct) {
        return roster.give_up(index, Outcome::wrong, verification.message);
      }
      if (index == roster.baseline)
        inspector.learn(
            implementation, roster.expected, roster.check,
            [&](Expected& expected, const OperandSet& operands) { add_reference(roster, expected, operands); });
      const std::string problem = inspector.examine(implementation, roster.row(index));
      if (!problem.empty()) return roster.give_up(index, Outcome::wrong, problem);
      if (modes != nullptr)
        if (const auto escape = modes->find_escape([&] { (void)implementation.call(0); }))
          return roster.give_up(index, Outcome::wrong, *escape);
      implementation.expect_outputs_like(output);
      if (modes != nullptr)
        roster.row(index).device_memory = modes->memory_of([&] { return std::any(implementation.call(0)); });
      roster.row(index).outcome = Outcome::measured;
      roster.running.push_back(index);
    } catch (...) {
      roster.give_up_failed(index, with_device_state(clock, current_failure()));
    }
  };
  const auto first = [&](std::size_t index) {
    try_one(index);
    if (roster.result.lost_device.empty()) inspector.finish();
  };
  if (roster.implementations[roster.baseline]) first(roster.baseline);
  roster.reference.reset();
  for (std::size_t index = 0; index < roster.implementations.size(); ++index) {
    if (index == roster.baseline || !roster.implementations[index]) continue;
    if (roster.row(roster.baseline).outcome == Outcome::measured)
      first(index);
    else
      roster.give_up_without_baseline(index);
  }
  // The baseline came first, and the others in ascending order.
  for (std::size_t i = 1; i < roster.running.size() && roster.running[i] < roster.running[i - 1]; ++i)
    std::swap(roster.running[i], roster.running[i - 1]);
}

}  // namespace pace::detail
