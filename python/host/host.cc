// The interpreter inside a program of C++, as a library that the program loads: host.hpp.
#include "python/host/host.hpp"

#include <Python.h>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/TensorImpl.h>
#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/version.h>

#include "pace/base/error.hpp"
#include "python/extension/exceptions.hpp"
#include "python/extension/outputs.hpp"

namespace pace::python {
namespace {

/// What was compiled in a call, such as a frame of torch.compile.
struct Compilation {
  const bool* in_rounds;
  std::string what = {};
};

/// Makes Python's value of an argument, with other tensors in the places of those it was bound with.
class Argument {
 public:
  using Indices = std::unordered_map<const c10::TensorImpl*, std::size_t>;

  Argument(c10::IValue value, const Indices& indices) : value_(std::move(value)), indices_(&indices) {
    if (value_.isTensor() && value_.toTensor().defined())
      tensor_ = indices.at(value_.toTensor().unsafeGetTensorImpl());
    else if (!is_container(value_))
      plain_ = torch::jit::toPyObject(value_);
  }

  [[nodiscard]] py::object with(const std::vector<at::Tensor>& tensors) const {
    if (tensor_) return object_of(tensors[*tensor_]);
    return plain_ ? plain_ : made(value_, tensors);
  }

 private:
  [[nodiscard]] static bool is_container(const c10::IValue& value) {
    return value.isTuple() || value.isList() || value.isGenericDict();
  }
  [[nodiscard]] static py::object object_of(const at::Tensor& tensor) {
    return py::reinterpret_steal<py::object>(THPVariable_Wrap(tensor));
  }
  [[nodiscard]] py::object made(const c10::IValue& value, const std::vector<at::Tensor>& tensors) const {
    if (value.isTensor() && value.toTensor().defined())
      return object_of(tensors[indices_->at(value.toTensor().unsafeGetTensorImpl())]);
    if (value.isTuple()) {
      const auto& elements = value.toTupleRef().elements();
      py::tuple parts(elements.size());
      std::size_t place = 0;
      for (const auto& each : elements) parts[place++] = made(each, tensors);
      return parts;
    }
    if (value.isList()) {
      py::list parts;
      for (const c10::IValue& each : value.toListRef()) parts.append(made(each, tensors));
      return parts;
    }
    if (value.isGenericDict()) {
      py::dict parts;
      for (const auto& each : value.toGenericDict()) parts[made(each.key(), tensors)] = made(each.value(), tensors);
      return parts;
    }
    return torch::jit::toPyObject(value);
  }

  c10::IValue value_;
  const Indices* indices_;
  std::optional<std::size_t> tensor_;
  py::object plain_;
};

class Call final : public HostedCall {
 public:
  Call(py::object function, const HostArguments& given, const std::vector<at::Tensor>& tensors,
       std::shared_ptr<Compilation> compilation)
      : function_(std::move(function)), positional_(given.args.size()), compilation_(std::move(compilation)) {
    for (std::size_t i = 0; i < tensors.size(); ++i) indices_.emplace(tensors[i].unsafeGetTensorImpl(), i);
    for (const auto& each : given.args) arguments_.emplace_back(each, indices_);
    py::list names;
    for (const auto& [name, value] : given.kwargs) {
      names.append(py::str(name));
      arguments_.emplace_back(value, indices_);
    }
    if (!names.empty()) names_ = py::tuple(names);
    objects_.resize(arguments_.size());
    stack_.resize(arguments_.size());
  }

  [[nodiscard]] c10::IValue run(const std::vector<at::Tensor>& tensors) override {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      objects_[i] = arguments_[i].with(tensors);
      stack_[i] = objects_[i].ptr();
    }
    const auto output = py::reinterpret_steal<py::object>(
        PyObject_Vectorcall(function_.ptr(), stack_.data(), positional_, names_.ptr()));
    for (auto& each : objects_) each = {};
    if (!output) {
      const py::error_already_set error;
      if (error.matches(PyExc_MemoryError)) throw OutOfMemory(describe_exception(error));
      throw Error(describe_exception(error));
    }
    if (!compilation_->what.empty()) [[unlikely]]
      take_compilation();
    return to_ivalue(output);
  }

 private:
  void take_compilation() const {
    const std::string what = std::exchange(compilation_->what, {});
    if (*compilation_->in_rounds) throw Error(compiled_again(what));
  }

  py::object function_;
  std::size_t positional_;
  std::shared_ptr<Compilation> compilation_;
  Argument::Indices indices_;
  std::vector<Argument> arguments_;
  py::object names_;
  /// Those of the current call; `objects_` owns them.
  std::vector<py::object> objects_;
  std::vector<PyObject*> stack_;
};

class Function final : public HostedFunction {
 public:
  Function(py::object function, py::object tuning_notes, std::shared_ptr<Compilation> compilation)
      : function_(std::move(function)), tuning_notes_(std::move(tuning_notes)), compilation_(std::move(compilation)) {}
  [[nodiscard]] std::unique_ptr<HostedCall> bind(const HostArguments& arguments,
                                                 const std::vector<at::Tensor>& tensors) const override {
    return std::make_unique<Call>(function_, arguments, tensors, compilation_);
  }
  [[nodiscard]] std::vector<std::string> tuning_notes(const std::string& side) const override {
    try {
      return tuning_notes_(side, function_).cast<std::vector<std::string>>();
    } catch (const py::error_already_set& error) {
      throw Error(describe_exception(error));
    }
  }

 private:
  py::object function_, tuning_notes_;
  std::shared_ptr<Compilation> compilation_;
};

/// Returns an argument as C++ has it: tensors, numbers, strings, None, and tuples, lists and dicts of these. Throws
/// InputError, with the type, for all else, and for integers beyond 64 bits.
[[nodiscard]] c10::IValue to_argument(const py::handle& value, const std::string& where) {
  PyObject* const object = value.ptr();
  if (PyTuple_CheckExact(object)) {
    std::vector<c10::IValue> parts;
    for (const auto& each : value) parts.push_back(to_argument(each, where));
    return c10::ivalue::Tuple::create(std::move(parts));
  }
  const auto type_of_all = [](const std::vector<c10::IValue>& values) -> c10::TypePtr {
    if (values.empty()) return c10::TensorType::get();
    for (const auto& each : values)
      if (*each.type() != *values.front().type()) return c10::AnyType::get();
    return values.front().type();
  };
  if (PyList_CheckExact(object)) {
    std::vector<c10::IValue> parts;
    for (const auto& each : value) parts.push_back(to_argument(each, where));
    c10::impl::GenericList list(type_of_all(parts));
    for (auto& each : parts) list.push_back(std::move(each));
    return list;
  }
  if (PyDict_CheckExact(object)) {
    std::vector<c10::IValue> keys, parts;
    for (const auto& [key, each] : value.cast<py::dict>()) {
      keys.push_back(to_argument(key, where));
      parts.push_back(to_argument(each, where));
    }
    c10::impl::GenericDict dict(type_of_all(keys), type_of_all(parts));
    for (std::size_t i = 0; i < keys.size(); ++i) dict.insert(std::move(keys[i]), std::move(parts[i]));
    return dict;
  }
  if (is_large_integer(value)) throw InputError({}, where + " holds an integer that has more than 64 bits");
  if (THPVariable_Check(object) || value.is_none() || PyBool_Check(object) || PyLong_Check(object) ||
      PyFloat_Check(object) || PyComplex_Check(object) || PyUnicode_Check(object))
    return to_ivalue(value);
  throw InputError({}, where + " holds a value of the type '" + type_name(value) +
                           "'; expected tensors, numbers, strings, None, and tuples, lists and dicts of these");
}

class Interpreter final : public Host {
 public:
  Interpreter(const std::string& executable, const std::string& package, const bool* in_rounds)
      : compilation_(std::make_shared<Compilation>(Compilation{.in_rounds = in_rounds})) {
    start(executable);
    // Code of files makes ordinary tensors: those of inference mode have no gradients.
    const c10::InferenceMode ordinary(false);
    try {
      const auto module = py::module_::import("torch");
      const std::string version = py::str(module.attr("__version__")), place = py::str(module.attr("__file__"));
      if (version.substr(0, version.find('+')) != TORCH_VERSION)
        throw Unsupported("PACE_PYTHON=" + executable + ": has torch " + version + " (in " + place +
                          "), and this program is built for " + TORCH_VERSION);
      // The modules that need no extension, under a name that leaves `import pace` to what is installed.
      const auto folder = py::module_::import("types").attr("ModuleType")("_pace_of_this_program");
      folder.attr("__path__") = py::make_tuple(package);
      py::module_::import("sys").attr("modules")["_pace_of_this_program"] = folder;
      named_ = py::module_::import("_pace_of_this_program.named");
      const auto compilation = py::module_::import("_pace_of_this_program.compilation");
      watching_ = compilation.attr("noting_compilation");
      tuning_notes_ = compilation.attr("tuning_notes");
    } catch (const py::error_already_set& error) {
      throw Unsupported("PACE_PYTHON=" + executable + ": " + describe_exception(error) +
                        "; expected a python3 that has torch " + TORCH_VERSION);
    }
  }

  [[nodiscard]] std::unique_ptr<HostedFunction> find(const std::string& path, const std::string& name) override {
    const c10::InferenceMode ordinary(false);
    try {
      auto function = named_.attr("function")(path, name);
      watch_compilation();
      return std::make_unique<Function>(std::move(function), tuning_notes_, compilation_);
    } catch (const py::error_already_set& error) {
      refuse(error);
    }
  }

  [[nodiscard]] HostArguments arguments(const std::string& path, const std::string& name) override {
    const c10::InferenceMode ordinary(false);
    try {
      const py::tuple both = named_.attr("arguments")(path, name);
      HostArguments made;
      std::size_t place = 0;
      const std::string where = path + ':' + name;
      for (const auto& each : both[0].cast<py::tuple>())
        made.args.push_back(to_argument(each, where + ": argument " + std::to_string(place++)));
      for (const auto& [key, value] : both[1].cast<py::dict>()) {
        const std::string word = py::str(key);
        made.kwargs.emplace_back(word, to_argument(value, where + ": argument '" + word + '\''));
      }
      return made;
    } catch (const py::error_already_set& error) {
      refuse(error);
    }
  }

  void without_lock(const std::function<void()>& code) override { run_without_lock(code); }

 private:
  static void start(const std::string& executable) {
    if (Py_IsInitialized() != 0) return;
    // NumPy would start a pool of threads, and a process that has one cannot be copied for `--isolate sides`.
    (void)::setenv("OPENBLAS_NUM_THREADS", "1", /*overwrite=*/0);
    PyConfig config;
    PyConfig_InitPythonConfig(&config);
    // Ctrl-C ends the program, as without Python.
    config.install_signal_handlers = 0;
    config.write_bytecode = 0;
    // The process may end without the interpreter's own end.
    config.buffered_stdio = 0;
    auto status = PyConfig_SetBytesString(&config, &config.program_name, executable.c_str());
    if (PyStatus_Exception(status) == 0)
      status = PyConfig_SetBytesString(&config, &config.executable, executable.c_str());
    if (PyStatus_Exception(status) == 0) status = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(status) != 0)
      throw Unsupported("PACE_PYTHON=" + executable +
                        ": Python does not start: " + (status.err_msg != nullptr ? status.err_msg : "no reason given"));
  }

  /// Begins anew, since a file may have imported torch.compile or Triton.
  void watch_compilation() {
    const auto note = [compilation = compilation_](const std::string& what) {
      if (compilation->what.empty()) compilation->what = what;
    };
    if (watched_) watched_.attr("__exit__")(py::none(), py::none(), py::none());
    watched_ = watching_(py::cpp_function(note));
    watched_.attr("__enter__")();
  }

  [[noreturn]] void refuse(const py::error_already_set& error) const {
    if (error.matches(named_.attr("Unusable"))) throw InputError({}, py::str(error.value()));
    throw InputError({}, describe_exception(error));
  }

  std::shared_ptr<Compilation> compilation_;
  py::object named_, watching_, tuning_notes_, watched_;
};

}  // namespace
}  // namespace pace::python

extern "C" [[gnu::visibility("default")]] pace::python::Host* pace_make_python_host(const std::string& executable,
                                                                                    const std::string& package,
                                                                                    const bool* in_rounds) {
  // It stays: code that Python has registered, such as operators, is called until the process ends.
  return new pace::python::Interpreter(executable, package, in_rounds);
}
