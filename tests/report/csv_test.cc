// CSV: columns, quoting, figures that do not exist, and the file's contents after every result.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <limits>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/report/csv.hpp"
#include "pace/report/csv_text.hpp"
#include "pace/report/json_fields.hpp"
#include "pace/report/text.hpp"
#include "pace/report/xml.hpp"
#include "tests/report/sample_results.hpp"
#include "tests/report/temporary_file.hpp"

namespace {

/// A reader written from RFC 4180, so that the writer is not its own judge.
std::vector<std::vector<std::string>> parse(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1);
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += '"';
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == ',' || c == '\n')) {
      rows.back().push_back(std::exchange(field, ""));
      if (c == '\n') rows.emplace_back();
    } else {
      field += c;
    }
  }
  if (quoted || !field.empty() || !rows.back().empty()) throw std::runtime_error("the last row is not complete");
  rows.pop_back();
  return rows;
}

/// Rows as column -> field; every row must have as many fields as the header.
std::vector<std::map<std::string, std::string>> records(const std::string& text) {
  const auto rows = parse(text);
  std::vector<std::map<std::string, std::string>> found;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    REQUIRE(rows[i].size() == rows[0].size());
    auto& record = found.emplace_back();
    for (std::size_t column = 0; column < rows[0].size(); ++column) record[rows[0][column]] = rows[i][column];
  }
  return found;
}

std::vector<std::map<std::string, std::string>> written(const pace::Result& result) {
  const TemporaryFile file;
  pace::report::CsvSink sink(file.path());
  sink.write(result);
  return records(file.content());
}

}  // namespace

TEST_CASE("a row of one empty field is no empty line, which readers leave out") {
  CHECK(pace::report::CsvRow().text("").line() == "\"\"\n");
}

TEST_CASE("a row is the golden text") {
  auto result = sample::comparison("layer_norm");
  result.device = "NVIDIA H200";
  result.inputs = "Float[16, 1024]";
  result.implementations[1].share_of_peak = 0.25;
  result.implementations[1].energy =
      pace::EnergySummary{.millijoules = 1200, .interval = pace::Interval<double>{1190, 1210, 0.95}, .ratio = 1.5};
  CHECK(pace::report::CsvSink::row(result, result.implementations[1]) ==
        "layer_norm,fused,false,measured,true,0.25,2000,1000,4000,1000,1000,4000,4000,0.125,2,2,1,4,2,1,0.95,20000,30,"
        "true,40,16,,,,,,fake,7,,,,,,,,,budget,,,,,NVIDIA H200,\"Float[16, "
        "1024]\",2100,3000,2,,,,,0.25,2000,,,,1200,1190,1210,"
        "1.5\n");
}

TEST_CASE("what the clock adds has columns, and the median is there with it and without it") {
  auto result = sample::comparison("case");
  result.implementations[1].time->overhead = {pace::Nanoseconds(350), pace::Nanoseconds(80)};
  const auto rows = written(result);
  CHECK(rows[1].at("median_ns") == "2000");
  CHECK(rows[1].at("shown_ns") == "1650");
  CHECK(rows[1].at("clock_adds_ns") == "350");
  CHECK(rows[1].at("clock_adds_error_ns") == "80");
  CHECK(rows[0].at("shown_ns") == rows[0].at("median_ns"));
  CHECK(rows[0].at("clock_adds_ns") == "");
}

TEST_CASE("what else happened during the rounds stands beside every row") {
  auto result = sample::comparison("case");
  result.conditions.steal = 0.25;
  result.conditions.others = 0.5;
  result.conditions.waiting = 0.125;
  result.conditions.throttled = 0;
  result.conditions.involuntary_switches = 12;
  result.conditions.longest_cycle = pace::Nanoseconds(7000);
  result.conditions.median_cycle = pace::Nanoseconds(500);
  result.conditions.clock_error = pace::Nanoseconds(-3);
  result.implementations[1].context.disturbance = "The hypervisor, again.";
  const auto rows = written(result);
  const std::map<std::string, std::string> expected{{"steal", "0.25"},
                                                    {"others", "0.5"},
                                                    {"waiting", "0.125"},
                                                    {"throttled", "0"},
                                                    {"longest_cycle_ns", "7000"},
                                                    {"median_cycle_ns", "500"},
                                                    {"clock_error_ns", "-3"},
                                                    {"stop_reason", "budget"},
                                                    {"involuntary_switches", "12"},
                                                    {"disturbance", "The hypervisor, again."}};
  for (const auto& [column, text] : expected) CHECK(rows[1].at(column) == text);
}

TEST_CASE("an energy that is unknown has empty columns") {
  auto result = sample::comparison("case");
  result.implementations[0].energy = pace::EnergySummary{.missing = "no counter"};
  const auto rows = written(result);
  for (const char* const column : {"energy_mj", "energy_low_mj", "energy_high_mj", "energy_ratio"}) {
    CHECK(rows[0].at(column) == "");
    CHECK(rows[1].at(column) == "");
  }
}

TEST_CASE("counted instructions have columns, and the baseline's ratios are empty") {
  auto result = sample::comparison("case");
  result.implementations[0].instructions = pace::InstructionCount{.low = 5, .high = 6, .counter = "callgrind"};
  result.implementations[1].instructions = pace::InstructionCount{10, 11, 1.5, 2.25, "callgrind"};
  const auto rows = written(result);
  CHECK(rows[0].at("instructions_low") == "5");
  CHECK(rows[0].at("instructions_high") == "6");
  CHECK(rows[0].at("instructions_ratio_low") == "");
  CHECK(rows[0].at("instructions_ratio_high") == "");
  CHECK(rows[1].at("instructions_low") == "10");
  CHECK(rows[1].at("instructions_high") == "11");
  CHECK(rows[1].at("instructions_ratio_low") == "1.5");
  CHECK(rows[1].at("instructions_ratio_high") == "2.25");
}

TEST_CASE("the header is there before any result, and once") {
  const TemporaryFile file;
  pace::report::CsvSink sink(file.path());
  CHECK(file.content() == pace::report::CsvSink::header());
  sink.write(sample::comparison("a"));
  sink.write(sample::comparison("b"));
  const auto rows = records(file.content());
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].at("case") == "a");
  CHECK(rows[3].at("case") == "b");
  CHECK(rows[3].at("implementation") == "fused");
}

TEST_CASE("names and messages survive quoting, each reason for it alone") {
  for (const std::string name : {"a,b", "a\nb", "a\rb", "a\"b", "\"", "a,\"b\",\n"}) {
    auto result = sample::comparison(name);
    result.implementations[1].name = name;
    const auto rows = written(result);
    REQUIRE(rows.size() == 2);
    CHECK(rows[1].at("case") == name);
    CHECK(rows[1].at("implementation") == name);
  }
  // A reader that takes \r for a line end needs the quotes, although the one above does not.
  CHECK_THAT(pace::report::CsvSink::row(sample::comparison("a\rb"), sample::measured("x", 1)),
             Catch::Matchers::StartsWith("\"a\rb\",x,"));
}

TEST_CASE("a candidate that was not measured has empty fields, not zeros") {
  auto result = sample::comparison("case");
  result.implementations.push_back(sample::without_figures("gone", pace::Outcome::refused, "no kernel"));
  result.implementations[0].time->interval.reset();
  const auto rows = written(result);
  CHECK(rows[0].at("interval_low_ns") == "");
  CHECK(rows[0].at("speedup") == "");
  for (const auto* column : {"correct", "max_abs_error", "median_ns", "samples", "speedup", "speedup_low",
                             "observations", "first_call_ns", "gb_per_s", "verdict"})
    CHECK(rows[2].at(column) == "");
  CHECK(rows[2].at("outcome") == "refused");
  CHECK(rows[2].at("message") == "no kernel");
}

TEST_CASE("outcome and correct tell wrong, thrown and unchecked apart") {
  auto result = sample::comparison("case");
  auto wrong = sample::measured("wrong", 10);
  wrong.outcome = pace::Outcome::wrong;
  auto unchecked = sample::measured("unchecked", 10);
  unchecked.checked = false;
  result.implementations = {wrong, unchecked, sample::without_figures("threw", pace::Outcome::threw, "boom")};
  const auto rows = written(result);
  CHECK(rows[0].at("correct") == "false");
  CHECK(rows[1].at("correct") == "");
  CHECK(rows[1].at("max_abs_error") == "");
  CHECK(rows[2].at("outcome") == "threw");
}

TEST_CASE("verdict is the worst one; messages are those that did not pass") {
  auto result = sample::comparison("case");
  result.implementations[1].judgements = {{"first", pace::Verdict::passed, true, "fine"},
                                          {"second", pace::Verdict::failed, false, "slow"},
                                          {"third", pace::Verdict::undecided, true, "unclear"}};
  const auto rows = written(result);
  CHECK(rows[1].at("verdict") == "failed");
  CHECK(rows[1].at("expectation") == "first; second; third");
  CHECK(rows[1].at("message") == "slow; unclear");
}

TEST_CASE("figures keep their digits, rates use 1e9, and infinite ones and NaN are named") {
  auto result = sample::comparison("case");
  result.implementations[0].time->median = pace::Nanoseconds(0.1 + 0.2);
  result.implementations[1].bytes = 8000;
  result.implementations[1].flops = 1000;
  result.implementations[1].max_abs_error = -std::numeric_limits<double>::quiet_NaN();
  result.implementations[1].speedup->median = std::numeric_limits<double>::infinity();
  const auto rows = written(result);
  CHECK(rows[0].at("median_ns") == "0.30000000000000004");
  CHECK(rows[1].at("gb_per_s") == "4");
  CHECK(rows[1].at("gflop_per_s") == "0.5");
  CHECK(rows[1].at("max_abs_error") == "nan");
  CHECK(rows[1].at("speedup") == "inf");
}

TEST_CASE("bytes that are no UTF-8 are replaced as in JSON, so that names are equal in all files") {
  for (const std::string bad :
       {"\xff", "\xff\xfe", "\xc3", "\xe2\x82", "\xe2\x82 x", "\xe2\x28\xa1", "\xed\xa0\x80", "\xf0\x9f\x98",
        "\xf0\x9f\x98,", "\xf4\x90\x80\x80", "\xc0\xaf", "\x80\x80", "\xe0\x80\x80", "\xf0\x80\x80\x80",
        "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", "\xc3\xc3\xa4", "\xe2\xe2\x82\xac"}) {
    auto result = sample::comparison("name " + bad);
    result.implementations[1].name = bad + " fused";
    result.inputs = bad;
    const auto rows = written(result);
    const auto json = pace::report::Json::parse(pace::report::text_of(bad)).get<std::string>();
    CHECK(rows[1].at("case") == "name " + json);
    CHECK(rows[1].at("implementation") == json + " fused");
    CHECK(rows[1].at("inputs") == json);
    CHECK(pace::report::valid_utf8(bad) == json);
    CHECK(pace::report::xml_text(bad) == pace::report::valid_utf8(bad));
  }
}

TEST_CASE("CSV that was written is read again: quotes, separators and line ends in fields, and one empty field") {
  const pace::report::CsvTable table{.header = {"name", "a \"b\", c"},
                                     .rows = {{"two\nlines", ""}, {"", "2.5"}, {""}, {"\"", ","}}};
  const std::string text = pace::report::to_csv(table);
  CHECK(text == "name,\"a \"\"b\"\", c\"\n\"two\nlines\",\n,2.5\n\"\"\n\"\"\"\",\",\"\n");
  const auto read = pace::report::parse_csv(text, "x.csv");
  CHECK(read.header == table.header);
  CHECK(read.rows == table.rows);
}

TEST_CASE("CSV of other programs: line ends of Windows, empty lines, and a last line without an end") {
  const auto read = pace::report::parse_csv("a,b\r\n\r\n1,\"x\ry\"\r\n\n3,", "x.csv");
  CHECK(read.header == std::vector<std::string>{"a", "b"});
  CHECK(read.rows == std::vector<std::vector<std::string>>{{"1", "x\ry"}, {"3", ""}});
  CHECK(pace::report::parse_csv("\n\n", "x.csv").header.empty());
}

TEST_CASE("what CSV lacks is said with its file, line, column or row") {
  using Catch::Matchers::Message;
  using pace::InputError;
  const auto read = pace::report::parse_csv("name,speedup\na,1.5\nb,fast\nc\n", "x.csv");
  CHECK(read.require_column("speedup") == 1);
  CHECK(read.require_number(0, "speedup") == 1.5);
  CHECK_THROWS_MATCHES(read.require_column("time"), InputError,
                       Message("x.csv: expected a column 'time'; there are name, speedup"));
  CHECK_THROWS_MATCHES(read.require_number(0, "time"), InputError,
                       Message("x.csv: expected a column 'time'; there are name, speedup"));
  CHECK_THROWS_MATCHES(read.require_number(1, "speedup"), InputError,
                       Message("x.csv: row 2, column 'speedup': expected a number, found 'fast'"));
  CHECK_THROWS_MATCHES(read.require_number(2, "speedup"), InputError,
                       Message("x.csv: row 3, column 'speedup': expected a number, found ''"));
  CHECK_THROWS_MATCHES(pace::report::parse_csv("a,b\n1,\"x\n2,y\n", "x.csv"), InputError,
                       Message("x.csv:2: expected CSV: a quote begins here and never ends"));
}

TEST_CASE("CSV without any line has no column, and says that") {
  CHECK_THROWS_MATCHES(pace::report::parse_csv("\n", "x.csv").require_column("time"), pace::InputError,
                       Catch::Matchers::Message("x.csv: expected a column 'time'; there is none"));
}
