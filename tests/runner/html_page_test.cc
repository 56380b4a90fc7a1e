// The page of --html as the program of tools/report makes it, which a pace_test has beside it.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/runner/run_program.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

TEST_CASE("a program finds tools/report beside it, and its page has the results") {
  const pace::test::Scratch out;
  const auto program = program::run("--html " + out / "a.html");
  INFO(program.err);
  CHECK(program.code == 0);
  CHECK_THAT(out.read("a.html"), StartsWith("<!DOCTYPE html>") && ContainsSubstring("<bdi>first</bdi>"));
  CHECK(std::distance(program::fs::directory_iterator(out.path), program::fs::directory_iterator()) == 1);

  const auto under_bazel = program::run("", "TEST_UNDECLARED_OUTPUTS_DIR=" + out.path.string());
  CHECK(under_bazel.code == 0);
  CHECK_THAT(out.read("report.html"), ContainsSubstring("<bdi>first</bdi>"));
}
