// Code in files that would run with the user's rights once a file is loaded, found before any of it is.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/files/loaders/cases.hpp"
#include "benches/files/loaders/content.hpp"
#include "benches/files/loaders/loader.hpp"
#include "benches/files/loaders/loaders.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::loaders {

/// Collects the files of a command that hold code.
class CodeInFiles {
 public:
  /// `what`: the code, in words.
  void add(const std::string& path, const std::string& what) {
    std::string text = path + " holds " + what;
    if (std::ranges::find(found_, text) == found_.end()) found_.push_back(std::move(text));
  }
  void add_library(const std::string& path) { add(path, "compiled code (a shared library)"); }
  /// An exported program that is to be compiled.
  void add_compiled(const std::string& path) {
    add(path, "values that Python unpickles to compile it, which may run any code");
  }
  /// Looks into a file that is loaded and called. A file that cannot be read, or is of no known kind, holds none. An
  /// unreadable part counts as code, for loading may not touch it.
  void look_into(const std::string& path) {
    std::optional<Content> content;
    const Loader* loader = nullptr;
    try {
      content.emplace(path);
      loader = &loader_of(*content);
    } catch (const Error&) {
      return;
    }
    try {
      if (const auto code = loader->code_in(*content); !code.empty()) add(path, code);
    } catch (const Error& error) {
      add(path, "a part that cannot be read, and may be code: " + first_line(error));
    }
  }
  /// Looks into the files of `--inputs`: a file, a folder, or text, which holds none.
  void look_into_inputs(const std::string& inputs) {
    for (const auto& path : files_of_inputs(inputs)) is_python_path(path) ? look_into(path) : look_into_tensors(path);
  }

  /// Throws InputError, which lists the files, unless there are none.
  void require_none() const {
    if (found_.empty()) return;
    std::string all;
    for (const auto& each : found_) all += "\n  " + each;
    throw InputError({}, "code of files would run with your rights, and --trust was not given:" + all +
                             "\nExpected --trust, once you know where these files come from");
  }

 private:
  void look_into_tensors(const std::string& path) {
    try {
      if (is_module_of_tensors(Content(path))) add(path, "TorchScript, as torch::save of C++ writes tensors");
    } catch (const Error&) {
    }
  }

  std::vector<std::string> found_;
};

}  // namespace pace::benches::loaders
