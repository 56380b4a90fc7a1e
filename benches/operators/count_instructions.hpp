// Instructions of operator calls: the same checks as for times, and counts in the place of rounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "benches/operators/backends/backend.hpp"
#include "benches/operators/backends/valid_inputs.hpp"
#include "benches/operators/calls/operator_call.hpp"
#include "pace/check/check_options.hpp"
#include "pace/check/clone.hpp"
#include "pace/check/outputs.hpp"
#include "pace/os/activity.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/timing/instruction_counter.hpp"

namespace pace::benches::operators {

/// Calls of one back end. Each count begins with the same values and the same state of the random generators.
class CountedCalls {
 public:
  /// Calls before the first count: TorchScript's executor profiles, then optimises, and Callgrind translates code.
  static constexpr int warm_up = 3;
  /// A count is the difference between twice this number of calls and this number.
  static constexpr std::int64_t calls = 4;
  /// Counts of which the fewest and the most are kept.
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

}  // namespace pace::benches::operators
