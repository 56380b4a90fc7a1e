// A program run to its end, or until it has taken too long, with a limit to its memory.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "benches/models/driver/interrupts.hpp"
#include "pace/base/error.hpp"
#include "pace/os/orphans.hpp"
#include "pace/os/process.hpp"

namespace pace::benches::models {

struct ChildLimits {
  /// Seconds.
  double timeout = 2000;
  /// Seconds since some moment. Tests have a clock of their own.
  std::function<double()> now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  /// Bytes of data, so that its allocations fail rather than the machine; none: as much as the system gives.
  std::optional<std::int64_t> memory = {};
};

struct ChildEnd {
  pace::detail::ExitStatus status = {};
  bool timed_out = false;
  /// The signal that this process has got meanwhile.
  int interrupted = 0;
};

namespace detail {

/// The code that a shell ends with where a program cannot be run.
inline constexpr int cannot_run = 127;

/// Runs between fork and exec, so it does only work that a signal handler may do.
[[noreturn]] inline void become(char* const* argv, const ChildLimits& limits, pid_t parent) {
  pace::detail::restore_signals();
  // A group of its own: its own children end with it, and the interrupt key reaches its parent alone.
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(cannot_run);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  rlimit limit{};
  if (limits.memory && ::getrlimit(RLIMIT_DATA, &limit) == 0) {
    limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(*limits.memory));
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  ::execv(argv[0], argv);
  ::_exit(cannot_run);
}

}  // namespace detail

/// Runs `arguments` (the first is the program's path), which print where this process does and read nothing. When its
/// time is over, or a signal interrupts this process, it is killed with all that it has started. Throws Unsupported if
/// no process can be started.
[[nodiscard]] inline ChildEnd run_child(const std::vector<std::string>& arguments, const ChildLimits& limits) {
  std::vector<char*> argv;
  for (const auto& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
  argv.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t self = ::getpid();
  const Orphans orphans;
  const pid_t child = ::fork();
  if (child < 0) throw Unsupported(std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) detail::become(argv.data(), limits, self);
  ::setpgid(child, child);  // as the child does: either may come first

  const double end = limits.now() + limits.timeout;
  const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  ChildEnd ended;
  int status = 0;
  bool killed = false;
  for (;;) {
    const pid_t found = ::waitpid(child, &status, WNOHANG);
    if (found == child || (found < 0 && errno != EINTR)) break;
    if (!killed && Interrupts::signal() != 0) ended.interrupted = Interrupts::signal();
    if (!killed && ended.interrupted == 0) ended.timed_out = limits.now() >= end;
    if (!killed && (ended.timed_out || ended.interrupted != 0)) {
      killed = true;
      ::kill(-child, SIGKILL);
      ::kill(child, SIGKILL);
    }
    // It wakes at least once a second, so as not to miss a signal that came before.
    pollfd waiting{handle, POLLIN, 0};
    const double most = handle >= 0 ? 1000 : 20;
    const double left = killed ? most : std::clamp(1000 * (end - limits.now()) + 1, 1.0, most);
    ::poll(&waiting, handle >= 0 ? 1 : 0, static_cast<int>(left));
  }
  if (handle >= 0) ::close(handle);
  // Processes that it left behind: at once its group, then processes with a group or a session of their own.
  ::kill(-child, SIGKILL);
  orphans.end_all();
  if (ended.interrupted == 0) ended.interrupted = Interrupts::signal();
  ended.status = {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
  return ended;
}

}  // namespace pace::benches::models
