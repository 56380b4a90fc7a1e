// fastrnns' figures and how they are printed: table, oss, pep.
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "benches/rnn/bench_json.hpp"
#include "benches/rnn/bench_result.hpp"
#include "benches/rnn/table.hpp"
#include "pace/base/error.hpp"
// After LibTorch's headers, whose CHECK is another one.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using pace::benches::rnn::JsonFormat;
CATCH_REGISTER_ENUM(JsonFormat, JsonFormat::none, JsonFormat::oss, JsonFormat::pep)

namespace {

using namespace pace::benches::rnn;

TEST_CASE("mean and deviation are computed in float32, with Bessel's correction") {
  const auto result = make_bench_result("aten", {1, 2, 3, 6}, {0.1F, 0.1F});
  REQUIRE(result.avg_fwd == 3);
  // Squares of deviations: 4 + 1 + 0 + 9 = 14, over 3.
  REQUIRE(result.std_fwd == static_cast<double>(std::sqrt(14.0F / 3.0F)));
  // float32's value of 0.1.
  REQUIRE(result.avg_bwd == 0.10000000149011612);
  REQUIRE(result.std_bwd == 0);
  REQUIRE(result.info_fwd == std::vector<float>{1, 2, 3, 6});
}

TEST_CASE("a single time has no deviation, and no time is an error") {
  const auto result = make_bench_result("aten", {2.5F}, {4});
  REQUIRE(result.avg_fwd == 2.5);
  REQUIRE(std::isnan(result.std_fwd));
  REQUIRE(std::isnan(result.std_bwd));
  REQUIRE_THROWS_AS(make_bench_result("aten", {}, {}), pace::Error);
}

TEST_CASE("the table has columns of 16 characters, filled or cut") {
  REQUIRE(table_header() ==
          "            name          avg_fwd          std_fwd         info_fwd"
          "          avg_bwd          std_bwd         info_bwd");
  BenchResult result{.name = "aten", .avg_fwd = 12.34567, .std_fwd = 0.00001234, .avg_bwd = 123456};
  result.std_bwd = -std::numeric_limits<double>::quiet_NaN();
  REQUIRE(table_line(result) ==
          "            aten            12.35        1.234e-05             None"
          "        1.235e+05              nan             None");
  result.name = "a_name_of_17_char";
  REQUIRE(table_line(result, "|") ==
          "a_name_of_17_cha|           12.35|       1.234e-05|            None"
          "|       1.235e+05|             nan|            None");
  result.name = "exactly_16_chars";
  REQUIRE_THAT(table_line(result, ""), Catch::Matchers::StartsWith("exactly_16_chars           12.35"));
}

std::vector<GroupResults> two_groups() {
  return {{"lstm", {make_bench_result("aten", {1, 2}, {0.1F, 1e-5F}), make_bench_result("jit", {3}, {1e6F})}},
          {"resnet", {}}};
}

TEST_CASE("oss is one object of means, as json.dumps writes it") {
  std::ostringstream out;
  print_json(JsonFormat::oss, two_groups(), out);
  // (0.1 + 0.00001) / 2 in float32, as float64 has it.
  const float mean = (0.1F + 1e-5F) / 2;
  REQUIRE(python_str(mean) == "0.050005000084638596");
  REQUIRE(out.str() ==
          "{\"lstm\": {\"aten\": 1.5, \"jit\": 3.0}, "
          "\"lstm-backward\": {\"aten\": 0.050005000084638596, \"jit\": 1000000.0}, "
          "\"resnet\": {}, \"resnet-backward\": {}}\n");
  std::ostringstream nothing;
  print_json(JsonFormat::oss, {}, nothing);
  REQUIRE(nothing.str() == "{}\n");
}

TEST_CASE("pep is a line for each time, its value a string") {
  std::ostringstream out;
  print_json(JsonFormat::pep, two_groups(), out);
  REQUIRE(out.str() ==
          "Caffe2Observer {\"type\": \"NET\", \"metric\": \"lstm-aten\", \"unit\": \"ms\", \"value\": \"1.0\"}\n"
          "Caffe2Observer {\"type\": \"NET\", \"metric\": \"lstm-aten\", \"unit\": \"ms\", \"value\": \"2.0\"}\n"
          "Caffe2Observer {\"type\": \"NET\", \"metric\": \"lstm-jit\", \"unit\": \"ms\", \"value\": \"3.0\"}\n"
          "Caffe2Observer {\"type\": \"NET\", \"metric\": \"lstm-backward-aten\", \"unit\": \"ms\", "
          "\"value\": \"0.10000000149011612\"}\n"
          "Caffe2Observer {\"type\": \"NET\", \"metric\": \"lstm-backward-aten\", \"unit\": \"ms\", "
          "\"value\": \"9.999999747378752e-06\"}\n"
          "Caffe2Observer {\"type\": \"NET\", \"metric\": \"lstm-backward-jit\", \"unit\": \"ms\", "
          "\"value\": \"1000000.0\"}\n");
}

TEST_CASE("without a format there is no JSON") {
  std::ostringstream out;
  print_json(JsonFormat::none, two_groups(), out);
  REQUIRE(out.str() == "");
}

TEST_CASE("what JSON has no spelling for is spelt as Python does") {
  REQUIRE(json_number(std::nan("")) == "NaN");
  REQUIRE(json_number(-std::numeric_limits<double>::infinity()) == "-Infinity");
  REQUIRE(json_string("a \"b\" \\ \xC3\xA9\n") == "\"a \\\"b\\\" \\\\ \\u00e9\\n\"");
}

}  // namespace
