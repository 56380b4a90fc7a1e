// Other programs that end when they should, and folders that only one user may write to.
#include "pace/os/process.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pace/base/error.hpp"
#include "pace/os/ask_fork.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/folders.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
namespace detail = pace::detail;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

/// Far longer than the awaited event takes on any machine. Only a failing test waits this long.
constexpr int a_long_time_ms = 20'000;

/// Whether the process ends, or has ended.
bool ends(pid_t process) {
  const pace::FileDescriptor handle(static_cast<int>(::syscall(SYS_pidfd_open, process, 0)));
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

TEST_CASE("a copy of the process answers, and what it changes stays its own") {
  int asked = 0;
  const std::string long_answer(1 << 20, 'x');  // more than a pipe holds
  CHECK(detail::ask_fork([&] {
          ++asked;
          return long_answer;
        }).text == long_answer);
  CHECK(asked == 0);
}

TEST_CASE("a copy of the process that throws or dies answers nothing") {
  const auto thrown = detail::ask_fork([]() -> std::string { throw std::runtime_error("no answer"); });
  CHECK(thrown.text.empty());
  CHECK(thrown.fault == "it threw or ended early, with exit code 1");
  const auto killed = detail::ask_fork([]() -> std::string {
    (void)::raise(SIGKILL);
    return "no answer";
  });
  CHECK(killed.text.empty());
  CHECK(killed.fault == "it was ended by signal 9 (Killed)");
}

TEST_CASE("a copy of the process that does not answer in time is ended") {
  constexpr std::chrono::milliseconds limit(20);
  const auto answer = detail::ask_fork(
      []() -> std::string {
        while (true) ::pause();
      },
      limit);
  CHECK(answer.text.empty());
  CHECK(answer.fault == "it did not answer within 20.0 ms");
}

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

TEST_CASE("a program that has ended is not waited for on account of what it has left behind") {
  // Another session is another process group; the pipe stays open in it. The shell waits for the sixth field of the
  // process, its session: one that has none of its own yet would end with the group.
  pid_t left = 0;
  std::vector<std::string> lines;
  const auto status = detail::run_process(
      {"sh", "-c",
       "setsid sleep 1000 & p=$!; until read -r a b c d e session f </proc/$p/stat && [ $session = $p ]; do :; done; "
       "echo $p; seq 1 5000; exit 3"},
      [&](std::string_view line) {
        lines.emplace_back(line);
        if (lines.size() == 1) left = std::atoi(lines.front().c_str());
      },
      std::chrono::milliseconds(a_long_time_ms));
  CHECK(status.to_string() == "ended with exit code 3");
  // All that the program itself has printed.
  CHECK(lines.size() == 5001);
  CHECK(lines.back() == "5000");
  REQUIRE(left > 0);
  CHECK(::kill(left, SIGKILL) == 0);
}

TEST_CASE("a line without end comes in pieces") {
  std::size_t bytes = 0, longest = 0;
  const auto status = detail::run_process({"head", "-c", "5000000", "/dev/zero"}, [&](std::string_view line) {
    bytes += line.size();
    longest = std::max(longest, line.size());
  });
  CHECK(status.ok());
  CHECK(bytes == 5'000'000);
  CHECK(longest < 2 * detail::LineReader::longest_line);
}

TEST_CASE("a program ends when its lines are refused") {
  pid_t started = 0;
  CHECK_THROWS_AS(detail::run_process({"sh", "-c", "echo $$; exec sleep 1000"},
                                      [&](std::string_view line) {
                                        started = std::atoi(std::string(line).c_str());
                                        throw pace::Unsupported("enough");
                                      }),
                  pace::Unsupported);
  REQUIRE(started > 0);
  CHECK(::kill(started, 0) != 0);  // and was waited for
}

TEST_CASE("the signals that a child ignores", "[.]") {
  ::signal(SIGHUP, [](int) {});
  for (const int number : {SIGTERM, SIGPIPE, SIGXFSZ}) ::signal(number, SIG_IGN);
  const auto status = detail::run_process({"grep", "^SigIgn:", "/proc/self/status"},
                                          [](std::string_view line) { std::cout << line << std::endl; });
  CHECK(status.ok());
}

TEST_CASE("a program ignores the signals that this process was started to ignore, and no others") {
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  // Starts this program anew, which is not the test that Bazel waits for.
  const auto ignored_after = [&](const std::string& commands) {
    std::uint64_t mask = 0;
    bool found = false;
    const std::string name =
        "unset BAZEL_TEST XML_OUTPUT_FILE TEST_PREMATURE_EXIT_FILE TEST_SHARD_STATUS_FILE; exec \"$0\" "
        "'the signals that a child ignores'";
    const auto status = detail::run_process({"sh", "-c", commands + "; " + name, self}, [&](std::string_view line) {
      if (!line.starts_with("SigIgn:")) return;
      mask = std::strtoull(std::string(line.substr(7)).c_str(), nullptr, 16);
      found = true;
    });
    CHECK(status.ok());
    REQUIRE(found);
    return [mask](int number) { return (mask >> (number - 1) & 1) != 0; };
  };
  const auto under_nohup = ignored_after("trap '' HUP PIPE");
  CHECK(under_nohup(SIGHUP));
  CHECK(under_nohup(SIGPIPE));
  CHECK_FALSE(under_nohup(SIGTERM));
  CHECK_FALSE(under_nohup(SIGXFSZ));
  const auto otherwise = ignored_after("trap '' XFSZ");
  CHECK_FALSE(otherwise(SIGHUP));
  CHECK_FALSE(otherwise(SIGPIPE));
  CHECK(otherwise(SIGXFSZ));
}

TEST_CASE("a program ends when the process that started it is killed") {
  int ends_of_pipe[2];
  REQUIRE(::pipe2(ends_of_pipe, O_CLOEXEC) == 0);
  const pace::FileDescriptor reading(ends_of_pipe[0]);
  pace::FileDescriptor writing(ends_of_pipe[1]);
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

TEST_CASE("processes that a program has started end with the program's parent, by whichever signal") {
  for (const int number : {SIGINT, SIGTERM, SIGKILL}) {
    CAPTURE(number);
    int ends_of_pipe[2];
    REQUIRE(::pipe2(ends_of_pipe, O_CLOEXEC) == 0);
    pace::FileDescriptor reading(ends_of_pipe[0]), writing(ends_of_pipe[1]);
    const pid_t parent = ::fork();
    if (parent == 0) {
      ::signal(number, SIG_DFL);
      static_cast<void>(
          detail::run_process({"/bin/sh", "-c", "sleep 1000 & echo $!; wait"}, [&](std::string_view line) {
            const std::string text(line);
            const pid_t left = static_cast<pid_t>(std::atoi(text.c_str()));
            static_cast<void>(::write(writing.get(), &left, sizeof left) == sizeof left);
            ::kill(::getpid(), number);
          }));
      ::_exit(1);
    }
    writing.close();
    pid_t left = 0;
    REQUIRE(::read(reading.get(), &left, sizeof left) == sizeof left);
    CHECK(detail::wait_for(parent).signal == number);
    CHECK(ends(left));
    ::kill(left, SIGKILL);
  }
}

TEST_CASE("a program has the environment that it is given, and reads nothing") {
  Folder folder;
  const std::string file = (folder.path / "printed").string();
  const pace::FileDescriptor output(::open(file.c_str(), O_WRONLY | O_CREAT, 0600));
  const auto child = detail::spawn({.arguments = {"sh", "-c", "cat; echo $ONE$HOME"},
                                    .environment = std::vector<std::string>{"ONE=1"},
                                    .output = output.get()});
  CHECK(detail::wait_for(child).ok());
  std::string line;
  std::getline(std::ifstream(file) >> std::ws, line);
  CHECK(line == "1");
  CHECK_THROWS_MATCHES(detail::spawn({.arguments = {"/no/such/program"}}), pace::Unsupported,
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
  CHECK_THROWS_MATCHES(detail::RunFolder(parent.path / "nowhere"), pace::Unsupported,
                       MessageMatches(ContainsSubstring("cannot write to")));
}

TEST_CASE("folders of other names and of other users stay, as do files") {
  Folder parent;
  for (const char* name : {"run-Left01", "pace-results", "pace-Left01"}) fs::create_directory(parent.path / name);
  std::ofstream(parent.path / "pace-File01") << "text";
  const detail::RunFolder folder(parent.path, "pace-");
  CHECK(folder.path().filename().string().starts_with("pace-"));
  CHECK_FALSE(fs::exists(parent.path / "pace-Left01"));
  for (const char* name : {"run-Left01", "pace-results", "pace-File01"}) CHECK(fs::exists(parent.path / name));
  const fs::path others = parent.path / "pace-Other1";
  fs::create_directory(others);
  if (::chown(others.c_str(), 1234, 1234) != 0) return;  // only root can make one of another user
  const detail::RunFolder second(parent.path, "pace-");
  CHECK(fs::exists(others));
}

TEST_CASE("a folder that another run removes before it is locked is made again") {
  Folder parent;
  static int made;
  made = 0;
  const detail::RunFolder folder(parent.path, "run-", [](const fs::path& in, std::string_view prefix) {
    const fs::path path = detail::make_folder_in(in, prefix);
    if (++made == 1) detail::remove_tree(path);
    return path;
  });
  CHECK(made == 2);
  CHECK(fs::is_directory(folder.path()));
}

TEST_CASE("a safe folder is made for its user alone") {
  Folder folder;
  const fs::path made = folder.path / "a" / "b";
  detail::make_safe_folder(made, "");
  struct stat found{};
  REQUIRE(::stat(made.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);
  CHECK_NOTHROW(detail::make_safe_folder(made.string() + "/", ""));
}

TEST_CASE("a folder where others can put files is refused, with its owner, its mode and a remedy") {
  Folder folder;
  const auto make = [&](const fs::path& path, mode_t mode) {
    fs::create_directory(path);
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    return path;
  };
  const auto refused = [](const fs::path& path, const std::string& why) {
    INFO(path);
    CHECK_THROWS_MATCHES(detail::make_safe_folder(path, "REMEDY"), pace::Unsupported,
                         MessageMatches(ContainsSubstring(why) && ContainsSubstring("; REMEDY")));
  };
  const std::string owner = "(owner " + std::to_string(::geteuid());
  const fs::path sticky = make(folder.path / "sticky", 01777), open = make(folder.path / "open", 0777);
  refused(sticky, "sticky may be written to by every user " + owner + ", mode 1777)");
  refused(make(folder.path / "group", 0770), "group may be written to by its group " + owner + ", mode 0770)");
  // As /tmp.
  CHECK_NOTHROW(detail::make_safe_folder(sticky / "mine" / "packages", ""));
  // A user with the right to write there may put another folder in the place of the one that was checked.
  refused(open / "mine" / "packages", "open may be written to by every user " + owner + ", mode 0777)");
  CHECK_FALSE(fs::exists(open / "mine"));
  fs::create_symlink(sticky / "mine", sticky / "link");
  refused(sticky / "link" / "packages", "link is a link in a folder that other users may write to");
  // By a link elsewhere.
  fs::create_symlink(open, folder.path / "way in");
  refused(folder.path / "way in" / "packages", "may be written to by every user");
  std::ofstream(folder.path / "file") << "";
  refused(folder.path / "file" / "packages", "is no folder");
  refused("/proc/nowhere", "cannot be made");
}

TEST_CASE("another user's folder is refused") {
  Folder folder;
  const uid_t owner = ::geteuid();
  CHECK_NOTHROW(detail::make_safe_folder(folder.path, "REMEDY"));
  struct stat top{};
  REQUIRE(::stat("/", &top) == 0);
  CHECK_THROWS_MATCHES(
      detail::make_safe_folder(folder.path, "REMEDY",
                               {.user = owner + 1, .root = top.st_uid == owner ? owner + 2 : top.st_uid}),
      pace::Unsupported,
      MessageMatches(ContainsSubstring(" belongs to another user than " + std::to_string(owner + 1) +
                                       ", which this program runs as (owner " + std::to_string(owner) + ", mode ") &&
                     ContainsSubstring("; REMEDY")));
}

TEST_CASE("whose folders are safe, and with which modes") {
  constexpr uid_t user = 1000, nobody = 65534;
  const auto is_safe = [](uid_t owner, mode_t mode, bool on_the_way, detail::FolderTrust trust) {
    struct stat found{};
    found.st_mode = S_IFDIR | mode;
    found.st_uid = owner;
    found.st_gid = 77;
    const std::string problem = detail::problem_of_folder(found, on_the_way, trust);
    UNSCOPED_INFO(problem);
    return problem.empty();
  };
  for (const bool on_the_way : {false, true}) {
    INFO(on_the_way);
    const detail::FolderTrust trust{.user = user};
    CHECK(is_safe(user, 0755, on_the_way, trust));
    CHECK(is_safe(0, 0755, on_the_way, trust));
    CHECK_FALSE(is_safe(1001, 0755, on_the_way, trust));
    CHECK_FALSE(is_safe(1001, 01777, on_the_way, trust));
    CHECK_FALSE(is_safe(user, 0755, on_the_way, {.user = 0}));
    CHECK(is_safe(0, 0755, on_the_way, {.user = 0}));
    CHECK(is_safe(0, 01777, on_the_way, trust) == on_the_way);
    CHECK(is_safe(user, 01775, on_the_way, trust) == on_the_way);
    CHECK_FALSE(is_safe(user, 0775, on_the_way, trust));
    CHECK_FALSE(is_safe(user, 0757, on_the_way, trust));
    // A group of one user lets no other user in, but packages are not kept by its leave.
    CHECK(is_safe(user, 0775, on_the_way, {.user = user, .private_group = 77}) == on_the_way);
    CHECK_FALSE(is_safe(user, 0777, on_the_way, {.user = user, .private_group = 77}));
    // In a sandbox root's folders seem to be the overflow user's.
    CHECK_FALSE(is_safe(nobody, 0755, on_the_way, trust));
    CHECK(is_safe(nobody, 0755, on_the_way, {.user = user, .root_is_mapped = false}) == on_the_way);
  }
}

}  // namespace
