// ExitGuard: a program that ends in the middle of a comparison must not look as if it had passed.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace pace::detail {

/// While one lives, std::exit and std::quick_exit end the program with EXIT_FAILURE and a message, whatever code they
/// were given: an implementation that calls exit(0) would otherwise skip its own verdict. (_exit cannot be caught from
/// inside; Bazel's TEST_PREMATURE_EXIT_FILE catches it.)
class ExitGuard {
 public:
  explicit ExitGuard(const std::string& comparison) : outer_(current()) {
    static const bool registered = std::atexit(&fail_if_running) == 0 && std::at_quick_exit(&fail_if_running) == 0;
    (void)registered;
    current() = {&comparison, ::getpid()};
  }
  ~ExitGuard() { current() = outer_; }
  ExitGuard(const ExitGuard&) = delete;
  ExitGuard& operator=(const ExitGuard&) = delete;

 private:
  struct Running {
    const std::string* comparison = nullptr;
    ::pid_t process = 0;
  };
  [[nodiscard]] static Running& current() {
    static Running running;
    return running;
  }
  static void fail_if_running() {
    // A child that an implementation forked may end as it likes.
    if (current().comparison == nullptr || current().process != ::getpid()) return;
    std::fflush(nullptr);
    std::fprintf(stderr,
                 "pace: the program was ended, by exit() or quick_exit(), inside the comparison '%s'; that is a failure\n",
                 current().comparison->c_str());
    std::_Exit(EXIT_FAILURE);
  }

  Running outer_;
};

}  // namespace pace::detail
