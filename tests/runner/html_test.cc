// The page of --html: made of the run's results by another program, at the end.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "tests/runner/run_program.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

namespace fs = std::filesystem;
using pace::test::Scratch;
using program::run;

/// Writes a program of shell commands that has the arguments RESULTS --output PAGE; returns the variable that names it.
std::string maker(const Scratch& folder, const std::string& commands) {
  const auto path = folder.write("bin/report", "#!/bin/sh\n" + commands + '\n');
  fs::permissions(path, fs::perms::owner_all);
  return "PACE_REPORT=" + path;
}

/// Writes the results and its own arguments.
constexpr const char* copies = R"(cat "$1" >"$3" && echo "<!-- $2 -->" >>"$3")";

}  // namespace

TEST_CASE("--html makes a page of the results, and leaves no other file") {
  const Scratch folder, out;
  const auto program = run("--html " + out / "a.html", maker(folder, copies));
  INFO(program.err);
  CHECK(program.code == 0);
  CHECK_THAT(out.read("a.html"), StartsWith("{\"schema_version\":2") && ContainsSubstring("\"name\":\"first\"") &&
                                     ContainsSubstring("<!-- --output -->"));
  CHECK_FALSE(out.has("a.html.results.json"));
}

TEST_CASE("--html takes the results of --json, which stay") {
  const Scratch folder, out;
  CHECK(run("--html " + out / "a.html" + " --json " + out / "a.json", maker(folder, copies)).code == 0);
  CHECK(out.read("a.html") == out.read("a.json") + "<!-- --output -->\n");
}

TEST_CASE("beside a --json whose lines go to a pipe, the page is made of a file of its own") {
  const Scratch folder, out;
  REQUIRE(::mkfifo((out / "pipe").c_str(), 0600) == 0);
  std::string lines;
  std::thread reader([&] {
    std::ifstream pipe(out / "pipe");
    lines.assign(std::istreambuf_iterator<char>(pipe), {});
  });
  const auto program = run("--html " + out / "a.html" + " --json " + out / "pipe", maker(folder, copies));
  reader.join();
  INFO(program.err);
  CHECK(program.code == 0);
  CHECK(out.read("a.html") == lines + "<!-- --output -->\n");
}

TEST_CASE("a dry run names the page among the files that would be written") {
  const Scratch folder, out;
  const auto program = run("--dry-run --html " + out / "a.html", maker(folder, copies));
  CHECK(program.code == 0);
  CHECK_THAT(program.out, ContainsSubstring("a.html"));
  CHECK_FALSE(out.has("a.html"));
}

TEST_CASE("--html is refused before anything is measured where no page can be made") {
  const Scratch folder, out;
  const auto refused = [&](const std::string& arguments, const std::string& variables, const std::string& reason) {
    const auto program = run(arguments, variables);
    CHECK(program.code == 1);
    CHECK_THAT(program.err, ContainsSubstring(reason));
    CHECK_THAT(program.out, !ContainsSubstring("first"));
    CHECK(fs::is_empty(out.path));
  };
  const std::string html = "--html " + out / "a.html", with = maker(folder, copies);
  refused(html, "", "no program of tools/report beside it, which makes pages; expected PACE_REPORT");
  refused(html, "PACE_REPORT=" + folder / "nothing", "/nothing: is no program that can be run");
  refused(html, "PACE_REPORT=" + folder.path.string(), ": is no program that can be run");
  refused("--html " + out / "no/a.html", with, "there is no folder " + out / "no" + " that can be written to");
  refused("--html " + out.path.string(), with, "is a folder; expected a file name");
  refused(html + " --json " + out / "a.html", with, "--html and --json name the same file");
  refused(html + " --csv " + out / "a.html", with, "--html and --csv name the same file");
  refused(html + " --save-baseline " + out / "a.html", with, "--html and --save-baseline name the same file");
  refused(html + " --processes 2", with, "--processes: does not go with --html; expected --json FILE");
}

TEST_CASE("a page that cannot be made fails the program, and the message names the file that has the results") {
  const Scratch folder, out;
  const auto with = maker(folder, "echo 'no room for a page' >&2; exit 3");
  const auto program = run("--html " + out / "a.html", with);
  CHECK(program.code == 1);
  CHECK_THAT(program.err,
             ContainsSubstring("the page was not made, and the results are in " + out / "a.html.results.json") &&
                 ContainsSubstring("ended with exit code 3: no room for a page"));
  CHECK_THAT(out.read("a.html.results.json"), ContainsSubstring("\"name\":\"first\""));
  CHECK_FALSE(out.has("a.html"));

  const auto kept = run("--html " + out / "a.html" + " --json " + out / "a.json", with);
  CHECK(kept.code == 1);
  CHECK_THAT(kept.err, ContainsSubstring("the results are in " + out / "a.json"));
}

TEST_CASE("a run without results makes no page, and leaves the one that is there") {
  const Scratch folder, out;
  out.write("a.html", "earlier");
  CHECK(run("skips --allow-unmeasured on --html " + out / "a.html", maker(folder, copies)).code == 0);
  CHECK(out.read("a.html") == "earlier");
  CHECK_FALSE(out.has("a.html.results.json"));
}

TEST_CASE("under bazel test a page lies beside the results, and a test does not fail without one") {
  const Scratch folder, outputs;
  const std::string bazel = " TEST_UNDECLARED_OUTPUTS_DIR=" + outputs.path.string();
  CHECK(run("", maker(folder, copies) + bazel).code == 0);
  CHECK(outputs.read("report.html") == outputs.read("results.json") + "<!-- --output -->\n");
  fs::remove(outputs / "report.html");
  const auto failing = run("", maker(folder, "exit 3") + bazel);
  CHECK(failing.code == 0);
  CHECK_THAT(failing.err, ContainsSubstring("report.html: the page was not made, and the results are in "));
  CHECK(run("", bazel).code == 0);
  CHECK_FALSE(outputs.has("report.html"));
}

TEST_CASE("the page of a run whose implementation crashed has the results before and after the crash") {
  const Scratch folder, out;
  const auto program =
      run("crashes --isolation on --max-interference 1 --html " + out / "a.html", maker(folder, copies));
  INFO(program.out << program.err);
  CHECK(program.code == 42);
  CHECK_THAT(out.read("a.html"), ContainsSubstring("\"name\":\"before\"") && ContainsSubstring("\"crashed\"") &&
                                     ContainsSubstring("\"name\":\"after\""));
  CHECK_FALSE(out.has("a.html.results.json"));
}
