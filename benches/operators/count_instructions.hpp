// Instructions of operator calls: the same checks as for times, and counts in the place of rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "benches/operators/options.hpp"
#include "benches/operators/replay_backends.hpp"
#include "benches/rows/prior_failures.hpp"
#include "benches/rows/refusal.hpp"
#include "pace/base/cut_text.hpp"
#include "pace/base/message_parts.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/outputs.hpp"
#include "pace/gate/counts.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/timing/instruction_counter.hpp"
#include "pace/timing/wall.hpp"
#include "pace/verify/expected.hpp"

namespace pace::benches::operators {

/// Calls of one back end. Each count begins with the same values and the same state of the random generators.
class CountedCalls {
 public:
  /// Calls before the first count: TorchScript's executor profiles, then optimises, and Callgrind translates code.
  static constexpr int warm_up = 3;
  /// A count is the difference between twice this number of calls and this number.
  static constexpr std::int64_t calls = 4;
  /// Number of counts. The lowest and the highest are kept.
  static constexpr int repeats = 3;

  /// `implementation`: index of the back end, which a supervising process is given if a call ends this one.
  CountedCalls(const OperatorCall& call, Executable& executable, std::int64_t implementation, std::uint64_t seed)
      : call_(call), executable_(executable), implementation_(implementation), seed_(seed) {}

  /// Makes one call. Returns its outputs and the tensors that it was given, which it may have written to.
  [[nodiscard]] c10::IValue outputs() {
    auto tensors = copy();
    pace::detail::reset_random_state(seed_);
    activity()->running(implementation_);
    auto returned = executable_.run(tensors);
    c10::List<at::Tensor> written;
    for (const std::size_t position : call_.mutated_tensors()) written.push_back(tensors[position]);
    return c10::ivalue::Tuple::create(std::move(returned), c10::IValue(std::move(written)));
  }

  /// Counts the instructions of one call. Copies of tensors that a call writes to are made outside of the counts.
  [[nodiscard]] timing::InstructionsPerCall count(timing::InstructionCounter& counter) {
    std::vector<std::vector<at::Tensor>> sets;
    const auto prepare = [&](std::int64_t number) {
      activity()->running(implementation_);
      const auto wanted = static_cast<std::size_t>(call_.mutates_inputs() ? number : 1);
      sets.clear();
      while (sets.size() < wanted) sets.push_back(copy());
      pace::detail::reset_random_state(seed_);
    };
    const auto run = [&](std::int64_t number) {
      for (std::int64_t i = 0; i < number; ++i)
        static_cast<void>(executable_.run(sets[static_cast<std::size_t>(i) % sets.size()]));
    };
    prepare(warm_up);
    run(warm_up);
    return timing::instructions_per_call(counter, calls, repeats, prepare, run);
  }

 private:
  [[nodiscard]] std::vector<at::Tensor> copy() const {
    return check::clone_ivalue(c10::IValue(call_.tensors())).toTensorVector();
  }

  const OperatorCall& call_;
  Executable& executable_;
  std::int64_t implementation_;
  std::uint64_t seed_;
};

/// Enters the ratios of a candidate's counts to the baseline's: the least and the largest of all pairs of counts.
inline void add_ratios(const ImplementationResult& baseline, ImplementationResult& row) {
  if (!baseline.instructions || !row.instructions || row.is_baseline) return;
  const auto ratio = [](std::int64_t own, std::int64_t other) -> std::optional<double> {
    if (other <= 0) return std::nullopt;
    return static_cast<double>(own) / static_cast<double>(other);
  };
  row.instructions->ratio_low = ratio(row.instructions->low, baseline.instructions->high);
  row.instructions->ratio_high = ratio(row.instructions->high, baseline.instructions->low);
}

/// Counts a call's instructions on every back end in the place of times. The baseline's outputs are those that others
/// are compared with, by the tolerance of their type. All arguments must outlive it.
class InstructionComparison {
 public:
  InstructionComparison(const ReplayOptions& options, const ReplayBackends& backends)
      : options_(options), backends_(backends) {}

  /// Returns the result, which is not published. `failures`: how the back ends ended earlier processes of the run.
  [[nodiscard]] Result run(const ReplayedCase& one, const OperatorCall& call, const PriorFailures& failures) const {
    const auto& names = backends_.names();
    Result result = refusal(one.name, names, "");
    result.inputs = one.inputs;
    result.seed = run_context().options.seed;
    result.notes.push_back(call.signature());
    const auto& baseline = result.implementations[0];
    c10::IValue expected;
    for (std::size_t i = 0; i < backends_.size(); ++i) {
      auto& row = result.implementations[i];
      row.context.baseline = names[0];
      row.context.comparison = one.name;
      if (i > 0 && baseline.outcome != Outcome::measured) {
        row.message = "there is no baseline to compare with: '" + names[0] + "' " + to_string(baseline.outcome) + ": " +
                      baseline.message;
      } else if (const auto* failure = failures.of(i)) {
        row.outcome = failure->outcome;
        row.message = failure->message;
      } else if (const auto& deadline = run_context().deadline;
                 deadline && timing::WallClock().now() >= deadline->time) {
        row.outcome = Outcome::unreached;
        row.message = deadline->reason;
      } else {
        check_and_count(call, i, expected, row, result.notes);
        if (row.outcome == Outcome::threw) row.message = add_to_reason(std::move(row.message), " (" + one.place + ')');
      }
      add_ratios(baseline, row);
      if (i > 0 && options_.instructions_at_most)
        row.judgements.push_back(InstructionsAtMost(*options_.instructions_at_most).judge(row));
    }
    return result;
  }

 private:
  /// Enters how checking and counting one back end ended. `expected`: outputs of the first one, which sets them.
  void check_and_count(const OperatorCall& call, std::size_t backend, c10::IValue& expected, ImplementationResult& row,
                       std::vector<std::string>& notes) const {
    try {
      const auto executable = backends_.make_ready(backend, call);
      CountedCalls calls(call, *executable, static_cast<std::int64_t>(backend), run_context().options.seed);
      row.outcome = Outcome::threw;  // the next faults are the implementation's own
      activity()->watch(true);
      const auto match = match_outputs(calls, call, backend == 0, expected, row, notes);
      if (!match.correct) {
        row.outcome = Outcome::wrong;
        row.message = match.message;
      } else {
        const auto found = calls.count(*options_.counter);
        row.instructions = InstructionCount{.low = found.low, .high = found.high, .counter = options_.counter->name()};
        row.outcome = Outcome::measured;
      }
    } catch (const std::exception& error) {
      row.message = cut_text(message_of(error), longest_kept);
    }
    activity()->watch(false);
  }

  /// Compares the outputs with the expected ones, and records the comparison. Notes it if a baseline has no outputs to
  /// compare.
  [[nodiscard]] static check::Match match_outputs(CountedCalls& calls, const OperatorCall& call, bool is_baseline,
                                                  c10::IValue& expected, ImplementationResult& row,
                                                  std::vector<std::string>& notes) {
    auto outputs = calls.outputs();
    check::CheckOptions check;
    if (result_is_uninitialised(call.name())) check.method = check::CheckOptions::Method::none;
    check.equal_nan = true;
    // The baseline is compared with itself: values that two of its calls do not agree on cannot be asked of others.
    auto match =
        check::outputs_match(is_baseline ? calls.outputs() : expected, is_baseline ? outputs : calls.outputs(), check);
    if (is_baseline) expected = std::move(outputs);
    row.checked = match.compared > 0;
    row.max_abs_error = match.max_abs_error;
    if (row.checked || !match.correct || check.method == check::CheckOptions::Method::none) return match;
    const pace::detail::Agreement agreement{.only_nan = match.only_nan, .empty = match.empty, .message = {}};
    pace::detail::enter_uncompared(agreement.why_uncompared(), row);
    if (is_baseline)
      notes.push_back("Nothing was compared of the outputs of '" + row.name + "': " + describe(*row.uncompared) + '.');
    return match;
  }

  const ReplayOptions& options_;
  const ReplayBackends& backends_;
};

}  // namespace pace::benches::operators
