// Recorded values brought to the types that an operator's schema asks for.
#pragma once

#include <cstdint>
#include <locale>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>
#include <ATen/ops/scalar_tensor.h>

#include "pace/base/error.hpp"
#include "pace/corpus/cursor.hpp"

namespace pace::benches::operators::detail {

/// Thrown inside the coercion, and turned into a message with operator and argument where both are known.
struct Mismatch {
  std::string got;
};

/// A value in few words, for messages: `a Tensor`, `the int 3`, `a list of 2`.
[[nodiscard]] inline std::string describe(const c10::IValue& value) {
  if (value.isNone()) return "None";
  if (value.isTensor()) return "a Tensor";
  if (value.isBool()) return value.toBool() ? "the bool True" : "the bool False";
  if (value.isInt()) return "the int " + std::to_string(value.toInt());
  if (value.isDouble()) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << "the float " << value.toDouble();
    return text.str();
  }
  if (value.isString()) return "the string " + corpus::detail::quoted_start(value.toStringRef());
  if (value.isList()) return "a list of " + std::to_string(value.toListRef().size());
  if (value.isTuple()) return "a tuple of " + std::to_string(value.toTupleRef().elements().size());
  return "a " + value.tagKind();
}

/// A number in the place of a Tensor: Python's `tensor + 2` passes one. The "wrapped number" mark keeps it from
/// promoting the other operand's dtype.
[[nodiscard]] inline at::Tensor wrapped_number(const c10::IValue& number) {
  const at::Scalar scalar = number.toScalar();
  at::Tensor tensor = at::scalar_tensor(scalar, at::TensorOptions().dtype(scalar.type()));
  tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
  return tensor;
}

[[nodiscard]] inline bool is_number(const c10::IValue& value) {
  return value.isInt() || value.isDouble() || value.isBool() || value.isComplexDouble();
}

/// The elements of a list or tuple; nothing for any other value.
[[nodiscard]] inline std::optional<std::vector<c10::IValue>> elements(const c10::IValue& value) {
  if (value.isTuple()) return value.toTupleRef().elements().vec();
  if (value.isList()) return value.toListRef().vec();
  return std::nullopt;
}

[[nodiscard]] inline c10::IValue coerce(const c10::IValue& value, const c10::Type& type, std::optional<int32_t> size);

/// A list (or tuple, or one value that stands for all: Python's `kernel_size=3` for `int[2]`) to a typed list.
[[nodiscard]] inline c10::IValue coerce_list(const c10::IValue& value, const c10::Type& type,
                                             std::optional<int32_t> size) {
  const c10::TypePtr& element = type.castRaw<c10::ListType>()->getElementType();
  std::vector<c10::IValue> items;
  if (std::optional<std::vector<c10::IValue>> given = elements(value)) {
    items = std::move(*given);
    // As in Python, bool[3] takes three values and nothing else. The operator itself checks int[2]: many take one value
    // for all dimensions, or none at all.
    const bool exact = size.has_value() && element->kind() == c10::TypeKind::BoolType;
    if (exact && items.size() != static_cast<std::size_t>(*size)) throw Mismatch{describe(value)};
    // That one value is written out, because compilers want all of them.
    const bool integers = element->kind() == c10::TypeKind::IntType || element->kind() == c10::TypeKind::SymIntType;
    if (size && integers && items.size() == 1) items.resize(static_cast<std::size_t>(*size), items.front());
  } else if (size && !value.isNone()) {
    items.assign(static_cast<std::size_t>(*size), value);
  } else {
    throw Mismatch{describe(value)};
  }
  c10::impl::GenericList list(element);
  list.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    try {
      list.push_back(coerce(items[i], *element, std::nullopt));
    } catch (const Mismatch& inner) {
      throw Mismatch{inner.got + " at index " + std::to_string(i)};
    }
  }
  return list;
}

/// The value as the boxed calling convention wants it for a parameter of this type. The type is `Argument::type()`,
/// where ScalarType, Layout, MemoryFormat and SymInt are ints. `size` is the N of `int[N]`. Throws `Mismatch`.
[[nodiscard]] inline c10::IValue coerce(const c10::IValue& value, const c10::Type& type, std::optional<int32_t> size) {
  switch (type.kind()) {
    case c10::TypeKind::OptionalType:
      return value.isNone() ? value : coerce(value, *type.castRaw<c10::OptionalType>()->getElementType(), size);
    case c10::TypeKind::TensorType:
      if (value.isTensor()) return value;
      if (is_number(value)) return wrapped_number(value);
      break;
    case c10::TypeKind::ListType:
      return coerce_list(value, type, size);
    case c10::TypeKind::NumberType:
      if (is_number(value)) return value;
      break;
    case c10::TypeKind::FloatType:
      if (value.isDouble()) return value;
      if (value.isInt()) return static_cast<double>(value.toInt());
      break;
    case c10::TypeKind::ComplexType:
      if (value.isComplexDouble()) return value;
      if (value.isDouble()) return c10::complex<double>(value.toDouble(), 0);
      if (value.isInt()) return c10::complex<double>(static_cast<double>(value.toInt()), 0);
      break;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
    case c10::TypeKind::ScalarTypeType:
    case c10::TypeKind::LayoutType:
    case c10::TypeKind::MemoryFormatType:
      if (value.isInt()) return value;
      if (value.isBool()) return static_cast<std::int64_t>(value.toBool());
      break;
    case c10::TypeKind::BoolType:
    case c10::TypeKind::SymBoolType:
      if (value.isBool()) return value;
      break;
    case c10::TypeKind::StringType:
      if (value.isString()) return value;
      break;
    case c10::TypeKind::DeviceObjType:
      if (value.isDevice()) return value;
      if (value.isString()) {
        try {
          return c10::Device(value.toStringRef());
        } catch (const c10::Error&) {
          throw Mismatch{describe(value)};
        }
      }
      break;
    case c10::TypeKind::AnyType:
      return value;
    default:  // Generator, Storage, Stream, Dict, ...: nothing that is recorded can be one
      break;
  }
  throw Mismatch{describe(value)};
}

}  // namespace pace::benches::operators::detail
