// Runs the sample program as a process, as Bazel and a shell do.
#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "pace/os/memory.hpp"
#include "tests/report/temporary_file.hpp"
#include "tests/support/alone.hpp"
#include "tests/support/scratch.hpp"

namespace program {

namespace fs = std::filesystem;

struct Run {
  int code = -1;  ///< 128 + signal, as a shell has it
  std::string out, err;
};

/// Runs the program `name` in an environment of nothing but `variables`, so that the test's own Bazel does not show
/// through.
inline Run run(const std::string& arguments, const std::string& variables = "",
               const std::string& name = "tests/runner/sample_program") {
  const TemporaryFile out, err;
  const std::string program = fs::absolute(name).string();
  const std::string command =
      pace::test::alone() + variables + " '" + program + "' " + arguments + " >" + out.path() + " 2>" + err.path();
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out.content(), err.content()};
}

/// Whether a program runs within a limit on the size of files. Beside a sanitizer, which has files of its own, it ends.
inline bool can_limit_files() { return pace::limit_on_data().has_value(); }

}  // namespace program
