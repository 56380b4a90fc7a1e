// Reused outputs: memory that an implementation returns from one call and writes to in a later one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/ivalue.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/shortcuts.hpp"

namespace pace::detail {

/// Indices of the output tensors of `made`, whose output has been kept since, that hold other bits than when the call
/// returned: calls after it wrote to them. What shares memory with `operands`, those of the call, changes with them.
[[nodiscard]] inline std::set<std::size_t> overwritten_outputs(const ObservedCall& made,
                                                               const std::vector<at::Tensor>& operands) {
  const auto now = check::tensors_of(made.output), at_return = check::tensors_of(made.at_return);
  const auto parts = shareable_parts_of(operands);
  std::set<std::size_t> overwritten;
  for (std::size_t i = 0; i < std::min(now.size(), at_return.size()); ++i)
    if (!borrows_any(now[i], parts) && !unchanged(at_return[i], now[i])) overwritten.insert(i);
  return overwritten;
}

/// Adds to `indices` those of the output tensors of `later` that have memory of `kept`, an earlier output that is kept.
/// What shares memory with `operands` is no output's own.
inline void add_shared_outputs(const c10::IValue& kept, const c10::IValue& later,
                               const std::vector<at::Tensor>& operands, std::set<std::size_t>& indices) {
  const auto outputs = check::tensors_of(later);
  const auto operand_parts = shareable_parts_of(operands), kept_parts = shareable_parts_of(check::tensors_of(kept));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!borrows_any(outputs[i], operand_parts) && borrows_any(outputs[i], kept_parts)) indices.insert(i);
}

/// Returns what is wrong with a candidate whose output tensors of the indices `candidate` are overwritten by later
/// calls, as text; empty if those of the baseline are, too.
[[nodiscard]] inline std::string describe_overwritten(const std::set<std::size_t>& baseline,
                                                      const std::set<std::size_t>& candidate) {
  for (const std::size_t each : candidate)
    if (!baseline.contains(each))
      return "a later call overwrites output tensor " + std::to_string(each) +
             ": it returns memory that it uses again, and the baseline's output stays. If each output is read before "
             "the next call where the code is used, declare that: .reuses_outputs() (on a command line: "
             "--reuses-outputs)";
  return {};
}

}  // namespace pace::detail
