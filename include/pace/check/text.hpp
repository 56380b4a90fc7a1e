// Numbers, shapes, types and indices as text, for messages of the checks.
#pragma once

#include <ATen/core/ivalue.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "pace/base/c_numbers.hpp"

namespace pace::check::detail {

/// Returns the numbers from 0 to below `count`, for messages: `0`, `0 or 1`, `0, 1 or 2`, `0 to 11`.
[[nodiscard]] inline std::string numbers_below(std::size_t count) {
  constexpr std::size_t most_listed = 4;
  if (count == 0) return "none, since there are none";
  std::string last = std::to_string(count - 1);
  if (count == 1) return last;
  if (count > most_listed) return "0 to " + last;
  std::string text = "0";
  for (std::size_t i = 1; i + 1 < count; ++i) text += ", " + std::to_string(i);
  return text + " or " + last;
}

/// Shortest text that reads back as the same `Real`, a float or a double: 0.1, 1e-05, 3.0, inf, nan. Has no exponent
/// between 1e-4 and 1e16, as in Python. Not by <charconv>, which takes long to compile.
template <class Real>
[[nodiscard]] std::string number_text(Real value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const CNumbers c_numbers;
  std::array<char, 64> text;
  const auto print = [&](const char* format, int digits) {
    std::snprintf(text.data(), text.size(), format, digits, static_cast<double>(value));
    return static_cast<Real>(sizeof(Real) == sizeof(float) ? std::strtof(text.data(), nullptr)
                                                           : std::strtod(text.data(), nullptr));
  };
  int decimals = 0;
  while (print("%.*e", decimals) != value) ++decimals;
  const Real size = std::abs(value);
  if (size != 0 && (size < Real(1e-4) || size >= Real(1e16))) return text.data();
  const int exponent = std::atoi(std::strchr(text.data(), 'e') + 1);
  print("%.*f", std::max(decimals - exponent, 1));
  return text.data();
}

/// `value` to `digits` significant digits: 0.188, 1e-05, inf.
[[nodiscard]] inline std::string rounded_text(double value, int digits = 3) {
  std::array<char, 48> text;
  const CNumbers c_numbers;
  std::snprintf(text.data(), text.size(), "%.*g", digits, value);
  return text.data();
}

/// Text of an element of type `dtype` that was converted to double.
[[nodiscard]] inline std::string element_text(double value, at::ScalarType dtype) {
  return dtype == at::kDouble || dtype == at::kComplexDouble ? number_text(value)
                                                             : number_text(static_cast<float>(value));
}
[[nodiscard]] inline std::string element_text(const std::complex<double>& value, at::ScalarType dtype) {
  const std::string imaginary = element_text(value.imag(), dtype);
  return element_text(value.real(), dtype) + (imaginary.front() == '-' ? "" : "+") + imaginary + 'i';
}
[[nodiscard]] inline std::string element_text(std::int64_t value, at::ScalarType dtype) {
  if (dtype == at::kBool) return value != 0 ? "true" : "false";
  if (dtype == at::kUInt64) return std::to_string(static_cast<std::uint64_t>(value));
  return std::to_string(value);
}

/// Such as `12.5 %`, with three significant digits.
[[nodiscard]] inline std::string share_text(std::int64_t part, std::int64_t whole) {
  return rounded_text(whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole)) + " %";
}

/// Such as `[2, 3]`; `[]` for a scalar.
[[nodiscard]] inline std::string list_text(at::IntArrayRef values) {
  std::string text = "[";
  for (std::size_t i = 0; i < values.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(values[i]);
  return text + ']';
}

/// Such as `[2, 3]`; a nested tensor has no single shape.
[[nodiscard]] std::string shape_text(const auto& tensor) {
  return tensor.is_nested() ? "[nested]" : list_text(tensor.sizes());
}

/// Index of the element at `position` in row-major order, such as `[1, 0, 7]`.
[[nodiscard]] inline std::string index_text(std::int64_t position, at::IntArrayRef sizes) {
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t dimension = sizes.size(); dimension-- > 0;) {
    if (sizes[dimension] == 0) return "[]";
    index[dimension] = position % sizes[dimension];
    position /= sizes[dimension];
  }
  return list_text(index);
}

/// PyTorch's name without `torch.`: `float32`, `bool`, ...
[[nodiscard]] inline std::string dtype_text(at::ScalarType dtype) {
  std::string name(c10::getDtypeNames(dtype).first);  // a view since LibTorch 2.15
  return name.empty() ? c10::toString(dtype) : name;
}

/// Such as `strided`, `sparse`.
[[nodiscard]] std::string layout_text(const auto& tensor) {
  if (tensor.is_nested()) return "nested";
  switch (tensor.layout()) {
    case c10::kStrided:
      return "strided";
    case c10::kSparse:
      return "sparse COO";
    case c10::kSparseCsr:
      return "sparse CSR";
    case c10::kSparseCsc:
      return "sparse CSC";
    case c10::kSparseBsr:
      return "sparse BSR";
    case c10::kSparseBsc:
      return "sparse BSC";
    case c10::kMkldnn:
      return "mkldnn";
    default:
      return "layout " + std::to_string(static_cast<int>(tensor.layout()));
  }
}

/// Kind of a value: `tensor`, `list`, `int`, `none`, ... An undefined tensor is `none`.
[[nodiscard]] inline std::string kind_text(const c10::IValue& value) {
  if (value.isTensor()) return value.toTensor().defined() ? "tensor" : "none";
  if (value.isNone()) return "none";
  if (value.isTuple()) return "tuple";
  if (value.isList()) return "list";
  if (value.isGenericDict()) return "dict";
  if (value.isString()) return "string";
  if (value.isBool()) return "bool";
  if (value.isInt() || value.isUnsigned()) return "int";
  if (value.isDouble()) return "double";
  if (value.isComplexDouble()) return "complex";
  if (value.isDevice()) return "device";
  return value.tagKind();
}

/// A value that is neither tensor nor container, as one would type it: 3, 0.5, true, "text", None, cpu.
[[nodiscard]] inline std::string scalar_text(const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isBool()) return value.toBool() ? "true" : "false";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isUnsigned()) return std::to_string(value.toUInt());
  if (value.isDouble()) return number_text(value.toDouble());
  if (value.isComplexDouble()) {
    return element_text(std::complex<double>(value.toComplexDouble()), at::kComplexDouble);
  }
  if (value.isString()) return '"' + value.toStringRef() + '"';
  if (value.isDevice()) return value.toDevice().str();
  return "a " + kind_text(value);
}

/// A dict key as it stands between brackets: "h", 3.
[[nodiscard]] std::string key_text(const auto& key) { return scalar_text(key); }

}  // namespace pace::check::detail
