// Text that code writes to the standard error: compiled packages say there why they refuse their inputs.
#pragma once

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <string>

#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

namespace pace::benches::loaders {

/// Keeps this process's output to the standard error while the object lives, one object at a time. Where that cannot be
/// done, nothing changes. A signal that ends the process, as by abort(), first has it written to the standard error.
class CapturedErrors {
 public:
  CapturedErrors() : kept_(::dup(STDERR_FILENO)), file_(::memfd_create("errors", MFD_CLOEXEC)) {
    std::fflush(stderr);
    if (kept_ < 0 || file_ < 0) return;
    ::dup2(file_, STDERR_FILENO);
    of_signal().kept = kept_;
    of_signal().file = file_;
    struct sigaction action = {};
    action.sa_handler = &show;
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &action, &of_signal().before[i]);
  }
  CapturedErrors(const CapturedErrors&) = delete;
  CapturedErrors& operator=(const CapturedErrors&) = delete;
  ~CapturedErrors() {
    std::fflush(stderr);
    if (kept_ >= 0 && file_ >= 0)
      for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &of_signal().before[i], nullptr);
    if (kept_ >= 0) {
      ::dup2(kept_, STDERR_FILENO);
      ::close(kept_);
    }
    if (file_ >= 0) ::close(file_);
  }

  /// The text so far, at most 64 KiB of it.
  [[nodiscard]] std::string text() const {
    std::fflush(stderr);
    std::string text(std::size_t{1} << 16, '\0');
    const auto size = file_ >= 0 ? ::pread(file_, text.data(), text.size(), 0) : 0;
    text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return text;
  }

 private:
  static constexpr std::array<int, 5> signals = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

  /// The parts of the living object that a signal handler needs.
  struct OfSignal {
    int kept = -1, file = -1;
    std::array<struct sigaction, signals.size()> before = {};
  };
  [[nodiscard]] static OfSignal& of_signal() {
    static OfSignal one;
    return one;
  }

  /// Writes the kept text, and leaves the rest to the former handler. It calls only functions that a handler may call.
  static void show(int signal) {
    const OfSignal& one = of_signal();
    std::array<char, 4096> part;
    ::off_t at = 0;
    for (;;) {
      const ::ssize_t size = ::pread(one.file, part.data(), part.size(), at);
      if (size <= 0 || ::write(one.kept, part.data(), static_cast<std::size_t>(size)) != size) break;
      at += size;
    }
    ::dup2(one.kept, STDERR_FILENO);
    for (std::size_t i = 0; i < signals.size(); ++i)
      if (signals[i] == signal) ::sigaction(signal, &one.before[i], nullptr);
    ::raise(signal);
  }

  int kept_, file_;
};

}  // namespace pace::benches::loaders
