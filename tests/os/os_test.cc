#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/memory.hpp"
#include "pace/os/new_folders.hpp"
#include "pace/os/read_lines.hpp"
#include "pace/os/report_program.hpp"
#include "pace/os/same_file.hpp"
#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;

TEST_CASE("a file of pace is found in the runfiles of pace and of another workspace, by one name") {
  const pace::test::Scratch scratch;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(scratch.path);
  CHECK(pace::shipped_file("a/b.txt") == "a/b.txt");
  (void)scratch.write("external/pace/a/b.txt", "");
  CHECK(pace::shipped_file("a/b.txt") == "external/pace/a/b.txt");
  CHECK(pace::same_file("external/pace/a/b.txt", "./external/../external/pace/a/b.txt"));
  CHECK_FALSE(pace::same_file("a/b.txt", "a/b.txt"));
  (void)scratch.write("a/b.txt", "");
  CHECK(pace::shipped_file("a/b.txt") == "a/b.txt");
  CHECK_FALSE(pace::same_file("a/b.txt", "external/pace/a/b.txt"));
  std::filesystem::current_path(before);
}

TEST_CASE("two paths are of one file, whether it is there or not") {
  const pace::test::Scratch scratch;
  CHECK(pace::same_path(scratch / "a", scratch / "../" + scratch.path.filename().string() + "/./a"));
  CHECK_FALSE(pace::same_path(scratch / "a", scratch / "b"));
  (void)scratch.write("a", "");
  CHECK_FALSE(pace::same_path(scratch / "a", scratch / "b"));
  std::filesystem::create_hard_link(scratch / "a", scratch / "b");
  CHECK(pace::same_path(scratch / "a", scratch / "b"));
  CHECK(pace::same_path(scratch / "new/c", scratch / "./new/c"));
  // What cannot be opened is refused where it is.
  std::filesystem::create_symlink("loop", scratch / "loop");
  for (const std::string& path : {scratch / "loop", scratch / std::string(300, 'n'), std::string("relative")})
    CHECK_FALSE(pace::same_path(scratch / "a", path));
}

TEST_CASE("prints where the program that makes pages is", "[.]") { std::cout << '<' << pace::report_program() << '>'; }

TEST_CASE("a program that a link starts by its path finds the program that makes pages beside the link") {
  const pace::test::Scratch scratch;
  const std::filesystem::path link = scratch / "linked";
  std::filesystem::create_symlink(std::filesystem::read_symlink("/proc/self/exe"), link);
  const std::string program = scratch.write("linked.runfiles/pace/tools/report/report", "#!/bin/sh\n");
  const auto printed = [&](const std::string& name) {
    const std::string words =
        "cd '" + scratch.path.string() + "' && env -i " + name + " 'prints where the program that makes pages is' >out";
    CHECK(std::system(words.c_str()) == 0);
    return scratch.read("out");
  };
  CHECK_THAT(printed("./linked"), ContainsSubstring("<>"));  // it cannot be run
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  CHECK_THAT(printed("./linked"), ContainsSubstring("linked.runfiles/pace/tools/report/report>"));
  CHECK_THAT(printed("'" + link.string() + "'"), ContainsSubstring('<' + program + '>'));
}

TEST_CASE("the page of a program that cannot be run is missing for the system's reason") {
  CHECK(pace::make_page("/nonexistent/report", {"a.json"}, "a.html") ==
        "cannot run /nonexistent/report: No such file or directory");
}

TEST_CASE("a folder that cannot be made is refused for the reason of the first one that is missing") {
  const pace::test::Scratch scratch;
  (void)scratch.write("file", "");
  const struct {
    std::string folder, reason;
  } rows[] = {
      {"made/" + std::string(300, 'x') + "/y", "File name too long"},
      {"file/x", "Not a directory"},
      {"file", "Not a directory"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.folder);
    CHECK_THROWS_MATCHES(pace::NewFolders(scratch / row.folder), pace::InputError,
                         Message((scratch / row.folder) + ": the folder cannot be made: " + row.reason));
  }
  CHECK_FALSE(scratch.has("made"));
  // Nobody may make folders there: by permission, or since it is read-only.
  if (!std::filesystem::is_directory("/sys/kernel")) SKIP("there is no /sys");
  CHECK_THROWS_MATCHES(
      pace::NewFolders("/sys/pace/a"), pace::InputError,
      MessageMatches(ContainsSubstring("Operation not permitted") || ContainsSubstring("Read-only file system") ||
                     ContainsSubstring("Permission denied")));
}

TEST_CASE("lines of a pipe are read like those of a file") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pace::FileDescriptor reading(ends[0]);
  {
    const pace::FileDescriptor writing(ends[1]);
    REQUIRE(::write(writing.get(), "one\ntwo\nrest", 12) == 12);
  }
  std::string used;
  const auto use = [&](std::string_view line, std::size_t number) {
    used += std::to_string(number) + ':' + std::string(line) + ' ';
  };
  CHECK(pace::read_lines("/proc/self/fd/" + std::to_string(reading.get()), "lines", 100, use) == "rest");
  CHECK(used == "1:one 2:two ");
}

TEST_CASE("this machine has memory left") {
  const auto available = pace::available_memory();
  REQUIRE(available);
  CHECK(*available > 1 << 20);
}

TEST_CASE("a limit on data is left out where more is reserved, as by a sanitizer, since nothing could be allocated") {
  CHECK(pace::limit_on_data(1000, 999) == 1000);
  CHECK(pace::limit_on_data(1000, std::nullopt) == 1000);
  CHECK_FALSE(pace::limit_on_data(1000, 1000));
  CHECK_FALSE(pace::limit_on_data(std::nullopt, 10));
  const auto before = pace::detail::reserved_data();
  REQUIRE(before);
  constexpr std::size_t size = std::size_t{1} << 40;
  void* const memory =
      ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(memory != MAP_FAILED);
  CHECK(pace::detail::reserved_data() >= *before + static_cast<std::int64_t>(size));
  ::munmap(memory, size);
}

TEST_CASE("a limit on the address space is a limit on memory") {
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  const auto left_with = [&](rlim_t limit) {
    rlimit changed = before;
    changed.rlim_cur = limit;
    REQUIRE(::setrlimit(RLIMIT_AS, &changed) == 0);
    const auto left = pace::detail::left_of_address_space();
    REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
    return left;
  };
  CHECK_FALSE(left_with(RLIM_INFINITY));
  constexpr rlim_t first = rlim_t{1} << 40;
  const auto more = left_with(2 * first), less = left_with(first);
  REQUIRE(more);
  REQUIRE(less);
  CHECK(*more - *less > static_cast<std::int64_t>(first) - (1 << 20));
  CHECK(*less < static_cast<std::int64_t>(first));
  REQUIRE(::setrlimit(RLIMIT_AS, &before) == 0);
}

}  // namespace
