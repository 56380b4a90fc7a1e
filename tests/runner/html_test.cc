// The page of --html: made of the run's results by another program, at the end.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "pace/os/read_file.hpp"
#include "tests/runner/run_program.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

namespace fs = std::filesystem;
using pace::test::alone;
using pace::test::Scratch;
using program::run;

/// Writes a program of shell commands that has the arguments RESULTS --output PAGE; returns the variable that names it.
std::string maker(const Scratch& folder, const std::string& commands) {
  const auto path = folder.write("bin/report", "#!/bin/sh\n" + commands + '\n');
  fs::permissions(path, fs::perms::owner_all);
  return "PACE_REPORT=" + path;
}

/// Writes the results of all files, and its own option.
constexpr const char* copies = R"(for page; do :; done
while [ "$1" != --output ]; do cat "$1" || exit; shift; done >"$page" && echo "<!-- $1 -->" >>"$page")";

/// The files of a folder whose names begin so.
std::vector<std::string> files_like(const Scratch& folder, const std::string& beginning) {
  std::vector<std::string> names;
  for (const auto& each : fs::directory_iterator(folder.path))
    if (each.path().filename().string().starts_with(beginning)) names.push_back(each.path().string());
  return names;
}

/// The program is to have failed without a page, since its results could not be written.
void require_no_page(const program::Run& program, const Scratch& out) {
  INFO(program.out << program.err);
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring(out / "a.html" +
                                            ": the page was not made, since the results could not be "
                                            "written to " +
                                            out / "a.json\n"));
  CHECK_FALSE(out.has("a.html"));
}

}  // namespace

TEST_CASE("--html makes a page of the results, and neither leaves nor changes another file") {
  const Scratch folder, out;
  out.write("a.html.results.json", "the user's");
  const auto program = run("--html " + out / "a.html", maker(folder, copies));
  INFO(program.err);
  CHECK(program.code == 0);
  CHECK_THAT(out.read("a.html"), StartsWith("{\"schema_version\":3") && ContainsSubstring("\"name\":\"first\"") &&
                                     ContainsSubstring("<!-- --output -->"));
  CHECK(out.read("a.html.results.json") == "the user's");
  CHECK(files_like(out, "").size() == 2);
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
  refused(html + " --processes 2", "", "no program of tools/report beside it");
  refused("--html " + out / "no/a.html" + " --processes 2", with, "that can be written to");
}

TEST_CASE("a page that cannot be made fails the program, and the message names the file that has the results") {
  const Scratch folder, out;
  const auto with = maker(folder, "echo 'no room for a page' >&2; exit 3");
  const auto program = run("--html " + out / "a.html", with);
  CHECK(program.code == 1);
  CHECK_THAT(program.err,
             ContainsSubstring("the page was not made, and the results are in " + out / "a.html.results-") &&
                 ContainsSubstring("ended with exit code 3: no room for a page\n") &&
                 !ContainsSubstring("no further results"));
  const auto results = files_like(out, "a.html.results-");
  REQUIRE(results.size() == 1);
  CHECK_THAT(program.err, ContainsSubstring(results.front() + ": "));
  CHECK_THAT(pace::read_file(results.front(), "results"), ContainsSubstring("\"name\":\"first\""));
  CHECK_FALSE(out.has("a.html"));

  const std::string pipe = out / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto piped = run("--html " + pipe, with + " TMPDIR=" + out.path.string());
  CHECK_THAT(piped.err, ContainsSubstring("the results are in " + out / "pace.results-"));

  const auto kept = run("--html " + out / "a.html" + " --json " + out / "a.json", with);
  CHECK(kept.code == 1);
  CHECK_THAT(kept.err, ContainsSubstring("the results are in " + out / "a.json"));
}

TEST_CASE("a run without results makes no page, and leaves the one that is there") {
  const Scratch folder, out;
  out.write("a.html", "earlier");
  CHECK(run("skips --allow-unmeasured on --html " + out / "a.html", maker(folder, copies)).code == 0);
  CHECK(out.read("a.html") == "earlier");
  CHECK(files_like(out, "").size() == 1);
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
  CHECK(files_like(out, "").size() == 1);
}

TEST_CASE("a run that crashes outside of a comparison leaves no results file without a result") {
  const Scratch folder, out;
  CHECK(run("'leaves outside' --isolation on --html " + out / "a.html", maker(folder, copies)).code == 1);
  CHECK(fs::is_empty(out.path));
}

TEST_CASE("no page is made when the results cannot be written") {
  const Scratch folder, out;
  require_no_page(run("'removes a file while it runs' --html " + out / "a.html" + " --json " + out / "a.json",
                      maker(folder, copies) + " REMOVED_FILE=" + out / "a.json"),
                  out);
}

TEST_CASE("no page is made on a full disk, and the results of the earlier run stay") {
  if (!program::can_limit_files()) SKIP("a sanitizer has files of its own");
  const Scratch folder, out;
  out.write("a.json", "earlier\n");
  const std::string program = fs::absolute("tests/runner/sample_program").string();
  const std::string script =
      folder.write("limited.sh", "(ulimit -f 1; exec '" + program + "' --html " + out / "a.html" + " --json " +
                                     out / "a.json" + ") 2>&1 | cat >" + folder / "out");
  // The shell returns the status of the pipe's last program.
  const int status = std::system((alone() + maker(folder, copies) + " bash -o pipefail " + script).c_str());
  require_no_page({.code = WEXITSTATUS(status), .out = "", .err = folder.read("out")}, out);
  CHECK(out.read("a.json") == "earlier\n");
}

TEST_CASE("several processes have one page, of the results of all") {
  const Scratch folder, out;
  const std::string processes = "'proven by several processes' --processes 12 --html " + out / "a.html";
  const auto count = [](const std::string& text) {
    std::size_t found = 0;
    for (auto at = text.find("\"name\":\"few\""); at != std::string::npos; at = text.find("\"name\":\"few\"", at + 1))
      ++found;
    return found;
  };
  const auto program = run(processes, maker(folder, copies));
  INFO(program.out << program.err);
  CHECK(program.code == 0);
  const auto number = count(out.read("a.html"));
  CHECK(number > 1);
  CHECK_THAT(program.out, ContainsSubstring("process " + std::to_string(number) + " of at most 12") &&
                              !ContainsSubstring("process " + std::to_string(number + 1) + " of"));
  CHECK(files_like(out, "").size() == 1);

  // The files of --json stay. An empty one under its own name, a killed run's lock, does not.
  fs::remove(out / "a.html");
  out.write("a.json", "");
  CHECK(run(processes + " --json " + out / "a.json", maker(folder, copies)).code == 0);
  CHECK(count(out.read("a.html")) == number);
  CHECK(files_like(out, "a-").size() == number);
  CHECK_FALSE(out.has("a.json"));

  const auto failing = run(processes, maker(folder, "exit 3"));
  CHECK(failing.code == 1);
  CHECK_THAT(failing.err, ContainsSubstring("the page was not made, and the results are in ") &&
                              ContainsSubstring("ended with exit code 3"));
  CHECK(files_like(out, "a.html.results-").size() == number);
}

TEST_CASE("several processes find the program of pages beside the link that the first one was started by") {
  const Scratch folder, out;
  const auto link = folder / "linked";
  fs::create_symlink(fs::absolute("tests/runner/sample_program"), link);
  const auto made =
      folder.write("linked.runfiles/pace/tools/report/report", std::string("#!/bin/sh\n") + copies + '\n');
  fs::permissions(made, fs::perms::owner_all);
  const auto program = run("'proven by several processes' --processes 12 --html " + out / "a.html", "", link);
  INFO(program.out << program.err);
  CHECK(program.code == 0);
  CHECK_THAT(out.read("a.html"), ContainsSubstring("\"name\":\"few\""));
}

TEST_CASE("several processes under bazel test leave a page beside their results, which none of them makes alone") {
  const Scratch folder, outputs;
  const auto program = run("'closed by several processes' --processes 3 --max-interference 1",
                           maker(folder, copies) + " TEST_UNDECLARED_OUTPUTS_DIR=" + outputs.path.string());
  INFO(program.out << program.err);
  CHECK(program.code == 42);
  CHECK_THAT(outputs.read("report.html"), StartsWith(outputs.read("results-1.json")));
}
