// Clocks that are locked and given back, with a library in the place of NVML and a script in that of nvidia-smi.
#include "pace/gpu/cuda/locked_clocks.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/scratch.hpp"
#include "tests/support/variable.hpp"
#include "tests/support/why.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using pace::cuda::LockedClocks;
using pace::test::Variable;
using pace::test::why;

/// A driver that keeps a list of what it was told.
class Driver {
 public:
  Driver() {
    const auto program = folder_.write("nvidia-smi",
                                       "#!/bin/sh\necho \"$*\" >> \"$FAKE_NVML_LOG\"\necho said\n"
                                       "exit ${FAKE_RESET:-0}\n");
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::string told() const { return folder_.read("log"); }
  /// Locks the GPU of the fake library, or those at `addresses`.
  [[nodiscard]] static LockedClocks lock(const std::string& clock,
                                         const std::vector<std::string>& addresses = {"0000:18:00.0"}) {
    const char* const library = std::getenv("FAKE_NVML");
    return {addresses, clock, library == nullptr ? "./tests/gpu/cuda/libfake_nvml.so" : library};
  }

 private:
  pace::test::Scratch folder_;
  Variable log_{"FAKE_NVML_LOG", folder_ / "log"};
  Variable path_{"PATH", folder_.path.string() + ':' + std::getenv("PATH")};
};

constexpr const char* given_back = "--reset-gpu-clocks --id=0000:18:00.0\n";

TEST_CASE("clocks are locked as asked, and given back at the end") {
  const Driver driver;
  {
    const auto locked = Driver::lock("1500");
    CHECK(driver.told() == "lock 5dc 5dc\n");
  }
  CHECK(driver.told() == std::string("lock 5dc 5dc\n") + given_back);
}

TEST_CASE("the base clock is the driver's, and the highest is looked up") {
  const Driver driver;
  {
    const auto locked = Driver::lock("base");
  }
  CHECK_THAT(driver.told(), ContainsSubstring("lock ffffff01 ffffff01\n"));
  {
    const auto locked = Driver::lock("max");
  }
  CHECK_THAT(driver.told(), ContainsSubstring("lock 7bc 7bc\n"));
}

TEST_CASE("a process that is killed gives the clocks back") {
  const Driver driver;
  const pid_t child = ::fork();
  if (child == 0) {
    const auto locked = Driver::lock("1500");
    for (;;) ::pause();
  }
  while (driver.told().empty()) ::usleep(1000);
  CHECK(::kill(child, SIGKILL) == 0);
  CHECK(::waitpid(child, nullptr, 0) == child);
  while (driver.told().find(given_back) == std::string::npos) ::usleep(1000);
}

TEST_CASE("clocks that cannot be given back are named with the command") {
  const Driver driver;
  const pace::test::Scratch folder;
  const int usual = ::dup(STDERR_FILENO);
  const int file = ::open((folder / "said").c_str(), O_WRONLY | O_CREAT, 0600);
  ::dup2(file, STDERR_FILENO);
  {
    const Variable reset("FAKE_RESET", "1");
    const auto locked = Driver::lock("1500");
  }
  ::dup2(usual, STDERR_FILENO);
  CHECK(folder.read("said") ==
        "said\npace: the clocks of the GPUs may still be locked; run: nvidia-smi --reset-gpu-clocks "
        "--id=0000:18:00.0\n");
}

TEST_CASE("a copy of the process that ends gives nothing back") {
  const Driver driver;
  const auto locked = Driver::lock("1500");
  const pid_t child = ::fork();
  if (child == 0) {
    locked.~LockedClocks();
    ::_exit(0);
  }
  CHECK(::waitpid(child, nullptr, 0) == child);
  CHECK(driver.told() == "lock 5dc 5dc\n");
}

TEST_CASE("a GPU that cannot be locked is named with the reason, and nothing is given back") {
  const Driver driver;
  const auto refused = [](const char* status) {
    const Variable lock("FAKE_NVML_LOCK", status);
    return why<pace::Unsupported>([] { (void)Driver::lock("1500"); });
  };
  CHECK(refused("4") == "the clocks cannot be locked to 1500: GPU 0000:18:00.0: its driver permits that to root alone");
  CHECK(driver.told().empty());
  CHECK_THAT(refused("2"), ContainsSubstring("it has no clock of 1500 MHz"));
  CHECK_THAT(refused("3"), ContainsSubstring("its driver locks no clocks"));
  CHECK_THAT(refused("15"), ContainsSubstring("its driver reports error 15"));
  CHECK_THAT(why<pace::Unsupported>([] { (void)Driver::lock("base", {"0000:19:00.0"}); }),
             ContainsSubstring("GPU 0000:19:00.0: the driver's library NVML does not know it"));
}

TEST_CASE("if only some GPUs can be locked, all are given back") {
  const Driver driver;
  CHECK_THAT(why<pace::Unsupported>([] { (void)Driver::lock("1500", {"0000:18:00.0", "0000:19:00.0"}); }),
             ContainsSubstring("to 1500: GPU 0000:19:00.0: the driver's library NVML does not know it"));
  CHECK(driver.told() == "lock 5dc 5dc\n--reset-gpu-clocks --id=0000:18:00.0,0000:19:00.0\n");
}

TEST_CASE("without nvidia-smi nothing is locked, since nothing would give the clocks back") {
  const Driver driver;
  const Variable path("PATH", "/nowhere");
  CHECK_THAT(why<pace::Unsupported>([] { (void)Driver::lock("base"); }),
             ContainsSubstring("nvidia-smi, which gives them back; it is not in PATH"));
  CHECK(driver.told().empty());
}

}  // namespace
