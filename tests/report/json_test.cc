// JSON Lines: whole lines after every write, every figure in them, and the values that JSON lacks.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <limits>
#include <string>

#include "pace/report/json.hpp"
#include "tests/report/lines.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/temporary_file.hpp"

using Catch::Matchers::ContainsSubstring;
using pace::report::Environment;
using pace::report::Json;
using pace::report::JsonSink;
using pace::report::ResultsHeader;

TEST_CASE("the file has whole lines after every write") {
  const TemporaryFile file;
  JsonSink sink(file.path(), ResultsHeader{});
  CHECK(lines::document_of(file.content()).at("results").empty());
  for (std::size_t i = 1; i <= 5; ++i) {
    sink.write(sample::comparison("case " + std::to_string(i)));
    const auto document = lines::document_of(file.content());
    REQUIRE(document.at("results").size() == i);
    CHECK(document.at("results").back().at("name") == "case " + std::to_string(i));
  }
  const auto before = file.content();
  sink.finish();
  CHECK(file.content() == before);
}

TEST_CASE("a killed process leaves the lines that it had") {
  const TemporaryFile file;
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    JsonSink sink(file.path(), ResultsHeader{});
    sink.write(sample::comparison("first"));
    sink.write(sample::comparison("second"));
    ::kill(::getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  const auto results = lines::document_of(file.content()).at("results");
  REQUIRE(results.size() == 2);
  CHECK(results[1].at("name") == "second");
}

TEST_CASE("a result that no longer fits leaves the lines as they were") {
  const TemporaryFile file;
  JsonSink sink(file.path(), ResultsHeader{});
  sink.write(sample::comparison("fits"));
  const auto before = file.content();

  // A limit on the file size in the middle of the next result: part of it can be written, then no more.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const rlimit limit{before.size() + 100, old_limit.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &limit) == 0);
  std::string message;
  try {
    sink.write(sample::comparison("does not fit"));
  } catch (const pace::Error& error) {
    message = error.what();
  }
  ::setrlimit(RLIMIT_FSIZE, &old_limit);

  CHECK_THAT(message, ContainsSubstring(file.path()) && ContainsSubstring("File too large"));
  CHECK(file.content() == before);
  sink.write(sample::comparison("fits again"));
  CHECK(lines::document_of(file.content()).at("results").size() == 2);
}

TEST_CASE("the lines: version, environment, results") {
  const TemporaryFile file;
  Environment environment;
  environment.cpu = "a \"quoted\" CPU";
  environment.turbo = false;
  environment.extra = {{"libtorch", "2.11.0"}, {"cpu", "must not replace"}};
  JsonSink sink(file.path(), {.environment = environment});
  auto result = sample::comparison("case");
  result.implementations[1].judgements = {{"at least 3x", pace::Verdict::failed, false, "too slow"}};
  result.implementations[1].bytes = 8000;
  result.notes = {"a note"};
  sink.write(result);

  const auto document = lines::document_of(file.content());
  CHECK(document.at("schema_version") == 3);
  CHECK(document.at("pace_version") == pace::version);
  CHECK(document.at("environment").at("cpu") == "a \"quoted\" CPU");
  CHECK(document.at("environment").at("turbo") == false);
  CHECK(document.at("environment").at("aslr").is_null());
  CHECK(document.at("environment").at("libtorch") == "2.11.0");
  const auto& stored = document.at("results").at(0);
  CHECK(stored.at("stop_reason") == "budget");
  CHECK(stored.at("iterations") == 40);
  CHECK(stored.at("seed") == 7);
  CHECK(stored.at("notes") == Json{"a note"});
  const auto& eager = stored.at("implementations").at(0);
  CHECK(eager.at("baseline") == true);
  CHECK(eager.at("speedup").is_null());
  CHECK(eager.at("bytes").is_null());
  const auto& fused = stored.at("implementations").at(1);
  CHECK(fused.at("time").at("median_ns") == 2000.0);
  CHECK(fused.at("time").at("interval").at("low_ns") == 1000.0);
  CHECK(fused.at("speedup").at("interval").at("high") == 4.0);
  CHECK(fused.at("samples_ns") == Json{1000.0, 4000.0});
  CHECK(fused.at("log_ratios").size() == 1);
  CHECK(fused.at("gb_per_s") == 4.0);
  CHECK(fused.at("expectations").at(0).at("verdict") == "failed");
  CHECK(fused.at("expectations").at(0).at("acceptable") == false);
}

TEST_CASE("a result has the conditions of the rounds and the way they were measured") {
  const TemporaryFile file;
  JsonSink sink(
      file.path(),
      {.configuration = {{"--seed", "3"}}, .options = pace::Options{.seed = 3}, .expires_utc = "2026-12-01T00:00:00Z"});
  auto result = sample::comparison("case");
  result.conditions.steal = 0.25;
  result.conditions.clock_error = pace::Nanoseconds(-3);
  result.conditions.disturbances = {"The hypervisor, again."};
  sink.write(result);
  const auto document = lines::document_of(file.content());
  CHECK(document.at("expires_utc") == "2026-12-01T00:00:00Z");
  CHECK(document.at("options").at("seed") == 3);
  CHECK(document.at("options").at("budget_ns") == 1e9);
  CHECK(document.at("configuration").at("--seed") == "3");
  const auto& conditions = document.at("results").at(0).at("conditions");
  CHECK(conditions.at("steal") == 0.25);
  CHECK(conditions.at("others").is_null());
  CHECK(conditions.at("clock_error_ns") == -3.0);
  CHECK(conditions.at("disturbances") == Json{"The hypervisor, again."});
}

TEST_CASE("a result of a GPU has its modes, its memory and its driver's figures") {
  auto result = sample::comparison("softmax/gpu");
  pace::TimeSummary time;
  time.median = pace::Nanoseconds(8100);
  auto& row = result.implementations[1];
  row.modes = {{.name = "cold", .time = time}, {.name = "graph", .missing = "it waits"}};
  row.device_memory = pace::DeviceMemory{.peak = 12, .reserved = 34, .allocations = 5};
  result.conditions.gpu =
      pace::GpuConditions{.readings = 9, .lowest_clock = 1700, .highest_clock = 1980, .slowed = 0.25};
  result.lost_device = "'fused': an illegal address";
  const auto json = pace::report::to_json(result);
  const auto& fused = json.at("implementations").at(1);
  CHECK(fused.at("modes").at(0).at("time").at("median_ns") == 8100);
  CHECK(fused.at("modes").at(1).at("time").is_null());
  CHECK(fused.at("modes").at(1).at("missing") == "it waits");
  CHECK(fused.at("device_memory").at("peak_bytes") == 12);
  CHECK(fused.at("device_memory").at("reserved_bytes") == 34);
  CHECK(json.at("implementations").at(0).at("device_memory").is_null());
  CHECK(json.at("conditions").at("gpu").at("lowest_clock_mhz") == 1700);
  CHECK(json.at("conditions").at("gpu").at("slowed") == 0.25);
  CHECK(json.at("lost_device") == "'fused': an illegal address");
}

TEST_CASE("a number that is not finite is null, and bytes that are no UTF-8 do not lose the result") {
  const TemporaryFile file;
  JsonSink sink(file.path(), ResultsHeader{});
  auto result = sample::comparison("bad byte \xff, quote \", line\nend");
  auto& fused = result.implementations[1];
  fused.max_abs_error = std::numeric_limits<double>::quiet_NaN();
  fused.samples = {pace::Nanoseconds(std::numeric_limits<double>::infinity()), pace::Nanoseconds(1)};
  fused.time->interval.reset();
  sink.write(result);
  const auto stored = lines::document_of(file.content()).at("results").at(0);
  CHECK(stored.at("name") == "bad byte \xEF\xBF\xBD, quote \", line\nend");
  const auto& implementation = stored.at("implementations").at(1);
  CHECK(implementation.at("max_abs_error").is_null());
  CHECK(implementation.at("samples_ns").at(0).is_null());
  CHECK(implementation.at("samples_ns").at(1) == 1.0);
  CHECK(implementation.at("time").at("interval").is_null());
}
