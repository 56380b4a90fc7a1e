// ExitGuard: a program that ends before its work is done must not look as if it had passed. end_failed() and
// fail_without_handlers(): a program that has failed must not be turned into one that has passed while it ends.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "pace/os/activity.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/unfinished.hpp"

// Functions of the runtime libraries that write the counts of coverage when a program ends; null in other programs.
extern "C" {
__attribute__((weak)) void __gcov_exit();               // NOLINT(bugprone-reserved-identifier)
__attribute__((weak)) int __llvm_profile_write_file();  // NOLINT(bugprone-reserved-identifier)
}

namespace pace::detail {

/// Whether this program counts the coverage of its code, which handlers of exit() write into files.
[[nodiscard]] inline bool counts_coverage() { return &__gcov_exit != nullptr || &__llvm_profile_write_file != nullptr; }

/// Ends the process with `code`, which must not be 0, after what was printed has been passed on. No handler of exit()
/// and no destructor of a static or thread-local object runs, since an implementation may have registered one that ends
/// the process with another code. Returns if the program counts coverage.
inline void end_failed(int code) {
  if (counts_coverage()) return;
  std::cout.flush();
  std::cerr.flush();
  std::clog.flush();
  std::fflush(nullptr);
  // No destructor does it.
  take_back_unfinished();
  PrematureExitFile::remove();
  std::_Exit(code);
}

/// From this call on, a process that leaves its main function, or calls exit(), with another code than 0 ends by
/// end_failed(): the handler that is registered last is called first. What the destructors of thread-local objects do
/// comes before all handlers.
inline void fail_without_handlers() {
  (void)::on_exit(
      [](int code, void*) {
        if (code != 0) end_failed(code);
        PrematureExitFile::remove();
      },
      nullptr);
}

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
