// Environment variables that Bazel sets, and the file that shows it an early exit.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace pace {

/// Returns the value of an environment variable; empty if it is not set.
[[nodiscard]] inline std::string environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Returns whether `bazel test` started this process. Bazel sets BAZEL_TEST since version 5.2. Older versions show by
/// two variables that every test gets.
[[nodiscard]] inline bool under_bazel() {
  return !environment_variable("BAZEL_TEST").empty() ||
         (!environment_variable("TEST_SRCDIR").empty() && !environment_variable("TEST_TIMEOUT").empty());
}

/// Sets BAZEL_TEST under Bazel: Catch2 follows Bazel's variables (filter, shards, XML) only with it.
inline void tell_catch2_of_bazel() {
  if (under_bazel()) ::setenv("BAZEL_TEST", "1", 0);
}

namespace detail {

[[nodiscard]] inline std::string inside(const std::string& folder, const std::string& path) {
  return (std::filesystem::path(folder) / path).string();
}

}  // namespace detail

/// Returns a path from a command line. `bazel run` starts programs in their runfiles, so a relative path is resolved
/// against the directory where you started it. Outside of `bazel run`, returns the path unchanged.
[[nodiscard]] inline std::string user_path(const std::string& path) {
  const std::string stood_in = environment_variable("BUILD_WORKING_DIRECTORY");
  return stood_in.empty() || path.empty() ? path : detail::inside(stood_in, path);
}

/// Returns the place of a file or folder that pace ships beside a program. `path` is from the root of pace's workspace
/// and of its runfiles. In another workspace's runfiles it is below external/pace. If it is in neither place, returns
/// `path`, so that reading fails with that name.
[[nodiscard]] inline std::string shipped_file(const std::string& path) {
  const std::string outside = detail::inside("external/pace", path);
  return ::access(path.c_str(), F_OK) != 0 && ::access(outside.c_str(), F_OK) == 0 ? outside : path;
}

/// Returns the folder where `bazel test` keeps the files of a test; empty outside of it.
[[nodiscard]] inline std::string undeclared_outputs() { return environment_variable("TEST_UNDECLARED_OUTPUTS_DIR"); }

/// As user_path. In `bazel test` a relative path is in the undeclared outputs, since the working directory goes with
/// the sandbox.
[[nodiscard]] inline std::string output_path(const std::string& path) {
  if (!environment_variable("BUILD_WORKING_DIRECTORY").empty()) return user_path(path);
  return undeclared_outputs().empty() ? path : detail::inside(undeclared_outputs(), path);
}

/// File that exists while tests run. If something calls exit(0) half-way, it stays behind, and Bazel fails the test.
class PrematureExitFile {
 public:
  /// Makes the file that TEST_PREMATURE_EXIT_FILE names, if set.
  static void make() {
    path() = environment_variable("TEST_PREMATURE_EXIT_FILE");
    if (!path().empty()) std::ofstream(path()) << '0';
  }
  /// Removes the file that make() made. Call it last before the program ends.
  static void remove() noexcept {
    if (!path().empty()) std::remove(path().c_str());
  }

 private:
  /// Never destroyed, since handlers of exit() use it.
  [[nodiscard]] static std::string& path() {
    static auto* const path = new std::string;
    return *path;
  }
};

}  // namespace pace
