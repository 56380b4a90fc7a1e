// Where packages are kept, and what they are compiled with.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "pace/core/build_info.hpp"
#include "pace/subject/package_key.hpp"

namespace pace::subject {

/// `PACE_PACKAGE_CACHE`, or `packages` in `PACE_HOME`, or in `pace` in the user's cache folder.
[[nodiscard]] inline std::filesystem::path default_package_cache() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::filesystem::path(value == nullptr ? "" : value);
  };
  if (const auto cache = variable("PACE_PACKAGE_CACHE"); !cache.empty()) return cache;
  if (const auto home = variable("PACE_HOME"); !home.empty()) return home / "packages";
  if (const auto cache = variable("XDG_CACHE_HOME"); !cache.empty()) return cache / "pace" / "packages";
  if (const auto home = variable("HOME"); !home.empty()) return home / ".cache" / "pace" / "packages";
  return std::filesystem::temp_directory_path() / "pace" / "packages";
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
  std::string python = default_python();
  InductorOptions inductor{};
  /// Cases compiled at a time; 0: as many as the processors and the memory allow.
  unsigned workers = 0;
  /// For one case.
  int timeout_seconds = 240;
  /// Where progress is told while compiling; null: nowhere.
  std::ostream* progress = &std::cerr;
};

}  // namespace pace::subject
