// Signals that end a run.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>

#include "pace/os/inherited_signals.hpp"

namespace pace::benches::models {

namespace detail {

inline volatile sig_atomic_t interrupting_signal = 0;

}  // namespace detail

/// While it lives, SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end the process, but are remembered. If the program was
/// started to ignore SIGHUP, as under nohup, it still does.
class Interrupts {
 public:
  Interrupts() {
    detail::interrupting_signal = 0;
    struct sigaction action{};
    action.sa_handler = [](int number) { detail::interrupting_signal = number; };
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const bool ignored = numbers[i] == SIGHUP && inherited_signals.ignores(SIGHUP);
      ::sigaction(numbers[i], ignored ? nullptr : &action, &before_[i]);
    }
  }
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  ~Interrupts() {
    for (std::size_t i = 0; i < numbers.size(); ++i) ::sigaction(numbers[i], &before_[i], nullptr);
  }

  /// The last one that came; 0: none has.
  [[nodiscard]] static int signal() { return detail::interrupting_signal; }

  static constexpr std::array<int, 4> numbers{SIGINT, SIGTERM, SIGHUP, SIGQUIT};

 private:
  std::array<struct sigaction, numbers.size()> before_{};
};

}  // namespace pace::benches::models
