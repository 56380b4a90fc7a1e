#include "benches/selftest/merge_runs.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "pace/report/json.hpp"
#include "tests/support/why.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using pace::benches::selftest::merge_runs;

/// A file of results as one process leaves it, gone when this goes.
class File {
 public:
  File(const std::string& name, double speedup, const std::string& disturbance = "",
       pace::Outcome outcome = pace::Outcome::measured, const std::string& comparison = "case",
       const std::optional<pace::Objection>& objection = std::nullopt, const std::string& cpu = "this one")
      : path_(name) {
    pace::Result result;
    result.name = comparison;
    if (!disturbance.empty()) result.conditions.disturbances = {disturbance};
    pace::ImplementationResult baseline, mine;
    baseline.name = "eager";
    baseline.is_baseline = true;
    mine.name = "mine";
    for (auto* row : {&baseline, &mine}) {
      row->outcome = outcome;
      if (outcome != pace::Outcome::measured) continue;
      auto& time = row->time.emplace();
      // No two processes measure the same.
      const pace::Nanoseconds took(row == &mine ? 100 / speedup : 100);
      time.min = time.q20 = time.median = time.q80 = time.max = took;
    }
    if (outcome == pace::Outcome::measured || outcome == pace::Outcome::wrong) {
      auto& summary = mine.speedup.emplace();
      summary.q20 = summary.median = summary.q80 = speedup;
      mine.log_ratios = {std::log(speedup)};
    }
    if (objection) mine.context.enter(*objection);
    mine.message = "what it was";
    result.implementations = {baseline, mine};
    pace::report::Environment environment;
    environment.date_utc = "2026-11-21T10:00:00Z";
    environment.cpu = cpu;
    pace::report::JsonSink sink(path_, {.environment = environment});
    sink.write(result);
    sink.finish();
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST_CASE("every file is one process") {
  const File a("a.json", 0.90), b("b.json", 0.905), c("c.json", 0.91), d("d.json", 0.902), e("e.json", 0.907),
      f("f.json", 0.904);
  std::ostringstream out;
  const std::vector<std::string> all{a.path(), b.path(), c.path(), d.path(), e.path(), f.path()};
  CHECK(merge_runs(all, pace::NoSlowerThan(1.02), out) == 1);
  CHECK_THAT(out.str(), ContainsSubstring("failed"));
  CHECK_THAT(out.str(), ContainsSubstring("0.9047x"));
  std::ostringstream claim, fewer;
  CHECK(merge_runs(all, pace::SpeedupAtLeast(0.8), claim) == 0);
  CHECK_THAT(claim.str(), ContainsSubstring("passed"));
  // Two prove nothing, however alike.
  CHECK(merge_runs({a.path(), b.path()}, pace::NoSlowerThan(1.02), fewer) == 43);
  CHECK(merge_runs({a.path(), b.path()}, pace::NoSlowerThan(1.02), fewer, true) == 0);
  CHECK(pace::benches::selftest::merge_runs_program(
            {"--allow-undecided", a.path(), b.path()}, [](const std::string& path) { return path; }, fewer) == 0);
  CHECK(merge_runs({a.path(), b.path()}, pace::SpeedupAtLeast(1.02), fewer, true) == 1);
  CHECK_THAT(fewer.str(), ContainsSubstring("undecided"));
}

TEST_CASE("a disturbed run says nothing, and a wrong result cannot be outvoted") {
  const File good("good.json", 1.0), disturbed("disturbed.json", 0.5, "Other work took part."),
      wrong("wrong.json", 1.0, "", pace::Outcome::wrong);
  std::ostringstream out;
  CHECK(merge_runs({good.path(), disturbed.path()}, pace::NoSlowerThan(1.02), out) == 43);
  CHECK_THAT(out.str(), ContainsSubstring("1.000x"));
  CHECK_THROWS_AS(merge_runs({good.path(), wrong.path()}, pace::NoSlowerThan(1.02), out), pace::Error);
  CHECK_THROWS_AS(merge_runs({disturbed.path()}, pace::NoSlowerThan(1.02), out), pace::Error);
}

TEST_CASE("a failure in one process is refused, and a candidate that no process measured opens no gate") {
  const File good("fine.json", 1.0);
  std::ostringstream out;
  using enum pace::Outcome;
  for (const auto outcome : {threw, crashed, timed_out, out_of_memory}) {
    const File bad("bad.json", 0, "", outcome);
    CAPTURE(outcome);
    CHECK_THROWS_AS(merge_runs({good.path(), bad.path()}, pace::NoSlowerThan(1.02), out), pace::Error);
  }
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<const File>> files;
  for (const char* name : {"1.json", "2.json", "3.json", "4.json", "5.json", "6.json", "7.json", "8.json"}) {
    files.push_back(std::make_unique<const File>(name, 1.5 + 0.001 * name[0]));
    paths.push_back(name);
  }
  CHECK(merge_runs(paths, pace::NoSlowerThan(1.02), out) == 0);
  const File other("other.json", 0, "", unreached, "another case");
  paths.push_back(other.path());
  CHECK(merge_runs(paths, pace::NoSlowerThan(1.02), out) == 43);
  CHECK(merge_runs(paths, pace::NoSlowerThan(1.02), out, true) == 0);
  CHECK(merge_runs(paths, pace::SpeedupAtLeast(1.02), out) == 1);
  CHECK_THAT(out.str(), ContainsSubstring("'mine' has no figures from any process yet"));
  const File refusing("refusing.json", 0, "", refused, "a third case");
  paths.back() = refusing.path();
  CHECK(merge_runs(paths, pace::NoSlowerThan(1.02), out) == 0);
}

TEST_CASE("a file twice is no second process, and no file is bad input") {
  const File good("twice.json", 1.0);
  std::ostringstream out;
  CHECK_THROWS_AS(merge_runs({good.path(), good.path()}, pace::NoSlowerThan(1.02), out), pace::Error);
  CHECK_THROWS_AS(merge_runs({"nowhere.json"}, pace::NoSlowerThan(1.02), out), pace::InputError);
  std::filesystem::copy_file(good.path(), "copy.json", std::filesystem::copy_options::overwrite_existing);
  CHECK(pace::test::why<pace::Error>([&] {
          (void)merge_runs({good.path(), "copy.json"}, pace::NoSlowerThan(1.02), out);
        }) == "copy.json and twice.json hold the same process; a copy is no second measurement");
  std::filesystem::remove("copy.json");
  const File elsewhere("elsewhere.json", 1.01, "", pace::Outcome::measured, "case", std::nullopt, "another");
  CHECK_THAT(pace::test::why<pace::Error>(
                 [&] { (void)merge_runs({good.path(), elsewhere.path()}, pace::NoSlowerThan(1.02), out); }),
             StartsWith("twice.json and elsewhere.json are not of one machine and build: "));
}

TEST_CASE("times that cannot be true are refused, and a claim whose times prove nothing") {
  using pace::Objection, pace::Severity;
  const File good("sound.json", 1.5);
  const File impossible("impossible.json", 1.51, "", pace::Outcome::measured, "case",
                        Objection::of(Severity::impossible, "it moved too much"));
  const File unproven("unproven.json", 1.52, "", pace::Outcome::measured, "case",
                      Objection::of(Severity::unproven, "nothing was compared"));
  std::ostringstream out;
  const auto why = [&](const File& file, const pace::Expectation& expectation) {
    return pace::test::why<pace::Error>([&] { (void)merge_runs({good.path(), file.path()}, expectation, out); });
  };
  CHECK_THAT(why(impossible, pace::NoSlowerThan(1.02)), ContainsSubstring("'mine': it moved too much; no number of"));
  CHECK_THAT(why(unproven, pace::SpeedupAtLeast(1.02)), ContainsSubstring("nothing was compared"));
  CHECK(merge_runs({good.path(), unproven.path()}, pace::NoSlowerThan(1.02), out) == 43);
}

TEST_CASE("a command line that contradicts itself, or has a limit that means nothing") {
  const auto why = [](const std::vector<std::string>& words) {
    std::ostringstream out;
    return pace::test::why<pace::Error>([&] {
      (void)pace::benches::selftest::merge_runs_program(words, [](const std::string& path) { return path; }, out);
    });
  };
  CHECK_THAT(why({"--no-slower-than", "1.02", "--speedup-at-least", "1.1", "a.json"}),
             StartsWith("--speedup-at-least does not go together with --no-slower-than: it is a second limit"));
  CHECK_THAT(why({"--no-slower-than", "1.02", "--no-slower-than", "1.1", "a.json"}),
             StartsWith("--no-slower-than: is given twice"));
  for (const char* factor : {"inf", "nan", "1e-320", "-1", "0", "", "1.0x"})
    CHECK(why({"--no-slower-than", factor, "a.json"}) ==
          std::string("--no-slower-than: invalid value '") + factor +
              "'; expected a number from 0.001 to 1000000, such as 1.05");
  CHECK(why({"--no-slower-than", "1.02"}) == "expected files of results; see --help");
}

}  // namespace
