// InheritedSignals: signals ignored at the start of this process, such as SIGHUP under nohup.
#pragma once

#include <csignal>

#include <signal.h>

namespace pace {

/// Signals that this process ignored when the object was made. Ignored signals survive exec, handlers do not.
class InheritedSignals {
 public:
  InheritedSignals() noexcept {
    ::sigemptyset(&ignored_);
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction found{};
      if (::sigaction(number, nullptr, &found) == 0 && found.sa_handler == SIG_IGN) ::sigaddset(&ignored_, number);
    }
  }

  /// Returns whether the signal `number` was ignored.
  [[nodiscard]] bool ignores(int number) const noexcept { return ::sigismember(&ignored_, number) == 1; }
  /// Ignores the signal `number` if it was ignored, else sets its default action. Async-signal-safe: may run between
  /// fork and exec.
  void restore(int number) const noexcept { ::signal(number, ignores(number) ? SIG_IGN : SIG_DFL); }

 private:
  sigset_t ignored_;
};

/// Inherited signals, read before main begins.
inline const InheritedSignals inherited_signals;

}  // namespace pace
