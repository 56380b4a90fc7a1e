// Other programs: started so that they end with this process, and read line by line.
#pragma once

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/inherited_signals.hpp"

extern char** environ;  // POSIX leaves its declaration to the program

namespace pace::detail {

/// How a program ended: its exit code, or the signal that killed it.
struct ExitStatus {
  int code = 0;
  int signal = 0;
  /// Time without output after which it was killed; absent if it was not.
  std::optional<std::chrono::milliseconds> silent_for{};

  [[nodiscard]] bool ok() const noexcept { return code == 0 && signal == 0 && !silent_for; }
  [[nodiscard]] std::string to_string() const {
    if (silent_for) {
      return "printed nothing for " + format_time(Nanoseconds(*silent_for)) + ", and so was ended";
    }
    if (signal != 0) return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ')';
    return "ended with exit code " + std::to_string(code);
  }
};

/// Splits a stream of bytes into lines. Also splits lines longer than `longest_line`, so that they do not fill the
/// memory.
class LineReader {
 public:
  static constexpr std::size_t longest_line = std::size_t{1} << 20;

  explicit LineReader(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}

  void take(std::string_view bytes) {
    for (std::size_t end; (end = bytes.find('\n')) != std::string_view::npos; bytes.remove_prefix(end + 1)) {
      pending_ += bytes.substr(0, end);
      on_line_(pending_);
      pending_.clear();
    }
    pending_ += bytes;
    if (pending_.size() >= longest_line) finish();
  }
  void finish() {
    if (!pending_.empty()) on_line_(pending_);
    pending_.clear();
  }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string pending_;
};

/// Resets the signals that pace's programs handle or ignore: to ignored if this process was started so, else to their
/// default. Ignored signals outlive exec, and the executed program would take them for inherited. May run between fork
/// and exec.
inline void restore_signals() noexcept {
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ}) inherited_signals.restore(number);
}

/// Parameters of a child process.
struct Spawn {
  /// Arguments without a shell. The first is the program, searched in PATH unless it has a slash.
  std::vector<std::string> arguments;
  /// Environment as NAME=VALUE; absent: this process's.
  std::optional<std::vector<std::string>> environment{};
  /// File descriptor for its standard output and standard error.
  int output = STDOUT_FILENO;
  /// Whether the child gets its own process group, so that it can be ended with all its processes. The interrupt key
  /// does not reach such a group; the end of the parent does.
  bool own_group = false;
};

/// Returns a null-terminated array for exec, valid as long as the words.
[[nodiscard]] inline std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  for (const auto& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

/// Starts a program with an empty standard input. The system kills it when the calling thread of this process ends.
/// Throws `Unsupported` if it cannot be started.
[[nodiscard]] inline pid_t spawn(const Spawn& wanted) {
  // The child reports through it why exec failed; a successful exec closes it.
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
  FileDescriptor reading(ends[0]), writing(ends[1]);
  const auto arguments = pointers(wanted.arguments);
  const auto variables = wanted.environment ? pointers(*wanted.environment) : std::vector<char*>();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) throw Unsupported("cannot start a process: " + std::string(std::strerror(errno)));
  if (child == 0) {  // until exec only what a signal handler may do: other threads' locks stay held
    restore_signals();
    if (wanted.own_group) ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 || ::dup2(wanted.output, STDOUT_FILENO) < 0 ||
        ::dup2(wanted.output, STDERR_FILENO) < 0) {
      ::_exit(1);
    }
    ::execvpe(arguments[0], arguments.data(), wanted.environment ? variables.data() : environ);
    const int problem = errno;
    [[maybe_unused]] const ssize_t told = ::write(writing.get(), &problem, sizeof problem);
    ::_exit(1);
  }
  writing.close();
  int problem = 0;
  ssize_t count = 0;
  while ((count = ::read(reading.get(), &problem, sizeof problem)) < 0 && errno == EINTR) {
  }
  if (count != sizeof problem) return child;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  throw Unsupported("cannot run " + wanted.arguments.front() + ": " + std::strerror(problem));
}

[[nodiscard]] inline ExitStatus wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) throw Error(std::string("lost a process: ") + std::strerror(errno));
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

/// First process of a group, started by spawn(). The group ends with the object at the latest.
class GroupLeader {
 public:
  explicit GroupLeader(pid_t process) noexcept : process_(process) {}
  GroupLeader(const GroupLeader&) = delete;
  GroupLeader& operator=(const GroupLeader&) = delete;
  ~GroupLeader() {
    if (process_ <= 0) return;
    ::kill(-process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  /// Waits for the end of the first process alone.
  void wait() const {
    siginfo_t ignored;
    while (::waitid(P_PID, static_cast<id_t>(process_), &ignored, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
  }
  /// Ends the whole group and returns how its first process ended.
  [[nodiscard]] ExitStatus end() {
    // Before waiting: afterwards another group may have its number.
    ::kill(-process_, SIGKILL);
    return wait_for(std::exchange(process_, 0));
  }

 private:
  pid_t process_;
};

/// A process in a group made by spawn() that kills the group when this process ends. The system by itself ends only
/// this process's children, not theirs.
class GroupGuard {
 public:
  /// Starts the process. The group's leader must not have been waited for yet. Throws `Unsupported` if no process can
  /// be started.
  explicit GroupGuard(pid_t group) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
    FileDescriptor reading(ends[0]);
    writing_ = FileDescriptor(ends[1]);
    // A shell, not a copy of this process, which would keep its memory.
    static constexpr const char* words[] = {"/bin/sh", "-c", "read -r end; kill -s KILL 0", nullptr};
    process_ = ::fork();
    if (process_ < 0) throw Unsupported("cannot start a process: " + std::string(std::strerror(errno)));
    if (process_ > 0) return;
    // Only then does 0 stand for that group.
    if (::setpgid(0, group) != 0 || ::dup2(reading.get(), STDIN_FILENO) < 0) ::_exit(1);
    const int nowhere = ::open("/dev/null", O_WRONLY);
    if (nowhere < 0 || ::dup2(nowhere, STDOUT_FILENO) < 0 || ::dup2(nowhere, STDERR_FILENO) < 0) ::_exit(1);
    ::execv(words[0], const_cast<char* const*>(words));
    ::_exit(1);
  }
  GroupGuard(const GroupGuard&) = delete;
  GroupGuard& operator=(const GroupGuard&) = delete;
  /// Ends the process without killing the group.
  ~GroupGuard() {
    ::kill(process_, SIGKILL);
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

 private:
  /// Pipe that closes when this process ends.
  FileDescriptor writing_;
  pid_t process_ = 0;
};

/// Runs a program and calls `on_line` with each line of its standard output and standard error. Kills a program that
/// prints nothing for `longest_silence` (absent: no limit). The program and its process group end with this process, or
/// when `on_line` throws. Later output of processes in other groups is lost. Throws `Unsupported` if the program cannot
/// be started.
[[nodiscard]] inline ExitStatus run_process(const std::vector<std::string>& arguments,
                                            const std::function<void(std::string_view)>& on_line,
                                            std::optional<std::chrono::milliseconds> longest_silence = std::nullopt) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
  FileDescriptor reading(ends[0]), writing(ends[1]);
  const pid_t child = spawn({.arguments = arguments, .output = writing.get(), .own_group = true});
  GroupLeader leader(child);
  const GroupGuard guard(child);
  writing.close();  // or the pipe would never end
  const FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));

  LineReader lines(on_line);
  std::vector<char> buffer(std::size_t{1} << 16);
  // Returns the number of bytes; 0 at the end of all output.
  const auto read_some = [&](std::size_t most) {
    ssize_t count = 0;
    while ((count = ::read(reading.get(), buffer.data(), std::min(most, buffer.size()))) < 0 && errno == EINTR) {
    }
    if (count > 0) lines.take({buffer.data(), static_cast<std::size_t>(count)});
    return static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  };
  const int limit = longest_silence ? static_cast<int>(std::min<std::int64_t>(longest_silence->count(), INT_MAX)) : -1;
  bool silent = false;
  pollfd waiting[] = {{reading.get(), POLLIN, 0}, {handle.get(), POLLIN, 0}};
  auto& [output, end] = waiting;
  while (output.fd >= 0 || end.fd >= 0) {
    const int ready = ::poll(waiting, std::size(waiting), limit);
    if (ready < 0 && errno != EINTR) throw Error(std::string("cannot wait for a process: ") + std::strerror(errno));
    if (ready < 0) continue;
    silent = ready == 0;
    if (silent) break;
    if (end.revents != 0) {
      // Processes that it left behind may hold the pipe open and go on writing. Only bytes already there are its own.
      int there = 0;
      ::ioctl(reading.get(), FIONREAD, &there);
      for (auto left = static_cast<std::size_t>(there); left > 0;) {
        const std::size_t count = read_some(left);
        if (count == 0) break;
        left -= count;
      }
      break;
    }
    if (read_some(buffer.size()) == 0) output.fd = -1;  // a program may close its output and go on
  }
  lines.finish();
  if (!silent) leader.wait();
  ExitStatus status = leader.end();
  if (silent) status.silent_for = longest_silence;
  return status;
}

}  // namespace pace::detail
