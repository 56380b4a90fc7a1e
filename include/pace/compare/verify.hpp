// Verify: the first calls of each implementation, which are checked before anything is timed.
#pragma once

#include <algorithm>
#include <any>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/check/clone.hpp"
#include "pace/compare/expected.hpp"
#include "pace/compare/integrity/checker.hpp"
#include "pace/compare/integrity/least_traffic.hpp"
#include "pace/compare/integrity/witness.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/participants.hpp"
#include "pace/compare/prepare.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/compare/time_left.hpp"
#include "pace/compare/verified.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Adds the output of the baseline, or of its separate reference, on `operands` converted to float64, if `check` has
/// that method. If the reference fails, outputs are compared directly from then on, which becomes a note.
inline void add_reference(const Prepared& prepared, Expected& expected, const OperandSet& operands,
                          check::CheckOptions& check, Result& result) {
  if (check.method != check::CheckOptions::Method::float64_reference) return;
  auto& sets = prepared.operands->sets;
  try {
    auto as_double = operands.clone();
    // The callable takes the operands by their static types, so the conversion happens inside the tensors.
    for (auto& tensor : as_double->tensors())
      if (tensor.is_floating_point()) tensor.set_data(tensor.to(at::kDouble));
    sets.push_back(std::move(as_double));
    reset_random_state(prepared.options.seed);
    auto& reference = prepared.reference ? *prepared.reference : prepared.baseline();
    expected.reference = check::clone_ivalue(reference.call(sets.size() - 1));
  } catch (...) {
    check.method = check::CheckOptions::Method::allclose;
    result.notes.push_back("There is no float64 reference, so outputs were compared directly: " + current_message());
  }
  // The extra set is removed. Its tensors are not among those of the sets, so that it is no part of the rounds.
  sets.resize(prepared.operands->tensors.size());
}

/// Makes the first calls, one implementation after the other.
class FirstCalls {
 public:
  FirstCalls(timing::Clock& clock, const Prepared& prepared, IntegrityChecker& integrity,
             const check::CheckOptions& check)
      : clock_(clock), prepared_(prepared), integrity_(integrity), check_(check) {}

  /// Outputs of the baseline.
  [[nodiscard]] const Expected& expected() const { return expected_; }
  /// Whether outputs are compared: the baseline repeats itself.
  [[nodiscard]] bool checks() const { return check_.method != check::CheckOptions::Method::none; }

  /// Makes and times the first call, then checked calls, and admits or drops the implementation.
  void make(std::size_t index, Verified& verified) {
    if (time_left(clock_).count() <= 0)
      verified.participants.drop(index, Outcome::unreached, deadline_reason());
    else
      try_to_make(index, verified);
    if (!verified.participants.device_lost()) integrity_.finish();
  }

 private:
  void try_to_make(std::size_t index, Verified& verified) {
    auto* const modes = clock_.modes();
    // An implementation may leave another stream of the GPU current, which must not affect the others.
    const auto stream = modes != nullptr ? modes->keep_stream() : nullptr;
    try {
      if (auto problem = find_problem(index, verified.result); !problem.empty())
        verified.participants.drop(index, Outcome::wrong, std::move(problem));
      else
        verified.participants.admit(index);
    } catch (...) {
      verified.participants.drop_failed(index, current_failure_on(clock_));
    }
  }

  /// Returns the fault of the implementation as text; empty if there is none.
  [[nodiscard]] std::string find_problem(std::size_t index, Result& result) {
    auto* const modes = clock_.modes();
    auto& implementation = *prepared_.implementations[index];
    OperandSets& operands = *prepared_.operands;
    const std::uint64_t seed = prepared_.options.seed;
    const bool is_baseline = index == prepared_.participants.baseline();
    auto& row = result.implementations[index];
    const auto call = [&] { return implementation.call(0); };

    integrity_.repair(0);
    integrity_.start();
    row.first_call = clock_.time([&] { (void)call(); });
    if (is_baseline) {
      expected_ = expected_of(implementation, operands, seed);
      add_reference(prepared_, expected_, *prepared_.given, check_, result);
    }
    const c10::IValue output = checked_call(implementation, operands, 0, seed);
    const Agreement agreement = agree(expected_, output, operands, 0, check_);
    row.checked = agreement.compared;
    row.max_abs_error = agreement.max_abs_error;
    if (!agreement.correct && !is_baseline) return agreement.message;
    if (!agreement.correct) {
      result.notes.push_back("The baseline does not repeat itself, so nothing was checked: " + agreement.message + ".");
      check_.method = check::CheckOptions::Method::none;
      row.checked = false;
    }
    if (is_baseline)
      integrity_.learn(implementation, expected_, check_, [&](Expected& expected, const OperandSet& fresh) {
        add_reference(prepared_, expected, fresh, check_, result);
      });
    Examination examination = integrity_.examine(implementation);
    row.counts = examination.counts;
    row.why_uncounted = std::move(examination.why_uncounted);
    if (!examination.note.empty()) result.notes.push_back(std::move(examination.note));
    if (!examination.problem.empty()) return examination.problem;
    if (modes != nullptr)
      if (const auto escape = modes->find_escape([&] { (void)call(); })) return *escape;
    implementation.expect_outputs_like(output);
    if (modes != nullptr) row.device_memory = modes->memory_of([&] { return std::any(call()); });
    return {};
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  IntegrityChecker& integrity_;
  check::CheckOptions check_;
  Expected expected_ = {};
};

/// Makes the first calls of all implementations, the baseline first, since the others are compared with it.
/// Implementations that are wrong or throw are dropped. The reference is moved out of `prepared`, since it is not
/// called again.
[[nodiscard]] inline Verified verify(timing::Clock& clock, Prepared& prepared, IntegrityChecker& integrity,
                                     BaselineWitness& witness, const check::CheckOptions& check) {
  Verified verified{.participants = prepared.participants, .result = prepared.result, .options = prepared.options};
  auto& participants = verified.participants;
  const std::size_t baseline = participants.baseline();
  FirstCalls first_calls(clock, prepared, integrity, check);
  try {
    if (participants.pending(baseline)) first_calls.make(baseline, verified);
    prepared.reference.reset();
    if (participants.remains(baseline) && first_calls.checks() && clock.host_bandwidth() != nullptr) {
      verified.traffic = find_least_traffic(clock, prepared.baseline(), *prepared.operands, *prepared.given,
                                            first_calls.expected().output, prepared.options);
      integrity.repair(0);
    }
    if (participants.remains(baseline)) {
      start_calls_alike(prepared, first_calls.expected(), verified);
      witness.before_candidates(clock, prepared, verified.options);
      integrity.finish();
    }
    for (std::size_t index = 0; index < prepared.implementations.size(); ++index) {
      if (!participants.pending(index)) continue;
      if (participants.remains(baseline))
        first_calls.make(index, verified);
      else
        participants.drop_without_baseline(index);
    }
  } catch (...) {
    enter_out_of_memory(participants);
  }
  return verified;
}

}  // namespace pace::detail
