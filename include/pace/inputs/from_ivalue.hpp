// recorded_call: converts the arguments of a running operator to the values of a recorded call.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <c10/core/Device.h>
#include <c10/core/Layout.h>
#include <c10/util/ArrayRef.h>

#include "pace/base/error.hpp"
#include "pace/corpus/text.hpp"
#include "pace/corpus/value.hpp"
#include "pace/inputs/scalar_type.hpp"

namespace pace::inputs {

namespace detail {

[[nodiscard]] inline corpus::DType recordable_dtype(c10::ScalarType type) {
  if (const auto dtype = dtype_from_scalar_type(type)) return *dtype;
  throw Unsupported(std::string("recorded operator inputs have no word for the type ") + c10::toString(type));
}

[[nodiscard]] inline corpus::TorchName layout_name(c10::Layout layout) {
  for (const auto& [name, known] : layouts) {
    if (known == layout) return {std::string(name)};
  }
  throw Unsupported("recorded operator inputs have no word for this layout");
}

/// A zero-dimensional tensor that stands for a number of the program (`x + 1`): recorded as the number.
[[nodiscard]] inline corpus::Value wrapped_number(const at::Tensor& tensor) {
  const c10::Scalar number = tensor.item();
  if (number.isBoolean()) return number.toBool();
  if (number.isIntegral(false)) return number.toLong();
  if (number.isFloatingPoint()) return number.toDouble();
  const auto complex = number.toComplexDouble();
  return std::complex<double>(complex.real(), complex.imag());
}

[[nodiscard]] inline corpus::Value tensor_value(const at::Tensor& tensor) {
  if (!tensor.defined()) return corpus::None{};
  if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return wrapped_number(tensor);
  if (tensor.is_nested()) throw Unsupported("recorded operator inputs have no word for a nested tensor");
  corpus::TensorSpec spec{tensor.sizes().vec(), recordable_dtype(tensor.scalar_type()), std::nullopt};
  if (tensor.layout() == c10::kStrided) {
    if (!tensor.is_contiguous()) spec.strides = tensor.strides().vec();
    return spec;
  }
  // The parser rejects ST(...), so no Value has this meaning: a sparse tensor is a spelling alone.
  corpus::Value out;
  out.spelling = "S" + corpus::to_text(corpus::Value(spec));
  out.spelling.pop_back();
  out.spelling += ", torch." + layout_name(tensor.layout()).name;
  if (tensor.layout() == c10::kSparse) {
    out.spelling += tensor.is_coalesced() ? ", True, " : ", False, ";
    out.spelling += std::to_string(tensor._nnz());
  }
  out.spelling += ')';
  return out;
}

/// An integer that means a dtype or a layout is recognised by the type in the schema.
[[nodiscard]] inline corpus::Value integer_value(std::int64_t number, const c10::Type& type) {
  if (type.kind() == c10::TypeKind::ScalarTypeType) return recordable_dtype(static_cast<c10::ScalarType>(number));
  if (type.kind() == c10::TypeKind::LayoutType) return layout_name(static_cast<c10::Layout>(number));
  return number;
}

[[nodiscard]] inline const c10::Type& without_optional(const c10::Type& type) {
  const auto* optional = type.castRaw<c10::OptionalType>();
  return optional == nullptr ? type : *optional->getElementType();
}

/// `declared` is the type in the schema (Argument::real_type). Throws Unsupported for what the format cannot express.
[[nodiscard]] inline corpus::Value to_value(const c10::IValue& value, const c10::Type& declared) {
  const c10::Type& type = without_optional(declared);
  if (value.isNone()) return corpus::None{};
  if (value.isTensor()) return tensor_value(value.toTensor());
  if (value.isBool()) return value.toBool();
  if (value.isInt()) return integer_value(value.toInt(), type);
  if (value.isDouble()) return value.toDouble();
  if (value.isComplexDouble()) {
    const auto complex = value.toComplexDouble();
    return std::complex<double>(complex.real(), complex.imag());
  }
  if (value.isString()) return value.toStringRef();
  if (value.isDevice()) return c10::DeviceTypeName(value.toDevice().type(), /*lower_case=*/true);
  if (value.isGenerator()) return corpus::None{};  // a replay uses the default generator
  if (value.isList()) {
    const auto* list_type = type.castRaw<c10::ListType>();
    const c10::Type& element = list_type == nullptr ? type : *list_type->getElementType();
    corpus::List list;
    for (const c10::IValue& item : value.toListRef()) list.items.push_back(to_value(item, element));
    return list;
  }
  throw Unsupported("recorded operator inputs have no word for a value of type " + value.tagKind());
}

[[nodiscard]] inline bool is_default(const c10::Argument& argument, const c10::IValue& value) {
  return argument.default_value().has_value() && *argument.default_value() == value;
}

}  // namespace detail

/// Returns a call of the operator `schema` as a Python program would write it: trailing positional arguments and
/// keyword-only arguments with their default values are left out. `values` are all arguments in the order of the
/// schema. Throws Unsupported for a value that the file format cannot express.
[[nodiscard]] inline corpus::Call recorded_call(const c10::FunctionSchema& schema,
                                                c10::ArrayRef<const c10::IValue> values) {
  const auto& arguments = schema.arguments();
  if (values.size() != arguments.size()) throw Unsupported("the operator got an unexpected number of arguments");
  std::size_t positional = 0;
  while (positional < arguments.size() && !arguments[positional].kwarg_only()) ++positional;
  std::size_t written = positional;
  while (written > 0 && detail::is_default(arguments[written - 1], values[written - 1])) --written;
  corpus::Call call;
  for (std::size_t i = 0; i < written; ++i) {
    call.args.push_back(detail::to_value(values[i], *arguments[i].real_type()));
  }
  for (std::size_t i = positional; i < arguments.size(); ++i) {
    if (detail::is_default(arguments[i], values[i])) continue;
    call.kwargs.emplace_back(arguments[i].name(), detail::to_value(values[i], *arguments[i].real_type()));
  }
  return call;
}

}  // namespace pace::inputs
