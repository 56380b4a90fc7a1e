// The offline tool: exit codes, verdicts, several files a side, and messages for whatever cannot be compared.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tools/compare_results/compare_program.hpp"
#include "tests/report/baseline_files.hpp"

using Catch::Matchers::ContainsSubstring;
using files::Json;
using files::Written;

namespace {

struct Run {
  int code;
  std::string out, err;
};

Run compare(const std::vector<std::string>& words) {
  std::ostringstream out, err;
  const int code = pace::tools::compare_results::compare_program(words, out, err);
  return {code, out.str(), err.str()};
}

/// `count` processes a side, of which the new ones take `factor` times as long.
Run compare(std::size_t count, double factor, const std::vector<std::string>& options = {}) {
  std::vector<std::unique_ptr<Written>> written;
  std::vector<std::string> words;
  for (const double each : {1.0, factor}) {
    words.push_back(each == 1 && words.empty() ? "--old" : "--new");
    for (std::size_t i = 0; i < count; ++i) {
      const double wobble = 1 + 0.001 * static_cast<double>(i % 3);
      written.push_back(
          std::make_unique<Written>(files::process(1000 * wobble, 500 * each * wobble, files::second(written.size()))));
      words.push_back(written.back()->path());
    }
  }
  words.insert(words.end(), options.begin(), options.end());
  return compare(words);
}

}  // namespace

TEST_CASE("replicates decide: nothing slower is 0, something slower is 1") {
  const auto same = compare(5, 1);
  CHECK(same.code == 0);
  CHECK_THAT(same.out, ContainsSubstring("fused") && ContainsSubstring("passed") &&
                           ContainsSubstring("2 compared, 0 not acceptable, 0 open"));
  const auto slower = compare(5, 1.05);
  CHECK(slower.code == 1);
  CHECK_THAT(slower.out, ContainsSubstring("0.952x  failed") && ContainsSubstring("5 + 5 processes, which scatter by"));
  CHECK(compare(5, 1.05, {"--no-slower-than", "1.10"}).code == 0);
  CHECK(compare(5, 0.8, {"--speedup-at-least=1.2"}).code == 1);  // eager is no faster than it was
  CHECK(compare(5, 1.05, {"--by", "speedup"}).code == 1);
}

TEST_CASE("two single files: open unless the difference is beyond what processes differ by") {
  const Written old_file(files::process(1000, 500)), slower(files::process(1000, 530)), slow(files::process(1000, 800));
  const auto open = compare({old_file.path(), slower.path()});
  CHECK(open.code == 43);
  CHECK(compare({old_file.path(), slower.path(), "--allow-undecided"}).code == 0);
  CHECK(compare({old_file.path(), slow.path(), "--allow-undecided"}).code == 1);
  CHECK_THAT(open.out, ContainsSubstring("undecided") && ContainsSubstring("assumed to scatter by at most 5 %"));
  CHECK(compare({old_file.path(), slower.path(), "--undecided-fails"}).code == 1);
  CHECK(compare({old_file.path(), slower.path(), "--process-spread", "0.002"}).code == 1);
  CHECK(compare({old_file.path(), slow.path(), "--no-slower-than", "1.02"}).code == 1);
}

TEST_CASE("what only one side has is not acceptable") {
  Json json = files::process(1000, 500);
  json["results"][0]["implementations"].erase(1);
  const Written whole(files::process(1000, 500)), part(json);
  for (const auto& words : {std::vector{whole.path(), part.path()}, std::vector{part.path(), whole.path()}}) {
    const auto run = compare(words);
    CHECK(run.code == 1);
    CHECK_THAT(run.out, ContainsSubstring("invalid") && ContainsSubstring("'fused' has no figures in the"));
  }
}

TEST_CASE("other machines and builds are refused with code 2, unless the difference is what one wants to see") {
  Json json = files::process(1000, 500);
  json["environment"]["libtorch"] = "2.12.0";
  const Written one(files::process(1000, 500)), other(json);
  const auto refused = compare({one.path(), other.path()});
  CHECK(refused.code == 2);
  CHECK(refused.out == "");
  CHECK_THAT(refused.err,
             ContainsSubstring("of different machines or builds: libtorch was \"as ever\" and is \"2.12.0\""));
  CHECK(compare({one.path(), other.path(), "--allow", "libtorch", "--allow-undecided"}).code == 0);
}

TEST_CASE("comparisons of one name with other inputs are not acceptable, unless that is what one wants to see") {
  Json json = files::process(1000, 500);
  json["results"][0]["inputs"] = "Double[8]";
  const Written one(files::process(1000, 500)), other(json);
  const auto refused = compare({one.path(), other.path()});
  CHECK(refused.code == 1);
  CHECK_THAT(refused.out, ContainsSubstring("invalid") && ContainsSubstring("measured otherwise: inputs was ''") &&
                              ContainsSubstring("named with --allow"));
  CHECK(compare({one.path(), other.path(), "--allow", "inputs", "--allow-undecided"}).code == 0);
}

TEST_CASE("samples of zeros are refused, though the median is above 0") {
  Json json = files::process(1000, 500);
  json["results"][0]["implementations"][1]["samples_ns"] = {250, 0, 0};
  const Written good(files::process(1000, 500)), zeros(json);
  for (const auto& words : {std::vector{good.path(), zeros.path()}, std::vector{zeros.path(), good.path()}}) {
    const auto run = compare(words);
    CHECK(run.code == 2);
    CHECK_THAT(run.err,
               ContainsSubstring(zeros.path() + ":2: 'fused' in 'case': samples_ns: expected times above 0, found 0 as "
                                                "element 2"));
  }
}

TEST_CASE("names and messages of a file send nothing to the terminal") {
  Json json = files::process(1000, 500);
  json["results"][0]["name"] =
      "evil\x1b[2J\xc2\x9b"
      "1m";
  auto& row = json["results"][0]["implementations"][1];
  row["outcome"] = "wrong";
  row["message"] = "differs\x1b]0;title\x07";
  const Written one(json), two(json);
  json["environment"]["cpu"] = "cpu\x1b[2J";
  const Written another(json);
  for (const auto& run : {compare({one.path(), two.path()}), compare({one.path(), another.path()}),
                          compare({one.path(), "/none\x1b[2J"})})
    for (const std::string& text : {run.out, run.err}) {
      CHECK_THAT(text, !ContainsSubstring("\x1b"));
      CHECK_THAT(text, !ContainsSubstring("\x07"));
      CHECK_THAT(text, !ContainsSubstring("\xc2\x9b"));
    }
}

TEST_CASE("files and command lines that make no sense say what was expected, with code 2") {
  const Written good(files::process(1000, 500)), broken("{\"schema"), other("{\"a\": 1}\n"),
      newer("{\"schema_version\":3}\n"), empty([] {
        Json json = files::process(1000, 500);
        json["results"] = Json::array();
        return json;
      }());
  const std::string ok = good.path();
  const auto check = [](const std::vector<std::string>& words, const std::string& message) {
    const auto run = compare(words);
    CHECK(run.code == 2);
    CHECK_THAT(run.err, ContainsSubstring(message));
  };
  check({}, "expected at least one file on each side");
  check({ok}, "expected OLD.json and NEW.json");
  check({ok, ok, ok}, "expected OLD.json and NEW.json");
  check({"--old", ok}, "expected at least one file on each side");
  check({ok, "/nonexistent.json"}, "/nonexistent.json: cannot be read: No such file");
  check({ok, broken.path()}, broken.path() + ": holds no results: it is empty, or was cut off in its first line");
  check({ok, other.path()}, other.path() + ":1: is no results file: has no \"schema_version\"");
  check({ok, newer.path()}, newer.path() + ":1: is no results file: its schema_version is 3; this program");
  check({empty.path(), empty.path()}, "hold no results");
  check({ok, ok, "--no-slower-than", "fast"}, "--no-slower-than: invalid value 'fast'");
  check({ok, ok, "--no-slower-than"},
        "--no-slower-than: expected a value after it: a number from 0.001 to 1000000, such as 1.05");
  check({ok, ok, "--alpha=0.7"}, "expected a number from 0.000000001 to 0.49");
  for (const char* number : {"inf", "nan", "1e-320", "0", "-1"})
    check({ok, ok, "--no-slower-than", number},
          "invalid value '" + std::string(number) + "'; expected a number from 0.001 to 1000000");
  check({ok, ok, "--no-slower-than", "1.1", "--speedup-at-least", "1.2"},
        "--speedup-at-least does not go together with --no-slower-than: files are compared by one limit");
  check({ok, ok, "--no-slower-than", "1.1", "--no-slower-than=1.2"},
        "--no-slower-than: is given twice, as '1.1' and as '1.2'; expected it once");
  check({ok, ok, "--by", "time", "--by", "speedup"}, "--by: is given twice");
  check({ok, ok, "--by", "luck"}, "expected time or speedup");
  check({ok, ok, "--allow", "hostname"}, "'hostname' is no key that is compared; these are: cpu, cores");
  check({ok, ok, "--fast"}, "unknown option --fast");
  check({ok, ok, "--undecided-fails=off"}, "--undecided-fails: takes no value, found 'off'");
  check({ok, ok, "--undecided-fails", "--allow-undecided"}, "contradict each other");
  check({"--old", ok, ok, "--new", ok}, "hold the same process");
  CHECK(compare({"--help"}).code == 0);
  CHECK_THAT(compare({"--help"}).out,
             ContainsSubstring("--no-slower-than <factor>") && ContainsSubstring("(default: 1.02)"));
}
