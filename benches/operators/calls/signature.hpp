// Values as canonical text: equal text means that compiled code for one serves the other.
#pragma once

#include <charconv>
#include <cmath>
#include <string>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace pace::benches::operators::detail {

template <class Range>
[[nodiscard]] std::string joined(const Range& numbers) {
  std::string text = "[";
  for (const auto number : numbers) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(number);
  }
  return text + ']';
}

/// The shortest decimal that reads back as the same number, so that no two numbers share a text.
[[nodiscard]] inline std::string exact(double number) {
  if (std::isnan(number)) return "nan";
  char buffer[32];
  const std::to_chars_result end = std::to_chars(buffer, buffer + sizeof buffer, number);
  std::string text(buffer, end.ptr);
  if (text.find_first_of(".einf") == std::string::npos) text += ".0";  // 1.0 and the int 1 are different constants
  return text;
}

/// `Float[2, 3] strides [3, 1] on cpu`.
[[nodiscard]] inline std::string tensor_signature(const at::Tensor& tensor) {
  if (!tensor.defined()) return "undefined";
  std::string text = c10::toString(tensor.scalar_type());
  text += joined(tensor.sizes());
  if (tensor.layout() == c10::kStrided) {
    text += " strides " + joined(tensor.strides());
  } else {
    text += " sparse";
  }
  return text + " on " + tensor.device().str();
}

[[nodiscard]] inline std::string signature_of(const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isTensor()) {
    const at::Tensor& tensor = value.toTensor();
    // A number that stands in for a tensor is a constant: its value, not only its metadata, is compiled in.
    if (tensor.defined() && tensor.unsafeGetTensorImpl()->is_wrapped_number()) return signature_of(tensor.item());
    return tensor_signature(tensor);
  }
  if (value.isBool()) return value.toBool() ? "True" : "False";
  if (value.isInt()) return std::to_string(value.toInt());
  if (value.isDouble()) return exact(value.toDouble());
  if (value.isComplexDouble()) {
    const c10::complex<double> number = value.toComplexDouble();
    return exact(number.real()) + '+' + exact(number.imag()) + 'j';
  }
  if (value.isString()) return '\'' + value.toStringRef() + '\'';
  if (value.isDevice()) return value.toDevice().str();
  if (value.isList()) {
    std::string text = "[";
    for (const c10::IValue& item : value.toListRef()) text += (text.size() > 1 ? ", " : "") + signature_of(item);
    return text + ']';
  }
  return value.tagKind();
}

}  // namespace pace::benches::operators::detail
