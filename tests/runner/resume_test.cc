// The parts of an earlier run's file that --resume takes, whole or cut off.
#include "pace/runner/resume.hpp"
#include "pace/os/read_file.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "pace/os/read_file.hpp"
#include "pace/report/json.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/build_id.hpp"
#include "pace/runner/cases.hpp"
#include "pace/runner/continuation.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/support/scratch.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using pace::runner::Configuration;
using pace::runner::results_to_resume;
using pace::test::Scratch;

namespace {

const Configuration configuration{{"--seed", "1"}};

/// A file of these results; its text.
std::string write(const std::string& path, const std::vector<pace::Result>& results) {
  {
    pace::report::JsonSink sink(path, {.configuration = configuration});
    for (const auto& result : results) sink.write(result);
  }
  return pace::read_file(path, "results");
}

std::vector<std::string> names(const std::vector<pace::Result>& results) {
  std::vector<std::string> all;
  for (const auto& each : results) all.push_back(each.name);
  return all;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a comparison that the time did not suffice for is measured again") {
  const Scratch folder;
  auto partly = sample::comparison("partly");
  partly.implementations.push_back(sample::without_figures("late", pace::Outcome::unreached, "no time"));
  auto not_at_all = sample::comparison("not at all");
  not_at_all.implementations = {sample::without_figures("eager", pace::Outcome::unreached, "no time")};
  auto crashed = sample::comparison("crashed");
  crashed.implementations.push_back(sample::without_figures("bad", pace::Outcome::crashed, "signal 11"));
  auto cut_short = sample::comparison("cut short");
  cut_short.stop_reason = pace::StopReason::deadline;
  write(folder / "a.json", {sample::comparison("whole"), partly, not_at_all, crashed, cut_short});
  CHECK(names(results_to_resume(folder / "a.json", configuration)) == Names{"whole", "crashed"});
}

TEST_CASE("a comparison whose gates on the host's time are missing is measured again as a whole") {
  const Scratch folder;
  auto host = sample::comparison("one/host");
  host.stop_reason = pace::StopReason::deadline;
  write(folder / "a.json",
        {sample::comparison("one"), host, sample::comparison("two"), sample::comparison("two/host")});
  CHECK(names(results_to_resume(folder / "a.json", configuration)) == Names{"two", "two/host"});
}

TEST_CASE("a file that was cut off anywhere keeps every result that is whole") {
  const Scratch folder;
  const std::string whole = write(folder / "a.json", {sample::comparison("one"), sample::comparison("two")});
  const auto first_end = whole.find("\n", whole.find("\"name\":\"one\"")), second = whole.find("\"name\":\"two\"");
  const auto second_end = whole.find("\n", second);
  for (std::size_t size = 0; size <= whole.size(); size += size + 5 > whole.size() ? 1 : 5) {
    folder.write("a.json", whole.substr(0, size));
    const auto found = names(results_to_resume(folder / "a.json", configuration));
    CAPTURE(size, first_end, second_end);
    if (size <= first_end)
      CHECK(found == Names{});
    else if (size <= second_end)
      CHECK(found == Names{"one"});
    else
      CHECK(found == Names{"one", "two"});
  }
  // As some file systems leave it after the machine went down.
  folder.write("a.json", whole.substr(0, second + 50) + std::string(100, '\0'));
  CHECK(names(results_to_resume(folder / "a.json", configuration)) == Names{"one"});
  for (const std::string& torn : {std::string(100, '\0'), whole.substr(0, 10) + std::string(100, '\0')})
    CHECK(results_to_resume(folder.write("a.json", torn), configuration).empty());
}

TEST_CASE("figures that no measurement has are refused") {
  const Scratch folder;
  const std::string whole = write(folder / "a.json", {sample::comparison("one"), sample::comparison("two")});
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& why) {
    auto changed = whole;
    const auto at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    CAPTURE(to);
    CHECK_THROWS_WITH(results_to_resume(folder.write("b.json", changed), configuration),
                      ContainsSubstring("b.json:2: ") && ContainsSubstring(why));
  };
  for (const std::string median : {"-4000.0", "0", "1"})
    refused("\"median_ns\":4000.0", "\"median_ns\":" + median,
            "min_ns, q20_ns, median_ns, q80_ns, max_ns: expected numbers from 0 on");
  for (const std::string median : {"9000", "1e300"})
    refused("\"median_ns\":4000.0", "\"median_ns\":" + median,
            "'eager' in 'one': min_ns, q20_ns, median_ns, q80_ns, max_ns: expected numbers from 0 on");
  refused("\"median_ns\":4000.0", "\"median_ns\":\"fast\"",
          "is no result: implementations: element 1: time: median_ns: expected a number, found \"fast\"");
  refused("\"median\":2.0", "\"median\":-2.0", "q20, median, q80: expected numbers from 0 on");
  refused("\"median\":2.0", "\"median\":5.0", "q20, median, q80: expected");
  refused("\"low_ns\":2000.0", "\"low_ns\":-1", "low_ns, high_ns: expected numbers from 0 on");
  refused("\"low\":1.0", "\"low\":7.0", "low, high: expected numbers from 0 on in ascending order");
  refused("\"spread\":0.125", "\"spread\":-1", "spread: expected numbers from 0 on");
  refused("\"samples_ns\":[2000.0", "\"samples_ns\":[-2000.0", "samples_ns: expected times from 0 on");
}

TEST_CASE("a missing file or one without a result resumes nothing, and a file of another kind is refused") {
  const Scratch folder;
  CHECK(results_to_resume(folder / "none.json", configuration).empty());
  CHECK(results_to_resume(folder.write("empty.json", ""), configuration).empty());
  const std::string whole = write(folder / "a.json", {sample::comparison("one")});
  CHECK(results_to_resume(folder.write("head.json", whole.substr(0, 40)), configuration).empty());
  for (const char* text : {"notes", "{\"results\": []}", "{}\n", "\n"})
    CHECK_THROWS_WITH(results_to_resume(folder.write("notes.json", text), configuration),
                      ContainsSubstring("notes.json:1: is no results file: "));
  CHECK_THROWS_WITH(results_to_resume(folder.write("unknown.json", "{\"schema_version\":4}\n"), configuration),
                    ContainsSubstring("unknown.json:1: its schema_version is 4; this program (pace "));
  CHECK_THROWS_WITH(
      results_to_resume(folder.write("plain.json", "{\"schema_version\":3,\"environment\":{}}\n"), configuration),
      ContainsSubstring("plain.json:1: --resume: it does not say what was measured with which options"));
  // In the middle, it is not the end of a run that was cut off.
  auto spoilt = whole;
  spoilt.insert(spoilt.find("\"name\":\"one\""), "?");
  CHECK_THROWS_WITH(results_to_resume(folder.write("spoilt.json", spoilt), configuration),
                    ContainsSubstring("spoilt.json:2: is no result: "));
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(results_to_resume(pipe, configuration), ContainsSubstring("no program writes to"));
  CHECK_THROWS_WITH(results_to_resume(folder.write("other.json", whole), {{"--seed", "2"}}),
                    ContainsSubstring("--seed: \"1\" there, '2' here"));
}

TEST_CASE("results of other inputs under the same name are not resumed") {
  struct Earlier : pace::RunContext::Checkpoint {
    [[nodiscard]] bool knows(const std::string&) const override { return true; }
    bool recall(const std::string&, pace::Result& result) override {
      result = sample::comparison("case");
      result.inputs = "Float[8]";
      return true;
    }
    bool next_fate(const std::string&, pace::RunContext::PriorFailure&) override { return false; }
  } earlier;
  pace::RunContext context;
  pace::Result result;
  CHECK_FALSE(context.recall("case", "Float[8]", result));
  context.recollection = &earlier;
  CHECK(context.recall("case", "Float[8]", result));
  CHECK(context.recall("case", "", result));
  CHECK_THROWS_MATCHES(context.recall("case", "Double[8]", result), pace::InputError,
                       Message("--resume: the earlier run measured 'case' with other inputs (Float[8] there, Double[8] "
                               "here); give the inputs of that run, or write to another file"));
}

TEST_CASE("a name that is not UTF-8 is the one of its file in every process, and chosen by either") {
  const std::string raw = "na\xefve", valid = "na\xEF\xBF\xBDve";
  auto made = sample::comparison(raw);
  made.inputs = raw;
  made.implementations[1].name = raw;
  pace::RunContext context;
  const auto listener = context.on_result([&](const pace::Result& result) {
    CHECK(result.name == valid);
    CHECK(result.inputs == valid);
    CHECK(result.implementations[1].name == valid);
  });
  context.publish(std::as_const(made));
  CHECK(made.name == raw);
  context.publish(made);
  context.remove_listener(listener);
  CHECK(made.name == valid);
  CHECK(&made[raw] == &made[valid]);

  // As from the file of an earlier run, or of a process of this run that has ended.
  std::string program = "program";
  char* arguments[] = {program.data(), nullptr};
  pace::runner::Continuation earlier(arguments);
  earlier.remember(made);
  CHECK(earlier.knows(raw));
  pace::Result known;
  CHECK(pace::run_context().recall(raw, raw, known));
  CHECK(known.name == valid);

  for (const auto& asked : {raw, valid}) {
    pace::runner::ChosenCases chosen({asked}, /*dry_run=*/false);
    CHECK(chosen.passes_over({.name = raw}) == "");
    CHECK(chosen.complaint() == "");
  }
}

TEST_CASE("a build has one name") {
  const auto name = pace::runner::build_id();
  CHECK(name.size() == 16);
  CHECK(name == pace::runner::build_id());
  CHECK(name != pace::Digest().text());
}

TEST_CASE("the code of a build has a name that libraries of the system have no part in") {
  const auto objects = pace::runner::detail::loaded_objects();
  const auto is_of_system = [](const auto& object) { return object.is_of_system(); };
  REQUIRE_FALSE(objects.empty());
  CHECK(objects.front().file == "/proc/self/exe");
  CHECK_FALSE(objects.front().id.empty());
  CHECK(std::ranges::any_of(objects, is_of_system));
  pace::Digest own;
  for (const auto& object : objects)
    if (!is_of_system(object)) own.add(object.id);
  CHECK(pace::runner::code_id() == own.text());
  CHECK(pace::runner::code_id() != pace::runner::build_id());
}
