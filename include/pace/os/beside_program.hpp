// Files that a program has among its runfiles, however it was started.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <unistd.h>

#include "pace/os/bazel.hpp"

namespace pace {

/// Tells the processes that a program starts of its own file by which path it was started itself.
inline constexpr const char* started_by_variable = "PACE_STARTED_BY";

namespace detail {

/// Returns the absolute path that this process was started by; empty if the shell found it by the PATH. Assumes the
/// working directory of the start.
[[nodiscard]] inline std::filesystem::path path_started_by() {
  std::ifstream words("/proc/self/cmdline", std::ios::binary);
  std::string first;
  std::getline(words, first, '\0');
  std::error_code none;
  return first.find('/') == std::string::npos ? std::filesystem::path() : std::filesystem::absolute(first, none);
}

}  // namespace detail

/// Returns the place of a file that this program has among its runfiles; empty if it has none of that name. `path` is
/// from the root of pace's workspace. `access`: as for access().
[[nodiscard]] inline std::string beside_program(const std::string& path, int access = R_OK) {
  std::string beside = shipped_file(path);
  if (::access(beside.c_str(), access) == 0) return beside;
  // A program started by its path has its runfiles next to it: next to its file, or to the link with a pace_binary's
  // name.
  std::error_code none;
  for (const auto& self : {std::filesystem::read_symlink("/proc/self/exe", none), detail::path_started_by(),
                           std::filesystem::path(environment_variable(started_by_variable))}) {
    std::string own = self.string() + ".runfiles/pace/" + path;
    if (!self.empty() && ::access(own.c_str(), access) == 0) return own;
  }
  return "";
}

}  // namespace pace
