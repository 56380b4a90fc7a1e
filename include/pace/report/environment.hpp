// Environment: where, with what, and of which commit the figures were measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/core/config.hpp"

namespace pace::report {

/// The commit that is checked out in `folder`: in it, or the nearest folder around it, lies a `.git` folder or (worktree,
/// submodule) a `.git` file. Says nothing of uncommitted changes. Empty if it cannot be found out.
[[nodiscard]] std::string commit_of(const std::string& folder);

/// What is unknown is empty (texts, optionals) or 0.
struct Environment {
  std::string date_utc;  ///< ISO 8601, when this was read
  std::string hostname, command_line;
  std::string cpu;
  unsigned cores = 0;               ///< that the process may use
  std::optional<double> cpu_quota;  ///< cores' worth of time granted by a container
  std::string governor;
  std::optional<bool> turbo, aslr;
  std::optional<double> load;  ///< mean number of runnable threads over the last minute
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string compiler, build_flags;
  bool optimized = false;
  std::string commit;
  /// Whatever else is worth keeping: the LibTorch version, its threads, a GPU.
  std::map<std::string, std::string> extra;
};

namespace detail {

/// ISO 8601.
[[nodiscard]] std::string utc_now();

/// So that it can be pasted into a shell.
[[nodiscard]] std::string quoted_for_shell(std::string_view word);

}  // namespace detail

/// The compiler of the file that includes this.
[[nodiscard]] inline std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "";
#endif
}

[[nodiscard]] inline bool optimized() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

/// Reads everything anew; never throws for what is missing. `command_line` is argv; files are read under `root`. The
/// commit comes from the environment variable PACE_COMMIT, else from the checkout that `bazel run` was called in, or that
/// a pace_test was built in (PACE_CHECKOUT).
[[nodiscard]] Environment read_environment(const std::vector<std::string>& command_line = {},
                                           const std::string& root = "");

/// One line for the head of a table: CPU, cores, kernel, compiler, LibTorch, GPUs.
[[nodiscard]] std::string one_line(const Environment& environment);

/// What about this environment spoils figures, in full sentences.
[[nodiscard]] std::vector<std::string> cautions(const Environment& environment);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/environment-inl.hpp"
#endif
