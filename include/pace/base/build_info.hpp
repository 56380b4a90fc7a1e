// BuildInfo: properties of the build that a program cannot determine at run time.
#pragma once

#include <string>

namespace pace {

/// Properties of the build of this program; empty where the build did not set them.
struct BuildInfo {
  /// Options of the compiler for the program's own sources.
  std::string flags{};
  /// Path of a Python interpreter with the LibTorch that the program is linked with; it compiles packages.
  std::string python{};
};

/// Returns the build information of this process. The rules pace_test and pace_binary set it; otherwise it is empty.
inline BuildInfo& build_info() {
  static BuildInfo info;
  return info;
}

}  // namespace pace
