// LockedClocks: a clock that GPUs keep for a run, given back on every way out of it.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/gpu/cuda/nvml.hpp"
#include "pace/os/ask_fork.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/process.hpp"

namespace pace::cuda {

/// Locks the multiprocessors' clock of GPUs until its end. A process of its own, which starts before the lock, gives
/// the clocks back then: also when this process is killed, and all its copies have ended. Copies of this process that
/// hold a copy of the object give nothing back.
class LockedClocks {
 public:
  /// Locks the GPUs at these addresses of the PCI bus to `clock`; see Nvml::lock_clock(). Throws Unsupported if a GPU
  /// cannot be locked, or without the driver's nvidia-smi. `library` is for tests.
  LockedClocks(std::vector<std::string> addresses, const std::string& clock, const char* library = "libnvidia-ml.so.1")
      : addresses_(std::move(addresses)), owner_(::getpid()) {
    start_giver();
    // In a copy of this process: NVML keeps state that this process's later copies should not have.
    const auto answer = pace::detail::ask_fork([&] {
      std::string locked;
      for (const auto& address : addresses_) {
        const auto nvml = Nvml::open(address, library);
        const std::string fault = nvml ? nvml->lock_clock(clock) : "the driver's library NVML does not know it";
        if (!fault.empty()) return locked + "GPU " + address + ": " + fault;
        locked = some_locked;
      }
      return std::string(all_locked);
    });
    if (answer.fault.empty() && answer.text == all_locked) return;
    const bool none = answer.fault.empty() && !answer.text.starts_with(some_locked);
    if (none)
      end_giver();
    else
      give_back();
    const std::string fault = !answer.fault.empty() ? answer.fault : answer.text.substr(none ? 0 : some_locked.size());
    throw Unsupported("the clocks cannot be locked to " + clock + ": " + fault);
  }
  LockedClocks(const LockedClocks&) = delete;
  LockedClocks& operator=(const LockedClocks&) = delete;
  ~LockedClocks() {
    if (::getpid() == owner_) give_back();
  }

 private:
  /// Starts a shell that waits for a line, or for the end of this process and its copies, which closes the pipe.
  void start_giver() {
    if (std::system("command -v nvidia-smi >/dev/null") != 0)
      throw Unsupported("the clocks cannot be locked without nvidia-smi, which gives them back; it is not in PATH");
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(std::string("no pipe: ") + std::strerror(errno));
    const FileDescriptor reading(ends[0]);
    line_ = FileDescriptor(ends[1]);
    const std::string script =
        "read -r end; said=$(" + command() + ") || printf '%s\n%s' \"$said\" '" + advice() + "' >&2";
    giver_ = ::fork();
    if (giver_ < 0) throw Unsupported("cannot start a process: " + std::string(std::strerror(errno)));
    if (giver_ > 0) return;
    // Until exec only what a signal handler may do. A session of its own: no key of a terminal reaches it.
    (void)::setsid();
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) (void)::signal(each, SIG_IGN);
    if (::dup2(reading.get(), STDIN_FILENO) < 0) ::_exit(1);
    ::execl("/bin/sh", "sh", "-c", script.c_str(), nullptr);
    ::_exit(1);
  }

  void give_back() {
    [[maybe_unused]] const ssize_t told = ::write(line_.get(), "\n", 1);
    (void)line_.close();
    if (!pace::detail::wait_for(giver_).ok()) std::fputs(advice().c_str(), stderr);
  }
  /// Ends the process that would give the clocks back, since none is locked.
  void end_giver() {
    (void)::kill(giver_, SIGKILL);
    (void)pace::detail::wait_for(giver_);
  }

  [[nodiscard]] std::string command() const {
    std::string all = "nvidia-smi --reset-gpu-clocks --id=";
    for (const auto& address : addresses_) all += (&address == addresses_.data() ? "" : ",") + address;
    return all;
  }
  /// Has no quotes of a shell.
  [[nodiscard]] std::string advice() const {
    return "pace: the clocks of the GPUs may still be locked; run: " + command() + '\n';
  }

  static constexpr std::string_view all_locked = "locked", some_locked = "some are locked: ";

  std::vector<std::string> addresses_;
  /// Pipe to the process that gives the clocks back.
  FileDescriptor line_;
  pid_t giver_ = 0, owner_;
};

}  // namespace pace::cuda
