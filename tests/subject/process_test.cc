// Other programs that end when they should, and folders that only one user may write to.
#include "pace/subject/process.hpp"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pace/core/error.hpp"
#include "pace/subject/files.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
namespace detail = pace::subject::detail;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// Far longer than what is waited for takes on any machine; only a failing test waits for it.
constexpr int a_long_time_ms = 20'000;

/// Whether the process ends, or has ended.
bool ends(pid_t process) {
  const detail::FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
  if (handle.get() < 0) return true;
  pollfd waiting{handle.get(), POLLIN, 0};
  return ::poll(&waiting, 1, a_long_time_ms) == 1;
}

class Folder {
 public:
  Folder() : path(detail::make_folder_in(fs::temp_directory_path())) {}
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { detail::remove_tree(path); }
  fs::path path;
};

const auto nothing = [](std::string_view) {};

TEST_CASE("a program that prints nothing for too long is ended, which its status says") {
  constexpr std::chrono::milliseconds limit(20);
  for (const char* script : {"exec sleep 1000", "exec >&- 2>&-; exec sleep 1000", "sleep 1000 & wait"}) {
    INFO(script);
    const auto status = detail::run_process({"sh", "-c", script}, nothing, limit);
    CHECK_FALSE(status.ok());
    CHECK(status.silent_for == limit);
    CHECK(status.to_string() == "printed nothing for 20.0 ms, and so was ended");
  }
}

TEST_CASE("what a program leaves behind in its process group ends with it") {
  pid_t left = 0;
  const auto status = detail::run_process({"sh", "-c", "sleep 1000 >/dev/null 2>&1 & echo $!"},
                                          [&](std::string_view line) { left = std::atoi(std::string(line).c_str()); });
  CHECK(status.ok());
  REQUIRE(left > 0);
  CHECK(ends(left));
  ::kill(left, SIGKILL);
}

TEST_CASE("a program ends when the process that started it is killed") {
  int ends_of_pipe[2];
  REQUIRE(::pipe2(ends_of_pipe, O_CLOEXEC) == 0);
  const detail::FileDescriptor reading(ends_of_pipe[0]);
  detail::FileDescriptor writing(ends_of_pipe[1]);
  for (const bool own_group : {false, true}) {
    const pid_t parent = ::fork();
    REQUIRE(parent >= 0);
    if (parent == 0) {
      const pid_t child = detail::spawn({.arguments = {"sleep", "1000"}, .own_group = own_group});
      [[maybe_unused]] const ssize_t told = ::write(writing.get(), &child, sizeof child);
      ::kill(::getpid(), SIGKILL);
    }
    pid_t child = 0;
    REQUIRE(::read(reading.get(), &child, sizeof child) == sizeof child);
    CHECK(detail::wait_for(parent).signal == SIGKILL);
    CHECK(ends(child));
    ::kill(child, SIGKILL);
  }
}

TEST_CASE("a program has the environment that it is given, and reads nothing") {
  Folder folder;
  const std::string file = (folder.path / "printed").string();
  const detail::FileDescriptor output(::open(file.c_str(), O_WRONLY | O_CREAT, 0600));
  const auto child = detail::spawn({.arguments = {"sh", "-c", "cat; echo $ONE$HOME"},
                                    .environment = std::vector<std::string>{"ONE=1"},
                                    .output = output.get()});
  CHECK(detail::wait_for(child).ok());
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  CHECK(line == "1");
  CHECK_THROWS_MATCHES(detail::spawn({.arguments = {"/no/such/program"}}), pace::Refused,
                       MessageMatches(ContainsSubstring("cannot run /no/such/program: No such file or directory")));
}

TEST_CASE("a folder for one run goes with it, and those that killed runs have left go too") {
  Folder parent;
  fs::path left = parent.path / "run-Left01", other = parent.path / "headers";
  fs::create_directories(left / "worker");
  fs::create_directory(other);
  fs::path first_path;
  {
    const detail::RunFolder first(parent.path);
    CHECK_FALSE(fs::exists(left));
    CHECK(fs::exists(other));
    first_path = first.path();
    const detail::RunFolder second(parent.path);
    CHECK(fs::exists(first_path));  // it is in use
    CHECK(second.path() != first_path);
  }
  CHECK_FALSE(fs::exists(first_path));
  CHECK_THROWS_MATCHES(detail::RunFolder(parent.path / "nowhere"), pace::Refused,
                       MessageMatches(ContainsSubstring("cannot write to")));
}

TEST_CASE("a safe folder is made for its user alone") {
  Folder folder;
  const fs::path made = folder.path / "a" / "b";
  detail::make_safe_folder(made, "");
  struct stat found {};
  REQUIRE(::stat(made.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);
  CHECK_NOTHROW(detail::make_safe_folder(made.string() + "/", ""));
}

TEST_CASE("a folder where others can put files is refused") {
  Folder folder;
  const fs::path open = folder.path / "open";
  fs::create_directory(open);
  REQUIRE(::chmod(open.c_str(), 01777) == 0);
  const auto refused = [](const fs::path& path, const std::string& why) {
    INFO(path);
    CHECK_THROWS_MATCHES(detail::make_safe_folder(path, "REMEDY"), pace::Refused,
                         MessageMatches(ContainsSubstring(why) && ContainsSubstring("; REMEDY")));
  };
  refused(open, "open may be written to by every user");
  CHECK_NOTHROW(detail::make_safe_folder(open / "mine" / "packages", ""));
  fs::create_symlink(open / "mine", open / "link");
  refused(open / "link" / "packages", "link is a link in a folder that every user may write to");
  fs::create_directory(open / "shared");
  REQUIRE(::chmod((open / "shared").c_str(), 0770) == 0);
  refused(open / "shared" / "packages", "shared may be written to by others");
  // By a link elsewhere.
  fs::create_symlink(open / "shared", folder.path / "way in");
  refused(folder.path / "way in" / "packages", "shared may be written to by others");
  std::ofstream(folder.path / "file") << "";
  refused(folder.path / "file" / "packages", "is no folder");
  refused("/proc/nowhere", "cannot be made");
}

TEST_CASE("in a folder that is open to all, another user's is refused") {
  struct stat found {};
  found.st_mode = S_IFDIR | 0700;
  found.st_uid = 1000;
  CHECK(detail::problem_in_open_folder(found, 1000).empty());
  CHECK_THAT(detail::problem_in_open_folder(found, 1001), ContainsSubstring("belongs to another user"));
  CHECK_THAT(detail::problem_in_open_folder(found, 0), ContainsSubstring("belongs to another user"));
  found.st_uid = 0;
  CHECK(detail::problem_in_open_folder(found, 1000).empty());
}

}  // namespace
