// The comparison of two runs: names, units, missing models, every format, and files that cannot be read.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "benches/rnn/compare_fastrnns.hpp"
#include "tests/support/scratch.hpp"

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using pace::test::Scratch;

struct Run {
  std::string out, err;
  int code;
};

Run run(std::vector<std::string> words) {
  words.insert(words.begin(), "compare_fastrnns");
  std::vector<const char*> argv;
  for (const auto& each : words) argv.push_back(each.c_str());
  std::ostringstream out, err;
  const int code = pace::benches::rnn::compare_fastrnns(static_cast<int>(argv.size()), argv.data(), out, err,
                                                        [](const std::string& path) { return path; });
  return {out.str(), err.str(), code};
}

constexpr const char* base_text =
    R"({"lstm": {"aten": 4.0, "jit": 8.0, "gone": 1.5}, "lstm-backward": {"aten": 20}, "resnet": {}})";
constexpr const char* diff_text =
    R"({"lstm": {"jit": 6.0, "aten": 5.0}, "lstm-backward": {"aten": 20.1}, "resnet": {"resnet18": 1234567.0}})";

TEST_CASE("markdown, which is the default") {
  const Scratch folder;
  const auto base = folder.write("base.json", base_text), diff = folder.write("diff.json", diff_text);
  const std::string expected =
      "| name                                             | base time (s) |   diff time (s) |   % change |\n"
      "| :---                                             |          ---: |            ---: |       ---: |\n"
      "| lstm[aten]:bwd                                   |      0.020000 |        0.020100 |       0.5% |\n"
      "| lstm[aten]:fwd                                   |      0.004000 |        0.005000 |      25.0% |\n"
      "| lstm[gone]:fwd                                   |      0.001500 |             nan |       nan% |\n"
      "| lstm[jit]:fwd                                    |      0.008000 |        0.006000 |     -25.0% |\n"
      "| resnet[resnet18]:fwd                             |           nan |     1234.567000 |       nan% |\n";
  using Words = std::vector<std::string>;
  for (const auto& words : {Words{base, diff}, Words{base, diff, "--format", "md"}}) {
    const auto result = run(words);
    REQUIRE(result.code == 0);
    REQUIRE(result.err == "");
    REQUIRE(result.out == expected);
  }
}

TEST_CASE("table, csv and json") {
  const Scratch folder;
  const auto base = folder.write("base.json", base_text), diff = folder.write("diff.json", diff_text);
  REQUIRE(run({"--format", "table", base, diff}).out ==
          "name                                             base time (s)   diff time (s)   % change\n"
          "lstm[aten]:bwd                                        0.020000        0.020100       0.5%\n"
          "lstm[aten]:fwd                                        0.004000        0.005000      25.0%\n"
          "lstm[gone]:fwd                                        0.001500             nan       nan%\n"
          "lstm[jit]:fwd                                         0.008000        0.006000     -25.0%\n"
          "resnet[resnet18]:fwd                                       nan     1234.567000       nan%\n");
  REQUIRE(run({base, diff, "--format=csv"}).out ==
          "name, base time (s), diff time (s), % change\n"
          "lstm[aten]:bwd, 0.020000, 0.020100, 0.50%\n"
          "lstm[aten]:fwd, 0.004000, 0.005000, 25.00%\n"
          "lstm[gone]:fwd, 0.001500, nan, nan%\n"
          "lstm[jit]:fwd, 0.008000, 0.006000, -25.00%\n"
          "resnet[resnet18]:fwd, nan, 1234.567000, nan%\n");
  REQUIRE(run({base, diff, "--format", "json"}).out ==
          "[[\"lstm[aten]:bwd\", 0.02, 0.0201], [\"lstm[aten]:fwd\", 0.004, 0.005], [\"lstm[gone]:fwd\", 0.0015, NaN], "
          "[\"lstm[jit]:fwd\", 0.008, 0.006], [\"resnet[resnet18]:fwd\", NaN, 1234.567]]\n");
}

TEST_CASE("compat: the numbers of the files under a heading that says seconds") {
  const Scratch folder;
  const auto base = folder.write("base.json", base_text), diff = folder.write("diff.json", diff_text);
  REQUIRE(run({"--compat", "--format", "json", base, diff}).out ==
          "[[\"lstm[aten]:bwd\", 20.0, 20.1], [\"lstm[aten]:fwd\", 4.0, 5.0], [\"lstm[gone]:fwd\", 1.5, NaN], "
          "[\"lstm[jit]:fwd\", 8.0, 6.0], [\"resnet[resnet18]:fwd\", NaN, 1234567.0]]\n");
}

TEST_CASE("pytest-benchmark's JSON, in seconds as it is") {
  const Scratch folder;
  const auto base = folder.write("base.json", R"({"machine_info": {}, "benchmarks": [
    {"group": "fastrnns", "name": "test_forward[aten-legacy-old]", "stats": {"mean": 0.004, "min": 0.001}},
    {"group": "fastrnns", "name": "test_backward[aten-legacy-old]", "stats": {"mean": 0.02}},
    {"group": "fastrnns", "name": "test_forward[jit-legacy-old]", "params": {"net_name": "jit", "fuser": "old"},
     "stats": {"mean": 0.002}},
    {"group": null, "name": "something_else", "stats": {"mean": 1}}]})");
  const auto diff = folder.write("diff.json", R"({"benchmarks": [
    {"group": "fastrnns", "name": "test_forward[jit-legacy-te]", "params": {"net_name": "jit", "fuser": "te"},
     "stats": {"mean": 0.001}},
    {"group": "fastrnns", "name": "test_forward[aten-legacy-old]", "stats": {"mean": 0.005}}]})");
  REQUIRE(run({base, diff, "--format", "csv"}).out ==
          "name, base time (s), diff time (s), % change\n"
          "fastrnns[aten-legacy-old]:bwd, 0.020000, nan, nan%\n"
          "fastrnns[aten-legacy-old]:fwd, 0.004000, 0.005000, 25.00%\n"
          "fastrnns[jit]:fwd, 0.002000, 0.001000, -50.00%\n"
          "something_else, 1.000000, nan, nan%\n");
}

void fails(const Run& result, const std::string& message) {
  REQUIRE(result.code != 0);
  REQUIRE(result.out == "");
  REQUIRE(result.err == "compare_fastrnns: " + message + "\n");
}

TEST_CASE("files that cannot be used are named, with the line where they are no JSON") {
  const Scratch folder;
  const auto good = folder.write("good.json", "{}");
  const auto missing = folder.path.string() + "/missing.json";
  const std::string expected = "; expected JSON of fastrnns or of pytest-benchmark";
  fails(run({missing, good}), missing + ": cannot be read: No such file or directory" + expected);
  fails(run({good, folder.path.string()}), folder.path.string() + ": is a folder" + expected);
  const auto deep = folder.write("deep.json", std::string(200000, '[') + std::string(200000, ']'));
  fails(run({good, deep}), deep + ": is JSON nested more than 100 levels deep" + expected);

  const std::string no_json =
      ": this is no JSON; expected the JSON of fastrnns --print-json oss, or of pytest-benchmark";
  const auto cut = folder.write("cut.json", "{\n  \"lstm\": {\"aten\": oops}\n}\n");
  fails(run({good, cut}), cut + ":2:20" + no_json);
  const auto empty = folder.write("empty.json", "");
  fails(run({empty, good}), empty + ":1:1" + no_json);

  const auto list = folder.write("list.json", "[1]");
  fails(run({list, good}), list + ": expected an object of groups, or of pytest-benchmark, found array");
  const auto flat = folder.write("flat.json", R"({"lstm": 3})");
  fails(run({flat, good}), flat + ": 'lstm': expected an object of models and their times, found number");
  const auto text = folder.write("text.json", R"({"lstm": {"aten": "fast"}})");
  fails(run({text, good}), text + ": 'lstm', 'aten': expected a time, found \"fast\"");
  const auto nameless = folder.write("nameless.json", R"({"benchmarks": [{"stats": {"mean": 1}}]})");
  fails(run({nameless, good}), nameless + ": benchmarks[0]: expected an object with a name");
  const auto meanless = folder.write("meanless.json", R"({"benchmarks": [{"name": "a", "stats": {"mean": null}}]})");
  fails(run({meanless, good}), meanless + ": benchmarks[0]: expected stats with a mean, which is a number");
  const auto twice = folder.write("twice.json", R"({"benchmarks": [{"name": "a", "stats": {"mean": 1}},
                                                                  {"name": "a", "stats": {"mean": 2}}]})");
  fails(run({good, twice}), twice +
                                ": benchmarks[1]: expected each test once, found a again; a file has one executor "
                                "and one fuser");
}

TEST_CASE("files that would hang, crash or give orders to a terminal") {
  const Scratch folder;
  const auto good = folder.write("good.json", R"({"lstm": {"aten": 1}})");
  const auto pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  fails(run({pipe, good}),
        pipe + ": is a pipe that no program writes to; expected JSON of fastrnns or of pytest-benchmark");
  const auto deep = folder.write(
      "deep.json", R"({"lstm": {"aten": )" + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}}");
  fails(run({good, deep}),
        deep + ": is JSON nested more than 100 levels deep; expected JSON of fastrnns or of pytest-benchmark");
  const auto large = folder.write("large.json", R"({"lstm": {"aten": 1e999}})");
  fails(run({good, large}), large + ": a number in it is too large; expected times");
  const auto none = folder.write("none.json", "{}");
  fails(run({none, none}), none + " and " + none + " have no times; expected one at least");
  const auto escape = folder.write("escape.json", R"({"l\u001b[31m": {"aten": 1}})");
  REQUIRE_THAT(run({escape, good}).out, ContainsSubstring("l\\x1b[31m[aten]:fwd"));
  REQUIRE_THAT(run({folder / "\x1b[31m", good}).err, !ContainsSubstring("\x1b"));
}

TEST_CASE("invalid command lines") {
  const Scratch folder;
  const auto good = folder.write("good.json", "{}");
  fails(run({}), "expected two files: base.json and diff.json");
  fails(run({good}), "expected two files: base.json and diff.json");
  fails(run({good, good, "--format", "html"}), "--format: invalid value 'html'; expected md, csv, table or json");
  REQUIRE(run({good, good, good}).code != 0);
  REQUIRE(run({good, good, "--frmat", "md"}).code != 0);
  const auto help = run({"--help"});
  REQUIRE(help.code == 0);
  REQUIRE_THAT(help.out, ContainsSubstring("--format <md|csv|table|json>"));
}

}  // namespace
