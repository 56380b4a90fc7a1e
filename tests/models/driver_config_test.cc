// The YAML file: every section of torchbench.yaml, anchors, and each mistake with its line.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benches/models/config_file.hpp"
#include "pace/base/error.hpp"
#include "pace/os/read_file.hpp"

namespace {

using namespace pace::benches::models;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::IsEmpty;
using Catch::Matchers::Message;

const std::set<std::string, std::less<>> known{"a", "b", "c", "d"};

struct Read {
  Config config;
  std::vector<std::string> warnings;
  explicit Read(const std::string& text) {
    config = parse_config(text, "m.yaml", known, [&](const std::string& warning) { warnings.push_back(warning); });
  }
};

void refuses(const std::string& text, const std::string& message) {
  CAPTURE(text);
  CHECK_THROWS_MATCHES(Read(text), pace::InputError, Message(message));
}

TEST_CASE("each section goes where it belongs") {
  // Each list holds a model that no other one of the same kind of section holds in this text.
  const std::vector<std::pair<std::string, Names Config::*>> plain{
      {"dont_change_batch_size", &Config::dont_change_batch_size},
      {"require_larger_multiplier_for_smaller_tensor", &Config::require_larger_multiplier_for_smaller_tensor},
      {"non_deterministic", &Config::non_deterministic},
      {"no_deterministic_kernels", &Config::no_deterministic_kernels},
      {"only_training", &Config::only_training}};
  for (const auto& [section, member] : plain) {
    CAPTURE(section);
    CHECK(Read(section + ": [a]").config.*member == Names{"a"});
    CHECK(Read("skip: {all: [a]}").config.*member == Names{});
  }
  const std::map<std::string, const Names& (*)(const Config&)> nested{
      {"tolerance: {higher: [b]}", [](const Config& c) -> const Names& { return c.tolerance.higher; }},
      {"tolerance: {even_higher: [b]}", [](const Config& c) -> const Names& { return c.tolerance.even_higher; }},
      {"tolerance: {higher_fp16: [b]}", [](const Config& c) -> const Names& { return c.tolerance.higher_fp16; }},
      {"tolerance: {higher_bf16: [b]}", [](const Config& c) -> const Names& { return c.tolerance.higher_bf16; }},
      {"tolerance: {higher_bf16_xpu: [b]}",
       [](const Config& c) -> const Names& { return c.tolerance.higher_bf16_xpu; }},
      {"tolerance: {cosine: [b]}", [](const Config& c) -> const Names& { return c.tolerance.cosine; }},
      {"tolerance: {use_iou_for_bool_masks: [b]}",
       [](const Config& c) -> const Names& { return c.tolerance.use_iou_for_bool_masks; }},
      {"dtype: {force_amp_for_fp16_bf16_models: [b]}",
       [](const Config& c) -> const Names& { return c.dtype.force_amp_for_fp16_bf16_models; }},
      {"dtype: {force_fp16_for_bf16_models: [b]}",
       [](const Config& c) -> const Names& { return c.dtype.force_fp16_for_bf16_models; }},
      {"dtype: {fp32_only_models: [b]}", [](const Config& c) -> const Names& { return c.dtype.fp32_only_models; }},
      {"skip: {all: [b]}", [](const Config& c) -> const Names& { return c.skip.all; }},
      {"skip: {test: {training: [b]}}", [](const Config& c) -> const Names& { return c.skip.training; }},
      {"skip: {device: {cpu: [b]}}", [](const Config& c) -> const Names& { return c.skip.cpu; }},
      {"skip: {device: {cuda: [b]}}", [](const Config& c) -> const Names& { return c.skip.cuda; }},
      {"skip: {control_flow: [b]}", [](const Config& c) -> const Names& { return c.skip.control_flow; }},
      {"skip: {multiprocess: [b]}", [](const Config& c) -> const Names& { return c.skip.multiprocess; }},
      {"accuracy: {skip: {large_models: [b]}}",
       [](const Config& c) -> const Names& { return c.accuracy.large_models; }},
      {"accuracy: {skip: {eager_not_deterministic: [b]}}",
       [](const Config& c) -> const Names& { return c.accuracy.eager_not_deterministic; }},
      {"optimizer: {sgd: [b]}", [](const Config& c) -> const Names& { return c.optimizer.sgd; }},
      {"optimizer: {none: [b]}", [](const Config& c) -> const Names& { return c.optimizer.none; }},
  };
  for (const auto& [text, list] : nested) {
    CAPTURE(text);
    const Read read(text);
    CHECK(list(read.config) == Names{"b"});
    CHECK_THAT(read.warnings, IsEmpty());
    std::size_t filled = 0;
    for (const auto& [other, other_list] : nested) filled += other_list(read.config).empty() ? 0 : 1;
    CHECK(filled == 1);
  }
}

TEST_CASE("numbers by model") {
  const Read read(
      "batch_size:\n  training: {a: 8}\n  inference:\n    a: 16\n    b: 4\n"
      "tolerance:\n  iou_thresholds: {a: 0.97}\n  accuracy_check_runs: {b: 3}\n"
      "accuracy:\n  max_batch_size: {c: 2}\n");
  CHECK(read.config.batch_size.training.at("a") == 8);
  CHECK(read.config.batch_size.inference.at("a") == 16);
  CHECK(read.config.batch_size.inference.at("b") == 4);
  CHECK(read.config.tolerance.iou_thresholds.at("a") == 0.97);
  CHECK(read.config.tolerance.accuracy_check_runs.at("b") == 3);
  CHECK(read.config.accuracy.max_batch_size.at("c") == 2);
}

TEST_CASE("anchors stand in lists; slow holds the very slow ones") {
  const Read read(
      "detectron2_models: &DETECTRON2\n  - a\n  - b\n"
      "very_slow: [d]\nslow:\n  - c\nskip:\n  test:\n    training:\n      - *DETECTRON2\n      - [c, [d]]\n");
  CHECK(read.config.skip.training == Names{"a", "b", "c", "d"});
  CHECK(read.config.slow == Names{"c", "d"});
  CHECK(read.config.very_slow == Names{"d"});
  CHECK_THAT(read.warnings, IsEmpty());
}

TEST_CASE("a file says which statuses are expected, and why") {
  const Read read(
      "expected:\n  a:\n    training/amp: {status: fail_accuracy, reason: momentum is chaotic}\n"
      "    inference: {status: OOM, reason: large, backend: torchscript}\n");
  CHECK(read.config.expected.at("a").at("training/amp").status == "fail_accuracy");
  CHECK(read.config.expected.at("a").at("training/amp").reason == "momentum is chaotic");
  CHECK(read.config.expected.at("a").at("training/amp").backend == "");
  CHECK(read.config.expected.at("a").at("inference").status == "OOM");
  CHECK(read.config.expected.at("a").at("inference").backend == "torchscript");
}

TEST_CASE("nothing is a file, too") {
  CHECK(Read("").config.slow == Names{});
  CHECK_THAT(Read("# a comment\n").warnings, IsEmpty());
  CHECK(Read("skip:\n  all:\n  device:\nbatch_size:\n  training:\n").config.skip.all == Names{});
}

TEST_CASE("a file of another kind is none of models") {
  const std::string message = ": expected sections such as 'skip', and this file has none";
  refuses("name: something\nversion: 3\n", "m.yaml:1" + message);
  refuses("# skip\nskipp:\n  all: [a]\n", "m.yaml:2" + message);
  refuses("{}\n---\na\n", "m.yaml:3: expected one document, found another one behind '---'");
  CHECK(Read("version: 3\nskip:\n").warnings.size() == 1);
}

TEST_CASE("names of a file reach no terminal as escape sequences") {
  const Read read("skip:\n  all: [a]\n\"\\e[31mred\": 1\n");
  REQUIRE(read.warnings.size() == 1);
  CHECK(read.warnings[0].find('\x1b') == std::string::npos);
}

TEST_CASE("unknown sections and models are warned about, with their lines") {
  const Read read(
      "skip:\n  all:\n    - a\n    - zebra\n  everywhere: [a]\nfaster: 3\nbatch_size:\n  training:\n    horse: 2\n"
      "trt_not_yet_working: [a]\ntolerance:\n  freezing:\n    higher_fp16: [a]\n    even_higher: [b]\n"
      "    highest: [a]\n");
  CHECK(read.warnings == std::vector<std::string>{
                             "m.yaml:4: section 'skip.all': no model is called 'zebra'",
                             "m.yaml:5: there is no section 'skip.everywhere'; it is left out",
                             "m.yaml:6: there is no section 'faster'; it is left out",
                             "m.yaml:9: section 'batch_size.training': no model is called 'horse'",
                             "m.yaml:10: section 'trt_not_yet_working' has no effect: there is no TensorRT back end",
                             "m.yaml:15: there is no section 'tolerance.freezing.highest'; it is left out"});
  CHECK(read.config.tolerance.freezing_higher_fp16 == Names{"a"});
  CHECK(read.config.tolerance.freezing_even_higher == Names{"b"});
  const auto skip = Read("skip:\n  freezing:\n    cpu: [a]\n    cuda: [b]\n").config.skip;
  CHECK(skip.freezing_cpu == Names{"a"});
  CHECK(skip.freezing_cuda == Names{"b"});
  CHECK(read.config.skip.all == Names{"a", "zebra"});
}

TEST_CASE("a mistake in a file is told with its line") {
  refuses("skip:\n  all: a\n", "m.yaml:2: section 'skip.all': expected a list of models, found 'a'");
  refuses("skip:\n  all:\n    a: 1\n", "m.yaml:3: section 'skip.all': expected a list of models, found a map");
  refuses("slow:\n  - a\n  - {b: 1}\n", "m.yaml:3: section 'slow': expected a list of models, found a map");
  refuses("skip: [a]\n", "m.yaml:1: section 'skip': expected sections such as 'skip.all', found a list");
  refuses("- a\n", "m.yaml:1: expected sections such as 'skip', found a list");
  refuses("batch_size:\n  training:\n    a: 0\n",
          "m.yaml:3: section 'batch_size.training', 'a': expected a whole number above 0, found '0'");
  refuses("batch_size:\n  training:\n    a: many\n",
          "m.yaml:3: section 'batch_size.training', 'a': expected a whole number above 0, found 'many'");
  refuses("tolerance: {iou_thresholds: {a: 1.5}}",
          "m.yaml:1: section 'tolerance.iou_thresholds', 'a': expected a number from 0 to 1, found '1.5'");
  refuses("batch_size:\n  training: {a: 1, a: 2}\n", "m.yaml:2: section 'batch_size.training': 'a' is there twice");
  refuses("slow: [a]\nslow: [b]\n", "m.yaml:2: section 'slow' is there twice");
  refuses("expected:\n  a:\n    sometimes: {status: x, reason: y}\n",
          "m.yaml:3: section 'expected', 'a': expected training or inference, or one of them with a precision, such as "
          "training/amp; found 'sometimes'");
  refuses("expected:\n  a:\n    training/half: {status: x, reason: y}\n",
          "m.yaml:3: section 'expected', 'a': expected training or inference, or one of them with a precision, such as "
          "training/amp; found 'training/half'");
  refuses("expected:\n  a:\n    training: {status: x}\n",
          "m.yaml:3: section 'expected', 'a', 'training': expected {status: ..., reason: ...}, and perhaps a backend");
  refuses("expected:\n  a:\n    training: {status: x, reason: y, backend: [a, b]}\n",
          "m.yaml:3: section 'expected', 'a', 'training': expected {status: ..., reason: ...}, and perhaps a backend");
  refuses("slow: [a]\n---\nslow: [b]\n", "m.yaml:3: expected one document, found another one behind '---'");
  refuses("slow: &S\n  - *S\n", "m.yaml:1: section 'slow': lists within lists without end");
  CHECK_THROWS_MATCHES(Read("slow:\n  - a\n - b: [\n"), pace::InputError,
                       Catch::Matchers::MessageMatches(Catch::Matchers::StartsWith("m.yaml:3: expected YAML: ")));
  CHECK_THROWS_MATCHES(Read("slow: [*undefined]"), pace::InputError,
                       Catch::Matchers::MessageMatches(Catch::Matchers::StartsWith("m.yaml:1: expected YAML: ")));
}

TEST_CASE("aliases that multiply, and lists without end, are refused with their line") {
  std::string text = "detectron2_models: &a0 [a, a, a, a, a, a, a, a, a]\n";
  std::string bomb = "slow:\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "  - &a" + std::to_string(i) + " [" + before;
    for (int j = 1; j < 9; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  CHECK_THROWS_MATCHES(
      Read(text + bomb), pace::InputError,
      Catch::Matchers::MessageMatches(Catch::Matchers::StartsWith("m.yaml:") &&
                                      Catch::Matchers::ContainsSubstring("section 'slow': expected at most 100000 "
                                                                         "elements in all lists, aliases included")));
  const std::string deep(100'000, '[');
  CHECK_THROWS_MATCHES(Read("slow: " + deep), pace::InputError,
                       Catch::Matchers::MessageMatches(Catch::Matchers::StartsWith("m.yaml:1: expected YAML: ")));
  const std::string deep_map(100'000, '{');
  CHECK_THROWS_AS(Read("slow: " + deep_map), pace::InputError);
}

TEST_CASE("the project's own file is read without a word") {
  std::vector<std::string> warnings;
  const std::string file = "benches/models/models.yaml";
  const auto config = parse_config(pace::read_file(file, "a YAML file"), file, {},
                                   [&](const std::string& warning) { warnings.push_back(warning); });
  // At most for models that are not there: this test links none.
  for (const auto& warning : warnings) CHECK_THAT(warning, ContainsSubstring("no model is called"));
  for (const auto& [model, modes] : config.expected)
    for (const auto& [mode, expected] : modes) CHECK_FALSE(expected.reason.empty());
}

}  // namespace
