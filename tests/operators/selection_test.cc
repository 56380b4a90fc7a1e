#include "benches/operators/selection.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_container_properties.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::Message;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::StartsWith;
namespace operators = pace::benches::operators;

pace::corpus::Corpus corpus_of(const std::string& text, const pace::corpus::LoadOptions& options = {}) {
  const auto file = std::filesystem::temp_directory_path() / ("pace_selection_" + std::to_string(getpid()) + ".txt");
  std::ofstream(file) << text;
  const auto corpus = pace::corpus::Corpus::from_file(file, options);
  std::filesystem::remove(file);
  return corpus;
}

const std::string recorded =
    "Operator: aten.add.Tensor\n"
    "cnt: 3, ((T([1], f32), 1), {})\n"
    "cnt: 2, ((T([2], f32), 1), {})\n"
    "cnt: 1, ((T([3], f32), 1), {})\n"
    "Operator: aten.convolution.default\n"
    "cnt: 1, ((T([1, 1, 3, 3], f32), T([1, 1, 3, 3], f32), None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1), {})\n"
    "Operator: aten.embedding.default\n"
    "cnt: 1, ((T([4, 2], f32), T([3], i64)), {})\n"
    "Operator: aten.gather.default\n"
    "cnt: 1, ((T([4], f32), 0, T([4], i64)), {})\n"
    "Operator: aten.made_up.default\n"
    "cnt: 1, ((T([4], f32),), {})\n"
    "Operator: aten.relu.default\n"
    "cnt: 1, ((T([4], f32),), {})\n";

struct Selection {
  std::vector<operators::Selected> selected;
  std::vector<std::string> said;
};

Selection select(const pace::corpus::Corpus& corpus, const operators::ReplayOptions& options) {
  Selection selection;
  selection.selected =
      operators::select(corpus, options, [&](const std::string& line) { selection.said.push_back(line); });
  return selection;
}

TEST_CASE("letters and ranges of letters, and nothing else") {
  const auto letters = [](const std::string& text) {
    std::string read;
    return operators::read_letters(text, read) ? read : "no letters";
  };
  CHECK(letters("a") == "a");
  CHECK(letters("a-c,f") == "abcf");
  CHECK(letters("B-d,Z") == "bcdz");
  for (const char* text : {"", "a,", ",a", "c-a", "a-", "-a", "ab", "1", "a-3", "a c"}) {
    CAPTURE(text);
    CHECK(letters(text) == "no letters");
  }
}

TEST_CASE("operators by the first letters of their names, without namespaces and underscores") {
  const auto corpus = corpus_of(recorded + "Operator: aten._softmax.default\ncnt: 1, ((T([4], f32), 0, False), {})\n");
  const auto names = [&](const std::string& letters) {
    operators::ReplayOptions options;
    options.letters = letters;
    std::string names;
    for (const auto& each : select(corpus, options).selected) names += each.op->name + ' ';
    return names;
  };
  CHECK(names("cr") == "aten.convolution.default aten.relu.default ");
  CHECK(names("s") == "aten._softmax.default ");
  CHECK_THROWS_WITH(names("z"), ContainsSubstring("--operator-range z"));
  pace::corpus::OperatorSamples declared{
      "aten.relu.default", {{.text = "((), {})", .count = 1, .where = {}, .declared = {.module = "Zebra"}}}};
  CHECK(operators::operator_letter(declared) == 'z');
}

TEST_CASE("all operators but those that the skip rules leave out, which are named unless silent") {
  const auto corpus = corpus_of(recorded);
  operators::ReplayOptions options;
  options.skip_rules = operators::SkipRules::upstream;
  const auto [selected, said] = select(corpus, options);
  REQUIRE(selected.size() == 2);
  CHECK(selected[0].op->name == "aten.add.Tensor");
  CHECK(selected[0].samples.size() == 3);
  CHECK(selected[1].op->name == "aten.relu.default");
  CHECK(said == std::vector<std::string>{"Skipping aten.embedding.default: Embedding inputs NYI",
                                         "Skipping aten.gather.default, input generator nyi",
                                         "Skipping aten.made_up.default, no inductor impl"});
}

TEST_CASE("the skip rules ask for kernels on the device of the run") {
  const auto corpus = corpus_of(
      "Operator: aten._scaled_dot_product_flash_attention_for_cpu.default\n"
      "cnt: 1, ((T([1, 1, 2, 8], f32), T([1, 1, 2, 8], f32), T([1, 1, 2, 8], f32)), {})\n"
      "Operator: aten.new_zeros.default\ncnt: 1, ((T([4], f32), [4]), {})\n");
  operators::ReplayOptions options;
  options.skip_rules = operators::SkipRules::upstream;
  CHECK(select(corpus, options).selected.size() == 2);
  for (const char* device : {"cuda", "cuda:1"}) {
    options.device = device;
    const auto [selected, said] = select(corpus, options);
    REQUIRE(selected.size() == 1);  // a composite operator runs everywhere
    CHECK(selected[0].op->name == "aten.new_zeros.default");
    CHECK(said == std::vector<std::string>{
                      "Skipping aten._scaled_dot_product_flash_attention_for_cpu.default, no inductor impl"});
  }
}

TEST_CASE("nothing is left out unless an option asks for it") {
  const auto corpus = corpus_of(recorded);
  const auto [selected, said] = select(corpus, {});
  CHECK(selected.size() == corpus.operators().size());
  CHECK_THAT(said, Catch::Matchers::IsEmpty());
}

TEST_CASE("start-idx and max-samples take a slice of each operator's samples") {
  const auto corpus = corpus_of(recorded);
  operators::ReplayOptions options;
  options.start_idx = 1;
  options.max_samples = 1;
  const auto selected = select(corpus, options).selected;
  REQUIRE(selected.size() == 1);  // relu has but one sample
  CHECK(selected[0].first == 1);
  REQUIRE(selected[0].samples.size() == 1);
  CHECK(selected[0].samples[0].text == "((T([2], f32), 1), {})");
  CHECK(operators::case_name(selected[0], 0) == "aten.add.Tensor[1]");
}

TEST_CASE("an operator that was not recorded is an error that names its relatives") {
  const auto corpus = corpus_of(recorded);
  operators::ReplayOptions options;
  options.op = "aten.relu.default,aten.add.Scalar";
  CHECK_THROWS_MATCHES(select(corpus, options), pace::InputError,
                       Message("--op: the recorded inputs have no operator 'aten.add.Scalar'; it has aten.add.Tensor"));
  options.op = "aten.rleu.default";
  CHECK_THROWS_MATCHES(
      select(corpus, options), pace::InputError,
      Message("--op: the recorded inputs have no operator 'aten.rleu.default'; did you mean aten.relu.default?"));
  options.op = "aten.relu.default,";
  CHECK_THROWS_MATCHES(select(corpus, options), pace::InputError,
                       MessageMatches(ContainsSubstring("--op: expected names")));
}

TEST_CASE("a selection without samples is an error") {
  const auto corpus = corpus_of(recorded);
  operators::ReplayOptions options;
  options.op = "aten.convolution.default";
  options.skip_rules = operators::SkipRules::upstream;
  CHECK_THROWS_MATCHES(select(corpus, options), pace::InputError,
                       MessageMatches(ContainsSubstring("nothing to replay")));
  options.op = "all";
  options.start_idx = 100;
  CHECK_THROWS_AS(select(corpus, options), pace::InputError);
  options.inp_file = "model.txt";
  CHECK_THROWS_MATCHES(select(corpus, options), pace::InputError,
                       MessageMatches(StartsWith("model.txt: nothing to replay: --op all, --start-idx 100")));
}

TEST_CASE("inputs without a good call name their faults, and no option") {
  const auto message = [](const pace::corpus::Corpus& corpus) {
    operators::ReplayOptions options;
    options.inp_file = "model.txt";
    try {
      (void)select(corpus, options);
    } catch (const pace::InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const pace::corpus::LoadOptions collect{.on_error = pace::corpus::OnError::collect};
  const std::string name = "Operator: aten.relu.default\n", bad = "cnt: 1, ((T([4, f32),), {})\n";
  CHECK_THAT(message(corpus_of(name + bad, collect)),
             StartsWith("model.txt: nothing to replay: the recorded calls are malformed: ") &&
                 ContainsSubstring(":2:17: aten.relu.default: expected a size"));
  CHECK_THAT(message(corpus_of(name + bad + bad, collect)),
             StartsWith("model.txt: nothing to replay: the recorded calls are malformed in 2 places, first ") &&
                 ContainsSubstring(":2:17: "));
  CHECK_THAT(message(corpus_of(name)),
             StartsWith("model.txt: nothing to replay: operators are named, but no call 'cnt: N, "));
}

TEST_CASE("types are named in full when they are not known") {
  CHECK(operators::parse_dtype("float32") == at::kFloat);
  CHECK(operators::parse_dtype("bf16") == at::kBFloat16);
  CHECK_THROWS_MATCHES(operators::parse_dtype("int8"), pace::InputError,
                       Message("--dtype: expected float32, float16, bfloat16, float64 or recorded, found 'int8'"));
}

}  // namespace
