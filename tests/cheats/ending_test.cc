// Cheats that end the program with exit code 0 before they are judged: seen from outside, as a process.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/report/temporary_file.hpp"
#include "tests/support/alone.hpp"

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;

struct Run {
  int code = -1;
  std::string out, err;
  bool left_running_file = false;  ///< makes Bazel fail a test that ended early
};

Run run(const std::string& test, const std::string& options = {}) {
  const TemporaryFile err, out;
  const std::string running = err.path() + ".running";
  const std::string program = fs::absolute("tests/cheats/ending_program").string();
  const std::string command = pace::test::alone() + "TEST_PREMATURE_EXIT_FILE=" + running + " '" + program + "' '" +
                              test + "'" + options + " >" + out.path() + " 2>" + err.path();
  const int status = std::system(command.c_str());
  Run result{WIFEXITED(status) ? WEXITSTATUS(status) : -1, out.content(), err.content(), fs::exists(running)};
  fs::remove(running);
  return result;
}

TEST_CASE("an implementation that calls exit(0) or quick_exit(0) fails the program") {
  for (const auto* test : {"exit", "quick_exit"}) {
    const auto ended = run(test);
    CHECK(ended.code == EXIT_FAILURE);
    CHECK_THAT(ended.err, ContainsSubstring("inside the comparison 'ending'"));
    CHECK(ended.left_running_file);
  }
}

TEST_CASE("what an implementation has left to run when the program ends does not replace a failure") {
  const auto test = GENERATE("a handler of exit()", "a static object", "a thread-local object");
  const auto isolation = GENERATE(" --isolation off", " --isolation on");
  const auto ended = run(test, isolation);
  INFO(test << isolation << ": " << ended.err);
  CHECK(ended.code != 0);
  CHECK_THAT(ended.out, ContainsSubstring("All tests") || ContainsSubstring("1 failed"));
  CHECK_FALSE(ended.left_running_file);
}

TEST_CASE("what a program without failures leaves to run when it ends is run") {
  CHECK(run("a static object and no failure").code == 7);
}

TEST_CASE("a candidate that calls _exit(0) cannot be stopped, but leaves the file that makes Bazel fail the test") {
  const auto ended = run("_exit");
  CHECK(ended.code == 0);
  CHECK(ended.left_running_file);
}

TEST_CASE("a process that an implementation forks may end as it likes") {
  CHECK_THAT(run("a child of a candidate exits").err, !ContainsSubstring("inside the comparison"));
}

TEST_CASE("an exit(0) between a comparison and the end of its test leaves tests out, and so fails the program") {
  const auto ended = run("exit after the comparison");
  CHECK(ended.code == EXIT_FAILURE);
  CHECK_THAT(ended.err, ContainsSubstring("before its tests were through"));
}

}  // namespace
