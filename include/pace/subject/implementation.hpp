// Implementation: a user's callable behind the interface for checks and clocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/base/config.hpp"
#include "pace/subject/operands.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

/// Operands that all implementations of one comparison share. `sets` are the buffers, `given` their first values.
struct OperandSets {
  std::vector<std::unique_ptr<OperandSet>> sets;
  /// Tensors of each set; `tensors[set][i]` corresponds to `given[i]`.
  std::vector<std::vector<at::Tensor>> tensors;
  std::vector<at::Tensor> given;
  /// Values in this round, if rounds have their own (see RoundValues); empty: the first values.
  std::vector<at::Tensor> of_round;
  /// Indices of the tensors that the baseline writes to. They are outputs too, and are restored before each run.
  std::vector<std::size_t> mutated;
  /// Indices of declared workspaces; nobody compares what a call leaves there.
  std::vector<std::size_t> scratch;
  /// Indices of the tensors that are declared to stay the same between calls in real use, such as weights.
  std::vector<std::size_t> constant;
  /// Copies of each set, with their tensors, for further calls of a sample. Each call then starts from the first
  /// values. Empty unless the baseline writes to operands.
  std::vector<std::vector<std::unique_ptr<OperandSet>>> spares;
  std::vector<std::vector<std::vector<at::Tensor>>> spare_tensors;
  /// Whether the baseline draws random numbers. Then the generators get the same state before each run.
  bool random = false;
  std::uint64_t seed = 0;
  /// Selects the call of a sample whose output is kept: this number modulo the number of calls; nothing: the last call.
  /// Equal for all samples of a round, since it moves later outputs to other memory.
  std::optional<std::uint64_t> kept_call = {};
  /// Seed before each run in this round, if random numbers must differ between rounds; nothing: `seed`.
  std::optional<std::uint64_t> round_seed = {};

  /// Whether operand tensor `operand` is a declared workspace.
  [[nodiscard]] bool is_scratch(std::size_t operand) const;
  /// Whether calls may write to operand tensor `operand`: the baseline does, or it is a workspace.
  [[nodiscard]] bool may_change(std::size_t operand) const;
  /// Whether `tensor` shares memory with an operand.
  [[nodiscard]] bool aliases(const at::Tensor& tensor) const;
  /// Values from which calls on all sets start in this round.
  [[nodiscard]] const std::vector<at::Tensor>& values() const { return of_round.empty() ? given : of_round; }
  /// Restores from values() the operands of a set and its spares that the baseline writes to.
  void restore(std::size_t set) const;
  /// Restores the first values of all operands of a set.
  void restore_all(std::size_t set) const { restore_all(tensors[set]); }
  /// Restores the first values of `of_set`, the tensors of a set or of a spare.
  void restore_all(const std::vector<at::Tensor>& of_set) const;
};

/// Message of an exception, and its meaning for the device.
struct Failure {
  std::string message;
  enum class Device { fine, missing, lost } device = Device::fine;
  /// Whether memory ran out, on the device or on the host.
  bool out_of_memory = false;
};

/// Thrown for what an implementation, or its timing, threw.
struct ImplementationThrew : std::exception {
  ImplementationThrew(std::size_t which, Failure what) : index(which), failure(std::move(what)) {}
  [[nodiscard]] const char* what() const noexcept override { return failure.message.c_str(); }

  std::size_t index;
  Failure failure;
};

/// Returns the message of the exception being handled.
[[nodiscard]] std::string current_message();

/// Returns the message of the exception being handled, and its meaning for the device.
[[nodiscard]] Failure current_failure();

/// A user's callable, for checks to call and clocks to sample. Derived classes know how to call one type of callable,
/// and where its output is.
class Implementation : public timing::Subject {
 public:
  ~Implementation() override;
  /// Index among the implementations of the comparison.
  std::size_t index = 0;
  /// Calls the callable on operand set `set`, and returns its output. Does not touch the output that take_output()
  /// returns.
  virtual c10::IValue call(std::size_t set) = 0;
  /// Moves out the output of the last timed call.
  virtual c10::IValue take_output() = 0;
  /// After finish(): returns the copy of the last timed call's output; null if there is none, or no cheap one.
  [[nodiscard]] virtual const c10::IValue* kept_output() const { return nullptr; }
  /// Sets the expected sizes of outputs. Memory of these sizes is poisoned before each sample.
  virtual void expect_outputs_like(const c10::IValue& output);

  /// Throws ImplementationThrew with the exception being handled, or rethrows one. Adds the remark of UnseenValuesInUse
  /// unless memory ran out or the device failed.
  void failed() override;

 protected:
  explicit Implementation(const OperandSets& operands);

  [[nodiscard]] const OperandSets& operands() const { return operands_; }
  /// Announces the call, restores operands and generators, and poisons memory for outputs.
  void start(std::size_t set);
  void announce() const;
  /// Which of `calls` calls of a sample has its output kept. Other outputs are destroyed at once, as in ordinary code.
  [[nodiscard]] std::int64_t kept_call(std::int64_t calls) const {
    const auto& any = operands_.kept_call;
    return any ? static_cast<std::int64_t>(*any % static_cast<std::uint64_t>(calls)) : calls - 1;
  }
  /// Returns a copy of the output in memory reserved for copies.
  [[nodiscard]] c10::IValue copy_of(const c10::IValue& output);
  /// captured() makes the result of keep_output() from an output. replayed() returns the output from it, and poisons
  /// its memory.
  [[nodiscard]] static std::shared_ptr<void> captured(c10::IValue output);
  [[nodiscard]] static c10::IValue replayed(const std::shared_ptr<void>& captured);

 private:
  struct Memory;
  const OperandSets& operands_;
  std::unique_ptr<Memory> memory_;
};

/// Calls an implementation `calls` times in a row on set 0, as samples do; code can tell that from single calls.
/// Returns the last output. Throws ImplementationThrew for what a call throws.
[[nodiscard]] inline c10::IValue call_in_a_row(Implementation& implementation, std::int64_t calls) {
  try {
    for (; calls > 1; --calls) (void)implementation.call(0);
    return implementation.call(0);
  } catch (...) {
    implementation.failed();
    throw;
  }
}

/// The same, but one call if calls write to operands, since each would start where the last one ended.
[[nodiscard]] inline c10::IValue call_in_a_row(Implementation& implementation, const OperandSets& operands,
                                               std::int64_t calls) {
  return call_in_a_row(implementation, operands.mutated.empty() ? calls : 1);
}

}  // namespace pace::detail

#ifdef PACE_HEADER_ONLY
#include "pace/subject/implementation-inl.hpp"
#endif
