// Structure of a functor's result: sequences, dicts, none.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

#include <cstddef>
#include <utility>
#include <vector>

namespace pace::check::detail {

/// The keys in Python's sorted order if all are strings or all integers; otherwise in the dict's order.
[[nodiscard]] std::vector<c10::IValue> sorted_keys(const auto& dict) {
  std::vector<c10::IValue> keys;
  bool strings = true, integers = true;
  for (const auto& entry : dict.toGenericDict()) {
    keys.push_back(entry.key());
    strings = strings && entry.key().isString();
    integers = integers && entry.key().isInt();
  }
  if (!strings && !integers) return keys;
  const auto less = [&](const auto& a, const auto& b) {
    return strings ? a.toStringRef() < b.toStringRef() : a.toInt() < b.toInt();
  };
  // Insertion sort: outputs have few keys, and std::sort takes long to compile.
  for (std::size_t i = 1; i < keys.size(); ++i)
    for (std::size_t j = i; j > 0 && less(keys[j], keys[j - 1]); --j) std::swap(keys[j], keys[j - 1]);
  return keys;
}

[[nodiscard]] bool is_sequence(const auto& value) { return value.isList() || value.isTuple(); }

[[nodiscard]] at::ArrayRef<c10::IValue> elements_of_sequence(const auto& value) {
  return value.isList() ? value.toListRef() : at::ArrayRef<c10::IValue>(value.toTupleRef().elements());
}

[[nodiscard]] bool is_none(const auto& value) {
  return value.isNone() || (value.isTensor() && !value.toTensor().defined());
}

/// The tensors in `value`, a dict's by sorted_keys(), so that tensors of equal structures correspond.
[[nodiscard]] inline std::vector<at::Tensor> tensors_in_order(const c10::IValue& value) {
  std::vector<at::Tensor> tensors;
  const auto add = [&](const c10::IValue& element) {
    for (auto& tensor : tensors_in_order(element)) tensors.push_back(std::move(tensor));
  };
  if (value.isTensor()) {
    if (value.toTensor().defined()) tensors.push_back(value.toTensor());
  } else if (is_sequence(value)) {
    for (const auto& element : elements_of_sequence(value)) add(element);
  } else if (value.isGenericDict()) {
    for (const auto& key : sorted_keys(value)) add(value.toGenericDict().at(key));
  }
  return tensors;
}

/// The real and complex numbers in `value` that are not tensors, a dict's by sorted_keys().
[[nodiscard]] inline std::vector<c10::IValue> numbers_in_order(const c10::IValue& value) {
  std::vector<c10::IValue> numbers;
  const auto add = [&](const c10::IValue& element) {
    for (auto& number : numbers_in_order(element)) numbers.push_back(std::move(number));
  };
  if (value.isDouble() || value.isComplexDouble()) {
    numbers.push_back(value);
  } else if (is_sequence(value)) {
    for (const auto& element : elements_of_sequence(value)) add(element);
  } else if (value.isGenericDict()) {
    for (const auto& key : sorted_keys(value)) add(value.toGenericDict().at(key));
  }
  return numbers;
}

}  // namespace pace::check::detail
