// Outputs of Python functions as values that pace compares.
#pragma once

#include <complex>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Dict.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/autograd/python_variable.h>

#include "pace/base/error.hpp"

namespace pace::python {

namespace py = pybind11;

[[nodiscard]] inline std::string type_name(const py::handle& value) {
  return py::str(py::type::of(value).attr("__qualname__"));
}

/// Whether a value is an integer beyond 64 bits.
[[nodiscard]] inline bool is_large_integer(const py::handle& value) {
  int overflow = 0;
  return PyLong_Check(value.ptr()) && (PyLong_AsLongLongAndOverflow(value.ptr(), &overflow), overflow != 0);
}

/// Returns a value that pace compares: tensors, numbers, None and strings, and tuples, lists, dicts and dataclasses of
/// these. A list is compared like a tuple, and other classes by torch.utils._pytree, if that knows them. Throws Error,
/// with the type, for all else, and for integers beyond 64 bits.
[[nodiscard]] inline c10::IValue to_ivalue(const py::handle& value) {
  PyObject* const object = value.ptr();
  if (THPVariable_Check(object)) return THPVariable_Unpack(object);
  if (value.is_none()) return {};
  if (PyBool_Check(object)) return value.cast<bool>();
  if (is_large_integer(value)) throw Error("it returns an integer that has more than 64 bits");
  if (PyLong_Check(object)) return value.cast<std::int64_t>();
  if (PyFloat_Check(object)) return value.cast<double>();
  if (PyComplex_Check(object)) return c10::complex<double>(value.cast<std::complex<double>>());
  if (PyUnicode_Check(object)) return value.cast<std::string>();
  const auto to_tuple = [](const py::handle& values) {
    std::vector<c10::IValue> parts;
    for (const auto& each : values) parts.push_back(to_ivalue(each));
    return c10::ivalue::Tuple::create(std::move(parts));
  };
  if (PyTuple_Check(object) || PyList_Check(object)) return to_tuple(value);
  if (PyDict_Check(object)) {
    c10::impl::GenericDict parts(c10::StringType::get(), c10::AnyType::get());
    for (const auto& [key, each] : value.cast<py::dict>()) parts.insert(std::string(py::str(key)), to_ivalue(each));
    return parts;
  }
  const auto dataclasses = py::module_::import("dataclasses");
  if (dataclasses.attr("is_dataclass")(value).cast<bool>()) {
    py::list parts;
    for (const auto& field : dataclasses.attr("fields")(value)) parts.append(value.attr(field.attr("name")));
    return to_tuple(parts);
  }
  const py::list leaves = py::module_::import("torch.utils._pytree").attr("tree_leaves")(value);
  if (leaves.size() != 1 || py::object(leaves[0]).ptr() != object) return to_tuple(leaves);
  throw Error("it returns a value of the type '" + type_name(value) +
              "'; expected tensors, numbers or None, or tuples, lists, dicts or dataclasses of them");
}

/// Returns the Python object of an output; a tuple for a list.
[[nodiscard]] inline py::object to_object(const c10::IValue& value) {
  if (value.isTensor()) return py::reinterpret_steal<py::object>(THPVariable_Wrap(value.toTensor()));
  if (value.isNone()) return py::none();
  if (value.isBool()) return py::bool_(value.toBool());
  if (value.isInt()) return py::int_(value.toInt());
  if (value.isDouble()) return py::float_(value.toDouble());
  if (value.isComplexDouble()) return py::cast(std::complex<double>(value.toComplexDouble()));
  if (value.isString()) return py::str(value.toStringRef());
  if (value.isGenericDict()) {
    py::dict parts;
    for (const auto& part : value.toGenericDict()) parts[to_object(part.key())] = to_object(part.value());
    return parts;
  }
  py::list parts;
  if (value.isTuple())
    for (const auto& each : value.toTupleRef().elements()) parts.append(to_object(each));
  return py::tuple(parts);
}

}  // namespace pace::python
