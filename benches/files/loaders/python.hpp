// Functions of Python files, and inputs that such files hold, in an interpreter that is loaded for them.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "benches/files/aot/package_options.hpp"
#include "benches/files/loaders/call_inputs.hpp"
#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/loader.hpp"
#include "pace/base/error.hpp"
#include "pace/os/beside_program.hpp"
#include "pace/subject/around_backward.hpp"
#include "python/host/host.hpp"

namespace pace::benches::loaders {

/// Whether calls are timed at present, for RoundsWatch. A Python function that compiles then is refused.
[[nodiscard]] inline bool& in_rounds() {
  static bool in_rounds = false;
  return in_rounds;
}

/// Throws InputError if the Python that runs functions is no program.
inline void require_python() {
  const std::string python = aot::default_python();
  // Python looks for a name without a folder in PATH.
  if (python.find('/') == std::string::npos) return;
  if (std::filesystem::is_directory(python) || ::access(python.c_str(), X_OK) != 0)
    throw InputError({}, "PACE_PYTHON=" + python +
                             ": is no program that can be run; expected the path of a python3 that has this program's "
                             "torch");
}

namespace detail {

[[nodiscard]] inline python::Host* open_python() {
  const std::string library = beside_program("python/host/libpace_python_host.so");
  if (library.empty())
    throw Unsupported(
        "this program cannot run Python: python/host is not among its runfiles; try: apt-get install python3-dev, "
        "whose headers that needs, and third_party/bazel run //benches/files");
  const std::string executable = aot::default_python();
  if (executable.empty())
    throw Unsupported("no Python is known; try: PACE_PYTHON, the path of a python3 that has this program's torch");
  // Python's own extensions look for its symbols in the whole process.
  void* const opened = ::dlopen(std::filesystem::absolute(library).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) throw Unsupported(std::string("Python does not load: ") + ::dlerror());
  const auto make = reinterpret_cast<python::MakeHost>(::dlsym(opened, python::make_host_name));
  if (make == nullptr) throw Unsupported(library + ": is of another version of pace");
  const auto package = std::filesystem::absolute(library).parent_path().parent_path() / "pace";
  return make(executable, package.string(), &in_rounds());
}

/// The interpreter of this process, which the first call starts. Throws Unsupported.
[[nodiscard]] inline python::Host& python_host() {
  static python::Host* host = nullptr;
  if (host == nullptr) {
    host = open_python();
    pace::detail::around_backward() = [](FunctionRef<void()> backward) { host->without_lock([&] { backward(); }); };
  }
  return *host;
}

class BoundPython final : public BoundCall {
 public:
  explicit BoundPython(std::unique_ptr<python::HostedCall> call) : call_(std::move(call)) {}
  [[nodiscard]] std::vector<at::Tensor> run(const std::vector<at::Tensor>& tensors) override {
    return flat_outputs(call_->run(tensors));
  }

 private:
  std::unique_ptr<python::HostedCall> call_;
};

class LoadedPython final : public Loaded {
 public:
  explicit LoadedPython(std::unique_ptr<python::HostedFunction> function) : function_(std::move(function)) {}
  [[nodiscard]] std::unique_ptr<BoundCall> bind(const CallInputs& inputs) override {
    const auto& given = inputs.inputs();
    return std::make_unique<BoundPython>(
        function_->bind({.args = given.args, .kwargs = given.kwargs}, inputs.tensors()));
  }
  [[nodiscard]] std::vector<std::string> late_notes(const std::string& side) const override {
    return function_->tuning_notes(side);
  }

 private:
  std::unique_ptr<python::HostedFunction> function_;
};

}  // namespace detail

/// Whether a path names a Python file.
[[nodiscard]] inline bool is_python_path(const std::string& path) {
  return std::filesystem::path(path).extension() == ".py";
}

/// Throws InputError unless `name` can be the NAME of FILE.py:NAME. Python itself judges letters beyond ASCII.
inline void require_python_name(const std::string& path, const std::string& name) {
  const auto is_digit = [](char letter) { return letter >= '0' && letter <= '9'; };
  const auto is_letter = [](char letter) {
    const char lower = static_cast<char>(letter | ('a' - 'A'));
    return (lower >= 'a' && lower <= 'z') || letter == '_' || static_cast<unsigned char>(letter) >= 0x80;
  };
  const bool is_word = !name.empty() && is_letter(name.front()) &&
                       std::ranges::all_of(name, [&](char letter) { return is_letter(letter) || is_digit(letter); });
  if (!is_word)
    throw InputError({path}, (name.empty() ? "this is a Python file" : "'" + name + "' is no name in a Python file") +
                                 "; expected FILE.py:NAME, with the name of a function or of inputs");
}

/// The arguments that FILE.py:NAME holds or returns. Runs the file. Throws InputError or Unsupported.
[[nodiscard]] inline inputs::Inputs python_inputs(const std::string& path, const std::string& name) {
  auto made = detail::python_host().arguments(path, name);
  inputs::Inputs inputs;
  inputs.args = std::move(made.args);
  inputs.kwargs = std::move(made.kwargs);
  return inputs;
}

class PythonLoader final : public Loader {
 public:
  [[nodiscard]] std::string name() const override { return "a function of a Python file (*.py:NAME)"; }
  [[nodiscard]] bool recognises(const Content& content) const override {
    return is_python_path(content.path()) && !content.is_archive() && !content.is_elf() && !content.is_pickle();
  }
  [[nodiscard]] std::string code_in(const Content& /*content*/) const override {
    return "a program in Python, which runs when it is opened";
  }
  void require_loadable(const Content& content, const LoadOptions& options) const override {
    require_python_name(content.path(), options.model);
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const Content& content, const LoadOptions& options) const override {
    require_python_name(content.path(), options.model);
    return std::make_unique<detail::LoadedPython>(detail::python_host().find(content.path(), options.model));
  }
};

}  // namespace pace::benches::loaders
