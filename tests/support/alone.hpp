// alone: begins a shell's command whose program must not see the environment of the test.
#pragma once

#include <cstdlib>
#include <string>

namespace pace::test {

/// `env` with the arguments that leave PATH alone in the environment, and a blank. The options of sanitizers stay, too:
/// they say where reports go (tests/sanitizers/run.sh).
[[nodiscard]] inline std::string alone() {
  std::string command = "env -i PATH=/usr/bin:/bin ";
  for (const std::string name : {"ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS"})
    if (const char* const value = std::getenv(name.c_str())) command += name + "='" + value + "' ";
  return command;
}

}  // namespace pace::test
