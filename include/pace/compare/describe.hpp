// The operands of a comparison in words, by which results of other operands are told apart.
#pragma once

#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/ScalarType.h>
#include <c10/util/ArrayRef.h>

#include "pace/compare/operands.hpp"

namespace pace::detail {

/// `Float[16, 1024]`, `Half[4, 8] with strides [1, 4] on cuda`: type and layout, not the values.
[[nodiscard]] inline std::string describe_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return "no tensor";
  std::ostringstream text;
  text << c10::toString(tensor.scalar_type()) << tensor.sizes();
  if (tensor.layout() != at::kStrided) text << ' ' << tensor.layout();
  else if (!tensor.is_contiguous()) text << " with strides " << tensor.strides();
  if (!tensor.is_cpu()) text << " on " << at::Device(tensor.device().type()).str();
  return text.str();
}

/// A number is itself, and so is an IValue without tensors; anything else is the tensors in it.
template <class T>
[[nodiscard]] std::string describe_operand(const T& value) {
  std::ostringstream text;
  if constexpr (std::is_arithmetic_v<T>) {
    text << +value;
  } else {
    std::vector<at::Tensor> tensors;
    OperandTraits<T>::collect(value, tensors);
    for (const auto& tensor : tensors) text << (&tensor == &tensors.front() ? "" : ", ") << describe_tensor(tensor);
    if constexpr (std::is_same_v<T, c10::IValue>)
      if (tensors.empty()) text << value;
  }
  return text.str();
}

template <class... Operands>
[[nodiscard]] std::string describe_operands(const std::tuple<Operands...>& operands) {
  std::string text;
  const auto add = [&](const std::string& one) { text += (text.empty() || one.empty() ? "" : ", ") + one; };
  std::apply([&](const Operands&... each) { (add(describe_operand(each)), ...); }, operands);
  return text;
}

}  // namespace pace::detail
