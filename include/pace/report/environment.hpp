// Environment: the machine, the program and the commit of a measurement.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/config.hpp"

namespace pace::report {

/// Returns the hash of the commit that is checked out in `folder`, by the `.git` folder, or in a worktree or a
/// submodule the `.git` file, of the folder or of the nearest one around it. Uncommitted changes do not show. The text
/// is empty if no commit is found.
[[nodiscard]] std::string commit_of(const std::string& folder);

/// Machine, program and commit of a measurement. A fact that is not known is empty (texts, optionals) or 0.
struct Environment {
  std::string date_utc;             ///< ISO 8601, when this was read
  std::string hostname;             ///< name of the machine, from /run/pace/machine if a worker has that file
  std::string command_line;         ///< the program and its arguments, quoted for a shell
  std::string cpu;                  ///< name of the processor
  unsigned cores = 0;               ///< cores that the process may use
  std::optional<double> cpu_quota;  ///< cores' worth of time granted by a container
  std::string governor;             ///< sets the frequency of the cores: `performance`, `powersave`
  std::optional<bool> turbo;        ///< whether cores may exceed their nominal frequency
  std::optional<bool> aslr;         ///< whether addresses differ from run to run
  std::optional<double> load;       ///< mean number of runnable threads over the last minute
  std::uint64_t memory_bytes = 0;   ///< memory of the machine, bytes
  std::string kernel;               ///< name, version and architecture, such as `Linux 6.1.0-18-amd64 x86_64`
  std::string compiler;             ///< name and version
  std::string build_flags;          ///< compiler options of the program's own sources
  bool optimized = false;           ///< whether the program was compiled with optimisation
  std::string commit;               ///< hash of the commit that was checked out when the program ran
  /// Variables that change times (see changes_times()), by their names. Empty also where a file does not say.
  std::map<std::string, std::string> variables;
  /// Further facts by their keys, such as the version of LibTorch, its threads and the GPUs.
  std::map<std::string, std::string> extra;
};

namespace detail {

/// The present time, ISO 8601.
[[nodiscard]] std::string utc_now();

/// Returns `word` with the quotes that a shell needs.
[[nodiscard]] std::string quoted_for_shell(std::string_view word);

}  // namespace detail

/// Returns name and version of the compiler of the including file; empty for other compilers than Clang and GCC.
[[nodiscard]] inline std::string compiler() {
#if defined(__clang__)
  return "Clang " __clang_version__;
#elif defined(__GNUC__)
  return "GCC " __VERSION__;
#else
  return "";
#endif
}

/// Returns whether the including file is compiled with optimisation.
[[nodiscard]] inline bool optimized() {
#ifdef __OPTIMIZE__
  return true;
#else
  return false;
#endif
}

/// Reads the environment; a fact that cannot be read stays empty or 0. `command_line` is argv; files are read under
/// `root`, which is empty except in tests. The commit comes from the environment variable PACE_COMMIT, else from the
/// checkout that `bazel run` was called in, or that a pace_test was built in (PACE_CHECKOUT). The pool of machines that
/// a pace_test asks for (PACE_POOL) is among the further facts, as `pool`.
[[nodiscard]] Environment read_environment(const std::vector<std::string>& command_line = {},
                                           const std::string& root = "");

/// Returns one line for the head of a table: CPU, cores, kernel, compiler, LibTorch, GPUs.
[[nodiscard]] std::string one_line(const Environment& environment);

/// Returns the properties of this environment that spoil figures, one sentence each.
[[nodiscard]] std::vector<std::string> cautions(const Environment& environment);

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/environment-inl.hpp"
#endif
