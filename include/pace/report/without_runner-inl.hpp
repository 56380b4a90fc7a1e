// Definitions of without_runner.hpp; see base/config.hpp.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <ostream>
#include <sstream>
#include <string>

#include "pace/os/exit_guard.hpp"
#include "pace/os/terminal.hpp"
#include "pace/report/console.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/text.hpp"
#include "pace/report/without_runner.hpp"
#include "pace/result/result.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/run_context.hpp"

namespace pace::report {

namespace detail {

/// Table and account of a program without pace's main function. The standard output may be a report for machines, and
/// Catch2 may keep what tests print, so that the table is on the standard error.
struct WithoutRunner {
  WithoutRunner()
      : out(std::cerr.rdbuf()),
        table(out, ConsoleStyle{.use_colour = wants_colour(STDERR_FILENO),
                                .blocks = false,
                                .shortens = ::isatty(STDERR_FILENO) == 1,
                                .width = [] { return columns_of(STDERR_FILENO); }}),
        process(::getpid()) {
    table.introduce(read_environment({}));
  }

  void write(const Result& result) {
    account.add(result);
    try {
      table.write(result);
    } catch (const std::exception&) {
      // A standard error that is closed takes no message about it either; the exit code remains.
    }
  }

  /// Returns the exit code of pace's main function where another one has returned `code`, and prints why.
  [[nodiscard]] int exit_code(int code) const {
    std::ostringstream why;
    const int all = account.exit_code(code, /*allow_undecided=*/false, /*allow_unmeasured=*/false, why);
    std::string text = why.str();
    // These are options of pace's main function.
    for (const std::string option : {"; 0 with --allow-undecided on", "; 0 with --allow-unmeasured on"})
      for (auto at = text.find(option); at != std::string::npos; at = text.find(option)) text.erase(at, option.size());
    std::cerr << printable_lines(text) << std::flush;
    return all;
  }

  std::ostream out;
  ConsoleSink table;
  RunAccount account;
  pid_t process;
};

/// Is never destroyed, since it is used by a handler of exit().
[[nodiscard]] inline WithoutRunner*& without_runner() {
  static WithoutRunner* one = nullptr;
  return one;
}

}  // namespace detail

PACE_INLINE void begin_without_runner() {
  if (run_context().has_runner || detail::without_runner() != nullptr) return;
  detail::without_runner() = new detail::WithoutRunner;
  run_context().on_result([](const Result& result) { detail::without_runner()->write(result); });
  (void)::on_exit(
      [](int code, void*) {
        const auto& one = *detail::without_runner();
        if (one.account.empty() || one.process != ::getpid()) return;
        const int all = one.exit_code(code);
        if (all != code) pace::detail::end_failed(all);
      },
      nullptr);
}

PACE_INLINE void end_without_runner(std::uint64_t tests, std::uint64_t assertions) {
  auto* const one = detail::without_runner();
  if (one == nullptr || one->account.empty()) return;
  one->account.add_tests(tests, assertions);
  try {
    one->table.finish();
  } catch (const std::exception&) {
    // As above.
  }
}

}  // namespace pace::report
