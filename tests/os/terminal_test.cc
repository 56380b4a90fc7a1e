// The terminal: colours by the variables and the device, the width of a line, and where a line may be rewritten.
#include "pace/os/terminal.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include <catch2/catch_test_macros.hpp>

namespace {

/// A terminal of a process, and a file that stands in for it. Each variable that matters is unset before and
/// afterwards.
struct Terminal {
  Terminal() {
    clean();
    ::setenv("TERM", "xterm", 1);
  }
  Terminal(const Terminal&) = delete;
  ~Terminal() {
    clean();
    ::close(device);
    ::close(file);
  }
  static void clean() {
    for (const char* name :
         {"NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "CI", "BAZEL_TEST", "TEST_SRCDIR", "TEST_TIMEOUT"})
      ::unsetenv(name);
  }
  void resize(unsigned short columns) const {
    winsize size{};
    size.ws_col = columns;
    REQUIRE(::ioctl(device, TIOCSWINSZ, &size) == 0);
  }
  int device = ::open("/dev/ptmx", O_RDWR | O_NOCTTY), file = ::open("/dev/null", O_WRONLY);
};

}  // namespace

TEST_CASE("the terminal, FORCE_COLOR, CLICOLOR_FORCE and NO_COLOR decide on colours, and a later one outweighs") {
  const Terminal terminal;
  REQUIRE(terminal.device >= 0);
  CHECK(pace::wants_colour(terminal.device));
  CHECK_FALSE(pace::wants_colour(terminal.file));
  ::setenv("TERM", "dumb", 1);
  CHECK_FALSE(pace::wants_colour(terminal.device));
  ::setenv("CLICOLOR_FORCE", "1", 1);
  CHECK(pace::wants_colour(terminal.file));
  ::setenv("CLICOLOR_FORCE", "0", 1);
  CHECK_FALSE(pace::wants_colour(terminal.file));
  for (const char* nothing : {"", "0"}) {
    ::setenv("FORCE_COLOR", nothing, 1);
    CHECK_FALSE(pace::wants_colour(terminal.file));
  }
  ::setenv("FORCE_COLOR", "1", 1);
  CHECK(pace::wants_colour(terminal.file));
  ::setenv("NO_COLOR", "", 1);
  CHECK(pace::wants_colour(terminal.file));
  ::setenv("NO_COLOR", "1", 1);
  CHECK_FALSE(pace::wants_colour(terminal.file));
  ::setenv("TERM", "xterm", 1);
  CHECK_FALSE(pace::wants_colour(terminal.device));
}

TEST_CASE("the width of a line: COLUMNS, the terminal's, or a fixed one without a terminal") {
  const Terminal terminal;
  CHECK(pace::columns_of(terminal.file) == pace::width_without_terminal);
  for (const unsigned short columns : {80, 120, 200}) {
    terminal.resize(columns);
    CHECK(pace::columns_of(terminal.device) == columns);
  }
  terminal.resize(0);
  CHECK(pace::columns_of(terminal.device) == pace::width_without_terminal);
  terminal.resize(12);
  CHECK(pace::columns_of(terminal.device) == 40);
  ::setenv("COLUMNS", "90", 1);
  CHECK(pace::columns_of(terminal.device) == 90);
  CHECK(pace::columns_of(terminal.file) == 90);
  for (const char* no_width : {"", "0", "wide", "90x", "-5"}) {
    ::setenv("COLUMNS", no_width, 1);
    CHECK(pace::columns_of(terminal.file) == pace::width_without_terminal);
  }
  ::setenv("COLUMNS", "100000", 1);
  CHECK(pace::columns_of(terminal.file) == 1000);
}

TEST_CASE("a line is rewritten on a terminal alone, and not where the text is kept") {
  const Terminal terminal;
  CHECK(pace::may_rewrite_lines(terminal.device));
  CHECK_FALSE(pace::may_rewrite_lines(terminal.file));
  ::setenv("CI", "true", 1);
  CHECK_FALSE(pace::may_rewrite_lines(terminal.device));
  ::unsetenv("CI");
  ::setenv("BAZEL_TEST", "1", 1);
  CHECK_FALSE(pace::may_rewrite_lines(terminal.device));
  ::unsetenv("BAZEL_TEST");
  ::setenv("TERM", "dumb", 1);
  CHECK_FALSE(pace::may_rewrite_lines(terminal.device));
}
