// report_program: where the program is that makes pages of results.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include <unistd.h>

#include "pace/core/bazel.hpp"
#include "pace/core/error.hpp"

namespace pace {

/// Set to the program of tools/report, for programs that do not have it among their runfiles.
inline constexpr const char* report_variable = "PACE_REPORT";

/// Returns the program that makes pages: the one that PACE_REPORT names, or else the one that a pace_test, a pace_binary
/// or a program of tools/ has among its runfiles; empty if there is neither. Throws InputError if PACE_REPORT names no
/// program.
[[nodiscard]] inline std::string report_program() {
  if (const auto given = environment_variable(report_variable); !given.empty()) {
    const std::string path = user_path(given);
    if (std::filesystem::is_directory(path) || ::access(path.c_str(), X_OK) != 0)
      throw InputError({}, std::string(report_variable) + '=' + given +
                               ": is no program that can be run; expected the program of pace's tools/report");
    return path;
  }
  const std::string name = "tools/report/report";
  std::string beside = shipped_file(name);
  if (::access(beside.c_str(), X_OK) == 0) return beside;
  // A program that is started by its path has its runfiles next to it.
  std::error_code none;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", none);
  std::string own = self.string() + ".runfiles/pace/" + name;
  return !none && ::access(own.c_str(), X_OK) == 0 ? own : "";
}

}  // namespace pace
