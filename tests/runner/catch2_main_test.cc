// A test means the same with Catch2's main function as with pace's: threads, table, exit codes.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <string>

#include "tests/runner/run_program.hpp"

using Catch::Matchers::ContainsSubstring;

namespace {

program::Run run(const std::string& arguments, const std::string& variables = "") {
  return program::run(arguments, variables, "tests/runner/catch2_main_program");
}

}  // namespace

TEST_CASE("with Catch2's main function, a comparison has its line in a table") {
  const auto program = run("");
  CHECK(program.code == 0);
  CHECK_THAT(program.err, ContainsSubstring("speed-up") && ContainsSubstring("\ncase  ") &&
                              ContainsSubstring("passed") && ContainsSubstring("1 case, 2 implementations"));
  const auto xml = run("--reporter xml");
  CHECK_THAT(xml.out, !ContainsSubstring("speed-up") && ContainsSubstring("</Catch2TestRun>"));
}

TEST_CASE("with Catch2's main function, an undecided guard has the exit code 43 and says so") {
  const auto program = run("undecided");
  CHECK(program.code == 43);
  CHECK_THAT(program.err, ContainsSubstring("1 guard was let through undecided") && ContainsSubstring("exit code 43") &&
                              !ContainsSubstring("--allow-undecided"));
  CHECK_THAT(program.err, ContainsSubstring("\nopen  "));
  // With anything before or after it.
  CHECK(run("undecided,'fast enough'").code == 43);
}

TEST_CASE("with Catch2's main function, failures fail the program, asserted or not") {
  CHECK(run("'too slow'").code == run("'too slow',undecided").code);
  CHECK(run("'too slow'").code != 0);
  const auto program = run("'too slow without an assertion'");
  CHECK(program.code == 42);
  CHECK_THAT(program.err, ContainsSubstring("no assertion has examined this failure"));
}

TEST_CASE("with Catch2's main function, an operator has one thread unless the test chooses") {
  CHECK_THAT(run("'one thread'", "OMP_NUM_THREADS=3").out, ContainsSubstring("1 threads"));
  CHECK_THAT(run("'one thread'").out, ContainsSubstring("1 threads"));
  CHECK_THAT(run("'threads of its own'", "OMP_NUM_THREADS=3").out, ContainsSubstring("5 threads"));
}

TEST_CASE("with Catch2's main function, tests without a comparison are as they were") {
  const auto program = run("'no comparison'");
  CHECK(program.code == 0);
  CHECK(program.err.empty());
  CHECK(run("skipped").code == 4);
  CHECK(run("--list-tests").err.empty());
}
