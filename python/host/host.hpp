// Functions of Python files for a program of C++. The program loads the interpreter when it needs one
// (benches/files/loaders/python.hpp).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>

namespace pace::python {

/// Positional and named arguments of a Python function.
struct HostArguments {
  std::vector<c10::IValue> args = {};
  std::vector<std::pair<std::string, c10::IValue>> kwargs = {};
};

/// A Python function with its arguments.
class HostedCall {
 public:
  HostedCall() = default;
  HostedCall(const HostedCall&) = delete;
  HostedCall& operator=(const HostedCall&) = delete;
  virtual ~HostedCall() = default;
  /// Calls it with `tensors` in the places of those it was bound with. Throws Error with the exception, its file and
  /// line, and OutOfMemory for MemoryError. Throws Error for an output that is no tensor, number, None, or a tuple,
  /// list, dict or dataclass of these.
  [[nodiscard]] virtual c10::IValue run(const std::vector<at::Tensor>& tensors) = 0;
};

/// A function of a Python file.
class HostedFunction {
 public:
  HostedFunction() = default;
  HostedFunction(const HostedFunction&) = delete;
  HostedFunction& operator=(const HostedFunction&) = delete;
  virtual ~HostedFunction() = default;
  /// Binds it to arguments. `tensors`: all tensors in these, in the order that run() gets them in.
  [[nodiscard]] virtual std::unique_ptr<HostedCall> bind(const HostArguments& arguments,
                                                         const std::vector<at::Tensor>& tensors) const = 0;
  /// Sentences on the configurations that Triton's autotuner chose in its calls. `side`: its name in them.
  [[nodiscard]] virtual std::vector<std::string> tuning_notes(const std::string& side) const = 0;
};

/// The Python interpreter of this process. It stays for the life of the process, on the thread that started it.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;
  /// The function `name` of a file, which is run once. Throws InputError, which names the file, for a file that cannot
  /// be run, for a missing name, and for a generator or an async function.
  [[nodiscard]] virtual std::unique_ptr<HostedFunction> find(const std::string& path, const std::string& name) = 0;
  /// The arguments that `name` holds: a tuple, a dict of named ones, a single value, or a function that returns one of
  /// these. Throws InputError as find() does, and for values that C++ has no type for.
  [[nodiscard]] virtual HostArguments arguments(const std::string& path, const std::string& name) = 0;
  /// Runs code that must not hold Python's lock, such as a backward pass. This thread holds it otherwise.
  virtual void without_lock(const std::function<void()>& code) = 0;
};

/// Starts the interpreter. `executable`: the Python whose packages it has. `package`: the folder python/pace.
/// `in_rounds`: whether calls are timed at present; one that compiles then throws. Throws Unsupported if Python does
/// not start, or has another torch than this program.
using MakeHost = Host* (*)(const std::string& executable, const std::string& package, const bool* in_rounds);
/// The name of the function of this type in the library.
inline constexpr const char* make_host_name = "pace_make_python_host";

}  // namespace pace::python
