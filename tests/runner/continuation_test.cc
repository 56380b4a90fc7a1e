// A program that loses its device goes on in a fresh process: seen from outside.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "tests/report/lines.hpp"
#include "tests/report/temporary_file.hpp"
#include "tests/runner/run_program.hpp"

using Catch::Matchers::ContainsSubstring;
using pace::test::Scratch;
using program::run;

namespace {

namespace fs = std::filesystem;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// Names of the results in a file, each with the candidate's outcome.
std::vector<std::string> results(const std::string& text) {
  std::vector<std::string> names;
  const auto document = lines::document_of(text);
  for (const auto& each : document.at("results"))
    names.push_back(each.at("name").get<std::string>() + ' ' +
                    each.at("implementations").at(1).at("outcome").get<std::string>());
  return names;
}

}  // namespace

TEST_CASE("a lost device: what follows is measured in a fresh process, and nothing twice") {
  const Scratch folder;
  fs::create_directory(folder / "tmp");
  const auto program = run("'a device is lost' --max-interference 1 --json " + folder / "a.json" + " --csv " +
                               folder / "a.csv" + " --junit " + folder / "a.xml",
                           "TMPDIR=" + folder / "tmp");
  INFO(program.out << program.err);
  CHECK(program.code == 42);
  for (const char* name : {"before", "between", "after"}) {
    CHECK(count(program.out, std::string("measures ") + name + '\n') == 1);
    CHECK(count(program.out, std::string("\n") + name + " ") == 1);
  }
  CHECK(count(program.out, "measures culprit\n") == 2);
  CHECK(count(program.err, "the device was lost; a fresh process goes on") == 2);
  CHECK(results(folder.read("a.json")) == std::vector<std::string>{"before measured", "culprit threw",
                                                                   "between measured", "culprit threw",
                                                                   "after measured"});
  CHECK(count(folder.read("a.csv"), "\nbefore,") == 2);  // a line for each implementation
  CHECK(count(folder.read("a.csv"), "\nculprit,") == 4);
  CHECK(count(folder.read("a.xml"), "an illegal address") > 0);
  CHECK_THAT(program.out, ContainsSubstring("5 cases, 10 implementations: 6 measured, 2 threw, 2 unreached"));
  // The temporary files have gone.
  CHECK(fs::directory_iterator(folder / "tmp") == fs::directory_iterator());
}

TEST_CASE("no fresh process without a place for what was found: it says so and fails") {
  const auto program = run("'a device is lost' --max-interference 1", "TMPDIR=/nonexistent");
  CHECK(program.code == 42);
  CHECK_THAT(program.err, ContainsSubstring("no fresh process: cannot make a file like /nonexistent/"));
  CHECK(count(program.out, "measures after\n") == 1);
}

TEST_CASE("a hand-over that is none is refused by name") {
  const Scratch folder;
  const auto missing = run("'fast enough'", "PACE_CONTINUE_FILE=" + folder / "none");
  CHECK(missing.code == 1);
  CHECK_THAT(missing.err, ContainsSubstring(folder / "none" + ": cannot be opened"));
}
