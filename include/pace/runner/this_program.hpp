// Where the file of the running program is.
#pragma once

#include <unistd.h>

#include <array>
#include <string>

#include "pace/core/error.hpp"

namespace pace::runner {

/// The path of the program's own file, however it was called. Throws Error where the system does not tell.
[[nodiscard]] inline std::string this_program() {
  std::array<char, 4096> path{};
  if (::readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0)
    throw Error("/proc/self/exe does not say which program this is");
  return path.data();
}

}  // namespace pace::runner
