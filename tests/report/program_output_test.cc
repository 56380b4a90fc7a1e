// The bytes that reach a terminal, for any names and messages.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <iostream>
#include <ostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "pace/os/output_file.hpp"
#include "pace/report/program_output.hpp"
#include "tests/support/scratch.hpp"

using Catch::Matchers::StartsWith;
using pace::report::printable;
using pace::report::printable_lines;
using pace::test::Scratch;

namespace {

/// The output for `text`, given at once and byte by byte.
std::string shown(const std::string& text) {
  std::string results[2];
  for (const bool by_byte : {false, true}) {
    std::stringbuf out;
    pace::report::detail::SafeBuffer buffer(&out);
    std::ostream stream(&buffer);
    if (by_byte)
      for (const char c : text) stream.put(c);
    else
      stream << text;
    stream.flush();
    results[by_byte] = out.str();
  }
  CHECK(results[0] == results[1]);
  return results[0];
}

}  // namespace

TEST_CASE("several threads print at once, and no byte is lost") {
  std::stringbuf out;
  pace::report::detail::SafeBuffer buffer(&out);
  constexpr std::streamsize lines = 2000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (std::streamsize line = 0; line < lines; ++line) (void)buffer.sputn("a line\n", 7);
      });
  }
  CHECK(buffer.pubsync() == 0);
  CHECK(static_cast<std::streamsize>(out.str().size()) == 4 * lines * 7);
}

TEST_CASE("control characters and bytes that are no UTF-8 are spelt out") {
  CHECK(printable("plain, caf\xc3\xa9, \xe2\x82\xac, \xf0\x9f\x9a\x80") ==
        "plain, caf\xc3\xa9, \xe2\x82\xac, \xf0\x9f\x9a\x80");
  CHECK(printable("a\tb\nc\r") == "a b\\nc\\x0d");
  CHECK(printable("\x1b[2J\x7f\x01") == "\\x1b[2J\\x7f\\x01");
  CHECK(printable(std::string("\0", 1)) == "\\x00");
  // C1: U+009B is the same as ESC [, U+009D begins a title.
  CHECK(printable("\xc2\x9b"
                  "2J\xc2\x9d"
                  "0;x\xc2\x85") == "\\u009b2J\\u009d0;x\\u0085");
  CHECK(printable("\x9b"
                  "2J \xff \xc0\xaf \xed\xa0\x80") == "\\x9b2J \\xff \\xc0\\xaf \\xed\\xa0\\x80");
  CHECK(printable("cut \xe2\x82") == "cut \\xe2\\x82");
  CHECK(printable("\xe2\x80\xae"
                  "x") == "\\u202ex");
  CHECK(printable_lines("a\n\x1b"
                        "b\n") == "a\n\\x1bb\n");
}

TEST_CASE("a program's streams let colours through, and no other sequence") {
  CHECK(shown("caf\xc3\xa9\n\tx") == "caf\xc3\xa9\n\tx");
  for (const std::string colour : {"\033[31m", "\033[0m", "\033[m", "\033[1m", "\033[2m", "\033[0;32m", "\033[1;97m"})
    CHECK(shown(colour + "x") == colour + "x");
  CHECK(shown("\033[8mhidden") == "\\x1b[8mhidden");
  CHECK(shown("\033[2J") == "\\x1b[2J");
  CHECK(shown("\033[31") == "\\x1b[31");
  CHECK(shown("\033]0;title\007") == "\\x1b]0;title\\x07");
  CHECK(shown("\xc2\x9b"
              "2J\x9b\r\b") == "\\u009b2J\\x9b\\x0d\\x08");
  CHECK(shown("\033[" + std::string(100, '1') + "m") == "\\x1b[" + std::string(100, '1') + "m");
  CHECK(shown("cut \xe2\x82") == "cut \\xe2\\x82");
}

TEST_CASE("output that did not arrive is no success") {
  struct Full : std::streambuf {
  } full;
  std::ostringstream err;
  const auto code_of = [&](std::streambuf* out, int code, bool prints = true) {
    std::streambuf *const own = std::cout.rdbuf(out), *const own_err = std::cerr.rdbuf(err.rdbuf());
    int result = -1;
    {
      pace::report::ProgramOutput output;
      // As through a stream of a program's own, whose state std::cout does not share.
      std::ostream direct(std::cout.rdbuf());
      if (prints) direct << "a result\n";
      result = output.exit_code(code, "program", 2);
    }
    std::cout.rdbuf(own);
    std::cout.clear();
    std::cerr.rdbuf(own_err);
    return result;
  };
  std::stringbuf out;
  CHECK(code_of(&out, 0) == 0);
  CHECK(code_of(&full, 0, /*prints=*/false) == 0);
  CHECK(err.str() == "");
  CHECK(code_of(&full, 0) == 2);
  CHECK(code_of(&full, 42) == 42);
  CHECK_THAT(err.str(),
             StartsWith("program: not all that was printed could be written: the standard output is closed or full\n"));
}

TEST_CASE("while a program's output lives, its standard streams are filtered, and a closed pipe is an error") {
  std::stringbuf out;
  std::streambuf* const own = std::cout.rdbuf(&out);
  {
    const pace::report::ProgramOutput output;
    std::cout << "evil\033[2J" << std::flush;
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    ::close(ends[0]);
    CHECK(::write(ends[1], "x", 1) == -1);
    ::close(ends[1]);
  }
  CHECK(std::cout.rdbuf(own) == &out);
  CHECK(out.str() == "evil\\x1b[2J");
  CHECK(std::signal(SIGXFSZ, SIG_DFL) == SIG_IGN);
}

TEST_CASE("a signal that ends a program with an output takes files without a result back") {
  const Scratch folder;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);  // Catch2 has a handler
    const pace::report::ProgramOutput output;
    const pace::OutputFile file(folder / "a.json");
    ::raise(SIGTERM);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
  CHECK_FALSE(folder.has("a.json"));
}
