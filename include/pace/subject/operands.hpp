// Operands: the inputs of a comparison, in as many equal copies as the implementations need.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <locale>
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

#include "pace/base/config.hpp"
#include "pace/check/ivalue.hpp"

namespace pace {

namespace check::detail {
class Clones;
}

/// How pace copies an operand and finds its tensors. This template is for values without tensors. Specialise it, with
/// these two functions, for your type that holds tensors.
template <class T>
struct OperandTraits {
  /// Returns a copy of `value` by its copy constructor.
  static T clone(const T& value) { return value; }
  /// Appends an operand's tensors, which share memory with it; here there are none.
  static void collect(const T&, std::vector<at::Tensor>&) {}
};

/// Copies a tensor.
template <>
struct OperandTraits<at::Tensor> {
  /// Returns a tensor with equal values, strides and alignment in memory of its own.
  static at::Tensor clone(const at::Tensor& value);
  /// Appends the tensor, if it is defined.
  static void collect(const at::Tensor& value, std::vector<at::Tensor>& tensors) {
    if (value.defined()) tensors.push_back(value);
  }
};

/// Copies an IValue with its tensors.
template <>
struct OperandTraits<c10::IValue> {
  /// Returns a copy whose tensors have memory of their own.
  static c10::IValue clone(const c10::IValue& value);
  /// Appends all tensors in the value.
  static void collect(const c10::IValue& value, std::vector<at::Tensor>& tensors) {
    for (auto& tensor : check::tensors_of(value)) tensors.push_back(std::move(tensor));
  }
};

/// Copies a vector element by element.
template <class T>
struct OperandTraits<std::vector<T>> {
  /// Returns the vector of the copied elements.
  static std::vector<T> clone(const std::vector<T>& values) {
    std::vector<T> copy;
    copy.reserve(values.size());
    for (const auto& value : values) copy.push_back(OperandTraits<T>::clone(value));
    return copy;
  }
  /// Appends the tensors of all elements, in order.
  static void collect(const std::vector<T>& values, std::vector<at::Tensor>& tensors) {
    for (const auto& value : values) OperandTraits<T>::collect(value, tensors);
  }
};

/// Copies the value of an optional, if there is one.
template <class T>
struct OperandTraits<std::optional<T>> {
  /// Returns the copied value, or nothing.
  static std::optional<T> clone(const std::optional<T>& value) {
    return value ? std::optional<T>(OperandTraits<T>::clone(*value)) : std::nullopt;
  }
  /// Appends the tensors of the value, if there is one.
  static void collect(const std::optional<T>& value, std::vector<at::Tensor>& tensors) {
    if (value) OperandTraits<T>::collect(*value, tensors);
  }
};

namespace detail {

/// Type and layout of a tensor, such as `Float[16, 1024]` or `Half[4, 8] with strides [1, 4] on cuda`.
[[nodiscard]] std::string describe_tensor(const at::Tensor& tensor);

/// Describes an operand: a number's value, or its tensors. An IValue without tensors is described by its value.
template <class T>
[[nodiscard]] std::string describe_operand(const T& value) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
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

/// One copy of the operands of a comparison.
class OperandSet {
 public:
  OperandSet() = default;
  OperandSet(const OperandSet&) = delete;
  OperandSet& operator=(const OperandSet&) = delete;
  virtual ~OperandSet() = default;
  /// Returns a copy with equal values in memory of its own.
  [[nodiscard]] virtual std::unique_ptr<OperandSet> clone() const = 0;
  /// Returns the tensors of all operands, in order. They share memory with the operands.
  [[nodiscard]] virtual std::vector<at::Tensor> tensors() const = 0;
  /// Returns a description that distinguishes these operands from others: types and sizes of tensors, and numbers.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Returns the operands that are integers.
  [[nodiscard]] virtual std::vector<std::int64_t> numbers() const { return {}; }
};

/// Returns the tensors of all operands, in order. They share memory with the operands.
template <class... Operands>
[[nodiscard]] std::vector<at::Tensor> tensors_in(const std::tuple<Operands...>& operands) {
  std::vector<at::Tensor> tensors;
  std::apply([&](const Operands&... each) { (OperandTraits<Operands>::collect(each, tensors), ...); }, operands);
  return tensors;
}

/// Copies of some operands. Tensors that share memory, such as the chunks of one projection, share it in the copies
/// too. An operand that you pass twice is one.
class OperandClones {
 public:
  /// Copies these tensors.
  explicit OperandClones(const std::vector<at::Tensor>& tensors);
  /// Returns the copy of one of the tensors, or an undefined tensor as it is.
  [[nodiscard]] at::Tensor of(const at::Tensor& tensor) const;
  /// Returns the value with the copies of its tensors.
  [[nodiscard]] c10::IValue of(const c10::IValue& value) const;
  template <class T>
  [[nodiscard]] std::vector<T> of(const std::vector<T>& values) const {
    std::vector<T> copy;
    copy.reserve(values.size());
    for (const auto& value : values) copy.push_back(of(value));
    return copy;
  }
  template <class T>
  [[nodiscard]] std::optional<T> of(const std::optional<T>& value) const {
    return value ? std::optional<T>(of(*value)) : std::nullopt;
  }
  /// A value of any other type copies itself.
  template <class T>
  [[nodiscard]] T of(const T& value) const {
    return OperandTraits<T>::clone(value);
  }

 private:
  std::shared_ptr<const check::detail::Clones> clones_;
};

/// Whether OperandClones copies the tensors of a type. Otherwise its OperandTraits do.
template <class T>
inline constexpr bool has_known_tensors = std::is_same_v<T, at::Tensor> || std::is_same_v<T, c10::IValue>;
template <class T>
inline constexpr bool has_known_tensors<std::vector<T>> = has_known_tensors<T>;
template <class T>
inline constexpr bool has_known_tensors<std::optional<T>> = has_known_tensors<T>;

template <class... Operands>
[[nodiscard]] std::tuple<Operands...> clone_operands(const std::tuple<Operands...>& operands) {
  std::vector<at::Tensor> tensors;
  const auto collect = [&]<class T>(const T& value) {
    if constexpr (has_known_tensors<T>) OperandTraits<T>::collect(value, tensors);
  };
  std::apply([&](const Operands&... each) { (collect(each), ...); }, operands);
  const OperandClones clones(tensors);
  return std::apply([&](const Operands&... each) { return std::tuple<Operands...>(clones.of(each)...); }, operands);
}

/// Operands with their static types.
template <class... Operands>
class TypedOperands final : public OperandSet {
 public:
  explicit TypedOperands(std::tuple<Operands...> operands) : values(std::move(operands)) {}
  [[nodiscard]] std::unique_ptr<OperandSet> clone() const override {
    return std::make_unique<TypedOperands>(clone_operands(values));
  }
  [[nodiscard]] std::vector<at::Tensor> tensors() const override { return tensors_in(values); }
  [[nodiscard]] std::string describe() const override { return describe_operands(values); }
  [[nodiscard]] std::vector<std::int64_t> numbers() const override {
    std::vector<std::int64_t> found;
    const auto add = [&](const auto& value) {
      using Value = std::decay_t<decltype(value)>;
      if constexpr (std::is_integral_v<Value>)
        found.push_back(static_cast<std::int64_t>(value));
      else if constexpr (std::is_same_v<Value, c10::IValue>) {
        if (value.isInt()) found.push_back(value.toInt());
      }
    };
    std::apply([&](const Operands&... each) { (add(each), ...); }, values);
    return found;
  }

  std::tuple<Operands...> values;
};

[[nodiscard]] double bytes_of(const std::vector<at::Tensor>& tensors);

/// Whether to make as few copies of these operands as possible. Below Audit::strict, all copies then take about seven
/// times the memory of operands and outputs. Smaller operands are copied up to 25 times, which nobody notices.
[[nodiscard]] inline bool are_large(const std::vector<at::Tensor>& tensors) {
  constexpr double most_bytes = 16 << 20;
  return bytes_of(tensors) > most_bytes;
}

}  // namespace detail
}  // namespace pace

#ifdef PACE_HEADER_ONLY
#include "pace/subject/operands-inl.hpp"
#endif
