// The compilers of packages, and the libraries they compile against: the compiler, Inductor's environment, LibTorch.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/Version.h>
#include <unistd.h>

#include "pace/base/error.hpp"
#include "pace/os/process.hpp"

namespace pace::benches::aot {

namespace detail {

/// The file of a program, links followed; `name` is looked up in PATH unless it has a slash. The name itself where
/// there is no such file.
[[nodiscard]] inline std::string program_file(const std::string& name) {
  std::vector<std::string> places;
  if (name.find('/') != std::string::npos) {
    places.push_back(name);
  } else {
    const char* variable = std::getenv("PATH");
    const std::string path = variable == nullptr ? "/bin:/usr/bin" : variable;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find(':', begin), path.size());
      places.push_back((end == begin ? "." : path.substr(begin, end - begin)) + '/' + name);
      begin = end + 1;
    }
  }
  for (const std::string& place : places) {
    if (::access(place.c_str(), X_OK) != 0) continue;
    char* const real = ::realpath(place.c_str(), nullptr);
    const std::string file = real == nullptr ? place : real;
    std::free(real);
    return file;
  }
  return name;
}

}  // namespace detail

/// Returns the file of the C++ compiler that Inductor calls (`CXX`, or g++), and its answer to `--version`. Asks once
/// for each file in a process.
[[nodiscard]] inline std::string compiler() {
  const char* const chosen = std::getenv("CXX");
  const std::string file = detail::program_file(chosen == nullptr || *chosen == '\0' ? "g++" : chosen);
  static std::mutex mutex;
  static std::map<std::string, std::string> known;
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(file); found != known.end()) return found->second;
  std::string text = file + '\n';
  try {
    constexpr std::chrono::seconds limit(30);
    const auto status = pace::detail::run_process(
        {file, "--version"}, [&](std::string_view line) { text.append(line) += '\n'; }, limit);
    if (!status.ok()) text += status.to_string() + '\n';
  } catch (const Error& error) {  // Inductor will say so, too
    text += std::string(error.what()) + '\n';
  }
  return known[file] = text;
}

namespace detail {

/// The variables that Inductor and its parts read as options, in the order of their names: NAME=VALUE, a line each.
[[nodiscard]] inline std::string inductor_environment() {
  // Where it keeps files and how many processes it uses: the code is the same, and the compile script sets both.
  constexpr std::array<std::string_view, 2> without_effect = {"TORCHINDUCTOR_CACHE_DIR",
                                                              "TORCHINDUCTOR_COMPILE_THREADS"};
  std::vector<std::string> found;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each), name = entry.substr(0, entry.find('='));
    if (name.find("INDUCTOR") == std::string_view::npos) continue;
    if (std::find(without_effect.begin(), without_effect.end(), name) == without_effect.end())
      found.emplace_back(entry);
  }
  std::sort(found.begin(), found.end());
  std::string text;
  for (const std::string& entry : found) text += entry + '\n';
  return text;
}

/// How the LibTorch that this program runs with was built: CUDA or not, its compiler, commit and libraries.
[[nodiscard]] inline const std::string& torch_variant() {
  static const std::string text = at::show_config();
  return text;
}

}  // namespace detail

/// Returns as text everything that decides the compiled code, except the subject and its options.
[[nodiscard]] inline std::string toolchain() {
  return compiler() + detail::inductor_environment() + detail::torch_variant();
}

}  // namespace pace::benches::aot
