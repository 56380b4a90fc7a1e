// Stored baselines: the fields read back, the refusals and their reasons, and that nothing passes silently.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/generators/catch_generators_range.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/message_parts.hpp"
#include "pace/report/stored_baseline.hpp"
#include "tests/report/baseline_files.hpp"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using files::Json;
using files::Written;
using pace::Verdict;
using pace::report::ResultsFile;
using pace::report::Settings;
using pace::report::StoredBaseline;

namespace {

std::time_t at(const std::string& time) { return pace::report::parse_utc(time).value(); }

const std::time_t today = at("2026-11-21T00:00:00Z");

/// `result` judged by baselines in these files, in an environment like theirs.
pace::Result judged(
    const std::vector<Json>& stored, pace::Result result, Settings settings = {},
    const std::function<void(Json&)>& change = [](Json&) {}) {
  std::vector<ResultsFile> read;
  for (const auto& each : stored) read.push_back(Written(each).read());
  Json header = files::process(1, 1);
  change(header.at("environment"));
  StoredBaseline(std::move(read), std::move(settings), pace::report::header_from(header).environment, today)
      .judge_all(result);
  return result;
}

pace::Result run(double eager, double fused) {
  auto result = sample::comparison("case");
  result.implementations = {sample::baseline("eager", eager), sample::candidate("fused", fused, eager / fused)};
  return result;
}

const pace::Judgement& only(const pace::Result& result, const std::string& implementation) {
  REQUIRE(result[implementation].judgements.size() == 1);
  return result[implementation].judgements[0];
}

}  // namespace

TEST_CASE("times come back as they were written") {
  const auto file = Written(files::process(4000, 2000)).read();
  CHECK(file.header.environment.hostname == "host");
  CHECK(file.date == at("2026-11-01T00:00:00Z"));
  CHECK_FALSE(file.expires);
  REQUIRE(file.results.size() == 1);
  CHECK(file.results[0]["eager"].is_baseline);
  CHECK(file.results[0]["fused"].time->median == pace::Nanoseconds(2000));
  CHECK(file.results[0]["fused"].speedup->median == 2);
}

TEST_CASE("files that are none say what was expected") {
  const auto [text, reason] = GENERATE(table<std::string, std::string>({
      {"[]\n", ":1: is no results file: has no \"schema_version\""},
      {"name,median\n", ":1: is no results file: [json.exception"},
      {"name,median", ":1: is no results file: its first line is not one of JSON that has a \"schema_version\""},
      {"{\n\"schema_version\": 1,\n", ":1: is no results file: [json.exception"},
      {"{\"schema_version\": 3}\n", "has no \"environment\""},
      {"{\"schema_version\": 3, \"environment\": 3}\n", "environment: expected an object, found 3"},
      {"{\"schema_version\": 3, \"environment\": {\"cores\": -1}}\n",
       "environment: cores: expected a whole number from 0 on, found -1"},
      {"", "holds no results: it is empty, or was cut off in its first line"},
      {"{\"schema_version\":3", "holds no results: it is empty, or was cut off in its first line"},
  }));
  CHECK_THROWS_WITH(
      Written(text).read(),
      ContainsSubstring(reason) && ContainsSubstring("expected a file that --json or --save-baseline wrote"));
  CHECK_THROWS_WITH(
      Written("{\"schema_version\": 3, \"environment\": {\"hostname\": \"h\", \"date_utc\": \"now\"}}\n").read(),
      ContainsSubstring(":1: date_utc: expected a time such as 2026-11-21T10:00:00Z, found 'now'"));
  CHECK_THROWS_WITH(pace::report::read_results_file("/nonexistent.json"),
                    ContainsSubstring("cannot be read: No such file"));
  CHECK_THROWS_AS(pace::report::read_results_file("/tmp"), pace::InputError);
}

TEST_CASE("a file of another version says which it has, which is read, and what to do") {
  const std::string here =
      "; this program (pace " + std::string(pace::version) + ") reads version 3. try: measure again with this program";
  for (const auto& [text, found] : {std::pair{"{\"schema_version\": 1}\n", "1"},
                                    {"{\"schema_version\": 2, \"pace_version\": \"0.2\"}\n", "2 (of pace 0.2)"},
                                    {"{\"schema_version\": \"2\"}\n", "\"2\""}})
    CHECK_THROWS_WITH(Written(text).read(), EndsWith(":1: its schema_version is " + std::string(found) + here));
}

TEST_CASE("a file that is cut off anywhere is read up to there, and half a line is no result") {
  Json document = files::process(4000, 2000);
  for (const char* name : {"second", "third"}) {
    document["results"].push_back(document["results"][0]);
    document["results"].back()["name"] = name;
  }
  const std::string whole = lines::text_of(document);
  for (std::size_t size = 0; size <= whole.size(); size += size + 11 > whole.size() ? 1 : 11) {
    const std::string part = whole.substr(0, size);
    const auto line_ends = std::count(part.begin(), part.end(), '\n');
    CAPTURE(size);
    if (line_ends == 0)
      REQUIRE_THROWS_WITH(Written(part).read(), ContainsSubstring("cut off in its first line"));
    else
      REQUIRE(Written(part).read().results.size() == static_cast<std::size_t>(line_ends - 1));
  }
  // In the middle, it is not the rest of a run that was cut off.
  const auto second = whole.find("\"second\"");
  CHECK_THROWS_WITH(Written(whole.substr(0, second) + whole.substr(second + 1)).read(),
                    ContainsSubstring(":3: is no result: [json.exception.parse_error"));
}

TEST_CASE("a line that is too long is refused with its size, before all of it is in memory") {
  const std::string text = lines::text_of(files::process(4000, 2000)), head = text.substr(0, text.find('\n') + 1);
  const std::size_t longest = text.size();
  const Written good(text), lengthy(head + std::string(2 * longest, ' ') + '\n');
  using pace::report::Keep;
  CHECK(pace::report::read_results_file(good.path(), Keep::all, longest).results.size() == 1);
  CHECK_THROWS_WITH(pace::report::read_results_file(lengthy.path(), Keep::all, longest),
                    ContainsSubstring(lengthy.path() + ":2: is longer than " + std::to_string(longest) +
                                      " bytes (the file has " + std::to_string(head.size() + 2 * longest + 1) + ")"));
  // A line without an end, and the disk holds nothing of it. It is no larger than a test that fails may take.
  const Written endless(head);
  constexpr off_t size = off_t{1} << 26;
  REQUIRE(::truncate(endless.path().c_str(), size) == 0);
  CHECK_THROWS_WITH(pace::report::read_results_file(endless.path(), Keep::summaries, longest),
                    ContainsSubstring("(the file has 67108864)"));
}

TEST_CASE("a reader that needs summaries alone keeps no samples, and checks them all the same") {
  Json document = files::process(4000, 2000);
  const Written good(document);
  using pace::report::Keep;
  const auto all = pace::report::read_results_file(good.path()),
             some = pace::report::read_results_file(good.path(), Keep::summaries);
  CHECK(all.results[0].implementations[1].samples.size() == 2);
  CHECK(all.results[0].implementations[1].log_ratios.size() == 1);
  CHECK(some.results[0].implementations[1].samples.empty());
  CHECK(some.results[0].implementations[1].log_ratios.empty());
  CHECK(some.results[0].implementations[1].time->median == all.results[0].implementations[1].time->median);
  document["results"][0]["implementations"][1]["samples_ns"] = {1, 0};
  const Written zero(document);
  CHECK_THROWS_WITH(pace::report::read_results_file(zero.path(), Keep::summaries),
                    ContainsSubstring("samples_ns: expected times above 0, found 0 as element 2"));
}

TEST_CASE("rows that a cut file lost are not left out in silence") {
  const std::string whole = lines::text_of(files::process(1000, 500));
  const Written cut(whole.substr(0, whole.size() - 1));
  StoredBaseline baseline({cut.read()}, {}, files::environment(), today);
  auto result = run(1000, 500);
  baseline.judge_all(result);
  CHECK(only(result, "fused").verdict == Verdict::invalid);
  CHECK_THAT(only(result, "fused").message, ContainsSubstring("it does not have 'fused' in 'case'"));
}

TEST_CASE("gates that close for another reason are not counted for the stored baseline") {
  Settings by_speedup;
  by_speedup.by_speedup = true;
  StoredBaseline baseline({Written(files::process(1000, 500)).read()}, by_speedup, files::environment(), today);
  auto result = run(1000, 500);
  // Speed-ups say nothing of the row that they refer to, which has a closed gate of its own.
  result.implementations[0].judgements.push_back({.expectation = "a count", .acceptable = false});
  const auto closed = baseline.judge_all(result);
  CHECK(result["eager"].judgements.size() == 1);
  CHECK(closed.size() == !only(result, "fused").acceptable);
}

TEST_CASE("figures that cannot be are refused") {
  const std::function<void(Json&)> spoil =
      GENERATE(std::function<void(Json&)>([](Json& row) { row["time"]["median_ns"] = 0; }),
               std::function<void(Json&)>([](Json& row) { row["time"]["median_ns"] = -5; }),
               std::function<void(Json&)>([](Json& row) { row["time"]["median_ns"] = nullptr; }),
               std::function<void(Json&)>([](Json& row) { row["time"] = nullptr; }),
               std::function<void(Json&)>([](Json& row) { row["samples_ns"] = {0, 0, 0}; }),
               std::function<void(Json&)>([](Json& row) { row["speedup"]["median"] = 0; }),
               std::function<void(Json&)>([](Json& row) { row["outcome"] = "splendid"; }),
               std::function<void(Json&)>([](Json& row) { row["name"] = "eager"; }));
  Json json = files::process(4000, 2000);
  spoil(json["results"][0]["implementations"][1]);
  CHECK_THROWS_AS(Written(json).read(), pace::InputError);
}

TEST_CASE("five processes say how much they differ, and a tenth more time is a regression") {
  std::vector<Json> stored;
  for (std::size_t i = 0; i < 5; ++i)
    stored.push_back(files::process(1000 + static_cast<double>(i), 500 + static_cast<double>(i), files::second(i)));
  const auto result = judged(stored, run(1002, 600));
  CHECK(only(result, "eager").verdict == Verdict::passed);
  CHECK(only(result, "fused").verdict == Verdict::failed);
  CHECK(only(result, "fused").expectation == "time of at most 1.05x the stored baseline's");
  CHECK_THAT(only(result, "fused").message, ContainsSubstring("5 + 1 processes, which scatter by"));
  // The same speed-up as ever is no regression, even if the machine slowed both.
  Settings settings;
  settings.by_speedup = true;
  const auto relative = judged(stored, run(1200, 601), settings);
  CHECK(relative["eager"].judgements.empty());
  CHECK(only(relative, "fused").verdict == Verdict::passed);
  CHECK(only(relative, "fused").expectation == "speed-up of at least 0.952x (1 / 1.05x) the stored baseline's");
  CHECK_THAT(only(relative, "fused").message,
             ContainsSubstring("'fused' has 1.00x the speed-up of the stored baseline") &&
                 ContainsSubstring("all of it above 0.952x (1 / 1.05x)"));
}

TEST_CASE("on another machine, or of another build: invalid, with the reason") {
  const auto key = GENERATE(from_range(pace::report::identity_keys()));
  const auto result =
      judged({files::process(1000, 500)}, run(1000, 500), {}, [&](Json& now) { files::change(now, key); });
  for (const auto* name : {"eager", "fused"}) {
    CHECK(only(result, name).verdict == Verdict::invalid);
    CHECK_FALSE(only(result, name).acceptable);
    Json now = files::process(1, 1).at("environment");
    const std::string was = now.at(key).dump();
    files::change(now, key);
    const std::string change = key == "variables" ? "OMP_NUM_THREADS was unset and is \"2\""
                                                  : key + " was " + was + " and is " + now.at(key).dump();
    CHECK_THAT(only(result, name).message, ContainsSubstring(change));
  }
  Settings settings;
  settings.allowed = {key};
  const auto allowed =
      judged({files::process(1000, 500)}, run(1000, 500), settings, [&](Json& now) { files::change(now, key); });
  CHECK(only(allowed, "fused").verdict != Verdict::invalid);
}

TEST_CASE("a file of before variables were known counts as one without any") {
  auto then = files::process(1000, 500);
  then["environment"].erase("variables");
  CHECK(only(judged({then}, run(1000, 500)), "fused").verdict != Verdict::invalid);
  const auto set = judged({then}, run(1000, 500), {}, [](Json& now) { files::change(now, "variables"); });
  CHECK_THAT(only(set, "fused").message,
             ContainsSubstring("is of another machine or build: OMP_NUM_THREADS was unset"));
}

TEST_CASE("the GPU and its driver are part of what must be the same") {
  for (const std::string key : {"gpu", "gpu_driver"}) {
    const auto& keys = pace::report::identity_keys();
    CHECK(std::find(keys.begin(), keys.end(), key) != keys.end());
    const auto lacking = judged({files::process(1000, 500)}, run(1000, 500), {}, [&](Json& now) { now.erase(key); });
    CHECK_THAT(only(lacking, "fused").message, ContainsSubstring(key + " was \"as ever\" and is null"));
  }
}

TEST_CASE("other inputs, another clock, another device under the same name: invalid, with the reason") {
  const auto key = GENERATE(from_range(pace::report::measurement_keys()));
  auto now = run(1000, 500);
  (key == "device" ? now.device : key == "clock" ? now.clock : now.inputs) = "Double[8]";
  const auto result = judged({files::process(1000, 500)}, now);
  for (const auto* name : {"eager", "fused"}) {
    CHECK(only(result, name).verdict == Verdict::invalid);
    CHECK_FALSE(only(result, name).acceptable);
    CHECK_THAT(only(result, name).message, ContainsSubstring("it was measured otherwise: " + key + " was '") &&
                                               ContainsSubstring("' and is 'Double[8]'"));
  }
  Settings settings;
  settings.allowed = {key};
  CHECK(only(judged({files::process(1000, 500)}, now, settings), "fused").verdict != Verdict::invalid);
}

TEST_CASE("a file with an endlessly deep environment is refused like any other that is none") {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  const Written file("{\"schema_version\": 3, \"environment\": {\"cpu\": " + deep + "}}\n");
  CHECK_THROWS_WITH(file.read(), ContainsSubstring("is no results file: is JSON nested more than 100 levels deep"));
}

TEST_CASE("a pipe that no program writes to is refused, not waited for") {
  const TemporaryFile file;
  const std::string pipe = file.path() + ".pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(pace::report::read_results_file(pipe), ContainsSubstring("is a pipe that no program writes to"));
  ::unlink(pipe.c_str());
}

TEST_CASE("a key that one side lacks is a difference; the host's name is none") {
  const auto lacking =
      judged({files::process(1000, 500)}, run(1000, 500), {}, [](Json& now) { now.erase("libtorch"); });
  CHECK_THAT(only(lacking, "fused").message, ContainsSubstring("libtorch was \"as ever\" and is null"));
  const auto host = judged({files::process(1000, 500)}, run(1000, 500), {}, [](Json& now) { now["hostname"] = "b"; });
  CHECK(only(host, "fused").verdict != Verdict::invalid);
}

TEST_CASE("expiry: a date of its own, or thirty days") {
  Json json = files::process(1000, 500);
  json["expires_utc"] = "2026-11-20T23:59:59Z";
  CHECK_THAT(only(judged({json}, run(1000, 500)), "fused").message,
             ContainsSubstring("expired at 2026-11-20T23:59:59Z"));
  json["expires_utc"] = "2026-11-21T00:00:00Z";
  CHECK(only(judged({json}, run(1000, 500)), "fused").verdict != Verdict::invalid);
  const auto old = files::process(1000, 500, "2026-10-21T23:59:59Z");
  CHECK_THAT(only(judged({old}, run(1000, 500)), "fused").message,
             ContainsSubstring("expired at 2026-11-20T23:59:59Z"));
  CHECK(pace::report::format_utc(at("2024-02-29T12:00:00Z")) == "2024-02-29T12:00:00Z");
  for (const auto* wrong : {"", "2026-11-21", "2026-02-31T00:00:00Z", "2026-11-21T00:00:00", "2026-11-21T00:00:00Zx"})
    CHECK_FALSE(pace::report::parse_utc(wrong));
}

TEST_CASE("what the baseline lacks, and what has no figures now, is not compared in silence") {
  auto result = run(1000, 500);
  result.implementations.push_back(sample::candidate("new", 100, 10));
  result.implementations.push_back(sample::without_figures("broken", pace::Outcome::wrong, "differs"));
  result.implementations.push_back(sample::without_figures("late", pace::Outcome::unreached, "no time"));
  Json json = files::process(1000, 500);
  auto& rows = json["results"][0]["implementations"];
  for (const auto* name : {"broken", "late"}) {
    rows.push_back(rows[1]);
    rows.back()["name"] = name;
  }
  rows[1]["outcome"] = "refused";
  const auto judgements = judged({json}, result);
  CHECK(only(judgements, "eager").verdict == Verdict::undecided);
  CHECK(only(judgements, "fused").verdict == Verdict::invalid);
  CHECK_THAT(only(judgements, "fused").message, ContainsSubstring("has no figures to compare in the stored baseline"));
  CHECK(only(judgements, "new").verdict == Verdict::invalid);
  CHECK_THAT(only(judgements, "new").message, ContainsSubstring("does not have 'new' in 'case'; save it again"));
  CHECK(only(judgements, "broken").verdict == Verdict::failed);
  CHECK(only(judgements, "late").verdict == Verdict::undecided);
}

TEST_CASE("a name that the baseline has twice is refused, since either could be meant") {
  Json json = files::process(1000, 500);
  json["results"].push_back(json["results"][0]);
  const auto judgements = judged({json}, run(1000, 500));
  CHECK(only(judgements, "fused").verdict == Verdict::invalid);
  CHECK_THAT(only(judgements, "fused").message,
             ContainsSubstring("it has 'case' twice; give each case a name of its own"));
}

TEST_CASE("a claim about stored results is stated as a speed") {
  CHECK(pace::report::describe({.expectation = pace::SpeedupAtLeast(1.2)}, "the stored baseline") ==
        "speed of at least 1.20x the stored baseline's");
  CHECK(pace::report::describe({.expectation = pace::SpeedupAtLeast(1.2)}, "the earlier results") ==
        "speed of at least 1.20x the earlier results'");
}

TEST_CASE("each gate that closes says why") {
  StoredBaseline baseline({Written(files::process(1000, 500)).read()}, {}, files::environment(), today);
  auto result = run(1000, 500);
  result.implementations.push_back(sample::candidate("new", 100, 10));
  const auto closed = baseline.judge_all(result);
  REQUIRE(closed.size() == 1);
  CHECK(closed[0] == pace::in_one_line(only(result, "new").message));
}

TEST_CASE("load on either side leaves the question open") {
  Json json = files::process(1000, 5000);
  json["results"][0]["conditions"]["disturbances"] = {"The machine slept."};
  CHECK(only(judged({json}, run(1000, 500)), "fused").verdict == Verdict::undecided);
  auto now = run(1000, 500);
  now.implementations[1].context.disturbance = "The clock jumped.";
  const auto result = judged({files::process(1000, 5000)}, now);
  CHECK(only(result, "fused").verdict == Verdict::undecided);
  CHECK_THAT(only(result, "fused").message, ContainsSubstring("The clock jumped."));
}

TEST_CASE("replicates are of one machine and of several processes") {
  const auto one = files::process(1000, 500, files::second(1));
  CHECK_THAT(only(judged({one, one}, run(1000, 500)), "fused").message, ContainsSubstring("hold the same process"));
  auto other = files::process(1001, 501, files::second(2));
  other["environment"]["cpu"] = "another";
  CHECK_THAT(only(judged({one, other}, run(1000, 500)), "fused").message,
             ContainsSubstring("are not of one machine and build: cpu was"));
}
