// An expected input of an exported program, with words for it and for the found one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>
#include <nlohmann/json.hpp>

#include "pace/corpus/dtype.hpp"
#include "pace/inputs/scalar_type.hpp"

namespace pace::benches::loaders {

namespace detail {

[[nodiscard]] inline std::string dtype_name(at::ScalarType dtype) {
  const auto known = inputs::dtype_from_scalar_type(dtype);
  return known ? std::string(corpus::torch_name(*known)) : c10::toString(dtype);
}

/// As Python writes it, for messages.
[[nodiscard]] inline std::string value_text(const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return nlohmann::json(value.toDouble()).dump();
  if (value.isString()) return '\'' + value.toStringRef() + '\'';
  return "a " + value.tagKind();
}

[[nodiscard]] inline bool same_constant(const c10::IValue& expected, const c10::IValue& found) {
  if (expected.isDouble() && found.isInt()) return expected.toDouble() == static_cast<double>(found.toInt());
  return expected.tagKind() == found.tagKind() && value_text(expected) == value_text(found);
}

/// As `float32[8, 64] on cpu`. `device`: where it is, or will be.
[[nodiscard]] inline std::string tensor_text(const at::Tensor& tensor, c10::Device device) {
  std::string text = dtype_name(tensor.scalar_type()) + '[';
  for (std::int64_t i = 0; i < tensor.dim(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(tensor.size(i));
  return text + "] on " + device.str();
}

}  // namespace detail

/// The size of a dimension that a program takes: a number, or `times` * symbol + `plus`, where the symbol is any number
/// in a range.
struct ExpectedSize {
  std::optional<std::int64_t> fixed = {};
  std::string symbol = {};      ///< stands for one number in all sizes; empty: another formula, which is not checked
  std::string expression = {};  ///< as `2*s77+1`; empty: it is fixed
  std::int64_t times = 1, plus = 0;
  std::int64_t low = 0, high = std::numeric_limits<std::int64_t>::max();

  /// The value of the symbol if the size is `actual`; nothing if no number of the range gives that size.
  [[nodiscard]] std::optional<std::int64_t> symbol_for(std::int64_t actual) const {
    if (times == 0 || (actual - plus) % times != 0) return std::nullopt;
    const std::int64_t value = (actual - plus) / times;
    return value < low || value > high ? std::nullopt : std::optional(value);
  }
  /// The smallest and the largest size of the range. 0 and the largest integer where they are not known.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> range() const {
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    if (fixed) return {*fixed, *fixed};
    const auto size_of = [&](std::int64_t value) {
      std::int64_t size = 0;
      const bool fits = value != largest && !__builtin_mul_overflow(value, times, &size) &&
                        !__builtin_add_overflow(size, plus, &size);
      return fits ? size : (times < 0 ? 0 : largest);
    };
    const auto [least, most] = std::minmax({size_of(low), size_of(high)});
    return {std::max<std::int64_t>(least, 0), most};
  }
  /// As `8`, `1 to 64`, or `2 * (1 or more) + 1`; another formula as it is.
  [[nodiscard]] std::string to_string() const {
    if (fixed) return std::to_string(*fixed);
    if (symbol.empty() && !expression.empty()) return expression;
    const bool open = high == std::numeric_limits<std::int64_t>::max();
    std::string text = std::to_string(low) + (open ? " or more" : " to " + std::to_string(high));
    if (times == 1 && plus == 0) return text;
    text = '(' + text + ')';
    if (times != 1) text = std::to_string(times) + " * " + text;
    if (plus != 0) text += (plus < 0 ? " - " : " + ") + std::to_string(plus < 0 ? -plus : plus);
    return text;
  }
};

/// One leaf of the inputs that a program takes.
struct ExpectedInput {
  std::string name;
  bool is_tensor = true;
  /// A value that the program was exported with and that is no input any more; none: a tensor, or a number that may be
  /// another one.
  std::optional<c10::IValue> constant = {};
  std::optional<at::ScalarType> dtype = {};  ///< none: one that is not known here, and not checked
  c10::DeviceType device = c10::kCPU;
  std::vector<ExpectedSize> sizes = {};

  /// As `float32[batch, 64]`.
  [[nodiscard]] std::string to_string() const {
    if (constant) return detail::value_text(*constant) + ", which the program was exported with";
    if (!is_tensor) return "a number";
    std::string text = (dtype ? detail::dtype_name(*dtype) : std::string("tensor")) + '[';
    for (std::size_t i = 0; i < sizes.size(); ++i) text += (i == 0 ? "" : ", ") + sizes[i].to_string();
    return text + "] on " + c10::DeviceTypeName(device, /*lower_case=*/true);
  }
};

}  // namespace pace::benches::loaders
