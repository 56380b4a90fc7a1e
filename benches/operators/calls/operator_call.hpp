// One operator call: tensors that may be exchanged, every other argument bound.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/enum_tag.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty_strided.h>
#include <c10/core/Device.h>

#include "benches/operators/calls/arguments.hpp"
#include "benches/operators/calls/former_names.hpp"
#include "benches/operators/calls/operator_name.hpp"
#include "benches/operators/calls/signature.hpp"
#include "pace/base/error.hpp"
#include "pace/inputs/generate.hpp"

namespace pace::benches::operators {

/// An operator of the running LibTorch with all its arguments: the subject of an operator benchmark.
///
/// The tensors among the arguments (also those inside lists) are numbered in the order args, then kwargs; a run takes
/// any other tensors of the same metadata in their place. All other arguments are constants of the call.
///
/// A run goes through the dispatcher under the caller's grad mode. Benches run under `c10::InferenceMode`: recorded
/// calls were seen below autograd. Only that mode leaves autograd's layers out of the dispatch; `NoGradGuard` still
/// passes through them. So the eager time belongs to the recorded call alone.
class OperatorCall {
 public:
  /// Looks the operator up (`aten.add.Tensor`; the overload `default` is the schema's nameless one). Converts the
  /// inputs to the types of its schema, merges kwargs and fills in defaults. An operator that this LibTorch has under
  /// another name (see former_names.hpp) is bound by that one. Throws `Unsupported` when this LibTorch has no such
  /// operator, `InputError` at `where` when the arguments do not fit.
  [[nodiscard]] static OperatorCall bind(std::string_view name, const inputs::Inputs& inputs,
                                         const Location& where = {}) {
    if (!find_operator(name)) {
      if (const auto present = detail::present_call(name, inputs)) {
        return OperatorCall(present->handle, present->inputs, where);
      }
    }
    return OperatorCall(require_operator(name), inputs, where);
  }

  /// As the recorded files write it, such as `aten.add.Tensor`.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const c10::OperatorHandle& handle() const noexcept { return handle_; }
  [[nodiscard]] const c10::FunctionSchema& schema() const { return handle_.schema(); }
  /// All arguments in schema order.
  [[nodiscard]] const std::vector<BoundArgument>& arguments() const noexcept { return arguments_; }
  /// The tensors that the call was bound with.
  [[nodiscard]] const std::vector<at::Tensor>& tensors() const noexcept { return tensors_; }

  /// The constant bound to the parameter of that name. Throws `Error` for a tensor parameter or an unknown name.
  [[nodiscard]] const c10::IValue& constant(std::string_view parameter) const {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (schema().arguments()[i].name() != parameter) continue;
      if (arguments_[i].kind == BoundArgument::Kind::constant) return arguments_[i].value;
      throw Error(name_ + ": argument '" + std::string(parameter) + "' is a tensor, not a constant");
    }
    throw Error(name_ + " has no argument '" + std::string(parameter) + "'");
  }

  /// The same call on other tensors, one for each of `tensors()`. Their metadata may differ (channels-last copies).
  [[nodiscard]] OperatorCall with_tensors(std::vector<at::Tensor> tensors) const {
    if (tensors.size() != tensors_.size()) {
      throw Error(name_ + " takes " + std::to_string(tensors_.size()) + " tensors, got " +
                  std::to_string(tensors.size()));
    }
    OperatorCall other = *this;
    other.tensors_ = std::move(tensors);
    return other;
  }

  /// The same call on tensors of the same dtypes, sizes and strides that are on `device` and hold no memory, which is
  /// all that a compiler asks. It cannot be run.
  [[nodiscard]] OperatorCall without_memory(c10::Device device) const {
    std::vector<at::Tensor> tensors;
    for (const auto& tensor : tensors_) {
      // Memory that is not touched costs next to nothing, and is given back before the next tensor's is taken.
      tensors.push_back(at::empty_strided(tensor.sizes(), tensor.strides(), tensor.options().device(device)));
      tensors.back().storage().unsafeGetStorageImpl()->set_data_ptr_noswap(
          c10::DataPtr(nullptr, tensors.back().device()));
    }
    return with_tensors(std::move(tensors));
  }

  /// Replaces the contents of `stack` by the arguments, with these tensors, in schema order. Reusing one stack keeps
  /// its memory, so that a run allocates nothing of its own (but for list arguments that hold tensors).
  void fill_stack(torch::jit::Stack& stack, const std::vector<at::Tensor>& tensors) const {
    stack.clear();
    stack.reserve(arguments_.size());
    for (const BoundArgument& argument : arguments_) stack.push_back(argument.with(tensors));
    if (reshapes_) stack.front() = reshapable(tensors.front());
  }

  /// Whether a run changes the shape of its first tensor, as unsqueeze_ does. It then gets another handle to the same
  /// memory, so that every call finds the shape that was recorded; to make one is part of the run.
  [[nodiscard]] bool reshapes_input() const noexcept { return reshapes_; }

  /// A tensor of the same memory. Changes of its shape leave the given one's alone.
  [[nodiscard]] static at::Tensor reshapable(const at::Tensor& tensor) {
    return at::Tensor(tensor.unsafeGetTensorImpl()->shallow_copy_and_detach(/*version_counter=*/0,
                                                                            /*allow_tensor_metadata_change=*/true));
  }

  /// Runs the operator; `stack` holds its returns afterwards.
  void run_into(torch::jit::Stack& stack, const std::vector<at::Tensor>& tensors) const {
    fill_stack(stack, tensors);
    handle_.callBoxed(stack);
  }

  /// The returns in a stack as one value: none, the only one, or a tuple of several. The stack keeps its memory.
  [[nodiscard]] static c10::IValue take_result(torch::jit::Stack& stack) {
    using c10::ivalue::Tuple;
    switch (stack.size()) {
      case 0:
        return {};
      case 1:
        return std::move(stack[0]);
      // Two and three fit into the tuple itself, without an allocation for its elements.
      case 2:
        return Tuple::create(std::move(stack[0]), std::move(stack[1]));
      case 3:
        return Tuple::create(std::move(stack[0]), std::move(stack[1]), std::move(stack[2]));
      default:
        return Tuple::create(
            std::vector<c10::IValue>(std::make_move_iterator(stack.begin()), std::make_move_iterator(stack.end())));
    }
  }

  /// Runs the operator with these tensors (as many as `tensors()`).
  [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) const {
    torch::jit::Stack stack;
    run_into(stack, tensors);
    return take_result(stack);
  }

  /// The tensors that a run writes to, ascending: those that the schema marks as written, and the running statistics
  /// that some normalisations update although their schemas do not say so.
  [[nodiscard]] const std::vector<std::size_t>& mutated_tensors() const noexcept { return mutated_; }
  [[nodiscard]] bool mutates_inputs() const noexcept { return !mutated_.empty(); }

  /// The operator with the metadata (dtype, sizes, strides, device) of every tensor and all constants, as one line.
  /// Equal lines mean equal compiled code, so it serves as a key, and in reports as the name of the call.
  [[nodiscard]] std::string signature() const {
    std::string text = name_ + '(';
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (i != 0) text += ", ";
      text += schema().arguments()[i].name() + '=';
      text += detail::signature_of(arguments_[i].with(tensors_));
    }
    return text + ')';
  }

 private:
  OperatorCall(const c10::OperatorHandle& handle, const inputs::Inputs& inputs, const Location& where)
      : handle_(handle), name_(detail::dotted_name(handle.operator_name())) {
    ArgumentBinder binder(name_, handle.schema(), where);
    arguments_ = binder.bind(inputs);
    tensors_ = std::move(binder.tensors);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (!detail::writes_to(handle.schema(), i, arguments_)) continue;
      for (const std::int32_t position : arguments_[i].positions) {
        if (position != BoundArgument::hole) mutated_.push_back(static_cast<std::size_t>(position));
      }
    }
    std::sort(mutated_.begin(), mutated_.end());
    reshapes_ = handle.hasTag(at::Tag::inplace_view) && !arguments_.empty() &&
                arguments_.front().kind == BoundArgument::Kind::tensor && arguments_.front().positions.front() == 0;
  }

  c10::OperatorHandle handle_;
  std::string name_;
  std::vector<BoundArgument> arguments_;
  std::vector<at::Tensor> tensors_;
  std::vector<std::size_t> mutated_;
  bool reshapes_ = false;
};

}  // namespace pace::benches::operators
