// Implementation: what is compared, as checks and clocks see it, whatever the user's callable is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/compare/operands.hpp"
#include "pace/core/config.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

/// What all implementations of one comparison share. `sets` are the operand buffers; `pristine` their first values.
struct OperandSets {
  std::vector<std::unique_ptr<OperandSet>> sets;
  /// Per set, the tensors inside; `tensors[set][i]` corresponds to `pristine[i]`.
  std::vector<std::vector<at::Tensor>> tensors;
  std::vector<at::Tensor> pristine;
  /// What they hold in this round, where each has values of its own (see RoundValues); empty: the first values.
  std::vector<at::Tensor> renewed;
  /// Which tensors the baseline writes to: they are outputs too, and get their values back before each run.
  std::vector<std::size_t> mutated;
  /// Where the baseline writes to operands: further copies of each set and the tensors inside, one for every further
  /// call of a sample, so that each call finds the first values. Empty otherwise.
  std::vector<std::vector<std::unique_ptr<OperandSet>>> spares;
  std::vector<std::vector<std::vector<at::Tensor>>> spare_tensors;
  /// The baseline draws random numbers: the generators are put into one state before each run.
  bool random = false;
  std::uint64_t seed = 0;

  /// Whether the baseline writes to the operand tensor.
  [[nodiscard]] bool may_change(std::size_t operand) const;
  /// Whether a tensor shares memory with an operand.
  [[nodiscard]] bool aliases(const at::Tensor& tensor) const;
  /// What calls find in all sets at present, whatever they write.
  [[nodiscard]] const std::vector<at::Tensor>& values() const { return renewed.empty() ? pristine : renewed; }
  /// Gives the operands of a set, and its spares, what the baseline changed of values().
  void restore(std::size_t set) const;
  /// Gives the operands of a set their first values.
  void restore_all(std::size_t set) const;
};

/// An exception, in words, and what it says of the device.
struct Failure {
  std::string message;
  enum class Device { fine, missing, lost } device = Device::fine;
  /// The device's or the host's.
  bool out_of_memory = false;
};

/// An exception out of an implementation, or out of timing it.
struct ImplementationThrew {
  std::size_t index;
  Failure failure;
};

/// What is wrong with an implementation, found while it was timed.
struct ImplementationWrong {
  std::size_t index;
  std::string message;
};

/// The message of the exception being handled.
[[nodiscard]] std::string current_message();

/// What the exception being handled says.
[[nodiscard]] Failure current_failure();

/// A callable of the user: called once to be checked, and sampled as a Subject. What a type of callables adds is how it is
/// called and where its output is.
class Implementation : public timing::Subject {
 public:
  ~Implementation() override;
  /// Among those of the comparison.
  std::size_t index = 0;
  /// One call on operand set `set`; what it returned. `returned` is called when it has, before that is converted.
  virtual c10::IValue call(std::size_t set, const std::function<void()>& returned) = 0;
  c10::IValue call(std::size_t set) { return call(set, {}); }
  /// What the last timed call returned; gives it up.
  virtual c10::IValue take_output() = 0;
  /// The outputs of later calls look like this one: memory of their sizes is poisoned before each sample.
  virtual void expect_outputs_like(const c10::IValue& output);

  /// Throws ImplementationThrew with what the exception being handled says.
  void failed() override;

 protected:
  explicit Implementation(const OperandSets& operands);

  [[nodiscard]] const OperandSets& operands() const { return operands_; }
  /// Announces the call, restores the operands of the set and the generators, and poisons the memory that outputs will
  /// get.
  void start(std::size_t set);
  void announce() const;
  /// The output in memory that is reserved for copies of it.
  [[nodiscard]] c10::IValue copy_of(const c10::IValue& output);
  /// What keep_output() returns for an output, and back: the output, poisoned.
  [[nodiscard]] static std::shared_ptr<void> captured(c10::IValue output);
  [[nodiscard]] static c10::IValue replayed(const std::shared_ptr<void>& captured);

 private:
  struct Memory;
  const OperandSets& operands_;
  std::unique_ptr<Memory> memory_;
};

}  // namespace pace::detail

#ifdef PACE_HEADER_ONLY
#include "pace/compare/implementation-inl.hpp"
#endif
