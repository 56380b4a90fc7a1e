// Input files that are none: pipes, folders, devices, and JSON that is too deep.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <fcntl.h>
#include <filesystem>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "pace/core/parse_json.hpp"
#include "pace/core/read_file.hpp"
#include "pace/report/csv_table.hpp"
#include "pace/subject/files.hpp"
#include "tests/support/scratch.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using pace::test::Scratch;

namespace {

std::string nested(int levels) { return std::string(levels, '[') + std::string(levels, ']'); }

}  // namespace

TEST_CASE("a file is read to its end; what is no file says so") {
  const Scratch folder;
  const std::string long_text(1000000, 'x');
  CHECK(pace::read_file(folder.write("a", long_text), "text") == long_text);
  CHECK(pace::read_file(folder.write("empty", ""), "text").empty());
  const auto fails = [&](const std::string& name, const std::string& why) {
    CHECK_THROWS_MATCHES(pace::read_file(name, "text"), pace::InputError, Message(name + ": " + why + "; expected text"));
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

TEST_CASE("writing a file follows no link that stands under its name, or under that of its first part") {
  const Scratch folder;
  folder.write("victim", "untouched");
  std::filesystem::create_symlink("victim", folder / "file");
  std::filesystem::create_symlink("victim", folder / "file." + std::to_string(::getpid()) + ".tmp");
  pace::subject::detail::write_file(folder / "file", "content");
  CHECK(folder.read("file") == "content");
  CHECK(folder.read("victim") == "untouched");
  CHECK_THROWS_AS(pace::subject::detail::write_file(folder / "none/file", "content"), pace::Refused);
}

TEST_CASE("JSON may be as deep as anything that pace writes, and not much deeper") {
  using Json = nlohmann::ordered_json;
  CHECK(pace::parse_json<Json>(R"({"a": [1, {"b": null}]})").dump() == R"({"a":[1,{"b":null}]})");
  CHECK_NOTHROW(pace::parse_json<Json>(nested(100)));
  CHECK_THROWS_WITH(pace::parse_json<Json>(nested(200)), "is JSON nested more than 100 levels deep");
  // Deep enough to exhaust the stack of whatever recursed into it.
  CHECK_THROWS_WITH(pace::parse_json<Json>(nested(1000000)), "is JSON nested more than 100 levels deep");
  const Scratch folder;
  const auto file = folder.write("deep.json", nested(1000000));
  CHECK_THROWS_WITH(pace::read_json_file<Json>(file, "a record"),
                    file + ": is JSON nested more than 100 levels deep; expected a record");
  CHECK_THROWS_WITH(pace::read_json_file<Json>(folder.write("half.json", "{"), "a record"),
                    ContainsSubstring("half.json: ") && ContainsSubstring("; expected a record"));
}
