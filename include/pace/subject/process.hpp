// Runs another program and reads what it prints, line by line.
#pragma once

#include <cerrno>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pace/core/error.hpp"

extern char** environ;  // POSIX leaves its declaration to the program

namespace pace::subject::detail {

/// How a program ended: its exit code, or the signal that killed it.
struct ExitStatus {
  int code = 0;
  int signal = 0;

  [[nodiscard]] bool ok() const noexcept { return code == 0 && signal == 0; }
  [[nodiscard]] std::string to_string() const {
    if (signal != 0) return "was killed by signal " + std::to_string(signal) + " (" + strsignal(signal) + ')';
    return "ended with exit code " + std::to_string(code);
  }
};

class FileDescriptor {
 public:
  explicit FileDescriptor(int number) noexcept : number_(number) {}
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { close(); }

  void close() noexcept {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  [[nodiscard]] int get() const noexcept { return number_; }

 private:
  int number_;
};

/// Hands out the complete lines of a stream of bytes.
class LineReader {
 public:
  explicit LineReader(const std::function<void(std::string_view)>& on_line) : on_line_(on_line) {}

  void take(std::string_view bytes) {
    pending_ += bytes;
    std::size_t begin = 0;
    for (std::size_t end; (end = pending_.find('\n', begin)) != std::string::npos; begin = end + 1) {
      on_line_(std::string_view(pending_).substr(begin, end - begin));
    }
    pending_.erase(0, begin);
  }
  void finish() {
    if (!pending_.empty()) on_line_(pending_);
    pending_.clear();
  }

 private:
  const std::function<void(std::string_view)>& on_line_;
  std::string pending_;
};

/// Runs `arguments` (the first is the program, looked up in PATH unless it has a slash) without a shell, with nothing on
/// standard input. Each line of its standard output and standard error goes to `on_line` as it comes. By posix_spawn:
/// a fork would copy a process whose thread pools do not survive it. Throws `Refused` when it cannot be started.
[[nodiscard]] inline ExitStatus run_process(const std::vector<std::string>& arguments,
                                            const std::function<void(std::string_view)>& on_line) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
  FileDescriptor reading(ends[0]), writing(ends[1]);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), STDERR_FILENO);
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t child = 0;
  const int problem = ::posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (problem != 0) throw Refused("cannot run " + arguments.front() + ": " + std::strerror(problem));
  writing.close();  // or the pipe would never end

  LineReader lines(on_line);
  char buffer[4096];
  for (;;) {
    const ssize_t count = ::read(reading.get(), buffer, sizeof buffer);
    if (count > 0) lines.take({buffer, static_cast<std::size_t>(count)});
    if (count == 0 || (count < 0 && errno != EINTR)) break;
  }
  lines.finish();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

}  // namespace pace::subject::detail
