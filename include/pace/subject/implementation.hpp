// Implementation: a user's callable behind the interface that checks and clocks use.
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

/// Operands that all implementations of one comparison share. `sets` are the buffers, `pristine` their first values.
struct OperandSets {
  std::vector<std::unique_ptr<OperandSet>> sets;
  /// Tensors of each set; `tensors[set][i]` corresponds to `pristine[i]`.
  std::vector<std::vector<at::Tensor>> tensors;
  std::vector<at::Tensor> pristine;
  /// Values in this round, if rounds have different values (see RoundValues); empty: the first values.
  std::vector<at::Tensor> renewed;
  /// Indices of the tensors that the baseline writes to: they are outputs, too, and are restored before each run.
  std::vector<std::size_t> mutated;
  /// Indices of the tensors that are declared as workspaces: what a call leaves there is of no interest.
  std::vector<std::size_t> scratch;
  /// Indices of the tensors of which implementations are declared to keep something, such as packed weights.
  std::vector<std::size_t> keeps;
  /// Further copies of each set and their tensors, if the baseline writes to operands: one for every further call of a
  /// sample, so that each call starts from the first values. Empty otherwise.
  std::vector<std::vector<std::unique_ptr<OperandSet>>> spares;
  std::vector<std::vector<std::vector<at::Tensor>>> spare_tensors;
  /// Whether the baseline draws random numbers, so that the generators get the same state before each run.
  bool random = false;
  std::uint64_t seed = 0;
  /// Which call of a sample has its output kept to be checked: this number modulo the number of calls; nothing: the
  /// last one. It is the same for all samples of a round, since outputs of later calls lie in other memory then.
  std::optional<std::uint64_t> kept_call = {};
  /// Seed of the generators before each run in this round, if random numbers must differ between rounds; nothing:
  /// `seed`.
  std::optional<std::uint64_t> round_seed = {};

  /// Returns whether the operand tensor of this index is declared as a workspace.
  [[nodiscard]] bool is_scratch(std::size_t operand) const;
  /// Returns whether calls may write to the operand tensor of this index: the baseline does, or it is a workspace.
  [[nodiscard]] bool may_change(std::size_t operand) const;
  /// Returns whether `tensor` shares memory with an operand.
  [[nodiscard]] bool aliases(const at::Tensor& tensor) const;
  /// Returns the values from which calls on all sets start in this round.
  [[nodiscard]] const std::vector<at::Tensor>& values() const { return renewed.empty() ? pristine : renewed; }
  /// Restores the operands of a set and of its spares that the baseline writes to, from values().
  void restore(std::size_t set) const;
  /// Restores the first values of all operands of a set.
  void restore_all(std::size_t set) const { restore_all(tensors[set]); }
  /// Restores the first values of `of_set`, the tensors of a set or of a spare.
  void restore_all(const std::vector<at::Tensor>& of_set) const;
};

/// Message of an exception, with its meaning for the device.
struct Failure {
  std::string message;
  enum class Device { fine, missing, lost } device = Device::fine;
  /// Whether memory ran out, on the device or on the host.
  bool out_of_memory = false;
};

/// Exception for an exception thrown by an implementation or by its timing.
struct ImplementationThrew : std::exception {
  ImplementationThrew(std::size_t which, Failure what) : index(which), failure(std::move(what)) {}
  [[nodiscard]] const char* what() const noexcept override { return failure.message.c_str(); }

  std::size_t index;
  Failure failure;
};

/// Returns the message of the exception being handled.
[[nodiscard]] std::string current_message();

/// Returns the message of the exception being handled, with its meaning for the device.
[[nodiscard]] Failure current_failure();

/// A user's callable: it is called to be checked, and sampled as a Subject. Derived classes define how a type of
/// callable is called and where its output is.
class Implementation : public timing::Subject {
 public:
  ~Implementation() override;
  /// Index among the implementations of the comparison.
  std::size_t index = 0;
  /// Calls the callable on operand set `set` and returns its output. Leaves that of the last timed call to be taken.
  virtual c10::IValue call(std::size_t set) = 0;
  /// Moves out the output of the last timed call.
  virtual c10::IValue take_output() = 0;
  /// Returns the copy of the output of the last timed call, after finish(); null if there is none, or no cheap one.
  [[nodiscard]] virtual const c10::IValue* kept_output() const { return nullptr; }
  /// Sets the expected sizes of outputs, so that memory of these sizes is poisoned before each sample.
  virtual void expect_outputs_like(const c10::IValue& output);

  /// Throws ImplementationThrew with the exception being handled, and with the remark of OnOtherValues unless memory
  /// ran out. Rethrows an ImplementationThrew.
  void failed() override;

 protected:
  explicit Implementation(const OperandSets& operands);

  [[nodiscard]] const OperandSets& operands() const { return operands_; }
  /// Announces the call, restores the operands of the set and the generators, and poisons the memory for outputs.
  void start(std::size_t set);
  void announce() const;
  /// Returns the index of the call, of a sample of `calls` calls, whose output is kept. The other outputs are destroyed
  /// at once, as in ordinary code.
  [[nodiscard]] std::int64_t kept_call(std::int64_t calls) const {
    const auto& any = operands_.kept_call;
    return any ? static_cast<std::int64_t>(*any % static_cast<std::uint64_t>(calls)) : calls - 1;
  }
  /// Returns a copy of the output in memory that is reserved for copies.
  [[nodiscard]] c10::IValue copy_of(const c10::IValue& output);
  /// captured() returns the result of keep_output() for an output; replayed() returns the output from that, poisoned.
  [[nodiscard]] static std::shared_ptr<void> captured(c10::IValue output);
  [[nodiscard]] static c10::IValue replayed(const std::shared_ptr<void>& captured);

 private:
  struct Memory;
  const OperandSets& operands_;
  std::unique_ptr<Memory> memory_;
};

/// Calls an implementation so many times in a row on set 0, as samples do, and returns the output of the last call:
/// calls that come back to back can be told apart from single ones. Throws ImplementationThrew for what a call throws.
[[nodiscard]] inline c10::IValue call_in_a_row(Implementation& implementation, std::int64_t calls) {
  try {
    for (; calls > 1; --calls) (void)implementation.call(0);
    return implementation.call(0);
  } catch (...) {
    implementation.failed();
    throw;
  }
}

/// ... once if calls write to operands, since each of them would go on from what the one before it has left.
[[nodiscard]] inline c10::IValue call_in_a_row(Implementation& implementation, const OperandSets& operands,
                                               std::int64_t calls) {
  return call_in_a_row(implementation, operands.mutated.empty() ? calls : 1);
}

}  // namespace pace::detail

#ifdef PACE_HEADER_ONLY
#include "pace/subject/implementation-inl.hpp"
#endif
