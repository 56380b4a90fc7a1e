// The program anew under Valgrind's Callgrind, which counts the instructions that it executes.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/folders.hpp"
#include "pace/os/process.hpp"
#include "pace/runner/this_program.hpp"
#include "pace/timing/instruction_counter.hpp"

namespace pace::benches::operators {

/// Environment variable with the prefix of the files that Callgrind writes.
inline constexpr const char* callgrind_files_variable = "PACE_CALLGRIND_FILES";

/// The command that runs `program` with `arguments` under Callgrind, which counts nothing until it is asked to and
/// writes its profiles to files that begin with `prefix`.
[[nodiscard]] inline std::vector<std::string> callgrind_command(const std::string& program,
                                                                const std::vector<std::string>& arguments,
                                                                const std::string& prefix) {
  std::vector<std::string> words{
      "valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=" + prefix + ".%p", program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

namespace detail {

/// Starts a shell that removes `folder` once this process and all that it has started have ended. Valgrind writes a
/// last profile when a process ends, so that no process can remove the folder for itself.
inline void remove_in_the_end(const std::string& folder) {
  int ends[2];
  if (::pipe(ends) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
  const pid_t child = ::fork();
  if (child < 0) throw Unsupported("cannot start a process: " + std::string(std::strerror(errno)));
  if (child > 0) {
    ::close(ends[0]);  // the other end stays open until the last of these processes has ended
    return;
  }
  ::close(ends[1]);
  ::setsid();  // the interrupt key ends the others, and not this one
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere < 0 || ::dup2(ends[0], STDIN_FILENO) < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0 ||
      ::dup2(nowhere, STDERR_FILENO) < 0)
    ::_exit(1);
  ::execl("/bin/sh", "sh", "-c", "read -r end; /bin/rm -rf -- \"$0\"", folder.c_str(), static_cast<char*>(nullptr));
  ::_exit(1);
}

}  // namespace detail

/// Replaces this process by the same program under Callgrind. Returns only if that is so already. Throws Unsupported
/// with the remedy where the program or the machine lacks Valgrind.
inline void enter_callgrind(const std::vector<std::string>& arguments) {
  if (timing::runs_under_valgrind() && !environment_variable(callgrind_files_variable).empty()) return;
#ifndef PACE_HAS_CALLGRIND
  throw Unsupported(
      "--count-instructions callgrind: this program was compiled without valgrind/callgrind.h; install Valgrind "
      "(Debian: sudo apt-get install valgrind) and compile it again, or give --count-instructions perf");
#endif
  const std::string folder =
      pace::detail::make_folder_in(std::filesystem::temp_directory_path(), "pace-callgrind-").string();
  detail::remove_in_the_end(folder);
  const std::string prefix = folder + "/profile";
  ::setenv(callgrind_files_variable, prefix.c_str(), 1);
  const auto command = callgrind_command(runner::this_program(), arguments, prefix);
  const auto words = pace::detail::pointers(command);
  ::execvp(words[0], words.data());
  throw Unsupported(std::string("--count-instructions callgrind: cannot run valgrind: ") + std::strerror(errno) +
                    "; install it (Debian: sudo apt-get install valgrind), or give --count-instructions perf");
}

}  // namespace pace::benches::operators
