// Implementation: a user's callable, prepared for checking and for the timed loop.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/ivalue.hpp"
#include "pace/check/out_of_memory.hpp"
#include "pace/check/poison.hpp"
#include "pace/check/restore.hpp"
#include "pace/compare/captured_output.hpp"
#include "pace/compare/operands.hpp"
#include "pace/compare/output_copy.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/core/activity.hpp"
#include "pace/core/error.hpp"
#include "pace/timing/do_not_optimize.hpp"
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

  [[nodiscard]] bool may_change(std::size_t operand) const {
    return std::find(mutated.begin(), mutated.end(), operand) != mutated.end();
  }
  /// Whether a tensor shares memory with an operand.
  [[nodiscard]] bool aliases(const at::Tensor& tensor) const {
    const auto in = [&](const auto& set) {
      return std::any_of(set.begin(), set.end(), [&](const auto& operand) { return operand.is_alias_of(tensor); });
    };
    return std::any_of(tensors.begin(), tensors.end(), in) ||
           std::any_of(spare_tensors.begin(), spare_tensors.end(), [&](const auto& spares) {
             return std::any_of(spares.begin(), spares.end(), in);
           });
  }
  /// What calls find in all sets at present, whatever they write.
  [[nodiscard]] const std::vector<at::Tensor>& values() const { return renewed.empty() ? pristine : renewed; }
  void restore(std::size_t set) const {
    for (const std::size_t i : mutated) check::restore_tensor(values()[i], tensors[set][i]);
    if (spares.empty()) return;
    for (const auto& spare : spare_tensors[set])
      for (const std::size_t i : mutated) check::restore_tensor(values()[i], spare[i]);
  }
  void restore_all(std::size_t set) const {
    for (std::size_t i = 0; i < pristine.size(); ++i) check::restore_tensor(pristine[i], tensors[set][i]);
  }
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
[[nodiscard]] inline std::string current_message() {
  try {
    throw;
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

/// What the exception being handled says.
[[nodiscard]] inline Failure current_failure() {
  try {
    throw;
  } catch (const ImplementationThrew& thrown) {
    return thrown.failure;
  } catch (const DeviceMissing& error) {
    return {error.what(), Failure::Device::missing};
  } catch (const DeviceLost& error) {
    return {error.what(), Failure::Device::lost};
  } catch (const std::bad_alloc&) {
    return {.message = "memory ran out (std::bad_alloc)", .out_of_memory = true};
  } catch (const std::exception& error) {
    return {.message = current_message(), .out_of_memory = check::means_out_of_memory(error)};
  } catch (...) {
    return {.message = current_message()};
  }
}

/// A callable of the user as a comparison sees it: called once to be checked, and sampled as a Subject.
class Implementation : public timing::Subject {
 public:
  /// Among those of the comparison.
  std::size_t index = 0;
  /// One call on operand set `set`; what it returned. `returned` is called when it has, before that is converted.
  virtual c10::IValue call(std::size_t set, const std::function<void()>& returned) = 0;
  c10::IValue call(std::size_t set) { return call(set, {}); }
  /// What the last timed call returned; gives it up.
  virtual c10::IValue take_output() = 0;
  /// The outputs of later calls look like this one: memory of their sizes is poisoned before each sample.
  virtual void expect_outputs_like(const c10::IValue& output) = 0;
};

}  // namespace pace::detail
