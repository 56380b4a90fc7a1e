// ObservedCall: one untimed call of an implementation with its observable effects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/clone.hpp"
#include "pace/check/poison.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/call_counter.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/verify/shortcuts.hpp"

namespace pace::detail {

struct ObservedCall {
  c10::IValue output = {};
  /// A copy, made right after the call returned.
  c10::IValue at_return = {};
  CallCounts counts = {};
  /// For each tensor of the output, whether nothing ever wrote to it (see is_unwritten()).
  std::vector<bool> unwritten = {};

  /// Keeps the output of a call that has just returned.
  [[nodiscard]] static ObservedCall of(c10::IValue output) {
    ObservedCall made{.output = std::move(output)};
    check::for_each_tensor(made.output, [&](const at::Tensor& each) { made.unwritten.push_back(is_unwritten(each)); });
    made.at_return = check::clone_ivalue(made.output);
    return made;
  }
};

/// The shortcuts of each output tensor, in order.
[[nodiscard]] inline std::vector<std::int64_t> shortcuts_of_each(const ObservedCall& made,
                                                                 const std::vector<at::Tensor>& operands) {
  auto found = shortcuts_of_each(made.output, operands);
  for (std::size_t i = 0; i < std::min(found.size(), made.unwritten.size()); ++i)
    if (made.unwritten[i]) found[i] |= unwritten;
  return found;
}

/// Writes these values to the operands of a set; null: the original values.
inline void write_values(const OperandSets& operands, const std::vector<at::Tensor>* values, std::size_t set) {
  write_values(values == nullptr ? operands.given : *values, operands.tensors[set]);
}

/// Makes one call on set 0 as it is, with poison in free and allocated memory. `like`: an output of the expected size.
[[nodiscard]] inline ObservedCall observe_call(Implementation& implementation, std::uint64_t seed,
                                               const c10::IValue& like) {
  reset_random_state(seed);
  // Memory that the baseline freed may hold the result. It need not come from LibTorch's allocator.
  check::poison_free_memory(like);
  const check::PoisonedAllocations poisoned;
  c10::IValue output;
  CallCounts counts;
  {
    const CallCounter counter;
    output = call_in_a_row(implementation, 1);
    counts = counter.counts();
  }
  ObservedCall made = ObservedCall::of(std::move(output));
  made.counts = counts;
  return made;
}

/// Counts of `calls` calls in a row on set 0, together.
[[nodiscard]] inline CallCounts count_in_a_row(Implementation& implementation, std::int64_t calls) {
  const CallCounter counter;
  (void)call_in_a_row(implementation, calls);
  return counter.counts();
}

/// Writes the values first; null: the original values.
[[nodiscard]] inline ObservedCall observe_call(Implementation& implementation, const OperandSets& operands,
                                               const std::vector<at::Tensor>* values, std::uint64_t seed,
                                               const c10::IValue& like) {
  write_values(operands, values, 0);
  return observe_call(implementation, seed, like);
}

}  // namespace pace::detail
