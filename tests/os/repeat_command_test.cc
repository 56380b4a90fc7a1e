// The command that starts a program again: words for a shell, and the forms for Bazel.
#include "pace/os/repeat_command.hpp"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>

#include "tests/support/scratch.hpp"

namespace {

/// The variables that Bazel sets, unset before and after a test.
struct Variables {
  Variables() { clean(); }
  Variables(const Variables&) = delete;
  ~Variables() { clean(); }
  static void clean() {
    for (const char* name : {"TEST_TARGET", "BAZEL_TEST", "BUILD_WORKSPACE_DIRECTORY", "PACE_BAZEL_WRAPPER",
                             "TEST_WORKSPACE", "TEST_SRCDIR", "TEST_TIMEOUT"})
      ::unsetenv(name);
  }
};

const std::string built =
    "/home/me/.cache/bazel/execroot/pace/bazel-out/k8-opt/bin/benches/operators/operators_program";

}  // namespace

TEST_CASE("a shell reads every word back as it was") {
  const pace::test::Scratch folder;
  const std::vector<std::string> words{"plain-1.5_x:/y,z=@%+",
                                       "",
                                       "two words",
                                       "it's",
                                       "$(touch x) `y` $HOME \"q\" \\ ! * ? [a] {b} ~ # & | ; < > ( )",
                                       "line\nend",
                                       "tab\tescape\033[2J",
                                       "a'b\\c\001d",
                                       "µ€ \xff\xc3",
                                       "-x"};
  std::string command = "printf '%s\\0'";
  for (const auto& word : words) command += ' ' + pace::shell_word(word);
  CHECK(command.find('\n') == std::string::npos);
  CHECK(command.find('\033') == std::string::npos);
  std::ofstream(folder.path / "script") << command << " >" << (folder.path / "out").string() << '\n';
  REQUIRE(std::system(("bash " + (folder.path / "script").string()).c_str()) == 0);
  std::string expected;
  for (const auto& word : words) expected += word + '\0';
  CHECK(folder.read("out") == expected);
  CHECK(pace::shell_word("plain-1.5") == "plain-1.5");
  CHECK(pace::shell_word("two words") == "'two words'");
}

TEST_CASE("the command starts the program as before, by its file, bazel run or bazel test") {
  const Variables variables;
  CHECK(pace::command_again("/tmp/my bench", {"a b", "--seed", "5"}) == "'/tmp/my bench' 'a b' --seed 5");
  // Bazel has built it and a shell has started it.
  CHECK(pace::command_again(built, {}) == built);

  ::setenv("BUILD_WORKSPACE_DIRECTORY", "/home/me/pace", 1);
  CHECK(pace::command_again(built, {"--case", "x y"}) == "bazel run //benches/operators -- --case 'x y'");
  CHECK(pace::command_again(built, {}) == "bazel run //benches/operators");
  ::setenv("PACE_BAZEL_WRAPPER", "third_party/bazel", 1);
  CHECK(pace::command_again(built, {}) == "third_party/bazel run //benches/operators");
  CHECK(pace::command_again("/x/bazel-out/k8-opt/bin/benches/operators/sweep_program", {}) ==
        "third_party/bazel run //benches/operators:sweep");
  CHECK(pace::command_again("/x/bazel-out/k8-opt/bin/top", {}) == "third_party/bazel run //:top");
  // Another program that bazel run has started.
  CHECK(pace::command_again("/usr/bin/own", {"x"}) == "/usr/bin/own x");

  Variables::clean();
  ::setenv("BAZEL_TEST", "1", 1);
  ::setenv("TEST_TARGET", "//tests:gates", 1);
  CHECK(pace::command_again(built, {"a test, 'quoted'", "--seed", "5"}) ==
        "bazel test --test_output=all //tests:gates '--test_arg=a test, '\\''quoted'\\''' --test_arg=--seed "
        "--test_arg=5");
  ::setenv("TEST_WORKSPACE", "pace", 1);
  CHECK(pace::command_again(built, {}) == "third_party/bazel test --test_output=all //tests:gates");
}
