// PythonArguments: the operands of a comparison as the arguments of a Python call.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <pybind11/pybind11.h>
#include <torch/csrc/autograd/python_variable.h>

#include "pace/subject/operands.hpp"

namespace pace::python {

namespace py = pybind11;

/// Returns the Python object of a tensor; each tensor has one.
[[nodiscard]] inline py::object object_of(const at::Tensor& tensor) {
  PyObject* const object = THPVariable_Wrap(tensor);
  if (object == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(object);
}

/// One copy of the arguments. They are made once for these tensors, so that a call only passes them on.
class PythonArguments {
 public:
  /// `rebuild(tensors)` returns `(args, kwargs)` with these tensors in their places. Throws its exceptions.
  PythonArguments(std::vector<at::Tensor> tensors, py::object rebuild)
      : tensors_(std::move(tensors)), rebuild_(std::move(rebuild)) {
    py::list objects;
    for (const auto& tensor : tensors_) objects.append(object_of(tensor));
    const py::tuple made = rebuild_(objects);
    args_ = made[0].cast<py::tuple>();
    kwargs_ = made[1].cast<py::dict>();
    for (const auto& each : args_) stack_.push_back(each.ptr());
    names_ = py::tuple(kwargs_.size());
    std::size_t place = 0;
    for (const auto& [name, value] : kwargs_) {
      names_[place++] = name;
      stack_.push_back(value.ptr());
    }
  }

  [[nodiscard]] const std::vector<at::Tensor>& tensors() const { return tensors_; }
  /// Returns a copy whose tensors have memory of their own, shared among them as here.
  [[nodiscard]] PythonArguments clone() const { return {detail::OperandClones(tensors_).of(tensors_), rebuild_}; }
  /// Calls `function`, as Python does. Returns a new reference, or null with Python's error set.
  [[nodiscard]] PyObject* pass_to(PyObject* function) const {
    return PyObject_Vectorcall(function, stack_.data(), args_.size(), names_.empty() ? nullptr : names_.ptr());
  }

 private:
  std::vector<at::Tensor> tensors_;
  py::object rebuild_;
  py::tuple args_, names_;
  py::dict kwargs_;
  /// Arguments in their order, and then those with names; `args_` and `kwargs_` own them.
  std::vector<PyObject*> stack_;
};

}  // namespace pace::python

/// Copies the arguments of a Python call with their tensors.
template <>
struct pace::OperandTraits<pace::python::PythonArguments> {
  static python::PythonArguments clone(const python::PythonArguments& value) { return value.clone(); }
  static void collect(const python::PythonArguments& value, std::vector<at::Tensor>& tensors) {
    tensors.insert(tensors.end(), value.tensors().begin(), value.tensors().end());
  }
};
