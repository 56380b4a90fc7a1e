// ExitGuard: keeps programs that end early, or have failed, from ending with the exit code of a success.
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

// The runtime libraries of GCC, of Clang's --coverage and of its -fprofile-instr-generate write coverage counts by
// these when a program ends; null in other programs.
extern "C" {
__attribute__((weak)) void __gcov_exit();               // NOLINT(bugprone-reserved-identifier)
__attribute__((weak)) void __gcov_dump();               // NOLINT(bugprone-reserved-identifier)
__attribute__((weak)) int __llvm_profile_write_file();  // NOLINT(bugprone-reserved-identifier)
}

namespace pace::detail {

/// Writes the coverage counts, if there are any, of the program or shared library that holds this function.
inline void write_coverage() {
  if (&__gcov_exit != nullptr) __gcov_exit();
  if (&__gcov_dump != nullptr) __gcov_dump();
  if (&__llvm_profile_write_file != nullptr) (void)__llvm_profile_write_file();
}

/// Ends the process with `code`, which must not be 0, after flushing its output. Runs no handler of exit() and no
/// destructor of a static or thread-local object: an implementation may have registered one that ends the process with
/// another code.
[[noreturn]] inline void end_failed(int code) {
  std::cout.flush();
  std::cerr.flush();
  std::clog.flush();
  std::fflush(nullptr);
  // No destructor runs to do it.
  take_back_unfinished();
  PrematureExitFile::remove();
  write_coverage();
  std::_Exit(code);
}

/// From now on, a process that leaves its main function or calls exit() with a code other than 0 ends by end_failed().
/// The handler registered last runs first, but after the destructors of thread-local objects.
inline void fail_without_handlers() {
  (void)::on_exit(
      [](int code, void*) {
        if (code != 0) end_failed(code);
        PrematureExitFile::remove();
      },
      nullptr);
}

/// While one exists, std::exit and std::quick_exit end the program with EXIT_FAILURE and a message, whatever their
/// code. A test or implementation that calls exit(0) would otherwise skip its own verdict. A supervisor sees the call
/// in Activity::called_exit. We cannot catch _exit from inside; Bazel's TEST_PREMATURE_EXIT_FILE and a supervisor do.
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
  /// Made before the handlers are registered, so destroyed after they ran.
  [[nodiscard]] static Running& current() {
    static Running running;
    return running;
  }
  static void fail_if_running() {
    // A child forked by a test or an implementation may end as it likes.
    if (current().where.empty() || current().process != ::getpid()) return;
    __atomic_store_n(&activity()->called_exit, true, __ATOMIC_RELAXED);
    std::fflush(nullptr);
    std::fprintf(stderr, "pace: the program was ended, by exit() or quick_exit(), %s; that is a failure\n",
                 current().where.c_str());
    take_back_unfinished();
    std::_Exit(EXIT_FAILURE);
  }

  Running outer_;
};

}  // namespace pace::detail
