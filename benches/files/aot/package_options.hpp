// Where packages are kept, and their options of compiling.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <unistd.h>

#include "benches/files/aot/package_key.hpp"
#include "pace/base/build_info.hpp"
#include "pace/base/error.hpp"
#include "pace/run/run_context.hpp"

namespace pace::benches::aot {

/// Returns the folder that an environment variable names; empty if it is not set. Throws InputError for a relative
/// path: it would mean another folder wherever the program is started.
[[nodiscard]] inline std::filesystem::path folder_variable(const char* name) {
  const char* value = std::getenv(name);
  std::filesystem::path path(value == nullptr ? "" : value);
  if (!path.empty() && path.is_relative())
    throw InputError({}, std::string(name) + '=' + path.string() + ": expected an absolute path");
  return path;
}

/// `PACE_PACKAGE_CACHE`, or `packages` in `PACE_HOME`, or in `pace` in the user's cache folder; without any, in a
/// folder of the user's own among temporary files. Throws InputError for one of these variables that is no absolute
/// path.
[[nodiscard]] inline std::filesystem::path default_package_cache() {
  if (const auto cache = folder_variable("PACE_PACKAGE_CACHE"); !cache.empty()) return cache;
  if (const auto home = folder_variable("PACE_HOME"); !home.empty()) return home / "packages";
  if (const auto cache = folder_variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "pace" / "packages";
  if (const auto home = folder_variable("HOME"); !home.empty()) return home / ".cache" / "pace" / "packages";
  return std::filesystem::temp_directory_path() / ("pace-" + std::to_string(::geteuid())) / "packages";
}

/// Seconds that compiling one case may take: `PACE_COMPILE_TIMEOUT`, or `standard`. Throws InputError if it is no whole
/// number above 0.
[[nodiscard]] inline int compile_timeout(int standard) {
  const char* const value = std::getenv("PACE_COMPILE_TIMEOUT");
  if (value == nullptr || *value == '\0') return standard;
  const std::string_view text(value);
  int seconds = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (problem != std::errc() || end != text.data() + text.size() || seconds < 1)
    throw InputError({}, "PACE_COMPILE_TIMEOUT=" + std::string(text) + ": expected a whole number of seconds above 0");
  return seconds;
}

/// A Python that has torch: `PACE_PYTHON`, or the one that the build knows; empty if there is neither.
[[nodiscard]] inline std::string default_python() {
  if (const char* python = std::getenv("PACE_PYTHON"); python != nullptr && *python != '\0') return python;
  return build_info().python;
}

struct PackageOptions {
  /// Directories of packages made before, such as build outputs. Only read, and looked into first.
  std::vector<std::filesystem::path> directories{};
  std::filesystem::path cache = default_package_cache();
  /// The common parts of all packages: precompiled headers and the interface of Inductor's runtime. Compiling them
  /// takes longer than most packages. Empty: `build` in `cache`.
  std::filesystem::path common_parts = folder_variable("PACE_COMMON_PARTS");
  std::string python = default_python();
  InductorOptions inductor{};
  /// Cases compiled at a time; 0: as many as the processors and the memory allow.
  unsigned workers = 0;
  /// For one case.
  int timeout_seconds = compile_timeout(240);
  /// A Python that prints nothing for longer than one case may take, and this, is ended: it hangs.
  std::chrono::milliseconds time_to_say_so = std::chrono::minutes(1);
  /// The time since some moment, to watch the compiler's progress. Tests have a clock of their own.
  std::function<std::chrono::nanoseconds()> now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  /// When compiling must end, by `now`; none: never. Nothing could be measured afterwards.
  std::function<std::optional<RunContext::Deadline>()> deadline = [] { return run_context().deadline; };
  /// Where progress is told while compiling; null: nowhere.
  std::ostream* progress = &std::cerr;
};

}  // namespace pace::benches::aot
