// Reused outputs: memory that an implementation returns from one call and writes to in a later one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/audit/context.hpp"
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

/// Finds candidates whose later calls overwrite outputs, unless the baseline's do, too.
class OutputReuse {
 public:
  /// `context` must outlive it.
  explicit OutputReuse(AuditContext& context) : context_(context) {}

  /// Whether outputs must stay as they are in later calls. A step of a training has gradients, which the next one adds
  /// to or clears.
  [[nodiscard]] bool applies(Implementation& implementation) const {
    return context_.options.audit != Audit::off && context_.answers->checks() &&
           !context_.prepared.reuses_outputs(implementation.index) && implementation.phases() == nullptr;
  }
  /// Takes as the norm which outputs of the baseline are overwritten. `made` is a call of it on unseen values.
  void learn(const ObservedCall& made) { context_.reused_by_baseline = of_baseline(made, calls_to_learn); }
  [[nodiscard]] std::string find_fault(const ObservedCall& made, std::size_t set);

 private:
  /// The calls in a row of the baseline at first, and beside those of two audits before a candidate is at fault.
  static constexpr std::int64_t calls_to_learn = 8, calls_before_fault = 32;
  [[nodiscard]] std::set<std::size_t> of_baseline(const ObservedCall& made, std::int64_t most_calls);

  AuditContext& context_;
};

/// Makes up to so many calls of the baseline on the values given, after a call on others whose output was kept. Returns
/// the indices of its output tensors that later calls overwrite, or whose memory later outputs have, though it is kept.
/// Memory may be used again in turn, and a later output may have the bits of an earlier one.
inline std::set<std::size_t> OutputReuse::of_baseline(const ObservedCall& made, std::int64_t most_calls) {
  std::set<std::size_t> reused;
  const std::size_t outputs = check::tensors_of(made.output).size();
  const Nanoseconds start = context_.clock.now();
  write_values(context_.operands, nullptr, 0);
  // Long calls are made once.
  for (std::int64_t call = 0; call < most_calls && reused.size() < outputs; ++call) {
    if (call > 0 && context_.clock.now() - start > AuditContext::audit_share * context_.options.budget) break;
    if (call > 0 && !context_.operands.mutated.empty()) write_values(context_.operands, nullptr, 0);
    add_shared_outputs(made.output, call_in_a_row(context_.baseline(), 1), context_.operands.tensors[0], reused);
  }
  reused.merge(overwritten_outputs(made, context_.operands.tensors[0]));
  return reused;
}

/// Returns what is wrong with the output of `made`, a call on set `set` whose output was kept while others were made;
/// empty if nothing is, or if the baseline does the same in as many calls.
inline std::string OutputReuse::find_fault(const ObservedCall& made, std::size_t set) {
  const auto overwritten = overwritten_outputs(made, context_.operands.tensors[set]);
  if (describe_overwritten(context_.reused_by_baseline, overwritten).empty()) return {};
  const ObservedCall by_baseline = context_.call(context_.baseline(), context_.answers->unseen_values());
  context_.reused_by_baseline.merge(of_baseline(by_baseline, 2 * context_.iterations + calls_before_fault));
  context_.repair(0);
  return describe_overwritten(context_.reused_by_baseline, overwritten);
}
}  // namespace pace::detail
