// Every variable of Bazel's test protocol, and a program's response to it: seen from outside, as a process.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <utility>

#include "tests/report/temporary_file.hpp"
#include "tests/report/xml_reader.hpp"
#include "tests/runner/run_program.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Matches;
using Catch::Matchers::StartsWith;
using pace::test::Scratch;
using program::run;

namespace {

namespace fs = std::filesystem;

/// Bazel sets these for every test, from version 5.2 on and before.
std::string bazel(const Scratch& folder) {
  return GENERATE(std::string("BAZEL_TEST=1 "), std::string("TEST_SRCDIR=/tmp TEST_TIMEOUT=300 ")) +
         "TEST_TMPDIR=" + folder.path.string() + " XML_OUTPUT_FILE=" + folder / "test.xml" +
         " TEST_WARNINGS_OUTPUT_FILE=" + folder / "warnings" +
         " TEST_INFRASTRUCTURE_FAILURE_FILE=" + folder / "infrastructure" + " ";
}

/// The file that a run left in `folder`.
xml::Element xml_in(const Scratch& folder) { return xml::parse(folder.read("test.xml")); }

}  // namespace

TEST_CASE("XML_OUTPUT_FILE: a test case per gate, and Catch2's own beside them") {
  const Scratch folder;
  const auto program = run("'fast enough,too slow'", bazel(folder));
  CHECK(program.code == 42);
  // A title, and the one command that repeats the one comparison that failed.
  CHECK_THAT(program.err,
             StartsWith("pace: to repeat what failed:\n  ") && ContainsSubstring("'too slow' --case second"));
  CHECK(std::count(program.err.begin(), program.err.end(), '\n') == 2);
  const auto root = xml_in(folder);
  REQUIRE(root.children.size() == 3);
  CHECK(root.children[0].attributes.at("name") == "first");
  // The baseline has no expectation, and one test case for its correctness.
  REQUIRE(root.children[0].all("testcase").size() == 2);
  const auto& passed = *root.children[0].all("testcase")[1];
  CHECK(passed.attributes.at("name") == "fused: speed-up of at least 1.50x");
  CHECK(passed.attributes.at("classname") == "first");
  CHECK(passed.property("speedup_low") == "1.90000");
  CHECK(root.children[1].all("testcase").at(1)->all("failure").size() == 1);
  const auto& catch2 = root.children[2];
  CHECK(catch2.attributes.at("failures") == "1");
  CHECK(catch2.all("testcase").size() == 2);
  // Nothing else is left lying about.
  CHECK_FALSE(fs::exists(folder / "infrastructure"));
  CHECK(std::distance(fs::directory_iterator(folder.path.string()), fs::directory_iterator()) == 2);
}

TEST_CASE("XML_OUTPUT_FILE is whole when a test dies, and when it is killed") {
  const Scratch folder;
  const auto test = GENERATE(std::string("'publishes*'"), std::string("'killed*'"));
  const auto program =
      run(test, "BAZEL_TEST=1 TEST_TMPDIR=" + folder.path.string() + " XML_OUTPUT_FILE=" + folder / "test.xml");
  CHECK(program.code != 0);
  const auto root = xml_in(folder);
  CHECK(root.children.at(0).attributes.at("name") == "before death");
  CHECK(root.children.at(0).all("testcase").size() == 2);
}

TEST_CASE("XML that cannot be written fails a program whose tests pass") {
  const auto program = run("", "BAZEL_TEST=1 XML_OUTPUT_FILE=/dev/full");
  CHECK(program.code == 1);
  CHECK_THAT(program.err, ContainsSubstring("cannot write '/dev/full': No space left on device"));
}

TEST_CASE("--junit writes the same for any other CI") {
  const Scratch folder;
  CHECK(run("--junit " + folder / "test.xml").code == 0);
  const auto root = xml_in(folder);
  REQUIRE(root.children.size() == 1);
  CHECK(root.children[0].all("testcase").at(1)->property("verdict") == "passed");
}

TEST_CASE("TEST_WARNINGS_OUTPUT_FILE: open guards, unsettled warm-ups, load") {
  const Scratch folder;
  CHECK(run("'open guard'", bazel(folder)).code == 43);
  const auto warnings = folder.read("warnings");
  CHECK_THAT(warnings, ContainsSubstring("guarded, fused: its times had not settled when the warm-up ended\n") &&
                           ContainsSubstring("guarded, fused: time of at most 1.02x the baseline's: undecided, let "
                                             "through: 'fused' takes 0.500x the baseline's time"));
  CHECK(std::count(warnings.begin(), warnings.end(), '\n') == 2);
  CHECK(xml_in(folder).children.at(0).all("testcase").at(1)->all("skipped").size() == 1);
  CHECK_FALSE(fs::exists(folder / "infrastructure"));
}

TEST_CASE("TEST_WARNINGS_OUTPUT_FILE stays empty where nothing is to be warned of") {
  const Scratch folder;
  CHECK(run("", bazel(folder)).code == 0);
  CHECK(folder.read("warnings") == "");
  const auto full = run("'open guard'", "TEST_WARNINGS_OUTPUT_FILE=/dev/full");
  CHECK(full.code == 1);
  CHECK_THAT(full.err, ContainsSubstring("No space left on device"));
}

TEST_CASE("TEST_INFRASTRUCTURE_FAILURE_FILE: load closes no guard and passes no claim") {
  const Scratch folder;
  const auto variables = bazel(folder);
  const auto guards = run("'under load'", variables);
  CHECK(guards.code == 43);
  CHECK(folder.read("infrastructure") ==
        "machine\nloaded: The hypervisor gave others 50 %. loaded: The clock\\njumped.\n");
  CHECK_THAT(folder.read("warnings"), ContainsSubstring("loaded: no verdict: The hypervisor gave others 50 %.\n"));
  for (const auto& suite : xml_in(folder).children)
    for (const auto* test : suite.all("testcase"))
      for (const auto* failure : test->all("failure")) FAIL_CHECK(failure->attributes.at("message"));
  const auto claims = run("'claims under load'", variables);
  CHECK(claims.code == 42);
  CHECK_THAT(claims.out, ContainsSubstring("why: The hypervisor gave others 50 %."));
}

TEST_CASE("TEST_INFRASTRUCTURE_FAILURE_FILE: a device that is not there") {
  const Scratch folder;
  const auto program = run("'asks for a device'", bazel(folder));
  CHECK(program.code == 42);
  CHECK(folder.read("infrastructure") == "device\non a device: cuda:0 was asked for; there is none\n");
  CHECK_THAT(program.out, ContainsSubstring("invalid: 'fused' could not be run here"));
}

TEST_CASE("TEST_INFRASTRUCTURE_FAILURE_FILE: every test was skipped") {
  const Scratch folder;
  const auto program = run("skips", bazel(folder));
  CHECK(program.code == 4);
  CHECK(folder.read("infrastructure") == "tests\nevery test was skipped; nothing was measured\n");
}

TEST_CASE("TEST_INFRASTRUCTURE_FAILURE_FILE follows the exit code") {
  const Scratch folder;
  const auto variables = bazel(folder);
  for (const std::string arguments : {"skips --allow-unmeasured on", "'measures nothing' --allow-unmeasured on",
                                      "'under load' --allow-undecided on"}) {
    CAPTURE(arguments);
    CHECK(run(arguments, variables).code == 0);
    CHECK_FALSE(fs::exists(folder / "infrastructure"));
  }
  CHECK(run("'measures nothing'", variables).code == 4);
  CHECK(folder.read("infrastructure") == "tests\nno implementation could be measured; nothing was measured\n");
  const auto full = run("skips", "TEST_INFRASTRUCTURE_FAILURE_FILE=/dev/full");
  CHECK(full.code == 1);
  CHECK_THAT(full.err, ContainsSubstring("No space left on device"));
}

TEST_CASE("TEST_INFRASTRUCTURE_FAILURE_FILE is for the machine's reasons alone") {
  const Scratch folder;
  const auto variables = bazel(folder);
  // A proven regression, an assertion of the test's own and an open guard are none of them, even if others are
  // disturbed.
  for (const auto& [arguments, code] : {std::pair<std::string, int>{"'under load,too slow'", 42},
                                        {"'claims under load,under load,too slow'", 42},
                                        {"'under load,asserts something' --extra word", 42},
                                        {"'under load,open guard'", 43}}) {
    CAPTURE(arguments);
    CHECK(run(arguments, variables).code == code);
    CHECK_FALSE(fs::exists(folder / "infrastructure"));
  }
  CHECK(run("'under load,claims under load'", variables).code == 42);
  CHECK_THAT(folder.read("infrastructure"), StartsWith("machine\nloaded: The hypervisor gave others 50 %."));
}

TEST_CASE("TEST_TIMEOUT leaves unreached candidates undecided, and the program says so and ends by itself") {
  // The process exists already when it looks at the clock, so next to nothing is left of this.
  const Scratch folder;
  const auto program = run("measures --json " + folder / "a.json",
                           "TEST_SRCDIR=/tmp TEST_TIMEOUT=0.001 TEST_WARNINGS_OUTPUT_FILE=" + folder / "warnings");
  CHECK(program.code == 42);
  CHECK_THAT(program.out, ContainsSubstring("undecided: 'fused' was not measured"));
  CHECK_THAT(folder.read("a.json"), ContainsSubstring("\"outcome\":\"unreached\""));
  CHECK_THAT(
      folder.read("warnings"),
      ContainsSubstring("measured: not measured: measuring ends after 80 % of the 1.00 ms that this test may take "
                        "(TEST_TIMEOUT)"));
  CHECK(run("measures", "TEST_SRCDIR=/tmp TEST_TIMEOUT=300").code == 0);
  CHECK(run("measures --time-limit 0.001").code == 42);
  const auto bad = run("measures", "TEST_TIMEOUT=soon");
  CHECK(bad.code == 1);
  CHECK_THAT(bad.err, ContainsSubstring("TEST_TIMEOUT: invalid value 'soon'"));
}

TEST_CASE("TESTBRIDGE_TEST_ONLY picks tests; what picks none fails") {
  const Scratch folder;
  const auto variables = bazel(folder);
  CHECK(run("", variables + "TESTBRIDGE_TEST_ONLY='too slow'").code == 42);
  CHECK(run("", variables + "TESTBRIDGE_TEST_ONLY=nosuch").code != 0);
}

TEST_CASE("TEST_SHARD_STATUS_FILE is touched, and each test runs in one shard") {
  const Scratch folder;
  const auto shards = bazel(folder) + "TEST_TOTAL_SHARDS=2 TEST_SHARD_STATUS_FILE=" + folder / "status" + " ";
  std::string out;
  for (const auto* index : {"0", "1"}) {
    const auto program = run("'fast enough,open guard that says so'", shards + "TEST_SHARD_INDEX=" + index);
    CHECK(program.code == 0);
    CHECK(program.err == "");
    out += program.out;
  }
  CHECK(fs::exists(folder / "status"));
  for (const std::string name : {"\nfirst", "\nguarded"}) {
    const auto at = out.find(name);
    CHECK_THAT(out, ContainsSubstring(name));
    if (at != std::string::npos) CHECK_THAT(out.substr(at + 1), !ContainsSubstring(name));
  }
}

TEST_CASE("--save-baseline and --baseline: the same machine, another one, and none") {
  const Scratch folder;
  const std::string base = folder / "base.json";
  REQUIRE(run("--save-baseline " + base).code == 0);
  CHECK_THAT(folder.read("base.json"), ContainsSubstring("\"expires_utc\":\"") && ContainsSubstring("\"budget_ns\":"));
  const auto same = run("--baseline " + base);
  CHECK(same.code == 43);
  CHECK(run("--allow-undecided on --baseline " + base).code == 0);
  CHECK_THAT(same.out, ContainsSubstring("3 expectations, 2 of them undecided and let through"));
  // The samples' times never vary, so a gate that relies on that may say so.
  CHECK_THAT(run("--process-spread 0.001 --baseline " + base).out, ContainsSubstring("3 expectations, met"));
  const auto slower = run("--process-spread 0.001 --baseline-margin 0.9 --baseline " + base);
  CHECK(slower.code == 42);
  CHECK_THAT(slower.err,
             ContainsSubstring("2 implementations do not meet the expectation against the stored baseline"));
  const auto other = run("--threads 2 --baseline " + base);
  CHECK(other.code == 1);
  CHECK_THAT(other.err, ContainsSubstring("is of another machine or build: libtorch_threads was \"1\" and is \"2\""));
  CHECK(run("--baseline /nonexistent.json").code == 1);
  CHECK_THAT(run("--baseline " + base + " --save-baseline " + base).err, ContainsSubstring("name the same file"));
  for (const char* option : {"--json ", "--csv ", "--junit "})
    CHECK_THAT(run("--baseline " + base + ' ' + option + base).err, ContainsSubstring("name the same file"));
  fs::create_symlink(base, folder / "link.json");
  CHECK_THAT(run("--baseline " + base + " --save-baseline " + folder / "link.json").err,
             ContainsSubstring("name the same file"));
  CHECK_THAT(run("'shows*' --baseline " + base).err, ContainsSubstring("nothing was measured that could be compared"));
  CHECK(run("--save-baseline /dev/full").code == 1);
}
