// Operands: the inputs of a case, in as many equal copies as implementations need.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include "pace/check/ivalue.hpp"
#include "pace/core/config.hpp"

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
  static at::Tensor clone(const at::Tensor& value);
  static void collect(const at::Tensor& value, std::vector<at::Tensor>& tensors) {
    if (value.defined()) tensors.push_back(value);
  }
};

template <>
struct OperandTraits<c10::IValue> {
  static c10::IValue clone(const c10::IValue& value);
  static void collect(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
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

/// `Float[16, 1024]`, `Half[4, 8] with strides [1, 4] on cuda`: type and layout, not the values.
[[nodiscard]] std::string describe_tensor(const at::Tensor& tensor);

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

/// One copy of the operands that a comparison calls its implementations with.
class OperandSet {
 public:
  OperandSet() = default;
  OperandSet(const OperandSet&) = delete;
  OperandSet& operator=(const OperandSet&) = delete;
  virtual ~OperandSet() = default;
  /// Equal values, in memory of their own.
  [[nodiscard]] virtual std::unique_ptr<OperandSet> clone() const = 0;
  /// The tensors of all operands, in order. They share memory with the operands.
  [[nodiscard]] virtual std::vector<at::Tensor> tensors() const = 0;
  /// What they are, in words that tell them from other operands: types and sizes of tensors, and numbers.
  [[nodiscard]] virtual std::string describe() const = 0;
};

template <class... Operands>
[[nodiscard]] std::tuple<Operands...> clone_operands(const std::tuple<Operands...>& operands) {
  return std::apply(
      [](const Operands&... each) { return std::tuple<Operands...>(OperandTraits<Operands>::clone(each)...); },
      operands);
}

/// The tensors of all operands, in order. They share memory with the operands.
template <class... Operands>
[[nodiscard]] std::vector<at::Tensor> tensors_in(const std::tuple<Operands...>& operands) {
  std::vector<at::Tensor> tensors;
  std::apply([&](const Operands&... each) { (OperandTraits<Operands>::collect(each, tensors), ...); }, operands);
  return tensors;
}

/// The one place where the operands' types are known.
template <class... Operands>
class TypedOperands final : public OperandSet {
 public:
  explicit TypedOperands(std::tuple<Operands...> operands) : values(std::move(operands)) {}
  [[nodiscard]] std::unique_ptr<OperandSet> clone() const override {
    return std::make_unique<TypedOperands>(clone_operands(values));
  }
  [[nodiscard]] std::vector<at::Tensor> tensors() const override { return tensors_in(values); }
  [[nodiscard]] std::string describe() const override { return describe_operands(values); }

  std::tuple<Operands...> values;
};

[[nodiscard]] double bytes_of(const std::vector<at::Tensor>& tensors);

}  // namespace detail
}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/compare/operands-inl.hpp"
#endif
