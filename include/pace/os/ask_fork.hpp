// ask_fork: asks a copy of this process, which may load and initialise what this process must not.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <string>

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/os/file_descriptor.hpp"

namespace pace::detail {

/// What a copy of this process answered.
struct ForkAnswer {
  std::string text = {};
  /// Why there is no answer, such as `it was ended by signal 11 (Segmentation fault)`; empty: there is one.
  std::string fault = {};
};

/// Life of the copy: writes what `ask` returns, and ends. It ends with `parent`, too.
template <class F>
[[noreturn]] void answer_as_fork(pid_t parent, int writing, const F& ask) {
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  // A test framework would report a signal as the first process's.
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    (void)::signal(each, SIG_DFL);
  try {
    const std::string answer = ask();
    for (std::size_t done = 0; done < answer.size();) {
      const ssize_t written = ::write(writing, answer.data() + done, answer.size() - done);
      if (written <= 0) ::_exit(1);
      done += static_cast<std::size_t>(written);
    }
  } catch (...) {
    ::_exit(1);
  }
  // No handler of exit(): they belong to the first process.
  ::_exit(0);
}

/// Appends what comes from `reading` to `text` until its other end is closed. Returns false if that takes longer than
/// `limit`.
[[nodiscard]] inline bool read_within(Nanoseconds limit, int reading, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
  char buffer[4096];
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    ::pollfd wait{reading, POLLIN, 0};
    const int found = ::poll(&wait, 1, static_cast<int>(std::max<decltype(left)>(left, 0)));
    if (found < 0 && errno == EINTR) continue;
    if (found == 0) return false;
    const ssize_t count = ::read(reading, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

/// Returns the text that `ask` returns in a copy of this process, which then ends. There is a fault instead if `ask`
/// throws, ends its process or takes longer than `limit`, or if there is no process for it.
template <class F>
[[nodiscard]] ForkAnswer ask_fork(const F& ask, Nanoseconds limit = std::chrono::minutes(1)) {
  const auto failed = [](const char* what) {
    return ForkAnswer{.fault = std::string(what) + ": " + ::strerror(errno)};
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed("there is no pipe");
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return failed("there is no process");
  if (child == 0) answer_as_fork(parent, writing.get(), ask);
  (void)writing.close();
  ForkAnswer answer;
  const bool in_time = read_within(limit, reading.get(), answer.text);
  if (!in_time) (void)::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (in_time && WIFEXITED(status) && WEXITSTATUS(status) == 0) return answer;
  if (!in_time) return {.fault = "it did not answer within " + format_time(limit)};
  if (WIFSIGNALED(status))
    return {.fault = "it was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
                     ::strsignal(WTERMSIG(status)) + ')'};
  return {.fault = "it threw or ended early, with exit code " + std::to_string(WEXITSTATUS(status))};
}

}  // namespace pace::detail
