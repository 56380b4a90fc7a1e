// Input files that are none: pipes, folders, devices, and JSON that is too deep.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "pace/os/file_descriptor.hpp"
#include "pace/os/folders.hpp"
#include "pace/os/kept_pipes.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/os/read_file.hpp"
#include "pace/report/csv_text.hpp"
#include "tests/support/scratch.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using pace::test::Scratch;

namespace {

std::string nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

}  // namespace

TEST_CASE("a file is read to its end, and a path that is no file is refused") {
  const Scratch folder;
  const std::string long_text(1000000, 'x');
  CHECK(pace::read_file(folder.write("a", long_text), "text") == long_text);
  CHECK(pace::read_file(folder.write("empty", ""), "text") == "");
  const auto fails = [&](const std::string& name, const std::string& why) {
    CHECK_THROWS_MATCHES(pace::read_file(name, "text"), pace::InputError,
                         Message(name + ": " + why + "; expected text"));
  };
  fails(folder / "none", "cannot be read: No such file or directory");
  fails(folder.path.string(), "is a folder");
  fails("/dev/zero", "is neither a regular file nor a pipe");
}

TEST_CASE("a pipe is read if a program writes to it, and not waited for if none does") {
  const Scratch folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(pace::read_file(pipe, "text"), ContainsSubstring("is a pipe that no program writes to"));
  CHECK_THROWS_WITH(pace::report::read_csv(pipe), ContainsSubstring("no program writes to; expected a CSV file"));
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::write(ends[1], "content", 7) == 7);
  ::close(ends[1]);
  CHECK(pace::read_file("/dev/fd/" + std::to_string(ends[0]), "text") == "content");
  ::close(ends[0]);
}

TEST_CASE("a named pipe is waited for until a program opens it and writes, with a limit to each") {
  const Scratch folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  ::setenv("PACE_PIPE_TIMEOUT", "0", 1);
  // The events in turn while read_file waits; false: nothing, until the limit.
  using Event = std::function<bool()>;
  std::vector<Event> events;
  std::vector<std::chrono::milliseconds> limits;
  pace::FileDescriptor writer;
  const Event nothing = [] { return false; };
  const Event opens = [&] {
    writer = pace::FileDescriptor(::open(pipe.c_str(), O_WRONLY | O_NONBLOCK));
    return false;
  };
  const Event writes = [&] { return ::write(writer.get(), "content", 7) == 7; };
  const Event closes = [&] { return writer.close(); };
  const auto read = [&](std::vector<Event> in_turn) {
    events = std::move(in_turn);
    limits.clear();
    std::size_t next = 0;
    auto text = pace::read_file(pipe, "text", {.wait = [&](int, std::chrono::milliseconds most) {
                                  limits.push_back(most);
                                  REQUIRE(next < events.size());
                                  return events[next++]();
                                }});
    CHECK(next == events.size());
    return text;
  };
  const auto opens_and_writes = [&] { return opens(), writes(); };
  CHECK(read({opens_and_writes, closes}) == "content");
  CHECK(read({opens_and_writes, writes, writes, closes}) == "contentcontentcontent");
  // Opening alone wakes no reader; the limit of that wait passes, and the writer has another.
  CHECK(read({opens, writes, closes}) == "content");
  const std::string silent =
      ": is a pipe whose writer has sent nothing for 0 ms (PACE_PIPE_TIMEOUT=SECONDS changes that)"
      "; expected text";
  CHECK_THROWS_WITH(read({opens, nothing}), pipe + silent);
  writer.close();
  CHECK_THROWS_WITH(read({opens_and_writes, nothing}), pipe + silent);
  writer.close();
  CHECK_THROWS_WITH(read({nothing}), pipe + ": is a pipe that no program writes to; expected text");
  CHECK_THROWS_WITH(read({[&] { return opens(), closes(); }}), ContainsSubstring("no program writes to"));
}

TEST_CASE("for how long a pipe may be silent is bounded, and the user's to say") {
  const Scratch folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto limit = [&](const char* variable) {
    if (variable == nullptr)
      ::unsetenv("PACE_PIPE_TIMEOUT");
    else
      ::setenv("PACE_PIPE_TIMEOUT", variable, 1);
    std::chrono::milliseconds found{-1};
    CHECK_THROWS_AS(pace::read_file(pipe, "text",
                                    {.wait =
                                         [&](int, std::chrono::milliseconds most) {
                                           found = most;
                                           return false;
                                         }}),
                    pace::InputError);
    return found.count();
  };
  CHECK(limit(nullptr) == 30000);
  CHECK(limit("") == 30000);
  CHECK(limit("1.5") == 1500);
  for (const char* bad : {"-1", "nan", "1e9", "5 s"}) {
    ::setenv("PACE_PIPE_TIMEOUT", bad, 1);
    CHECK_THROWS_WITH(pace::read_file(pipe, "text"),
                      ContainsSubstring("invalid value '") && ContainsSubstring("'; expected a number of seconds"));
  }
  ::setenv("PACE_PIPE_TIMEOUT", "0", 1);
  // The end of a pipe that has no name is final.
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[1]);
  CHECK_THROWS_WITH(pace::read_file("/dev/fd/" + std::to_string(ends[0]), "text",
                                    {.wait = [](int, auto) -> bool { throw pace::Error("waited"); }}),
                    ContainsSubstring("is a pipe that no program writes to"));
  ::close(ends[0]);
}

TEST_CASE("what a pipe brought is there for later processes of a run that keeps it") {
  struct Keeping {
    Keeping() { pace::keep_pipes(); }
    ~Keeping() { ::unsetenv(pace::kept_pipes_variable); }
  };
  int ends[2], others[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(::pipe(others) == 0);
  const std::string first = "/dev/fd/" + std::to_string(ends[0]), second = "/dev/fd/" + std::to_string(others[0]);
  const std::string long_text(10000, 'x'), second_text("sec\0ond", 7);
  REQUIRE(::write(ends[1], long_text.data(), long_text.size()) == static_cast<ssize_t>(long_text.size()));
  REQUIRE(::write(others[1], second_text.data(), second_text.size()) == 7);
  ::close(ends[1]);
  ::close(others[1]);
  {
    const Keeping keeping;
    const pid_t child = ::fork();
    if (child == 0)
      ::_exit(pace::read_file(second, "text") == second_text && pace::read_file(first, "text") == long_text ? 0 : 7);
    int status = -1;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(status == 0);
    pace::keep_pipes();  // as a process does that the first one starts
    for (int time = 0; time < 2; ++time) {
      CHECK(pace::read_file(first, "text") == long_text);
      CHECK(pace::read_file(second, "text") == second_text);
    }
    // The first reader had no limits.
    CHECK_THROWS_WITH(pace::read_file(first, "text", {.most_bytes = 9999}),
                      ContainsSubstring("has more than 9999 bytes"));
    CHECK_THROWS_WITH(pace::read_file(second, "text", {.text_only = true}), ContainsSubstring("is binary"));
    CHECK(pace::read_file(first, "text", {.most_bytes = 10000, .text_only = true}) == long_text);
    // A program in between may have closed the file.
    ::setenv(pace::kept_pipes_variable, "0", 1);
    CHECK_THROWS_WITH(pace::read_file(first, "text"), ContainsSubstring("is a pipe that no program writes to"));
  }
  CHECK_THROWS_WITH(pace::read_file(first, "text"), ContainsSubstring("is a pipe that no program writes to"));
  ::close(ends[0]);
  ::close(others[0]);
}

TEST_CASE("a file that is too long or binary is not read to its end, and a pipe may be unwanted") {
  const Scratch folder;
  const auto path = folder.write("a", std::string("ab\0c", 4));
  CHECK(pace::read_file(path, "text").size() == 4);
  CHECK_THROWS_WITH(pace::read_file(path, "text", {.text_only = true}), path + ": is binary; expected text");
  CHECK_NOTHROW(pace::read_file(path, "text", {.most_bytes = 4}));
  CHECK_THROWS_WITH(pace::read_file(path, "text", {.most_bytes = 3}), path + ": has more than 3 bytes; expected text");
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(pace::read_file(pipe, "text", {.pipes = false}),
                    ContainsSubstring("is a pipe, not a regular file"));
  // As a disk that cannot be read.
  CHECK_THROWS_WITH(pace::read_file("/proc/self/mem", "text"),
                    "/proc/self/mem: cannot be read: Input/output error; expected text");
}

TEST_CASE("writing a file follows no link under its own name or under its temporary one") {
  const Scratch folder;
  folder.write("victim", "untouched");
  std::filesystem::create_symlink("victim", folder / "file");
  std::filesystem::create_symlink("victim", folder / "file." + std::to_string(::getpid()) + ".tmp");
  pace::detail::write_file(folder / "file", "content");
  CHECK(folder.read("file") == "content");
  CHECK(folder.read("victim") == "untouched");
  CHECK_THROWS_AS(pace::detail::write_file(folder / "none/file", "content"), pace::Unsupported);
}

TEST_CASE("JSON may be as deep as anything that pace writes, and not much deeper") {
  using Json = nlohmann::ordered_json;
  CHECK(pace::parse_json<Json>(R"({"a": [1, {"b": null}]})").dump() == R"({"a":[1,{"b":null}]})");
  CHECK_NOTHROW(pace::parse_json<Json>(nested(100)));
  CHECK_THROWS_WITH(pace::parse_json<Json>(nested(200)), "is JSON nested more than 100 levels deep");
  // Deep enough to exhaust the stack of any recursive reader.
  CHECK_THROWS_WITH(pace::parse_json<Json>(nested(1000000)), "is JSON nested more than 100 levels deep");
  const Scratch folder;
  const auto file = folder.write("deep.json", nested(1000000));
  CHECK_THROWS_WITH(pace::read_json_file<Json>(file, "a record"),
                    file + ": is JSON nested more than 100 levels deep; expected a record");
  CHECK_THROWS_WITH(pace::read_json_file<Json>(folder.write("half.json", "{"), "a record"),
                    ContainsSubstring("half.json: ") && ContainsSubstring("; expected a record"));
}
