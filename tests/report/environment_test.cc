// Environment: read from made-up /proc, /sys and .git trees, and from none at all.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "pace/report/environment.hpp"
#include "pace/report/variables.hpp"
#include "tests/support/scratch.hpp"

namespace {

namespace report = pace::report;

const std::string commit_a(40, 'a'), commit_b(40, 'b');

}  // namespace

TEST_CASE("a machine with everything") {
  const pace::test::Scratch machine;
  machine.write("proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU @ 3 GHz: fine\nmodel name\t: second\n");
  machine.write("proc/meminfo", "MemTotal:       16 kB\nMemFree: 1 kB\n");
  machine.write("proc/loadavg", "3.50 2.00 1.00 1/100 42\n");
  machine.write("proc/sys/kernel/randomize_va_space", "0\n");
  machine.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
  machine.write("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  machine.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  const auto environment =
      report::read_environment({"/bin/bench", "--op", "aten::add it's", ""}, machine.path.string());
  CHECK(environment.cpu == "Fast CPU @ 3 GHz: fine");
  CHECK_FALSE(environment.hostname.empty());
  CHECK_FALSE(environment.extra.contains("pool"));
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

TEST_CASE("a sandbox of remote execution: the worker's own name, and the pool that the test asked for") {
  const pace::test::Scratch machine;
  machine.write("run/pace/machine", "quiet-17, worker 1\nmore\n");
  ::setenv("PACE_POOL", "h100", 1);
  const auto environment = report::read_environment({}, machine.path.string());
  ::unsetenv("PACE_POOL");
  CHECK(environment.hostname == "quiet-17, worker 1");
  CHECK(environment.extra.at("pool") == "h100");
  // A file without a name is none.
  machine.write("run/pace/machine", "\n");
  CHECK(report::read_environment({}, machine.path.string()).hostname == report::read_environment().hostname);
}

TEST_CASE("variables that change times are known by their families, and those of places and versions are left out") {
  for (const char* const name : {"CUDA_LAUNCH_BLOCKING",
                                 "CUDA_MODULE_LOADING",
                                 "CUDA_DEVICE_MAX_CONNECTIONS",
                                 "CUDA_MPS_PIPE_DIRECTORY",
                                 "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE",
                                 "CUBLAS_WORKSPACE_CONFIG",
                                 "CUBLASLT_LOG_LEVEL",
                                 "NVIDIA_TF32_OVERRIDE",
                                 "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE",
                                 "PYTORCH_NO_CUDA_MEMORY_CACHING",
                                 "PYTORCH_CUDA_ALLOC_CONF",
                                 "PYTORCH_ALLOC_CONF",
                                 "CUDNN_LOGLEVEL_DBG",
                                 "OMP_NUM_THREADS",
                                 "KMP_BLOCKTIME",
                                 "GOMP_CPU_AFFINITY",
                                 "MKL_NUM_THREADS",
                                 "ATEN_CPU_CAPABILITY",
                                 "MALLOC_ARENA_MAX",
                                 "MALLOC_CONF",
                                 "GLIBC_TUNABLES",
                                 "LD_PRELOAD",
                                 "NCCL_ALGO",
                                 "TORCHINDUCTOR_MAX_AUTOTUNE"}) {
    CAPTURE(name);
    CHECK(report::changes_times(name));
  }
  for (const char* const name : {"PATH", "HOME", "CUDA_HOME", "CUDA_VERSION", "NCCL_VERSION", "CUDA_VISIBLE_DEVICES",
                                 "CUDA_DEVICE_ORDER", "TORCH_CUDA_ARCH_LIST", "CUDA_CACHE_PATH", "LD_LIBRARY_PATH",
                                 "CUDA_MPS_LOG_DIRECTORY", "TORCH_LOGS", "MY_OMP_NUM_THREADS"}) {
    CAPTURE(name);
    CHECK_FALSE(report::changes_times(name));
  }
}

TEST_CASE("variables are read with what is loaded into every program, and told in words") {
  const pace::test::Scratch machine;
  machine.write("etc/ld.so.preload", "# ours\n/usr/lib/a.so  /usr/lib/b.so # both\n");
  const char* const environment[] = {"HOME=/root",    "OMP_NUM_THREADS=2", "KMP_BLOCKTIME=", "MALLOC_CONF=a:1,b:'2'",
                                     "CUDA_NONSENSE", "MKL_\xff=\xff",     nullptr};
  const auto found = report::read_variables(environment, machine.path.string());
  CHECK(found == std::map<std::string, std::string>{{"/etc/ld.so.preload", "/usr/lib/a.so /usr/lib/b.so"},
                                                    {"KMP_BLOCKTIME", ""},
                                                    {"MALLOC_CONF", "a:1,b:'2'"},
                                                    {"MKL_\xef\xbf\xbd", "\xef\xbf\xbd"},
                                                    {"OMP_NUM_THREADS", "2"}});
  CHECK(report::variables_text(found).starts_with(
      "/etc/ld.so.preload='/usr/lib/a.so /usr/lib/b.so' KMP_BLOCKTIME= MALLOC_CONF="));
  CHECK(report::read_variables(nullptr, "/nonexistent").empty());
  CHECK(report::changed_variables(found, found) == "");
  CHECK(report::changed_variables({{"OMP_NUM_THREADS", "2"}, {"KMP_BLOCKTIME", ""}}, {{"OMP_NUM_THREADS", "4"}}) ==
        "KMP_BLOCKTIME was \"\" and is unset; OMP_NUM_THREADS was \"2\" and is \"4\"");
  ::setenv("MKL_DYNAMIC", "no", 1);
  CHECK(report::read_environment().variables.at("MKL_DYNAMIC") == "no");
  ::unsetenv("MKL_DYNAMIC");
}

TEST_CASE("a variable that makes times those of no usual process is a caution, CUDA's on a GPU alone") {
  report::Environment environment;
  environment.optimized = true;
  environment.variables = {{"CUDA_LAUNCH_BLOCKING", "1"}, {"OMP_NUM_THREADS", "2"}};
  CHECK(report::cautions(environment).empty());
  environment.extra["gpu"] = "NVIDIA H200";
  CHECK(report::cautions(environment) ==
        std::vector<std::string>{"CUDA_LAUNCH_BLOCKING=1: the host waits for each kernel. Try: unset it."});
  environment.variables = {{"CUDA_LAUNCH_BLOCKING", "0"}, {"PYTORCH_NO_CUDA_MEMORY_CACHING", "0"}};
  CHECK(report::cautions(environment) ==
        std::vector<std::string>{
            "PYTORCH_NO_CUDA_MEMORY_CACHING=0: the GPU's driver allocates each block. Try: unset it."});
}

TEST_CASE("a machine that reports nothing is no error") {
  const auto environment = report::read_environment({}, "/nonexistent");
  CHECK_FALSE(environment.cpu.empty());  // the architecture at least
  CHECK(environment.memory_bytes == 0);
  CHECK_FALSE(environment.load);
  CHECK_FALSE(environment.aslr);
  CHECK(environment.governor == "");
  CHECK_FALSE(environment.turbo);
  CHECK_FALSE(environment.cpu_quota);
}

TEST_CASE("other ways to say it, and nonsense") {
  const pace::test::Scratch machine;
  machine.write("sys/devices/system/cpu/cpufreq/boost", "1\n");
  machine.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  machine.write("proc/loadavg", "busy\n");
  machine.write("proc/meminfo", ": no key\nMemTotal:\n");
  machine.write("proc/cpuinfo", "\n:\nmodel name");
  machine.write("proc/device-tree/model", std::string("Some Board\0", 11));
  const auto environment = report::read_environment({}, machine.path.string());
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
  CHECK_THAT(report::cautions(environment), Catch::Matchers::IsEmpty());
  environment.optimized = false;
  environment.load = 5;
  environment.governor = "powersave";
  CHECK(report::cautions(environment).size() == 3);
}

TEST_CASE("the commit of a checkout, however git stores it") {
  const pace::test::Scratch tree;
  SECTION("no checkout") { CHECK(report::commit_of(tree.path.string()) == ""); }
  SECTION("a detached HEAD") {
    tree.write(".git/HEAD", commit_a + "\n");
    CHECK(report::commit_of(tree.path.string()) == commit_a);
  }
  SECTION("a branch") {
    tree.write(".git/HEAD", "ref: refs/heads/feature/x\n");
    tree.write(".git/refs/heads/feature/x", commit_a + "\n");
    tree.write(".git/packed-refs", commit_b + " refs/heads/feature/x\n");
    CHECK(report::commit_of(tree.path.string()) == commit_a);
  }
  SECTION("a packed branch") {
    tree.write(".git/HEAD", "ref: refs/heads/main\n");
    tree.write(".git/packed-refs", "# pack-refs with: peeled\n" + commit_a + " refs/heads/main2\n" + commit_b +
                                       " refs/heads/main\n^" + commit_a + "\n");
    CHECK(report::commit_of(tree.path.string()) == commit_b);
  }
  SECTION("a worktree") {
    tree.write("main/.git/worktrees/w/HEAD", "ref: refs/heads/w\n");
    tree.write("main/.git/worktrees/w/commondir", "../..\n");
    tree.write("main/.git/refs/heads/w", commit_b + "\n");
    tree.write("w/.git", "gitdir: ../main/.git/worktrees/w\n");
    CHECK(report::commit_of(tree.path.string() + "/w") == commit_b);
  }
  SECTION("a branch without commits, and nonsense") {
    tree.write(".git/HEAD", "ref: refs/heads/main\n");
    CHECK(report::commit_of(tree.path.string()) == "");
    tree.write(".git/HEAD", "garbage\n");
    CHECK(report::commit_of(tree.path.string()) == "");
  }
}

TEST_CASE("the commit of a folder comes from the nearest checkout around it") {
  const pace::test::Scratch tree;
  tree.write(".git/HEAD", commit_a + "\n");
  tree.write("a/b/file", "");
  tree.write("inner/.git/HEAD", commit_b + "\n");
  tree.write("inner/c/file", "");
  CHECK(report::commit_of((tree.path / "a/b").string()) == commit_a);
  CHECK(report::commit_of((tree.path / "inner/c").string()) == commit_b);
}

TEST_CASE("the commit comes from PACE_COMMIT, else from the workspace of bazel run, else from the test's checkout") {
  const pace::test::Scratch tree;
  tree.write(".git/HEAD", commit_a + "\n");
  ::unsetenv("PACE_COMMIT");
  ::setenv("BUILD_WORKSPACE_DIRECTORY", tree.path.string().c_str(), 1);
  CHECK(report::read_environment().commit == commit_a);
  ::setenv("PACE_COMMIT", "v1-dirty", 1);
  CHECK(report::read_environment().commit == "v1-dirty");
  ::unsetenv("PACE_COMMIT");
  ::setenv("PACE_CHECKOUT", "/proc", 1);
  CHECK(report::read_environment().commit == commit_a);
  ::unsetenv("BUILD_WORKSPACE_DIRECTORY");
  CHECK(report::read_environment().commit == "");
  ::setenv("PACE_CHECKOUT", tree.path.string().c_str(), 1);
  CHECK(report::read_environment().commit == commit_a);
  ::unsetenv("PACE_CHECKOUT");
  CHECK(report::read_environment().commit == "");
}
