// A program run to its end, and its arguments from its driver.
#include <catch2/catch_test_macros.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/driver/driver.hpp"
#include "tests/models/processes.hpp"
#include "tests/support/scratch.hpp"

namespace {

using namespace pace::benches::models;
using Strings = std::vector<std::string>;

/// By default no time passes.
ChildEnd shell(const std::string& script, const ChildLimits& limits = {.now = [] { return 0.0; }}) {
  return run_child({"/bin/sh", "-c", script}, limits);
}

TEST_CASE("how a program ends") {
  CHECK(shell("exit 0").status.ok());
  CHECK(shell("exit 9").status.code == 9);
  CHECK(shell("kill -SEGV $$").status.signal == SIGSEGV);
  CHECK(run_child({"/no/such/program"}, {}).status.code == 127);
}

TEST_CASE("one that takes too long is killed") {
  double now = 0;
  const auto clock = [&now] { return now += 1000; };
  const auto end = shell("sleep 1000000", {.timeout = 2500, .now = clock});
  CHECK(end.timed_out);
  CHECK(end.status.signal == SIGKILL);
  CHECK(now >= 1000 + 2500);
  CHECK_FALSE(shell("exit 0", {.timeout = 1e300, .now = clock}).timed_out);
}

TEST_CASE("a process that a child has started ends with the child") {
  const pace::test::Scratch scratch;
  CHECK(shell("sleep 1000 & echo $! > " + (scratch / "pid")).status.ok());
  const std::string pid = scratch.read("pid");
  REQUIRE(pid.size() > 1);
  pace::test::wait_for_end_of(pid);
}

TEST_CASE("what it has started in a session of its own ends with it, and other children of this process do not") {
  const pace::test::Scratch scratch;
  const pid_t other = ::fork();
  if (other == 0) {
    ::pause();
    ::_exit(0);
  }
  CHECK(shell("setsid sh -c 'setsid sleep 1000 & echo $! > " + (scratch / "inner") + "; sleep 1000' & echo $! > " +
              (scratch / "outer") + "; while ! [ -s " + (scratch / "inner") + " ]; do :; done")
            .status.ok());
  for (const char* name : {"inner", "outer"}) {
    const std::string pid = scratch.read(name);
    REQUIRE(pid.size() > 1);
    CHECK(::kill(std::stoi(pid), 0) == -1);
  }
  CHECK(::kill(other, SIGKILL) == 0);
  int status = 0;
  CHECK(::waitpid(other, &status, 0) == other);
  CAPTURE(status);
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("it reads nothing, has a limit to its memory, and does not ignore signals") {
  CHECK(shell("! read line").status.ok());
  const pace::test::Scratch scratch;
  CHECK(shell("ulimit -d > " + (scratch / "limit"), {.memory = 64 << 20}).status.ok());
  CHECK(scratch.read("limit") == "65536\n");  // KiB
  const Interrupts interrupts;
  CHECK(shell("kill -TERM $$; sleep 1000").status.signal == SIGTERM);
  // As ProgramOutput does.
  for (const auto& [name, number] : {std::pair{"PIPE", SIGPIPE}, {"XFSZ", SIGXFSZ}}) {
    const auto before = ::signal(number, SIG_IGN);
    CHECK(shell(std::string("kill -") + name + " $$; exit 0").status.signal == number);
    ::signal(number, before);
  }
}

TEST_CASE("a signal to its parent ends it") {
  for (const auto& [name, number] : {std::pair{"INT", SIGINT}, {"TERM", SIGTERM}, {"HUP", SIGHUP}, {"QUIT", SIGQUIT}}) {
    const Interrupts interrupts;
    const auto end = shell(std::string("kill -") + name + " $PPID; sleep 1000");
    CHECK(end.interrupted == number);
    CHECK(end.status.signal == SIGKILL);
    CHECK_FALSE(end.timed_out);
  }
}

TEST_CASE("a model's process is called with the model, its devices and the file for rows") {
  CHECK(child_arguments({"/p"}, {{.name = "m"}, {"cpu"}}, "/f", false, "3/12/45.2/2").back() ==
        "--nth-model=3/12/45.2/2");
  CHECK(child_arguments({"/p", "--accuracy"}, {{.name = "m"}, {"cpu", "cuda:1"}}, "/f", false) ==
        Strings{"/p", "--accuracy", "--only=m", "--rows-of=cpu", "--rows-of=cuda:1", "--rows-to=/f"});
  CHECK(child_arguments({"/p"}, {{.name = "m"}, {"cpu"}}, "/f", true) ==
        Strings{"/p", "--only=m", "--rows-of=cpu", "--rows-to=/f", "--repeat=1"});
}

TEST_CASE("rows that were handed over are read, but for a line that was cut off") {
  const pace::test::Scratch scratch;
  const auto path = scratch / "rows";
  CHECK(read_handed_over(path).rows.empty());
  hand_over(path, Row{.name = "a"});
  hand_over(path, Row{.name = "b"});
  append_text(path, to_line({.name = "c"}).substr(0, 20));
  const auto handed = read_handed_over(path);
  REQUIRE(handed.rows.size() == 2);
  CHECK(handed.rows[1].name == "b");
  CHECK_FALSE(handed.bad_input);
  hand_over_bad_input(scratch / "bad", "it is \"wrong\"");
  CHECK(read_handed_over(scratch / "bad").bad_input == "it is \"wrong\"");
  CHECK_FALSE(handed.output_lost);
  hand_over_output_lost(scratch / "lost");
  CHECK(read_handed_over(scratch / "lost").output_lost);
  // So deep that reading it level by level would exhaust the stack.
  append_text(scratch / "deep", std::string(1'000'000, '[') + '\n');
  CHECK_THROWS_AS(read_handed_over(scratch / "deep"), pace::Error);
  CHECK_THROWS_AS(hand_over("/proc/nothing", Row{}), pace::Error);
}

TEST_CASE("a line that a file-size limit cut off is taken back, and the next one is whole") {
  const pace::test::Scratch scratch;
  const auto path = scratch / "rows";
  hand_over(path, Row{.name = "a"});
  const auto size = std::filesystem::file_size(path);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit limit{.rlim_cur = size + 10, .rlim_max = before.rlim_max};
  const auto ignoring = ::signal(SIGXFSZ, SIG_IGN);
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::string message;
  try {
    hand_over(path, Row{.name = "b"});
  } catch (const pace::Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, ignoring);
  CHECK(message == "cannot write '" + path + "': File too large");
  CHECK(std::filesystem::file_size(path) == size);
  hand_over(path, Row{.name = "c"});
  const auto handed = read_handed_over(path);
  REQUIRE(handed.rows.size() == 2);
  CHECK(handed.rows[1].name == "c");
}

TEST_CASE("the line of a model") {
  CHECK(model_line("cpu", true, "resnet18") == "cpu  train resnet18                           ");
  CHECK(model_line("cuda", false, "m", "t") ==
        "cuda eval  m                                  t                          ");
}

}  // namespace
