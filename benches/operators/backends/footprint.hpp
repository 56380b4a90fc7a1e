// How much memory the outputs of a call will take, found out without taking it.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/empty_strided.h>

#include "benches/operators/calls/operator_call.hpp"

namespace pace::benches::operators {

namespace detail {

[[nodiscard]] inline std::int64_t tensor_bytes(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().defined() ? static_cast<std::int64_t>(value.toTensor().nbytes()) : 0;
  std::int64_t bytes = 0;
  if (value.isTensorList()) {
    for (const c10::IValue& item : value.toListRef()) bytes += tensor_bytes(item);
  }
  return bytes;
}

}  // namespace detail

/// Bytes of the tensors that the call will allocate as its results: the operator is run on `meta` tensors, which have
/// shapes and no memory. None if it cannot run like that: shapes of results depend on values, or there is no meta
/// kernel. Memory that the operator allocates on the way does not count.
[[nodiscard]] inline std::optional<std::int64_t> output_bytes(const OperatorCall& call) {
  const c10::Device meta(c10::kMeta);
  try {
    std::vector<at::Tensor> tensors;
    for (const at::Tensor& tensor : call.tensors()) {
      tensors.push_back(
          at::empty_strided(tensor.sizes(), tensor.strides(), at::TensorOptions().dtype(tensor.dtype()).device(meta)));
    }
    torch::jit::Stack stack;
    call.fill_stack(stack, tensors);
    for (c10::IValue& argument : stack) {
      if (argument.isDevice()) argument = meta;
      // Numbers that stand for tensors live on the CPU, where every operator takes them; other constants hold none.
    }
    call.handle().callBoxed(stack);
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < stack.size(); ++i) {
      if (call.schema().returns().at(i).alias_info() == nullptr) bytes += detail::tensor_bytes(stack[i]);
    }
    return bytes;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace pace::benches::operators
