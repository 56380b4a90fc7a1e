#include "pace/runner/replicates.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_quantifiers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/gate/times.hpp"
#include "pace/os/process.hpp"
#include "pace/os/read_file.hpp"
#include "pace/runner/hand_over.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/replicate_sink.hpp"

namespace {

using Catch::Matchers::AnyMatch;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Equals;
using Catch::Matchers::NoneMatch;
using Catch::Matchers::StartsWith;
using Words = std::vector<std::string>;

pace::ImplementationResult measured(double log_ratio) {
  pace::ImplementationResult row;
  row.name = "mine";
  row.outcome = pace::Outcome::measured;
  row.log_ratios = std::vector<double>(20, log_ratio);
  row.context.comparison = "case";
  return row;
}

TEST_CASE("each process has files, a seed and a limit of its own over its parent's command line") {
  const double endless = std::numeric_limits<double>::infinity();
  const Words words{"layer norm", "--processes=5", "--json:a.json", "--seed", "7"};
  auto expected = words;
  expected.insert(expected.end(),
                  {"--processes", "1", "--seed", "3", "--allow-undecided", "on", "--allow-unmeasured", "off"});
  CHECK(pace::runner::detail::words_for_replicate(words, {}, 2, 3, pace::Nanoseconds(endless)) == expected);
  expected.insert(expected.end(),
                  {"--time-limit", "9.500", "--csv", "b-2", "--json", "a-2.json", "--junit", "d.e/c-2.xml"});
  CHECK(pace::runner::detail::words_for_replicate(words, {.csv = "b", .json = "a.json", .junit = "d.e/c.xml"}, 2, 3,
                                                  pace::Nanoseconds(9.5e9)) == expected);
  CHECK(pace::runner::detail::of_process("a.b/results", 12) == "a.b/results-12");
  CHECK(pace::runner::detail::of_process("a/.hidden", 1) == "a/.hidden-1");
}

TEST_CASE("each process gets the environment and its number, but none of Bazel's files") {
  ::setenv("XML_OUTPUT_FILE", "/tmp/parents.xml", 1);
  ::setenv("TEST_UNDECLARED_OUTPUTS_DIR", "/tmp/outputs", 1);
  const auto environment = pace::runner::detail::environment_for_replicates("found", 12);
  ::unsetenv("XML_OUTPUT_FILE");
  ::unsetenv("TEST_UNDECLARED_OUTPUTS_DIR");
  CHECK_THAT(environment, AnyMatch(StartsWith("PACE_REPLICATE_FILE=found")));
  CHECK_THAT(environment, AnyMatch(Equals("PACE_REPLICATE_NUMBER=12")));
  // Where relative paths of options lead.
  CHECK_THAT(environment, AnyMatch(Equals("TEST_UNDECLARED_OUTPUTS_DIR=/tmp/outputs")));
  CHECK_THAT(environment, AnyMatch(StartsWith("PATH=")));
  CHECK_THAT(environment, NoneMatch(StartsWith("XML_OUTPUT_FILE=")));
}

TEST_CASE("a file that no option names is numbered in one of several processes") {
  CHECK(pace::runner::own_path("a/table.csv") == "a/table.csv");
  ::setenv(pace::runner::replicate_variable, "found", 1);
  ::setenv(pace::runner::replicate_number_variable, "3", 1);
  CHECK(pace::runner::own_path("a/table.csv") == "a/table-3.csv");
  ::unsetenv(pace::runner::replicate_variable);
  ::unsetenv(pace::runner::replicate_number_variable);
  CHECK(pace::runner::ReplicateFiles{.json = "a.json", .more = {"b.csv", "c.csv"}}.all() ==
        Words{"a.json", "b.csv", "c.csv"});
}

TEST_CASE("a process leaves what it found in a file without a name, so that nothing stays when all are killed") {
  std::string path;
  {
    const pace::runner::detail::UnnamedFile found, output;
    path = found.path();
    const auto child = pace::detail::spawn(
        {.arguments = {"sh", "-c", "echo shown; echo >$PACE_REPLICATE_FILE '{\"problem\": \"wrong\"}'"},
         .environment = pace::runner::detail::environment_for_replicates(path, 1),
         .output = output.descriptor()});
    CHECK(pace::detail::wait_for(child).ok());
    CHECK(pace::runner::detail::read_left(path).problems == std::vector<std::string>{"wrong"});
    std::string line;
    std::ifstream shown(output.path());
    std::getline(shown, line);
    CHECK(line == "shown");
  }
  CHECK_FALSE(std::ifstream(path).is_open());
}

TEST_CASE("what a process prints is not lost where no temporary file can be") {
  const std::string before = pace::runner::temporary_folder();
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR"}) ::setenv(variable, "/dev/null", 1);
  const pace::runner::detail::UnnamedFile output;
  for (const char* variable : {"TEST_TMPDIR", "TMPDIR"}) ::setenv(variable, before.c_str(), 1);
  const auto child =
      pace::detail::spawn({.arguments = {"sh", "-c", "echo the reason >&2"}, .output = output.descriptor()});
  CHECK(pace::detail::wait_for(child).ok());
  CHECK(pace::read_file(output.path(), "what it printed") == "the reason\n");
}

TEST_CASE("the results of a process come back as they were") {
  const std::string path = "found.jsonl";
  {
    pace::runner::ReplicateSink sink(path);
    pace::Result result;
    result.name = "case";
    auto row = measured(0.1);
    // Alone, this process would close the second one.
    row.judgements = {pace::NoSlowerThan(1.02).judge(row), pace::SpeedupAtLeast(1.5).judge(row)};
    result.implementations = {row};
    sink.write(result);
    sink.finish();
  }
  const auto left = pace::runner::detail::read_left(path);
  REQUIRE(left.findings.size() == 2);
  CHECK_THAT(left.problems, Catch::Matchers::IsEmpty());
  CHECK(left.closed == 1);
  CHECK(left.findings[0].comparison == "case");
  CHECK(left.findings[0].implementation == "mine");
  CHECK(left.findings[0].demanded.guard);
  CHECK(left.findings[0].demanded.limit == 1.02);
  CHECK(left.findings[0].centre == 0.1);
  CHECK_FALSE(left.findings[1].demanded.guard);
  CHECK(left.findings[1].demanded.limit == 1.5);
  CHECK(left.findings[1].demanded.closes_when_undecided);
  std::remove(path.c_str());
}

TEST_CASE("a question that a process left out is a finding of a claim, and no problem; what proves nothing is one") {
  const std::string path = "unchecked.jsonl";
  const auto leave = [&](const pace::ImplementationResult& row) {
    {
      pace::runner::ReplicateSink sink(path);
      pace::Result result;
      result.name = "case";
      result.implementations = {row};
      result.implementations[0].judgements = {pace::SpeedupAtLeast(1.02).judge(row)};
      sink.write(result);
      sink.finish();
    }
    auto left = pace::runner::detail::read_left(path);
    std::remove(path.c_str());
    return left;
  };
  auto unchecked = measured(0.1);
  unchecked.context.enter({pace::Severity::unchecked, "it was not checked further. Measure longer"});
  const auto open = leave(unchecked);
  CHECK_THAT(open.problems, Catch::Matchers::IsEmpty());
  CHECK(open.closed == 1);
  REQUIRE(open.findings.size() == 1);
  CHECK(open.findings[0].unchecked == unchecked.context.describe(pace::Severity::unchecked));
  auto unproven = unchecked;
  unproven.context.enter({pace::Severity::unproven, "its outputs were not compared"});
  CHECK(leave(unproven).findings.empty());
  CHECK_THAT(leave(unproven).problems, AnyMatch(ContainsSubstring("is not proven: its outputs were not compared")));
}

TEST_CASE("a wrong implementation is a problem that no further process mends") {
  const std::string path = "wrong.jsonl";
  {
    pace::runner::ReplicateSink sink(path);
    pace::Result result;
    result.name = "case";
    auto row = measured(0.1);
    row.outcome = pace::Outcome::wrong;
    row.message = "differs at [0]";
    result.implementations = {row};
    sink.write(result);
  }
  const auto left = pace::runner::detail::read_left(path);
  REQUIRE(left.problems.size() == 1);
  CHECK(left.problems[0] == "'case': 'mine' wrong: differs at [0]");
  std::ofstream(path) << "{\"half\": ";
  CHECK_THROWS_AS(pace::runner::detail::read_left(path), pace::InputError);
  std::remove(path.c_str());
  CHECK_THROWS_AS(pace::runner::detail::read_left(path), pace::InputError);
}

TEST_CASE("a device that a process lost is a problem, though all that was to be measured was not reached") {
  const std::string path = "lost.jsonl";
  {
    pace::runner::ReplicateSink sink(path);
    pace::Result result;
    result.name = "case";
    result.lost_device = "an illegal address";
    auto row = measured(0.1);
    row.outcome = pace::Outcome::unreached;
    result.implementations = {row};
    sink.write(result);
  }
  CHECK(pace::runner::detail::read_left(path).problems == Words{"'case': the device was lost: an illegal address"});
  std::remove(path.c_str());
}

TEST_CASE("a row that no process reached is not forgotten, nor an undecided one without figures") {
  const std::string path = "open.jsonl";
  auto late = measured(0.1);
  late.outcome = pace::Outcome::unreached;
  late.log_ratios.clear();
  const auto leave = [&](const pace::ImplementationResult& row) {
    pace::runner::ReplicateSink sink(path);
    pace::Result result;
    result.name = "case";
    result.implementations = {row};
    result.implementations[0].judgements = {pace::NoSlowerThan(1.02).judge(row)};
    sink.write(result);
    sink.finish();
    return pace::runner::detail::read_left(path);
  };
  const auto ending = [](const pace::runner::detail::Rest& rest,
                         const std::vector<pace::gate::ReplicatedGate>& gates = {}) {
    pace::RunAccount account;
    std::ostringstream said;
    CHECK(rest.tell(account, gates).empty());
    return account.exit_code(0, false, true, said);
  };
  const auto left = leave(late);
  CHECK(left.findings.empty());
  REQUIRE(left.open.size() == 1);
  CHECK(left.open[0].acceptable);
  pace::runner::detail::Rest rest;
  rest.add(left);
  CHECK(ending(rest) == pace::exit_undecided);
  // Another process measured it, and has figures for the gate.
  const auto found = leave(measured(0.1));
  REQUIRE(found.findings.size() == 1);
  rest.add(found);
  CHECK(ending(rest) == pace::exit_undecided);
  CHECK(ending(rest, {{found.findings[0], {0.1}, {.verdict = pace::Verdict::passed, .acceptable = true}, 0}}) == 0);
  std::remove(path.c_str());
}

TEST_CASE("a claim that a process has not measured is told by case, implementation and what was claimed") {
  pace::runner::detail::Left left;
  left.open = {{"case", "mine", "speed-up of at least 1.20x", false}, {"case", "other", "time of at most 1.02x", true}};
  pace::runner::detail::Rest rest;
  rest.add(left);
  pace::RunAccount account;
  const auto unmeasured = rest.tell(account, {});
  REQUIRE(unmeasured.size() == 1);
  CHECK(unmeasured[0].comparison == "case");
  CHECK(unmeasured[0].implementation == "mine");
  CHECK(unmeasured[0].expectation == "speed-up of at least 1.20x");
}

TEST_CASE("a process that other work disturbed has found nothing, but knows of the gate") {
  const std::string path = "none.jsonl";
  {
    pace::runner::ReplicateSink sink(path);
    auto row = measured(0.1);
    row.context.disturbance = "Other work took part.";
    row.judgements = {pace::NoSlowerThan(1.02).judge(row)};
    pace::Result result;
    result.name = "case";
    result.implementations = {row};
    sink.write(result);
  }
  const auto left = pace::runner::detail::read_left(path);
  REQUIRE(left.findings.size() == 1);
  CHECK(std::isnan(left.findings[0].centre));
  std::remove(path.c_str());
}

}  // namespace
