// ExitGuard: a program that ends before its work is done must not look as if it had passed.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "pace/core/activity.hpp"
#include "pace/core/unfinished.hpp"

namespace pace::detail {

/// While one lives, std::exit and std::quick_exit end the program with EXIT_FAILURE and a message, whatever code they
/// were given: a test, or an implementation, that calls exit(0) would otherwise skip its own verdict. (_exit cannot be
/// caught from inside; Bazel's TEST_PREMATURE_EXIT_FILE and a supervising process catch it.) A supervising process
/// learns of the call from Activity::called_exit.
class ExitGuard {
 public:
  /// `where` completes "the program was ended, by exit() or quick_exit(), ".
  explicit ExitGuard(std::string where) : outer_(current()) {
    static const bool registered = std::atexit(&fail_if_running) == 0 && std::at_quick_exit(&fail_if_running) == 0;
    (void)registered;
    current() = {std::move(where), ::getpid()};
  }
  ~ExitGuard() { current() = outer_; }
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  struct Running {
    std::string where = {};
    ::pid_t process = 0;
  };
  /// Made before the handlers are registered, so destroyed after they have run.
  [[nodiscard]] static Running& current() {
    static Running running;
    return running;
  }
  static void fail_if_running() {
    // A child that a test or an implementation forked may end as it likes.
    if (current().where.empty() || current().process != ::getpid()) return;
    __atomic_store_n(&activity()->called_exit, true, __ATOMIC_RELAXED);
    std::fflush(nullptr);
    std::fprintf(stderr, "pace: the program was ended, by exit() or quick_exit(), %s; that is a failure\n",
                 current().where.c_str());
    // No destructor does it.
    take_back_unfinished();
    std::_Exit(EXIT_FAILURE);
  }

  Running outer_;
};

}  // namespace pace::detail
