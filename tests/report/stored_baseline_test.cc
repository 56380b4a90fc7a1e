// Stored baselines: what is read back, what is refused and why, and that nothing passes silently.
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
#include <vector>

#include "pace/report/stored_baseline.hpp"
#include "tests/report/baseline_files.hpp"

using Catch::Matchers::ContainsSubstring;
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
  Json environment = files::process(1, 1).at("environment");
  change(environment);
  StoredBaseline(std::move(read), std::move(settings), environment, today).judge_all(result);
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
  CHECK(file.hostname == "host");
  CHECK(file.date == at("2026-11-01T00:00:00Z"));
  CHECK_FALSE(file.expires);
  REQUIRE(file.results.size() == 1);
  CHECK(file.results[0]["eager"].is_baseline);
  CHECK(file.results[0]["fused"].time->median == pace::Nanoseconds(2000));
  CHECK(file.results[0]["fused"].speedup->median == 2);
}

TEST_CASE("files that are none say what was expected") {
  const auto [text, reason] = GENERATE(table<std::string, std::string>({
      {"", "unexpected end of input"},
      {"[]", "no \"schema_version\""},
      {"{\"schema_version\": 2}", "its schema_version is 2; this program reads version 1"},
      {"{\"schema_version\": 1}", "key 'environment' not found"},
      {"{\"schema_version\": 1, \"environment\": 3}", "cannot use at() with number"},
      {"{\"schema_version\": 1, \"environment\": {\"hostname\": \"h\", \"date_utc\": \"now\"}}", "date_utc is no time"},
  }));
  CHECK_THROWS_WITH(Written(text).read(),
                    ContainsSubstring("is no results file: ") && ContainsSubstring(reason) &&
                        ContainsSubstring("expected a whole file that --json or --save-baseline"));
}

TEST_CASE("a file that is cut off anywhere is refused, never read in part") {
  const std::string whole = files::process(4000, 2000).dump();
  for (std::size_t size = 0; size < whole.size(); size += 7)
    CHECK_THROWS_AS(Written(whole.substr(0, size)).read(), pace::InputError);
  CHECK_THROWS_WITH(pace::report::read_results_file("/nonexistent.json"),
                    ContainsSubstring("cannot be read: No such file"));
  CHECK_THROWS_AS(pace::report::read_results_file("/tmp"), pace::InputError);
}

TEST_CASE("figures that cannot be are refused") {
  const std::function<void(Json&)> spoil =
      GENERATE(std::function<void(Json&)>([](Json& row) { row["time"]["median_ns"] = 0; }),
               std::function<void(Json&)>([](Json& row) { row["time"]["median_ns"] = -5; }),
               std::function<void(Json&)>([](Json& row) { row["time"]["median_ns"] = nullptr; }),
               std::function<void(Json&)>([](Json& row) { row["time"] = nullptr; }),
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
  // The same speed-up as ever is no regression, whatever the machine did to both.
  Settings settings;
  settings.by_speedup = true;
  const auto relative = judged(stored, run(1200, 601), settings);
  CHECK(relative["eager"].judgements.empty());
  CHECK(only(relative, "fused").verdict == Verdict::passed);
}

TEST_CASE("on another machine, or of another build: invalid, with the reason") {
  const auto key = GENERATE(from_range(pace::report::identity_keys()));
  const auto result = judged({files::process(1000, 500)}, run(1000, 500), {}, [&](Json& now) { now[key] = "new"; });
  for (const auto* name : {"eager", "fused"}) {
    CHECK(only(result, name).verdict == Verdict::invalid);
    CHECK_FALSE(only(result, name).acceptable);
    CHECK_THAT(only(result, name).message, ContainsSubstring(key + " was \"as ever\" and is \"new\""));
  }
  Settings settings;
  settings.allowed = {key};
  const auto allowed =
      judged({files::process(1000, 500)}, run(1000, 500), settings, [&](Json& now) { now[key] = "new"; });
  CHECK(only(allowed, "fused").verdict != Verdict::invalid);
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
  const Written file(
      "{\"schema_version\": 1, \"environment\": {\"hostname\": \"h\", \"date_utc\": "
      "\"2026-11-01T00:00:00Z\", \"cpu\": " +
      deep + "}, \"results\": []}");
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
  CHECK_THAT(only(judgements, "fused").message, ContainsSubstring("has no figures in the stored baseline"));
  CHECK(only(judgements, "new").verdict == Verdict::invalid);
  CHECK_THAT(only(judgements, "new").message, ContainsSubstring("does not have 'new' in 'case'; save it again"));
  CHECK(only(judgements, "broken").verdict == Verdict::failed);
  CHECK(only(judgements, "late").verdict == Verdict::undecided);
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
