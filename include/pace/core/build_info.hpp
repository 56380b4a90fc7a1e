// BuildInfo: what the build knows of a program and the program could not find out itself.
#pragma once

#include <string>

namespace pace {

struct BuildInfo {
  /// Compiler options that the program's own sources were built with.
  std::string flags{};
  /// A Python that has the LibTorch which the program is linked with, to compile packages with.
  std::string python{};
};

/// How this process was built. Empty unless the build filled it in, as pace_test and pace_binary do.
inline BuildInfo& build_info() {
  static BuildInfo info;
  return info;
}

}  // namespace pace
