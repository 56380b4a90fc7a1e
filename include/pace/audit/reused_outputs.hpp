// Reused outputs: memory that an implementation returns and writes to in a later call.
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
#include "pace/base/spelling.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/verify/observed_call.hpp"
#include "pace/verify/shortcuts.hpp"

namespace pace::detail {

/// Indices of output tensors of `made` that later calls overwrote; its output has been kept. Those that share memory
/// with `operands` change with them, and do not count.
[[nodiscard]] inline std::set<std::size_t> overwritten_outputs(const ObservedCall& made,
                                                               const std::vector<at::Tensor>& operands) {
  const auto now = check::tensors_of(made.output), at_return = check::tensors_of(made.at_return);
  const auto parts = shareable_parts_of(operands);
  std::set<std::size_t> overwritten;
  for (std::size_t i = 0; i < std::min(now.size(), at_return.size()); ++i)
    if (!borrows_any(now[i], parts) && !unchanged(at_return[i], now[i])) overwritten.insert(i);
  return overwritten;
}

/// Adds the indices of output tensors of `later` in memory of `kept`, an earlier output still kept, and outside of
/// `operands`.
inline void add_shared_outputs(const c10::IValue& kept, const c10::IValue& later,
                               const std::vector<at::Tensor>& operands, std::set<std::size_t>& indices) {
  const auto outputs = check::tensors_of(later);
  const auto operand_parts = shareable_parts_of(operands), kept_parts = shareable_parts_of(check::tensors_of(kept));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    if (!borrows_any(outputs[i], operand_parts) && borrows_any(outputs[i], kept_parts)) indices.insert(i);
}

/// Returns the fault of output tensors overwritten for the candidate and not for the baseline.
[[nodiscard]] inline std::string describe_overwritten(const std::set<std::size_t>& baseline,
                                                      const std::set<std::size_t>& candidate) {
  for (const std::size_t each : candidate)
    if (!baseline.contains(each))
      return "a later call overwrites output tensor " + std::to_string(each) +
             ": it returns memory that it uses again, and the baseline's output stays; try: if each output is read "
             "before the next call where the code is used, declare that: .reuses_outputs()" +
             spelled(" (on a command line: --reuses-outputs)", "");
  return {};
}

/// Finds candidates whose later calls overwrite outputs, unless the baseline's do, too.
class OutputReuse {
 public:
  /// `context` must outlive it.
  explicit OutputReuse(AuditContext& context) : context_(context) {}

  /// Whether outputs must stay. Not for a training step, since the next one changes gradients.
  [[nodiscard]] bool applies(Implementation& implementation) const {
    return context_.options.audit != Audit::off && context_.answers->checks() &&
           !context_.prepared.reuses_outputs(implementation.index) && implementation.phases() == nullptr;
  }
  /// Learns which outputs of the baseline are overwritten. `made` is a call of it on unseen values.
  void learn(const ObservedCall& made) { context_.reused_by_baseline = of_baseline(made, calls_to_learn); }
  [[nodiscard]] std::string find_fault(const ObservedCall& made, std::size_t set);

 private:
  /// Calls of the baseline at first, and beyond those of two audits before a candidate is at fault.
  static constexpr std::int64_t calls_to_learn = 8, calls_before_fault = 32;
  [[nodiscard]] std::set<std::size_t> of_baseline(const ObservedCall& made, std::int64_t most_calls);

  AuditContext& context_;
};

/// Calls the baseline up to `most_calls` times on the values given, after `made`, a call on unseen values whose output
/// was kept. Returns the indices of output tensors whose bits change or whose memory later outputs share. Buffers may
/// take turns, and bits may be equal.
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

/// Returns the fault of the output of `made`, a call on set `set`, kept during further calls. Empty for none, or if the
/// baseline does the same in as many calls.
inline std::string OutputReuse::find_fault(const ObservedCall& made, std::size_t set) {
  const auto overwritten = overwritten_outputs(made, context_.operands.tensors[set]);
  if (describe_overwritten(context_.reused_by_baseline, overwritten).empty()) return {};
  const ObservedCall by_baseline = context_.call(context_.baseline(), context_.answers->unseen_values());
  context_.reused_by_baseline.merge(of_baseline(by_baseline, 2 * context_.iterations + calls_before_fault));
  context_.repair(0);
  return describe_overwritten(context_.reused_by_baseline, overwritten);
}
}  // namespace pace::detail
