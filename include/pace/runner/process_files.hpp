// Files of a program that is one of several processes of the same command line; see replicates.hpp.
#pragma once

#include <cstddef>
#include <string>

#include "pace/os/bazel.hpp"

namespace pace::runner {

/// Set for a process that is one of several: the file for its findings.
inline constexpr const char* replicate_variable = "PACE_REPLICATE_FILE";
/// Set for a process that is one of several: its number, from 1 on.
inline constexpr const char* replicate_number_variable = "PACE_REPLICATE_NUMBER";

/// Returns whether this process is one of several of `--processes`.
[[nodiscard]] inline bool is_replicate() { return !environment_variable(replicate_variable).empty(); }

namespace detail {

/// Returns the path of one of several processes: `results-3.json` for `results.json` and process 3.
[[nodiscard]] inline std::string of_process(const std::string& path, const std::string& process) {
  const auto name = path.rfind('/') + 1;  // 0 without a folder
  auto dot = path.rfind('.');
  if (dot == std::string::npos || dot <= name) dot = path.size();
  return path.substr(0, dot) + '-' + process + path.substr(dot);
}
[[nodiscard]] inline std::string of_process(const std::string& path, std::size_t process) {
  return of_process(path, std::to_string(process));
}

}  // namespace detail

/// Returns the path under which this process writes a file that is not named by an option: a path of its own in one of
/// several processes, else `path` itself. SessionOptions::more_files must have `path` as well, for the process that
/// starts the others.
[[nodiscard]] inline std::string own_path(const std::string& path) {
  return is_replicate() ? detail::of_process(path, environment_variable(replicate_number_variable)) : path;
}

}  // namespace pace::runner
