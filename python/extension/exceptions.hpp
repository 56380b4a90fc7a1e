// Python's exceptions as text.
#pragma once

#include <exception>
#include <new>
#include <string>
#include <utility>

#include <pybind11/pybind11.h>

namespace pace::python {

namespace py = pybind11;

/// A Python exception as text.
class PythonError : public std::exception {
 public:
  explicit PythonError(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Python's MemoryError as text.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(std::string message) : message_(std::move(message)) {}
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  std::string message_;
};

/// Returns an exception as `TYPE: text (in FUNCTION, FILE:LINE)`, with the innermost place.
[[nodiscard]] inline std::string describe_exception(const py::error_already_set& error) {
  const std::string type = py::str(error.type().attr("__qualname__")), text = py::str(error.value());
  std::string message = text.empty() ? type : type + ": " + text;
  if (!error.trace()) return message;
  const py::list frames = py::module_::import("traceback").attr("extract_tb")(error.trace());
  if (frames.empty()) return message;
  const py::object last = frames[frames.size() - 1];
  return message + " (in " + std::string(py::str(last.attr("name"))) + ", " +
         std::string(py::str(last.attr("filename"))) + ':' + std::string(py::str(last.attr("lineno"))) + ')';
}

/// Runs code without Python's lock, which this thread holds before and afterwards. Throws PythonError or OutOfMemory
/// for an exception of Python's that LibTorch passed on.
template <class Code>
void run_without_lock(const Code& code) {
  try {
    const py::gil_scoped_release released;
    code();
  } catch (...) {
    // LibTorch leaves it in the thread, too.
    if (PyErr_Occurred() == nullptr) throw;
    const py::error_already_set error;
    // Ctrl-C comes again in the next call.
    if (error.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
    if (error.matches(PyExc_MemoryError)) throw OutOfMemory(describe_exception(error));
    throw PythonError(describe_exception(error));
  }
}

/// The message about a sample in which `what` was compiled.
[[nodiscard]] inline std::string compiled_again(const std::string& what) {
  return "it was compiled again while it was timed (" + what +
         "), so its samples are not of calls alone; try: TORCH_LOGS=recompiles, which shows why";
}

}  // namespace pace::python
