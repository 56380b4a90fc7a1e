// The new generation's flow: its lines, its CSV file, slow compilation, traces.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <nlohmann/json.hpp>

#include "tests/operators/compat_dependencies.hpp"
#include "tests/support/uncompressed.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

namespace fs = std::filesystem;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Matches;
using pace::test::CompatFixture;
using pace::test::costs;
using pace::test::give_costs;
using pace::test::notice;
using pace::test::relu_of;
using pace::test::compat::Generation;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

constexpr const char* file_name = "operatorbench_torchbench_float32.csv";

TEST_CASE("new: a line, and a row of the CSV file") {
  CompatFixture fixture(relu_of({1, 2, 3}));
  give_costs(fixture);
  CHECK(fixture.run(Generation::new_).operators == 1);
  // Elapsed: eager's first call and one of each, 2 + 2 + 1, 6 + 6 + 2, 4 + 4 + 4.
  CHECK(fixture.out.str() ==
        "aten.relu.default: inductor=2.0000x (1.4000-2.6000) took 31s\n"
        "Wrote operatorbench_torchbench_float32.csv\n");
  CHECK(fixture.err.str() == notice() + "aten.relu.default: 3 samples\n");
  const std::string file =
      "operator,inductor 20th,inductor 50th,inductor 80th,elapsed,eager abs,inductor abs\r\n"
      "aten.relu.default,1.400000,2.000000,2.600000,31.000000,4.00000000,2.33333333\r\n";
  CHECK(fixture.file(file_name) == file);
  (void)fixture.run(Generation::new_);  // anew, not behind the old
  CHECK(fixture.file(file_name) == file);
}

TEST_CASE("new: two back ends get their ratio as a third, whose time the header promises and no row has") {
  CompatFixture fixture(relu_of({1, 2, 3}));
  give_costs(fixture);
  fixture.add("aot_inductor[halide]", costs({0, 2, 1, 1}));
  fixture.options.inductor_configs = {"halide"};
  (void)fixture.run(Generation::new_);
  // halide: 1, 6, 4; inductor over halide: 1/2, 2, 4.
  CHECK_THAT(fixture.out.str(), ContainsSubstring("inductor=2.0000x (1.4000-2.6000) halide=4.0000x (2.2000-5.2000) "
                                                  "inductor/halide=2.0000x (1.1000-3.2000) took 35s\n"));
  const auto lines = split(fixture.file(file_name), '\n');
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] ==
        "operator,inductor 20th,inductor 50th,inductor 80th,halide 20th,halide 50th,halide 80th,inductor/halide 20th,"
        "inductor/halide 50th,inductor/halide 80th,elapsed,eager abs,inductor abs,halide abs,inductor/halide abs\r");
  CHECK(lines[1] ==
        "aten.relu.default,1.400000,2.000000,2.600000,2.200000,4.000000,5.200000,1.100000,2.000000,3.200000,35.000000,"
        "4.00000000,2.33333333,1.33333333\r");
  CHECK(split(lines[0], ',').size() == split(lines[1], ',').size() + 1);
}

TEST_CASE("new: three back ends, no ratio, as many values as columns") {
  CompatFixture fixture(relu_of({1}));
  fixture.add("aot_inductor[autotune]", costs({0, 4}));
  fixture.add("torchscript", costs({0, 8}));
  fixture.options.inductor_configs = {"autotune"};
  fixture.options.measure_nvfuser = true;
  (void)fixture.run(Generation::new_);
  CHECK(split(fixture.out.str(), '\n').at(0) ==
        "aten.relu.default: inductor=2.0000x (2.0000-2.0000) autotune=0.5000x (0.5000-0.5000) "
        "nvfuser=0.2500x (0.2500-0.2500) took 17s");
  const auto lines = split(fixture.file(file_name), '\n');
  CHECK(split(lines.at(0), ',').size() == split(lines.at(1), ',').size());
  CHECK(split(lines.at(1), ',').size() == 1 + 3 * 3 + 1 + 4);
}

TEST_CASE("new: names with commas and quotes are one field each") {
  CompatFixture fixture(relu_of({1}));
  fixture.add("aot_inductor[max_autotune=1,epilogue_fusion=1]", costs({0, 2}));
  fixture.options.inductor_configs = {"max_autotune=1,epilogue_fusion=1"};
  (void)fixture.run(Generation::new_);
  CHECK(split(fixture.file(file_name), '\n').at(0) ==
        "operator,inductor 20th,inductor 50th,inductor 80th,\"max_autotune=1,epilogue_fusion=1 20th\","
        "\"max_autotune=1,epilogue_fusion=1 50th\",\"max_autotune=1,epilogue_fusion=1 80th\","
        "\"inductor/max_autotune=1,epilogue_fusion=1 20th\",\"inductor/max_autotune=1,epilogue_fusion=1 50th\","
        "\"inductor/max_autotune=1,epilogue_fusion=1 80th\",elapsed,eager abs,inductor "
        "abs,\"max_autotune=1,epilogue_fusion=1 abs\","
        "\"inductor/max_autotune=1,epilogue_fusion=1 abs\"\r");
}

TEST_CASE("new: the time of compiling belongs to the operators, in proportion to what each took") {
  CompatFixture fixture(relu_of({1}) + "Operator: aten.neg.default\ncnt: 1, ((T([2], f32),), {})\n");
  fixture.inductor->prepare_all_cost = 100;
  const auto lines = [&] {
    fixture.out.str("");
    (void)fixture.run(Generation::new_);
    return fixture.out.str();
  };
  const std::string equal = lines();  // nothing is known of them
  CHECK_THAT(equal, ContainsSubstring("aten.relu.default: inductor=2.0000x (2.0000-2.0000) took 55s"));
  CHECK_THAT(equal, ContainsSubstring("aten.neg.default: inductor=2.0000x (2.0000-2.0000) took 55s"));
  fixture.inductor->compiled_by_operator = {{"aten.relu.default", 3}, {"aten.neg.default", 1}};
  const std::string shares = lines();
  CHECK_THAT(shares, ContainsSubstring("aten.relu.default: inductor=2.0000x (2.0000-2.0000) took 80s"));
  CHECK_THAT(shares, ContainsSubstring("aten.neg.default: inductor=2.0000x (2.0000-2.0000) took 30s"));
}

TEST_CASE("new: every row is in the file before the next operator starts") {
  CompatFixture fixture(relu_of({1}) + "Operator: aten.neg.default\ncnt: 1, ((T([2], f32),), {})\n");
  std::vector<std::size_t> lines;
  fixture.eager->run = [&](const auto& call, const auto& tensors) {
    lines.push_back(split(fixture.file(file_name), '\n').size());
    return call.run(tensors);
  };
  (void)fixture.run(Generation::new_);
  CHECK(lines == std::vector<std::size_t>{1, 1, 2, 2});
}

TEST_CASE("new: one operator is printed, and no file written") {
  CompatFixture fixture(relu_of({1}) + "Operator: aten.neg.default\ncnt: 1, ((T([2], f32),), {})\n");
  fixture.options.op = "aten.neg.default";
  (void)fixture.run(Generation::new_);
  CHECK(fixture.out.str() == "aten.neg.default: inductor=2.0000x (2.0000-2.0000) took 5s\n");
  CHECK_FALSE(fs::exists(fixture.options.output_directory));
}

TEST_CASE("new: an error has its kind, and a number that counts from the first sample that is measured") {
  CompatFixture fixture(relu_of({1, 2, 3, 4}));
  fixture.options.start_idx = 1;
  fixture.inductor->run = [](const auto& call, const auto& tensors) -> c10::IValue {
    switch (tensors[0].numel()) {
      case 2:
        throw std::runtime_error("two is too many");
      case 3:
        TORCH_CHECK_INDEX(false, "three is out of range");
        break;
      case 4:
        throw pace::Unsupported("four is not for me");
    }
    return call.run(tensors);
  };
  const auto summary = fixture.run(Generation::new_);
  CHECK(summary.operators == 0);
  CHECK(summary.samples == 0);
  CHECK(summary.errors == 3);
  CHECK(fixture.out.str() ==
        "error aten.relu.default input 0: RuntimeError: two is too many\n"
        "error aten.relu.default input 1: IndexError: three is out of range\n"
        "error aten.relu.default input 2: Unsupported: four is not for me\n"
        "Wrote operatorbench_torchbench_float32.csv\n");
  CHECK(split(fixture.file(file_name), '\n').size() == 1);
}

TEST_CASE("new: what cannot be made is an error of its sample") {
  CompatFixture fixture(
      "Operator: aten.relu.default\n"
      "cnt: 1, ((T([2], f32), 1, 2, 3), {})\n"
      "cnt: 1, ((T([1], f32),), {})\n");
  const auto summary = fixture.run(Generation::new_);
  CHECK(summary.samples == 1);
  CHECK(summary.errors == 1);
  CHECK_THAT(fixture.out.str(), Matches("error aten\\.relu\\.default input 0: \\w+: .*inputs\\.log:2:.*\n[^]*"));
  CHECK_THAT(fixture.out.str(), Matches("[^]*\naten\\.relu\\.default: "
                                        "(\\S+=\\d+\\.\\d{4}x \\(\\d+\\.\\d{4}-\\d+\\.\\d{4}\\) )+took \\d+s\n[^]*"));
}

TEST_CASE("new: all samples of an operator are announced for compilation before the first is prepared") {
  CompatFixture fixture(relu_of({1, 2, 3}));
  fixture.options.max_samples = 2;
  (void)fixture.run(Generation::new_);
  CHECK(fixture.dependencies.log == std::vector<std::string>{"prepare 2 on eager", "prepare 2 on aot_inductor",       //
                                                             "prepare eager", "prepare aot_inductor",                 //
                                                             "eager 1", "time", "eager 1", "time", "aot_inductor 1",  //
                                                             "prepare eager", "prepare aot_inductor",                 //
                                                             "eager 2", "time", "eager 2", "time", "aot_inductor 2"});
}

TEST_CASE("new: more than 10 s of compilation is told, with the configuration as Python prints it") {
  CompatFixture fixture(relu_of({1}));
  auto& halide = fixture.add("aot_inductor[halide]", costs({0, 1}));
  fixture.options.inductor_configs = {"halide"};
  fixture.eager->compiled = 100;  // whatever that may be
  SECTION("as the back end knows") {
    fixture.inductor->compiled = 12.34;
    fixture.inductor->prepare_cost = 1;
    halide.compiled = 10;
    halide.prepare_cost = 11;
    (void)fixture.run(Generation::new_);
    CHECK_THAT(fixture.out.str(), Catch::Matchers::StartsWith("slow compile inductor 12.3s {}\naten"));
  }
  SECTION("as the clock shows") {
    fixture.inductor->prepare_cost = 10;
    halide.prepare_cost = 10.5;
    (void)fixture.run(Generation::new_);
    CHECK_THAT(fixture.out.str(),
               Catch::Matchers::StartsWith(
                   "slow compile inductor 10.5s {'cpu_backend': 'halide', 'cuda_backend': 'halide'}\naten"));
  }
  SECTION("not by the old generation") {
    fixture.options.inductor_configs.clear();
    fixture.inductor->compiled = 12.34;
    (void)fixture.run(Generation::old);
    CHECK_THAT(fixture.out.str(), !ContainsSubstring("slow"));
  }
}

TEST_CASE("new: matrix products are of high precision while it runs") {
  const auto precision = [] { return at::globalContext().float32MatmulPrecision(); };
  CompatFixture fixture(relu_of({1}));
  at::Float32MatmulPrecision seen{};
  fixture.eager->run = [&](const auto& call, const auto& tensors) {
    seen = precision();
    return call.run(tensors);
  };
  (void)fixture.run(Generation::new_);
  CHECK(seen == at::Float32MatmulPrecision::HIGH);
  CHECK(precision() == at::Float32MatmulPrecision::HIGHEST);
  (void)fixture.run(Generation::old);
  CHECK(seen == at::Float32MatmulPrecision::HIGHEST);
}

TEST_CASE("new: one trace for each operator, with the ranges of samples, repeats and models") {
  CompatFixture fixture(relu_of({1, 2}) + "Operator: aten.neg.default\ncnt: 1, ((T([2], f32),), {})\n");
  fixture.options.profile = true;
  fixture.options.repeats = 3;
  (void)fixture.run(Generation::new_);
  std::map<std::string, int> ranges;
  const auto folder = fixture.options.output_directory / "log";
  for (const auto& entry : fs::directory_iterator(folder / "operator_aten.relu.default")) {
    CHECK_THAT(entry.path().string(), Catch::Matchers::EndsWith(".pt.trace.json.gz"));
    const auto trace = nlohmann::json::parse(pace::test::uncompressed(entry.path()));
    for (const auto& event : trace.at("traceEvents"))
      if (event.value("cat", "") == "user_annotation") ++ranges[event.at("name")];
  }
  CHECK(ranges ==
        std::map<std::string, int>{
            {"iter_0", 1}, {"iter_1", 1}, {"rep_0", 2}, {"rep_1", 2}, {"rep_2", 2}, {"model_0", 6}, {"model_1", 6}});
  CHECK(std::distance(fs::directory_iterator(folder), {}) == 2);
  fixture.options.profile = false;
  pace::detail::remove_tree(folder);
  (void)fixture.run(Generation::new_);
  CHECK_FALSE(fs::exists(folder));
}

}  // namespace
