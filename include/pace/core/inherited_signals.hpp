// What this process was started with: the signals that it ignores on its parent's behalf, as under nohup.
#pragma once

#include <csignal>

#include <signal.h>

namespace pace {

/// Which signals this process ignored when the object was made. Ignored signals outlive exec, handlers do not.
class InheritedSignals {
 public:
  InheritedSignals() noexcept {
    ::sigemptyset(&ignored_);
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction found{};
      if (::sigaction(number, nullptr, &found) == 0 && found.sa_handler == SIG_IGN) ::sigaddset(&ignored_, number);
    }
  }

  [[nodiscard]] bool ignores(int number) const noexcept { return ::sigismember(&ignored_, number) == 1; }
  /// Takes back what the program has set since, a handler among it. May be called between fork and exec.
  void restore(int number) const noexcept { ::signal(number, ignores(number) ? SIG_IGN : SIG_DFL); }

 private:
  sigset_t ignored_;
};

/// Those of the program: taken before main begins.
inline const InheritedSignals inherited_signals;

}  // namespace pace
