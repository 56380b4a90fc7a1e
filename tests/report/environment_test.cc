// Environment: read from made-up /proc, /sys and .git trees, and from none at all.
#include <catch2/catch_test_macros.hpp>

#include <cstdlib>
#include <string>

#include "pace/report/environment.hpp"
#include "tests/report/temporary_folder.hpp"

namespace {

namespace report = pace::report;

const std::string commit_a(40, 'a'), commit_b(40, 'b');

}  // namespace

TEST_CASE("a machine with everything") {
  const TemporaryFolder machine;
  machine.put("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz: fine\nmodel name\t: second\n");
  machine.put("proc/meminfo", "MemTotal:       16 kB\nMemFree: 1 kB\n");
  machine.put("proc/loadavg", "3.50 2.00 1.00 1/100 42\n");
  machine.put("proc/sys/kernel/randomize_va_space", "0\n");
  machine.put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  machine.put("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  machine.put("sys/fs/cgroup/cpu.max", "150000 100000\n");
  const auto environment = report::read_environment({"/bin/bench", "--op", "aten::add it's", ""}, machine.path());
  CHECK(environment.cpu == "Fast CPU @ 3 GHz: fine");
  CHECK(environment.memory_bytes == 16 * 1024);
  CHECK(environment.load == 3.5);
  CHECK(environment.aslr == false);
  CHECK(environment.governor == "powersave");
  CHECK(environment.turbo == false);
  CHECK(environment.cpu_quota == 1.5);
  CHECK(environment.cores >= 1);
  CHECK(environment.command_line == "/bin/bench --op 'aten::add it'\\''s' ''");
  CHECK(environment.date_utc.size() == std::string("2026-01-01T00:00:00Z").size());
  CHECK(environment.date_utc.back() == 'Z');
}

TEST_CASE("a machine that tells nothing is no error") {
  const auto environment = report::read_environment({}, "/nonexistent");
  CHECK_FALSE(environment.cpu.empty());  // the architecture at least
  CHECK(environment.memory_bytes == 0);
  CHECK_FALSE(environment.load);
  CHECK_FALSE(environment.aslr);
  CHECK(environment.governor.empty());
  CHECK_FALSE(environment.turbo);
  CHECK_FALSE(environment.cpu_quota);
}

TEST_CASE("other ways to say it, and nonsense") {
  const TemporaryFolder machine;
  machine.put("sys/devices/system/cpu/cpufreq/boost", "1\n");
  machine.put("sys/fs/cgroup/cpu.max", "max 100000\n");
  machine.put("proc/loadavg", "busy\n");
  machine.put("proc/meminfo", ": no key\nMemTotal:\n");
  machine.put("proc/cpuinfo", "\n:\nmodel name");
  machine.put("proc/device-tree/model", std::string("Some Board\0", 11));
  const auto environment = report::read_environment({}, machine.path());
  CHECK(environment.turbo == true);
  CHECK_FALSE(environment.cpu_quota);
  CHECK_FALSE(environment.load);
  CHECK(environment.memory_bytes == 0);
  CHECK(environment.cpu == "Some Board");
}

TEST_CASE("cautions name what spoils figures, and only that") {
  report::Environment environment;
  environment.optimized = true;
  environment.cores = 4;
  environment.load = 4.9;
  environment.governor = "performance";
  CHECK(report::cautions(environment).empty());
  environment.optimized = false;
  environment.load = 5;
  environment.governor = "powersave";
  CHECK(report::cautions(environment).size() == 3);
}

TEST_CASE("the commit of a checkout, however git stores it") {
  const TemporaryFolder tree;
  SECTION("no checkout") { CHECK(report::commit_of(tree.path()).empty()); }
  SECTION("a detached HEAD") {
    tree.put(".git/HEAD", commit_a + "\n");
    CHECK(report::commit_of(tree.path()) == commit_a);
  }
  SECTION("a branch") {
    tree.put(".git/HEAD", "ref: refs/heads/feature/x\n");
    tree.put(".git/refs/heads/feature/x", commit_a + "\n");
    tree.put(".git/packed-refs", commit_b + " refs/heads/feature/x\n");
    CHECK(report::commit_of(tree.path()) == commit_a);
  }
  SECTION("a packed branch") {
    tree.put(".git/HEAD", "ref: refs/heads/main\n");
    tree.put(".git/packed-refs", "# pack-refs with: peeled\n" + commit_a + " refs/heads/main2\n" + commit_b +
                                     " refs/heads/main\n^" + commit_a + "\n");
    CHECK(report::commit_of(tree.path()) == commit_b);
  }
  SECTION("a worktree") {
    tree.put("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
    tree.put("main/.git/worktrees/w/commondir", "../..\n");
    tree.put("main/.git/refs/heads/w", commit_b + "\n");
    tree.put("w/.git", "gitdir: ../main/.git/worktrees/w\n");
    CHECK(report::commit_of(tree.path() + "/w") == commit_b);
  }
  SECTION("a branch without commits, and nonsense") {
    tree.put(".git/HEAD", "ref: refs/heads/main\n");
    CHECK(report::commit_of(tree.path()).empty());
    tree.put(".git/HEAD", "garbage\n");
    CHECK(report::commit_of(tree.path()).empty());
  }
}

TEST_CASE("the commit comes from PACE_COMMIT, else from the workspace of bazel run") {
  const TemporaryFolder tree;
  tree.put(".git/HEAD", commit_a + "\n");
  ::unsetenv("PACE_COMMIT");
  ::setenv("BUILD_WORKSPACE_DIRECTORY", tree.path().c_str(), 1);
  CHECK(report::read_environment().commit == commit_a);
  ::setenv("PACE_COMMIT", "v1-dirty", 1);
  CHECK(report::read_environment().commit == "v1-dirty");
  ::unsetenv("PACE_COMMIT");
  ::unsetenv("BUILD_WORKSPACE_DIRECTORY");
  CHECK(report::read_environment().commit.empty());
}
