// Files of outputs and memory snapshots: whole or not at all, even if their names are taken.
#include "benches/models/run/outputs_file.hpp"
#include "benches/models/run/whole_file.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>

#include "pace/base/error.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/why.hpp"

#include <catch2/catch_test_macros.hpp>

namespace {

namespace fs = std::filesystem;
using pace::benches::models::load_outputs;
using pace::benches::models::save_outputs;
using pace::benches::models::write_whole;
using pace::test::Scratch;
using pace::test::why;

TEST_CASE("outputs are saved into a folder that is made, and come back") {
  const Scratch folder;
  save_outputs(at::arange(3), folder / "a/b/net.pt");
  REQUIRE(at::equal(load_outputs(folder / "a/b/net.pt").toTensor(), at::arange(3)));
  folder.write("file", "");
  REQUIRE_THROWS_AS(save_outputs(at::arange(3), folder / "file/net.pt"), pace::InputError);
}

TEST_CASE("a pipe that no program reads is an error instead of a wait") {
  const Scratch folder;
  const std::string pipe = folder / "net.pt";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const std::string refused = "cannot open '" + pipe + "': No such device or address; no program reads from this pipe";
  REQUIRE(why([&] { save_outputs(at::arange(3), pipe); }) == refused);
  REQUIRE(why([&] { write_whole(pipe, "snapshot"); }) == refused);
  REQUIRE(fs::is_fifo(pipe));
}

TEST_CASE("what a link leads to is replaced as a whole, and a link to nothing is not written through") {
  const Scratch folder;
  folder.write("old", "old");
  fs::create_symlink("old", folder / "link");
  fs::create_hard_link(folder / "old", folder / "also old");
  write_whole(folder / "link", "new");
  REQUIRE(fs::is_symlink(folder / "link"));
  REQUIRE(folder.read("old") == "new");
  // Nothing was written into the old file.
  REQUIRE(folder.read("also old") == "old");
  fs::create_symlink("nowhere", folder / "net.pt");
  save_outputs(at::arange(3), folder / "net.pt");
  REQUIRE_FALSE(folder.has("nowhere"));
  REQUIRE(at::equal(load_outputs(folder / "net.pt").toTensor(), at::arange(3)));
}

TEST_CASE("a file that cannot be written leaves what was there") {
  const Scratch folder;
  folder.write("net.pt", "old");
  fs::create_directory(folder / "net.pt.new");
  REQUIRE_THROWS_AS(save_outputs(at::arange(3), folder / "net.pt"), pace::Error);
  REQUIRE(folder.read("net.pt") == "old");
  REQUIRE(why([] { write_whole("/dev/full", "snapshot"); }) == "cannot write '/dev/full': No space left on device");
}

}  // namespace
