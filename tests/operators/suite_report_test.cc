// Lines, table and summary of a replay, on made-up results: all figures worked by hand.
#include "benches/operators/suite_report.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "tests/support/scratch.hpp"

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using pace::Outcome;
namespace operators = pace::benches::operators;

/// Times in nanoseconds; below 0: the back end refused.
pace::Result result_of(const std::vector<std::string>& names, const std::vector<double>& times) {
  pace::Result result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto& row = result.implementations.emplace_back();
    row.name = names[i];
    row.is_baseline = i == 0;
    row.outcome = times[i] < 0 ? Outcome::refused : Outcome::measured;
    if (times[i] < 0)
      row.message = "not here,\nfor a reason";
    else
      row.time.emplace().median = pace::Nanoseconds(times[i]);
  }
  return result;
}

/// Keeps the updates that a display would get.
struct Parts : pace::Progress {
  void part(std::size_t number, std::size_t total) override {
    text += std::to_string(number) + '/' + std::to_string(total) + ' ';
  }
  void subject(const std::string& /*name*/) override {}
  void step(const pace::Step& /*step*/) override {}
  std::string text;
};

struct Fixture {
  explicit Fixture(std::vector<std::string> back_ends, std::size_t samples = 6)
      : names(std::move(back_ends)), report(names, folder.path.string() + "/table.csv", samples, true, out) {
    pace::progress() = &progress;
  }
  ~Fixture() { pace::progress() = nullptr; }

  /// One operator, whose samples were recorded `counts` times and took `times`.
  void replay(const std::string& op, const std::vector<std::int64_t>& counts,
              const std::vector<std::vector<double>>& times) {
    pace::corpus::OperatorSamples recorded;
    recorded.name = op;
    for (const auto count : counts) recorded.samples.push_back({"", count, {}});
    const operators::Selected selected{&recorded, 0, recorded.samples};
    report.begin(selected);
    for (std::size_t i = 0; i < times.size(); ++i) report.result(selected, i, result_of(names, times[i]));
    report.end(selected, std::chrono::seconds(2));
  }

  pace::test::Scratch folder;
  std::ostringstream out;
  Parts progress;
  std::vector<std::string> names;
  operators::SuiteReport report;
};

TEST_CASE("two candidates: quantiles of their speed-ups and of their ratio, mean times, recorded calls as weights") {
  Fixture fixture({"eager", "a", "b"});
  // Speed-ups of a: 2, 1, 0.5; of b: 4, 1, 0.5; a/b: 2, 1, 1. The recorded calls: 6e6 ns of eager, 1 * 500 + 2 * 1000 +
  // 3 * 2000 = 8500 of a thousand each.
  fixture.replay("aten.x.default", {1, 2, 3}, {{1000, 500, 250}, {1000, 1000, 1000}, {1000, 2000, 2000}});
  const std::string table = fixture.folder.read("table.csv");
  // Linear between 0.5, 1 and 2: at 0.2 * 2 = 0.4 between the first two: 0.7; at 1.6: 1.6.
  CHECK(table ==
        "operator,a 20th,a 50th,a 80th,b 20th,b 50th,b 80th,a/b 20th,a/b 50th,a/b 80th,elapsed (s),"
        "eager abs (ms),a abs (ms),b abs (ms),"
        "calls,samples,eager measured,a measured,b measured,a weighted,b weighted,why\n"
        "aten.x.default,0.700000,1.000000,1.600000,0.700000,1.000000,2.800000,1.000000,1.000000,1.600000,2.000000,"
        "0.00100000,0.00116667,0.00108333,6,3,3,3,3,0.705882,0.727273,\n");
  CHECK(fixture.out.str() ==
        "aten.x.default: a=1.0000x (0.7000-1.6000) b=1.0000x (0.7000-2.8000) a/b=1.0000x (1.0000-1.6000) took 2s\n");
  CHECK(fixture.progress.text == "1/6 2/6 3/6 ");

  fixture.replay("aten.y.default", {10}, {{8000, 2000, 1000}});
  CHECK(fixture.progress.text == "1/6 2/6 3/6 4/6 ");
  fixture.report.finish("suite, float32", std::chrono::seconds(1));
  const std::string out = fixture.out.str();
  CHECK_THAT(out, ContainsSubstring("suite, float32: 2 operators, 2 ran, 0 refused or failed\n"));
  // a: medians 1 and 4; sqrt(4) = 2; recorded calls (6000 + 80000) / (8500 + 20000) = 3.02.
  CHECK_THAT(out,
             ContainsSubstring("  a over eager: 2.00x (geometric mean over 2 operators, of each the median over its "
                               "samples of the quotient of median times; 20th, 50th, 80th percentile 1.60x, 2.50x, "
                               "3.40x), 3.02x weighted by recorded calls (86.0 us of "
                               "eager)\n"));
  CHECK_THAT(out, ContainsSubstring("and making inputs took 1 s of it"));
  CHECK_THAT(out, ContainsSubstring("Wrote " + fixture.folder.path.string() + "/table.csv"));
}

TEST_CASE("what was not measured is in the line, in the table and in the coverage, with the reason") {
  Fixture fixture({"eager", "a"});
  fixture.replay("aten.x.default", {1, 1}, {{1000, 500}, {1000, -1}});
  fixture.replay("aten.y.default", {5}, {{-1, -1}});
  fixture.report.finish("suite", {});
  const std::string out = fixture.out.str(), table = fixture.folder.read("table.csv");
  CHECK_THAT(out, StartsWith("aten.x.default: a=2.0000x (2.0000-2.0000) took 2s, a refused on 1 of 2\n"
                             "aten.y.default: took 2s, eager refused on 1 of 1, a refused on 1 of 1\n"));
  CHECK_THAT(out, ContainsSubstring("suite: 2 operators, 1 ran, 1 refused or failed\n"));
  CHECK_THAT(out, ContainsSubstring("  aten.x.default: a refused on 1 of 2: not here,\n"));
  CHECK_THAT(table,
             ContainsSubstring("\naten.x.default,2.000000,2.000000,2.000000,2.000000,0.00100000,0.00050000,2,2,2,1,"
                               "2.000000,\"a refused on 1 of 2: not here,\"\n"));
  CHECK_THAT(table, ContainsSubstring("\naten.y.default,,,,2.000000,,,5,1,0,0,,\"eager refused on 1 of 1: not here,; a "
                                      "refused on 1 of 1: not here,\"\n"));
}

TEST_CASE("samples that ended in several ways have the reason of each") {
  Fixture fixture({"eager", "a"});
  pace::corpus::OperatorSamples recorded;
  recorded.name = "aten.x.default";
  for (int i = 0; i < 3; ++i) recorded.samples.push_back({"", 1, {}});
  const operators::Selected selected{&recorded, 0, recorded.samples};
  fixture.report.begin(selected);
  for (std::size_t i = 0; i < 3; ++i) {
    auto result = result_of({"eager", "a"}, {1000, -1});
    if (i > 0) result.implementations[1].outcome = Outcome::threw;
    if (i > 0) result.implementations[1].message = "shapes differ " + std::to_string(i);
    fixture.report.result(selected, i, result);
  }
  fixture.report.end(selected, {});
  fixture.report.finish("suite", {});
  const std::string reasons = "a threw on 2 of 3: shapes differ 1; refused on 1 of 3: not here,";
  CHECK_THAT(fixture.out.str(), ContainsSubstring("  aten.x.default: " + reasons + '\n'));
  CHECK_THAT(fixture.folder.read("table.csv"), ContainsSubstring('"' + reasons + '"'));
}

TEST_CASE("a speed-up on outputs that could not be compared has no part in the suite's speed-ups") {
  operators::OperatorSummary summary("aten.x.default", {"eager", "a"});
  auto varies = result_of({"eager", "a"}, {1000, 10});
  varies.implementations[1].uncompared = pace::Uncompared::varies;
  summary.add(result_of({"eager", "a"}, {1000, 500}), 1);
  summary.add(varies, 1);
  CHECK(summary.backends[1].speedups == std::vector<double>{2});
  CHECK(summary.backends[1].weighted.speedup() == 2);
}

TEST_CASE("a table that cannot be written is an error at once") {
  std::ostringstream out;
  CHECK_THROWS_AS(operators::SuiteReport({"eager", "a"}, "/nonexistent/table.csv", 1, true, out), pace::Error);
}

}  // namespace
