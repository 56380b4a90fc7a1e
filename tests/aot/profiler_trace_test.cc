#include "benches/files/aot/profiler_trace.hpp"

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <string>

#include <ATen/ops/ones.h>

#include "pace/base/error.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using pace::test::Scratch;

void trace(const std::string& path) {
  pace::benches::aot::ProfilerTrace recording;
  at::ones({4}).add_(1);
  recording.save(path);
}

std::ptrdiff_t entries(const Scratch& folder) {
  return std::distance(fs::directory_iterator(folder.path), fs::directory_iterator());
}

TEST_CASE("a trace is one file, and replaces an earlier file") {
  const Scratch folder;
  folder.write("a.json", "old");
  for (int run = 0; run < 2; ++run) trace(folder / "a.json");
  REQUIRE_THAT(folder.read("a.json"), ContainsSubstring("aten::add_"));
  REQUIRE(entries(folder) == 1);
}

TEST_CASE("what lies beside a trace is left alone: a link is not followed, and a pipe is not waited for") {
  const Scratch folder;
  folder.write("other", "other");
  fs::create_symlink("other", folder / "a.json.tmp");
  trace(folder / "a.json");
  REQUIRE_FALSE(fs::is_symlink(folder / "a.json"));
  REQUIRE_THAT(folder.read("a.json"), ContainsSubstring("aten::add_"));
  REQUIRE(::mkfifo((folder / "b.json.tmp").c_str(), 0600) == 0);
  trace(folder / "b.json");
  REQUIRE_THAT(folder.read("b.json"), ContainsSubstring("aten::add_"));
  fs::create_symlink("other", folder / "c.json");
  trace(folder / "c.json");
  REQUIRE_FALSE(fs::is_symlink(folder / "c.json"));
  REQUIRE(folder.read("other") == "other");
}

TEST_CASE("a trace that cannot be written names its file and leaves nothing") {
  const Scratch folder;
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  REQUIRE(pace::test::why([&] { trace(folder / "pipe"); }) ==
          "the trace '" + folder / "pipe" + "' cannot be written; expected the name of a regular file");
  REQUIRE(fs::is_fifo(folder / "pipe"));
  REQUIRE(pace::test::why([&] { trace(folder / "none/a.json"); }) ==
          "the trace '" + folder / "none/a.json" + "' cannot be written; expected a folder with room for it");
  REQUIRE(entries(folder) == 1);
}

}  // namespace
