// Files that cannot be written, and sinks that fail while others go on.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/os/new_folders.hpp"
#include "pace/os/output_file.hpp"
#include "pace/os/unfinished.hpp"
#include "pace/report/csv.hpp"
#include "pace/report/json.hpp"
#include "pace/report/junit.hpp"
#include "pace/report/sink.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/temporary_file.hpp"
#include "tests/support/scratch.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using pace::OutputFile;
using pace::test::Scratch;

TEST_CASE("a file that cannot be opened is named with the system's reason") {
  CHECK_THROWS_MATCHES(OutputFile("/nonexistent/results.csv"), pace::Error,
                       Message("cannot open '/nonexistent/results.csv': No such file or directory"));
  CHECK_THROWS_MATCHES(OutputFile("/"), pace::Error, Message("cannot open '/': Is a directory"));
}

TEST_CASE("a full disk is an error at the write, not a silence") {
  OutputFile file("/dev/full");
  CHECK_THROWS_MATCHES(file.append("x"), pace::Error, Message("cannot write '/dev/full': No space left on device"));
  CHECK_THROWS_MATCHES(file.replace_tail("", "x"), pace::Error,
                       Message("cannot write '/dev/full': No space left on device"));
}

TEST_CASE("what cannot be rewritten in place says what was expected instead") {
  const TemporaryFile placeholder;
  const std::string pipe = placeholder.path() + ".pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  {
    OutputFile file(pipe);
    CHECK_THROWS_WITH(file.replace_tail("", "x"), ContainsSubstring("a regular file was expected"));
  }
  ::close(reader);
  std::filesystem::remove(pipe);
}

TEST_CASE("a pipe that no program reads from is an error, and is not waited for") {
  const Scratch folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(OutputFile(pipe),
                    ContainsSubstring("cannot open '" + pipe) && ContainsSubstring("no program reads from this pipe"));
}

TEST_CASE("what a file held stays until the first change; append and replace_tail do what they say") {
  const TemporaryFile temporary;
  OutputFile(temporary.path()).append("old content that is longer");
  OutputFile file(temporary.path());
  CHECK(temporary.content() == "old content that is longer");
  file.append("abc");
  CHECK(temporary.content() == "abc");
  file.append("]}");
  file.replace_tail("]}", ",def]}");
  CHECK(temporary.content() == "abc,def]}");
  file.close();
  CHECK(temporary.content() == "abc,def]}");
}

TEST_CASE("the head of a file replaces what was there with the first change, or in the end, and not before") {
  const Scratch folder;
  const std::string path = folder.write("a", "what an earlier run found");
  {
    OutputFile file(path);
    file.begin_with("head,");
  }
  CHECK(folder.read("a") == "what an earlier run found");
  {
    OutputFile file(path);
    file.begin_with("head,");
    file.replace_tail(",", ";row");
    CHECK(folder.read("a") == "head;row");
  }
  {
    OutputFile file(path);
    file.begin_with("head,");
    file.close();
  }
  CHECK(folder.read("a") == "head,");
  OutputFile fresh(folder / "b");
  fresh.begin_with("head,");
  CHECK(folder.read("b") == "head,");
}

TEST_CASE("a new file takes the place of old content, so that no moment has a mixture") {
  const Scratch folder;
  const std::string path = folder.write("a", "what an earlier run found, which is longer");
  folder.write("a.new", "what a killed run has left");
  REQUIRE(::chmod(path.c_str(), 0640) == 0);
  const int earlier = ::open(path.c_str(), O_RDONLY);
  std::string old(42, ' ');
  {
    OutputFile file(path);
    file.begin_with("head,");
    file.append("row");
    file.append(";row");
    CHECK_THROWS_WITH(OutputFile(path), ContainsSubstring("another run"));
    CHECK_FALSE(std::filesystem::exists(folder / "a.new"));
    file.close();
  }
  CHECK(folder.read("a") == "head,row;row");
  struct stat info{};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  CHECK((info.st_mode & 0777) == 0640);
  // The file that was there is as it was.
  CHECK(::read(earlier, old.data(), old.size()) == 42);
  CHECK(old == "what an earlier run found, which is longer");
  ::close(earlier);
}

TEST_CASE("old content is overwritten where no file can be made beside it") {
  const Scratch folder;
  const std::string path = folder.write("a", "what an earlier run found, which is longer");
  std::filesystem::create_directory(folder / "a.new");
  OutputFile file(path);
  file.begin_with("head,");
  file.append("row");
  file.append(";row");
  file.close();
  CHECK(folder.read("a") == "head,row;row");
}

TEST_CASE("a file that is kept is written behind its end") {
  const Scratch folder;
  OutputFile file(folder.write("a", "first"));
  file.keep();
  file.append(", second");
  file.append(", third");
  CHECK(folder.read("a") == "first, second, third");
}

TEST_CASE("of a file whose lines are kept, one without an end goes, and what cannot be read is no line's end") {
  const Scratch folder;
  const auto path = folder / "a";
  for (const auto& [before, kept] : std::vector<std::pair<std::string, std::string>>{
           {"a\nb\ntorn", "a\nb\n"}, {"a\nb\n", "a\nb\n"}, {"torn", ""}, {"", ""}}) {
    CAPTURE(before);
    (void)folder.write("a", before);
    {
      OutputFile file(path);
      file.keep_lines();
      CHECK(folder.read("a") == kept);
      file.append("c\n");
      file.close();
    }
    CHECK(folder.read("a") == kept + "c\n");
  }
  (void)folder.write("a", "a\ntorn");
  constexpr OutputFile::Read broken = [](int, void*, std::size_t, off_t) -> ssize_t { return errno = EIO, -1; };
  constexpr OutputFile::Read short_read = [](int, void*, std::size_t, off_t) -> ssize_t { return 0; };
  for (const auto read : {broken, short_read})
    CHECK_THROWS_WITH(OutputFile(path).keep_lines(read), "cannot read '" + path + "': Input/output error");
  CHECK(folder.read("a") == "a\ntorn");
  OutputFile file(path);
  file.clear();
  CHECK(folder.read("a") == "");
}

TEST_CASE("a file that keeps its first bytes goes on behind them") {
  const Scratch folder;
  for (const std::string kept : {"a\nb\n", "a\n", ""}) {
    CAPTURE(kept);
    OutputFile file(folder.write("a", "a\nb\n"));
    file.keep();
    file.keep_first(static_cast<off_t>(kept.size()));
    CHECK(folder.read("a") == kept);
    file.append("c\n");
    file.close();
    CHECK(folder.read("a") == kept + "c\n");
  }
}

TEST_CASE("every sink leaves an earlier run's file alone until it has a result, or the run has ended") {
  const Scratch folder;
  const std::string path = folder / "results";
  const std::vector<std::function<std::unique_ptr<pace::report::Sink>()>> sinks{
      [&] { return std::make_unique<pace::report::JsonSink>(path, pace::report::ResultsHeader{}); },
      [&] { return std::make_unique<pace::report::CsvSink>(path); },
      [&] { return std::make_unique<pace::report::JUnitSink>(path, pace::report::Environment{}); }};
  for (const auto& make : sinks) {
    folder.write("results", "old");
    make();
    CHECK(folder.read("results") == "old");
    make()->write(sample::comparison("new"));
    CHECK_THAT(folder.read("results"), ContainsSubstring("new") && !ContainsSubstring("old"));
    folder.write("results", "old");
    make()->finish();
    CHECK_THAT(folder.read("results"), !ContainsSubstring("old") && !ContainsSubstring("new"));
  }
}

TEST_CASE("a file has one writer, by whichever name") {
  const Scratch folder;
  const std::string path = folder / "a";
  const std::string refusal = "another run, or another option of this one, writes to it";
  {
    OutputFile first(path);
    std::filesystem::create_symlink("a", folder / "link");
    std::filesystem::create_hard_link(path, folder / "hard");
    for (const std::string other : {"a", "./a", "link", "hard"}) {
      CHECK_THROWS_WITH(OutputFile(folder / other), ContainsSubstring(refusal));
      CHECK_THROWS_WITH(OutputFile(folder / other, /*replaces=*/true), ContainsSubstring(refusal));
    }
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      try {
        OutputFile in_another_process(path);
      } catch (const pace::Error&) {
        ::_exit(7);
      }
      ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 7);
  }
  CHECK_NOTHROW(OutputFile(path));
  const OutputFile nowhere("/dev/null");
  CHECK_NOTHROW(OutputFile("/dev/null"));
}

TEST_CASE("a file that replaces another has one writer, too, also once it has replaced it") {
  const Scratch folder;
  const std::string path = folder.write("a", "old");
  OutputFile first(path, /*replaces=*/true);
  CHECK_THROWS(OutputFile(path));
  CHECK_THROWS(OutputFile(path, /*replaces=*/true));
  first.append("new");
  CHECK(folder.read("a") == "old");
  first.replace();
  CHECK(folder.read("a") == "new");
  CHECK_THROWS(OutputFile(path));
  CHECK_THROWS(OutputFile(path, /*replaces=*/true));
  first.append(", more");
  CHECK(folder.read("a") == "new, more");
  OutputFile not_there_yet(folder / "b", /*replaces=*/true);
  CHECK_THROWS(OutputFile(folder / "b", /*replaces=*/true));
}

TEST_CASE("a file that gave its lock up takes no other's place") {
  const Scratch folder;
  folder.write("a", "old");
  {
    OutputFile file(folder / "a", /*replaces=*/true);
    file.append("new");
    file.close();
    CHECK_THROWS_WITH(file.replace(), ContainsSubstring("cannot write '" + folder / "a" + "'"));
  }
  CHECK(folder.read("a") == "old");
  CHECK_FALSE(folder.has("a.new"));
}

TEST_CASE("a file whose name is gone, or is another file's, says so when it is closed") {
  const Scratch folder;
  const std::string path = folder / "a.json";
  const auto close_after = [&](const std::function<void()>& change) {
    OutputFile file(path);
    file.append("written");
    change();
    file.close();
  };
  CHECK_THROWS_MATCHES(
      close_after([&] { std::filesystem::remove(path); }), pace::Error,
      MessageMatches(ContainsSubstring("cannot write '" + path + "': the file was removed, moved or ")));
  CHECK_THROWS_AS(close_after([&] { std::filesystem::rename(path, folder / "b.json"); }), pace::Error);
  CHECK_THROWS_AS(close_after([&] { std::filesystem::rename(folder.write("c", "other"), path); }), pace::Error);
  CHECK_NOTHROW(close_after([] {}));
  // A link to the file, and a folder of another name for the program, change nothing.
  std::filesystem::create_symlink(path, folder / "link");
  const auto before = std::filesystem::current_path();
  {
    std::filesystem::current_path(folder.path);
    OutputFile file("link");
    file.append("written");
    std::filesystem::current_path(before);
    CHECK_NOTHROW(file.close());
  }
  OutputFile replaces(path, /*replaces=*/true);
  replaces.append("new");
  replaces.replace();
  CHECK_NOTHROW(replaces.close());
}

TEST_CASE("replacing follows no link that another user left, keeps the user's own and the file's mode") {
  const Scratch folder;
  const std::string path = folder.write("a", "old");
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("a", folder / "link");
  {
    OutputFile file(folder / "link", /*replaces=*/true);
    file.append("new");
    file.replace();
  }
  CHECK(folder.read("a") == "new");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(std::filesystem::status(path).permissions() ==
        (std::filesystem::perms::owner_read | std::filesystem::perms::owner_write));
  folder.write("victim", "untouched");
  std::filesystem::create_symlink("victim", folder / "a.new");
  CHECK_THROWS_WITH(OutputFile(path, /*replaces=*/true), ContainsSubstring("a.new"));
  CHECK(folder.read("victim") == "untouched");
  std::filesystem::remove(folder / "a.new");
  folder.write("a.new", "what a killed run left, which is longer");
  {
    OutputFile file(path, /*replaces=*/true);
    file.append("short");
    file.replace();
  }
  CHECK(folder.read("a") == "short");
  {
    OutputFile given_up(path, /*replaces=*/true);
  }
  CHECK_FALSE(folder.has("a.new"));
}

namespace {

/// As flock(2) where it fails with `reason` from the `from`th call on.
template <int reason, int from>
int failing_lock(int descriptor, int operation) {
  static int calls = 0;
  if (++calls < from) return ::flock(descriptor, operation);
  errno = reason;
  return -1;
}

/// As flock(2) where another run has written to the file, and ended, just before.
int lock_after_another_run(int descriptor, int operation) {
  if (::pwrite(descriptor, "another's", 9, 0) != 9) return -1;
  return ::flock(descriptor, operation);
}

/// As flock(2) where a signal interrupts every other call.
int interrupted_lock(int descriptor, int operation) {
  static bool interrupts = false;
  interrupts = !interrupts;
  if (!interrupts) return ::flock(descriptor, operation);
  errno = EINTR;
  return -1;
}

}  // namespace

TEST_CASE("a file that cannot be locked is refused with the system's reason, and nothing new stays") {
  const Scratch folder;
  const std::string path = folder / "a";
  const auto refused = [](const std::string& file, const std::string& reason) {
    return Message("cannot write '" + file + "': it cannot be locked (" + reason +
                   "), and two runs could write to it at "
                   "once; expected a file where files can be locked, such as on a local disk");
  };
  // NFS without its lock service; a file system without locks; a broken server.
  CHECK_THROWS_MATCHES(OutputFile(path, false, failing_lock<ENOLCK, 1>), pace::Error,
                       refused(path, "No locks available"));
  CHECK_THROWS_MATCHES(OutputFile(path, false, failing_lock<ENOSYS, 1>), pace::Error,
                       refused(path, "Function not implemented"));
  CHECK_THROWS_MATCHES(OutputFile(path, true, failing_lock<EOPNOTSUPP, 1>), pace::Error,
                       refused(path, "Operation not supported"));
  CHECK(std::filesystem::is_empty(folder.path));
  folder.write("a", "earlier");
  CHECK_THROWS_MATCHES(OutputFile(path, false, failing_lock<EIO, 1>), pace::Error, refused(path, "Input/output error"));
  CHECK_THROWS_MATCHES(OutputFile(path, true, failing_lock<EIO, 2>), pace::Error, refused(path, "Input/output error"));
  CHECK(folder.read("a") == "earlier");
  CHECK_FALSE(folder.has("a.new"));
  const OutputFile first(path, false, interrupted_lock);
  CHECK_THROWS_WITH(OutputFile(path, false, interrupted_lock), ContainsSubstring("another run"));
  // A pipe keeps nothing that another run could write over.
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK_NOTHROW(OutputFile("/dev/fd/" + std::to_string(ends[1]), false, failing_lock<ENOLCK, 1>));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("what another run has written between opening and locking is old content") {
  const Scratch folder;
  folder.write("empty", "");
  for (const char* name : {"new", "empty"}) {
    {
      OutputFile file(folder / name, false, lock_after_another_run);
      file.begin_with("head,");
    }
    CAPTURE(name);
    CHECK(folder.read(name) == "another's");
    OutputFile file(folder / name, false, lock_after_another_run);
    file.begin_with("head,");
    file.append("body");
    CHECK(folder.read(name) == "head,body");
  }
}

namespace {

/// How a process ends that `does` something and then gets a signal.
int end_of_process(int number, const std::function<void()>& does) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(number, SIG_DFL);  // Catch2 has a handler
    pace::take_back_when_ended();
    does();
    ::_exit(7);
  }
  int status = 0;
  static_cast<void>(::waitpid(child, &status, 0));
  return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("what a signal ends before its first result leaves files and folders as they were, and results stay") {
  const Scratch folder;
  folder.write("empty", "");
  folder.write("old", "old");
  const auto begin = [&](int number, bool has_result) {
    // Not raised in a process of its own: folders that another one has begun do not concern it.
    const pace::NewFolders folders(folder.path / "a/b");
    const pace::NewFolders none("");
    OutputFile made(folder / "a/b/made"), empty(folder / "empty"), old(folder / "old"), beside(folder / "old.2", true);
    OutputFile in_place_of(folder / "a/b/made.2", true);
    for (auto* file : {&made, &empty, &old}) file->begin_with("head,");
    if (has_result)
      for (auto* file : {&made, &empty, &old, &beside}) file->append("result");
    if (has_result) beside.replace();
    const pid_t other = ::fork();
    if (other == 0) ::raise(number);
    static_cast<void>(::waitpid(other, nullptr, 0));
    if (!std::filesystem::exists(folder.path / "a/b/made")) ::_exit(8);
    ::raise(number);
  };
  for (const int number : {SIGINT, SIGTERM}) {
    CAPTURE(number);
    CHECK(end_of_process(number, [&] { begin(number, false); }) == number);
    CHECK_FALSE(folder.has("a"));
    CHECK(folder.read("empty") == "");
    CHECK(folder.read("old") == "old");
    CHECK_FALSE(folder.has("old.2.new"));
  }
  CHECK(end_of_process(SIGTERM, [&] { begin(SIGTERM, true); }) == SIGTERM);
  CHECK(folder.read("a/b/made") == "head,result");
  CHECK(folder.read("empty") == "head,result");
  CHECK(folder.read("old") == "head,result");
  CHECK(folder.read("old.2") == "result");
  CHECK_FALSE(folder.has("a/b/made.2.new"));
}

TEST_CASE("a signal empties no file that has just taken the name of another one") {
  const Scratch folder;
  CHECK(end_of_process(SIGTERM, [&] {
          OutputFile file(folder / "a", true);
          file.append("result");
          // As where the signal comes within replace().
          std::filesystem::rename(folder / "a.new", folder / "a");
          ::raise(SIGTERM);
        }) == SIGTERM);
  CHECK(folder.read("a") == "result");
  CHECK(end_of_process(SIGTERM, [&] {
          OutputFile file(folder / "b", true);
          file.append("result");
          std::filesystem::rename(folder / "b.new", folder / "b");
          folder.write("b.new", "another's");
          ::raise(SIGTERM);
        }) == SIGTERM);
  CHECK(folder.read("b") == "result");
  CHECK(folder.read("b.new") == "another's");
}

TEST_CASE("a signal that is ignored, or has a handler, stays so") {
  CHECK(end_of_process(SIGTERM, [] {
          ::signal(SIGINT, SIG_IGN);
          pace::take_back_when_ended();
          ::raise(SIGINT);
          ::_exit(5);
        }) == -5);
}

TEST_CASE("where nothing followed the head, the file is again what it was") {
  const Scratch folder;
  const auto begin = [&](const char* name, bool rewritten) {
    OutputFile file(folder / name);
    file.begin_with("head,", rewritten);
    CHECK(folder.read(name) == (std::string_view(name) == "old" ? "old" : "head,"));
  };
  folder.write("empty", "");
  folder.write("old", "old");
  for (const bool rewritten : {false, true}) {
    for (const char* name : {"new", "empty", "old"}) begin(name, rewritten);
    CHECK_FALSE(folder.has("new"));
    CHECK(folder.has("empty"));
    CHECK(folder.read("empty") == "");
    CHECK(folder.read("old") == "old");
  }
  {
    OutputFile file(folder / "new");
    file.begin_with("head,");
    // Under its name lies another run's by now.
    std::filesystem::rename(folder / "new", folder / "moved");
    folder.write("new", "another's");
  }
  CHECK(folder.read("new") == "another's");
  {
    OutputFile(folder / "closed").close();
  }
  CHECK(folder.has("closed"));
  {
    OutputFile(folder / "written").append("x");
  }
  CHECK(folder.read("written") == "x");
}

namespace {

/// The exception of `action` while no file may grow beyond so many bytes.
std::string with_limited_files(std::size_t bytes, const std::function<void()>& action) {
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit limit{bytes, old_limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::string message;
  try {
    action();
  } catch (const pace::Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  return message;
}

}  // namespace

TEST_CASE("a first addition that does not fit leaves the file as it was, and no empty one") {
  const Scratch folder;
  const std::string old = "what an earlier run found, which is longer than the limit";
  for (const bool tail : {false, true})
    for (const std::size_t limit : {5UL, 8UL, 12UL}) {
      CAPTURE(tail, limit);
      folder.write("old", old);
      folder.write("empty", "");
      for (const char* name : {"new", "empty", "old"}) {
        const auto message = with_limited_files(limit, [&] {
          OutputFile file(folder / name);
          file.begin_with("head,", tail);
          if (tail)
            file.replace_tail(",", ";and a first result");
          else
            file.append("and a first result");
        });
        CHECK(message == "cannot write '" + folder / name + "': File too large");
      }
      CHECK(folder.read("old") == old);
      CHECK(folder.read("empty") == "");
      for (const char* name : {"new", "old.new"}) CHECK_FALSE(folder.has(name));
    }
}

TEST_CASE("what a file was to be replaced by goes where that fails") {
  const Scratch folder;
  {
    OutputFile file(folder / "a", /*replaces=*/true);
    file.append("new");
    std::filesystem::create_directory(folder / "a");
    CHECK_THROWS_WITH(file.replace(), "cannot replace '" + folder / "a" + "': Is a directory");
  }
  CHECK_FALSE(folder.has("a.new"));
  const std::string path = folder.write("b", "old");
  REQUIRE(::mkfifo((folder / "b.new").c_str(), 0600) == 0);
  CHECK_THROWS_WITH(OutputFile(path, /*replaces=*/true), ContainsSubstring("cannot open '" + path + ".new': "));
  std::filesystem::remove(folder / "b.new");
  // A file left under that name may be a hard link to another one.
  folder.write("victim", "untouched");
  std::filesystem::create_hard_link(folder / "victim", folder / "b.new");
  {
    OutputFile file(path, /*replaces=*/true);
    file.append("new");
    file.replace();
  }
  CHECK(folder.read("b") == "new");
  CHECK(folder.read("victim") == "untouched");
}

TEST_CASE("the file that the standard output goes to is no result file") {
  const TemporaryFile temporary;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::dup2(::open(temporary.path().c_str(), O_WRONLY), STDOUT_FILENO);
    int found = 0;
    for (const std::string& name : {temporary.path(), std::string("/dev/stdout")}) try {
        OutputFile file(name);
      } catch (const pace::Error& error) {
        found += std::string(error.what()).find("standard output") != std::string::npos;
      }
    ::_exit(found);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 2);
}

TEST_CASE("an append that does not fit is taken back whole") {
  const TemporaryFile temporary;
  OutputFile file(temporary.path());
  file.append("first row\n");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit limit{15, old_limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  bool threw = false;
  try {
    file.append("second row\n");
  } catch (const pace::Error&) {
    threw = true;
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  CHECK(threw);
  CHECK(temporary.content() == "first row\n");
  file.append("third row\n");
  CHECK(temporary.content() == "first row\nthird row\n");
}

namespace {

struct Recorder final : pace::report::Sink {
  explicit Recorder(std::vector<std::string>& names) : names_(names) {}
  void write(const pace::Result& result) override { names_.push_back(result.name); }
  void finish() override { names_.emplace_back("finish"); }
  std::vector<std::string>& names_;
};

struct Failing final : pace::report::Sink {
  explicit Failing(int& calls) : calls_(calls) {}
  void write(const pace::Result&) override {
    ++calls_;
    throw pace::Error("disk full");
  }
  void finish() override { ++calls_; }
  int& calls_;
};

struct FailingAtLast final : pace::report::Sink {
  void write(const pace::Result&) override {}
  void finish() override { throw 42; }
};

}  // namespace

TEST_CASE("a sink that fails is told of once, and keeps nothing from the others") {
  std::vector<std::string> complaints, names;
  int calls = 0;
  pace::report::FanOut sinks([&](const std::string& message) { complaints.push_back(message); });
  sinks.add(std::make_unique<Failing>(calls));
  sinks.add(std::make_unique<Recorder>(names));
  sinks.add(std::make_unique<FailingAtLast>());
  sinks.write(sample::comparison("a"));
  sinks.write(sample::comparison("b"));
  CHECK(sinks.failures() == 1);
  CHECK_FALSE(sinks.all_failed());
  sinks.finish();
  CHECK(names == std::vector<std::string>{"a", "b", "finish"});
  CHECK(calls == 1);
  CHECK(sinks.failures() == 2);
  REQUIRE(complaints.size() == 2);
  CHECK(complaints[0] == "disk full; no further results go there");
  // There are no further results at the end.
  CHECK(complaints[1] == "a sink threw something that is no std::exception");
}

TEST_CASE("a sink that has failed is not used on its own, either") {
  int calls = 0, used = 0;
  pace::report::FanOut sinks([](const std::string&) {});
  auto first = std::make_unique<Failing>(calls), second = std::make_unique<Failing>(calls);
  Failing *const failing = first.get(), *const whole = second.get();
  sinks.add(std::move(first));
  sinks.write(sample::comparison("a"));
  sinks.add(std::move(second));
  sinks.use(failing, [&](Failing&) { used += 100; });
  sinks.use(whole, [&](Failing&) { ++used; });
  sinks.use(static_cast<Failing*>(nullptr), [&](Failing&) { used += 100; });
  CHECK(used == 1);
  sinks.use(whole, [&](Failing&) { throw pace::Error("disk full"); });
  CHECK(sinks.failures() == 2);
}

TEST_CASE("when every sink has failed, nothing can be told any more") {
  int calls = 0;
  pace::report::FanOut sinks([](const std::string&) {});
  CHECK_FALSE(sinks.all_failed());
  sinks.add(std::make_unique<Failing>(calls));
  sinks.add(std::make_unique<Failing>(calls));
  CHECK_FALSE(sinks.all_failed());
  sinks.write(sample::comparison("a"));
  CHECK(sinks.all_failed());
}
