// ask_fork: asks a copy of this process, which may load and initialise what this process must not.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <string>

#include "pace/os/file_descriptor.hpp"

namespace pace::detail {

/// Returns the text that `ask` returns in a copy of this process, which then ends. Returns an empty text if `ask`
/// throws or ends its process, or if there is no process for it.
template <class F>
[[nodiscard]] std::string ask_fork(const F& ask) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {};
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    try {
      const std::string answer = ask();
      for (std::size_t done = 0; done < answer.size();) {
        const ssize_t written = ::write(writing.get(), answer.data() + done, answer.size() - done);
        if (written <= 0) ::_exit(1);
        done += static_cast<std::size_t>(written);
      }
    } catch (...) {
      ::_exit(1);
    }
    // No handler of exit(): they belong to the first process.
    ::_exit(0);
  }
  (void)writing.close();
  std::string answer;
  char buffer[4096];
  while (true) {
    const ssize_t count = ::read(reading.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    answer.append(buffer, static_cast<std::size_t>(count));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? answer : std::string();
}

}  // namespace pace::detail
