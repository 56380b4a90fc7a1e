// Operands: the inputs of a case, in as many equal copies as implementations need.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/clone.hpp"
#include "pace/check/ivalue.hpp"
#include "pace/core/view.hpp"

namespace pace {

/// How pace copies an operand and finds the tensors inside. Anything without tensors is copied by its constructor.
/// Specialise it for a type of your own that holds tensors: the two functions are all there is.
template <class T>
struct OperandTraits {
  static T clone(const T& value) { return value; }
  static void collect(const T&, std::vector<at::Tensor>&) {}
};

template <>
struct OperandTraits<at::Tensor> {
  /// Equal values, strides and alignment phase, in memory of its own.
  static at::Tensor clone(const auto& value) { return value.defined() ? check::clone_input(value) : value; }
  static void collect(const auto& value, std::vector<at::Tensor>& tensors) {
    if (value.defined()) tensors.push_back(value);
  }
};

template <>
struct OperandTraits<c10::IValue> {
  static c10::IValue clone(const auto& value) { return check::clone_ivalue(value); }
  static void collect(const auto& value, std::vector<at::Tensor>& tensors) {
    for (auto& tensor : check::tensors_of(value)) tensors.push_back(std::move(tensor));
  }
};

template <class T>
struct OperandTraits<std::vector<T>> {
  static std::vector<T> clone(const std::vector<T>& values) {
    std::vector<T> copy;
    copy.reserve(values.size());
    for (const auto& value : values) copy.push_back(OperandTraits<T>::clone(value));
    return copy;
  }
  static void collect(const std::vector<T>& values, std::vector<at::Tensor>& tensors) {
    for (const auto& value : values) OperandTraits<T>::collect(value, tensors);
  }
};

template <class T>
struct OperandTraits<std::optional<T>> {
  static std::optional<T> clone(const std::optional<T>& value) {
    return value ? std::optional<T>(OperandTraits<T>::clone(*value)) : std::nullopt;
  }
  static void collect(const std::optional<T>& value, std::vector<at::Tensor>& tensors) {
    if (value) OperandTraits<T>::collect(*value, tensors);
  }
};

namespace detail {

template <class... Operands>
[[nodiscard]] std::tuple<Operands...> clone_operands(const std::tuple<Operands...>& operands) {
  return std::apply([](const Operands&... each) { return std::tuple<Operands...>(OperandTraits<Operands>::clone(each)...); },
                    operands);
}

/// The tensors of all operands, in order. They share memory with the operands.
template <class... Operands>
[[nodiscard]] std::vector<at::Tensor> tensors_in(const std::tuple<Operands...>& operands) {
  std::vector<at::Tensor> tensors;
  std::apply([&](const Operands&... each) { (OperandTraits<Operands>::collect(each, tensors), ...); }, operands);
  return tensors;
}

[[nodiscard]] double bytes_of(const auto& tensors) {
  double bytes = 0;
  for (const auto& tensor : tensors) bytes += static_cast<double>(tensor.nbytes());
  return bytes;
}

}  // namespace detail
}  // namespace pace
