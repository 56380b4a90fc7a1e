// The path of the running program.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

#include "pace/base/error.hpp"

namespace pace::runner {

/// Returns the path of the program's own file, whatever its argv[0] is. Throws Error if /proc/self/exe cannot be read.
[[nodiscard]] inline std::string this_program() {
  std::array<char, 4096> path{};
  if (::readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0)
    throw Error("/proc/self/exe does not say which program this is");
  return path.data();
}

}  // namespace pace::runner
