// The bench's options: every spelling, beside Catch2's and pace's own, and invalid values.
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "benches/rnn/command_line.hpp"
#include "pace/base/error.hpp"
#include "tests/support/why.hpp"
// After LibTorch's headers, whose CHECK is another one.
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

using pace::benches::rnn::JsonFormat;
CATCH_REGISTER_ENUM(JsonFormat, JsonFormat::none, JsonFormat::oss, JsonFormat::pep)

namespace {

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using namespace pace::benches::rnn;

struct Parsed {
  CommandLine line;
  pace::runner::SessionOptions session;
  pace::args::Arguments given;
  /// Empty: all is well.
  std::string error;

  explicit Parsed(const std::vector<std::string>& words) {
    auto groups = pace::runner::pace_options(session);
    for (auto& group : rnn_options(line)) groups.push_back(std::move(group));
    try {
      given = pace::args::parse(groups, words, {.keeps_rest = true, .has_help = false, .camel_case = true});
    } catch (const pace::InputError& caught) {
      error = caught.what();
    }
  }
};

CommandLine parse(std::vector<std::string> given) {
  const Parsed parsed(std::move(given));
  REQUIRE(parsed.error == "");
  return parsed.line;
}
std::string error_of(std::vector<std::string> given) { return Parsed(std::move(given)).error; }

using Names = std::vector<std::string>;

TEST_CASE("without options everything is as fastrnns has it") {
  const auto line = parse({});
  REQUIRE(namespace_text(line) ==
          "Namespace(seqLength=100, numLayers=1, inputSize=512, hiddenSize=512, miniBatch=64, warmup=10, nloops=100, "
          "device=None, variable_lstms=False, sep=' ', print_json=None, rnns=None, cnns=None, group=['cnns', 'rnns'], "
          "fuser='te', executor=None, cuda_pointwise_loop_level=None, cuda_pointwise_block_count=None, "
          "cuda_pointwise_block_size=None)");
  REQUIRE_FALSE(line.compat);
  REQUIRE_FALSE(line.baseline);
}

TEST_CASE("options in camel case, with hyphens, with underscores, with and without an equals sign") {
  for (const Names& given : std::vector<Names>{
           {"--seqLength", "7", "--numLayers", "2", "--inputSize", "3", "--hiddenSize", "4", "--miniBatch", "5"},
           {"--seq-length", "7", "--num-layers", "2", "--input-size", "3", "--hidden-size", "4", "--mini-batch", "5"},
           {"--seq_length=7", "--num_layers=2", "--input_size=3", "--hidden_size=4", "--mini_batch=5"}}) {
    const auto line = parse(given);
    REQUIRE(line.seq_length == 7);
    REQUIRE(line.num_layers == 2);
    REQUIRE(line.input_size == 3);
    REQUIRE(line.hidden_size == 4);
    REQUIRE(line.mini_batch == 5);
  }
  for (const Names& given :
       std::vector<Names>{{"--variable-lstms", "--cuda-pointwise-loop-level", "1", "--cuda-pointwise-block-count", "2",
                           "--cuda-pointwise-block-size", "0", "--print-json", "pep"},
                          {"--variable_lstms", "--cuda_pointwise_loop_level=1", "--cuda_pointwise_block_count=2",
                           "--cuda_pointwise_block_size=0", "--print_json=pep"}}) {
    const auto line = parse(given);
    REQUIRE(line.variable_lstms);
    REQUIRE(line.cuda_pointwise_loop_level == 1);
    REQUIRE(line.cuda_pointwise_block_count == 2);
    REQUIRE(line.cuda_pointwise_block_size == 0);
    REQUIRE(line.print_json == JsonFormat::pep);
  }
}

TEST_CASE("all other options reach the line, too") {
  const auto line = parse({"--warmup", "0", "--nloops", "1", "--device", "cuda:1", "--fuser", "old", "--executor",
                           "legacy", "--sep", ", ", "--compat", "--baseline-runner", "aten"});
  REQUIRE(line.compat);
  REQUIRE(line.baseline == "aten");
  REQUIRE(namespace_text(line) ==
          "Namespace(seqLength=100, numLayers=1, inputSize=512, hiddenSize=512, miniBatch=64, warmup=0, nloops=1, "
          "device='cuda:1', variable_lstms=False, sep=', ', print_json=None, rnns=None, cnns=None, "
          "group=['cnns', 'rnns'], fuser='old', executor='legacy', cuda_pointwise_loop_level=None, "
          "cuda_pointwise_block_count=None, cuda_pointwise_block_size=None)");
}

TEST_CASE("lists go on until the next option, or have commas") {
  const auto line =
      parse({"--rnns", "aten", "jit", "py", "--cnns=resnet18,resnet50", "--group", "rnns", "--nloops", "3"});
  REQUIRE(line.rnns == Names{"aten", "jit", "py"});
  REQUIRE(line.cnns == Names{"resnet18", "resnet50"});
  REQUIRE(line.group == Names{"rnns"});
  REQUIRE(line.nloops == 3);
  REQUIRE(parse({"--rnns", "aten,jit", "py"}).rnns == Names{"aten", "jit", "py"});
  const std::string text = namespace_text(parse({"--rnns", "aten", "jit"}));
  REQUIRE_THAT(text, ContainsSubstring("rnns=['aten', 'jit'], cnns=None"));
}

TEST_CASE("a list without runners is the default one, and of two lists the last one counts") {
  REQUIRE_FALSE(parse({"--rnns", "--nloops", "3"}).rnns);
  REQUIRE(parse({"--rnns", "aten", "jit", "--rnns", "py"}).rnns == Names{"py"});
  REQUIRE(parse({"--packages", "a", "--packages", "b"}).packages == Names{"a", "b"});
}

TEST_CASE("options without effect are refused, those that others give an effect are not") {
  const auto why = [](const Names& given, const Effects& effects = {}) {
    const Parsed parsed(given);
    REQUIRE(parsed.error == "");
    const auto groups = groups_of(parsed.line);
    return pace::test::why<pace::InputError>(
        [&] { refuse_without_effect(parsed.line, parsed.given, groups, effects); });
  };
  const Effects on_gpu{.on_gpu = true}, scripted{.on_gpu = true, .scripted = true}, compiled{.compiled = true};
  const std::string nothing = "nothing was thrown";
  REQUIRE(why({"--group=rnns", "--rnns=py"}) == nothing);
  REQUIRE(why({"--print-json=oss", "--sep=x"}) == "--sep has no meaning here: --print-json prints no table");
  REQUIRE_THAT(why({"--cuda-pointwise-block-size=1"}), StartsWith("--cuda-pointwise-block-size has no meaning here: "));
  REQUIRE(why({"--cuda-pointwise-block-size=1"}, scripted) == nothing);
  REQUIRE(why({"--compat", "--print-json=oss", "--sep=x"}) == nothing);
  REQUIRE(why({"--compat", "--cuda-pointwise-block-size=1"}) == nothing);
  REQUIRE_THAT(why({"--packages=a"}), StartsWith("--packages has no meaning here: "));
  REQUIRE(why({"--packages=a", "--rnns=py_aot_inductor"}, compiled) == nothing);
  REQUIRE_THAT(why({"--group=rnns", "--images=2"}), StartsWith("--images has no meaning here: "));
  REQUIRE(why({"--images=2"}) == nothing);
  for (const std::string option : {"--fuser=old", "--executor=legacy", "--cuda-pointwise-loop-level=1",
                                   "--cuda-pointwise-block-count=1", "--cuda-pointwise-block-size=1"}) {
    INFO(option);
    const Names py{"--group=rnns", "--rnns=py,aten", option};
    REQUIRE(why(py, on_gpu) ==
            option.substr(0, option.find('=')) +
                " has no meaning here: no runner is TorchScript; expected one such as jit beside it, or "
                "--compat, where it may be given all the same");
    REQUIRE(why(py, scripted) == nothing);
    REQUIRE(why({"--group=rnns", "--rnns=py,aten", "--compat", option}, on_gpu) == nothing);
    REQUIRE(why({"--group=cnns", "--cnns=resnet18_jit", option}, scripted) == nothing);
    REQUIRE(why({"--group=cnns", "--cnns=resnet18", option}, on_gpu) != nothing);
  }
}

TEST_CASE("an optimiser and gradients that are taken away need a backward; a scaler is refused") {
  const auto why = [](const Names& given, const Effects& effects = {}) {
    const Parsed parsed(given);
    REQUIRE(parsed.error == "");
    const auto groups = groups_of(parsed.line);
    return pace::test::why<pace::InputError>(
        [&] { refuse_without_effect(parsed.line, parsed.given, groups, effects); });
  };
  const auto line = parse({"--optimizer", "adam", "--optimizer-code=fused", "--set-to-none"});
  REQUIRE(line.optimizer == "adam");
  REQUIRE(line.optimizer_code == "fused");
  REQUIRE(line.set_to_none);
  REQUIRE(parse({}).optimizer == "none");
  REQUIRE_FALSE(parse({}).set_to_none);
  REQUIRE(why({"--optimizer=sgd", "--optimizer-code=foreach", "--set-to-none"}) == "nothing was thrown");
  for (const std::string option : {"--optimizer", "--set-to-none"}) {
    INFO(option);
    const std::string word = option == "--optimizer" ? "--optimizer=sgd" : option;
    REQUIRE(why({"--inference", word}) ==
            option + " has no meaning here: --inference leaves the backward out, which makes the gradients");
  }
  REQUIRE(why({"--optimizer-code=fused"}) ==
          "--optimizer-code has no meaning here: no optimiser is asked for; expected --optimizer sgd or adam");
  REQUIRE(why({"--set-to-none"}, {.graphed = true}) ==
          "--set-to-none has no meaning here: a runner is captured in CUDA graphs, which add to gradients at fixed "
          "addresses");
  REQUIRE_THAT(error_of({"--optimizer", "lion"}), StartsWith("--optimizer: invalid value 'lion'; expected none, sgd"));
  REQUIRE_THAT(error_of({"--grad-scaler"}), ContainsSubstring("LibTorch has no gradient scaler in C++"));
}

TEST_CASE("clocks and figures of a GPU are known for what they are") {
  using Given = std::vector<std::string>;
  const auto for_gpu = [](const Given& given) { return pace::options_for_gpu(Parsed(given).session.measuring); };
  REQUIRE(for_gpu({"--clock", "graph"}) == Given{"--clock graph"});
  REQUIRE(for_gpu({"--mode-share", "0"}) == Given{"--mode-share"});
  REQUIRE(for_gpu({"--clock", "graph", "--clock", "cold", "--mode-share", "0", "--mode-share", "1"}) ==
          Given{"--clock cold", "--mode-share"});
  REQUIRE(for_gpu({"--clock", "graph", "--clock", "wall"}) == Given{});
  REQUIRE(Parsed({"--mode-share", "0"}).session.measuring.asks_for_mode_share);
  REQUIRE_FALSE(Parsed({}).session.measuring.asks_for_mode_share);
  for (const char* const clock : {"wall", "automatic"}) REQUIRE(for_gpu({"--clock", clock}) == Given{});
  pace::runner::SessionOptions session;
  pace::runner::refuse_options_for_gpu(session, "why");
  session.measuring.clock = pace::ClockChoice::graph;
  REQUIRE(pace::test::why<pace::InputError>([&] { pace::runner::refuse_options_for_gpu(session, "why"); }) ==
          "--clock graph has no meaning on a CPU: why");
  session.measures = false;
  pace::runner::refuse_options_for_gpu(session, "why");
}

TEST_CASE("--print-json means oss if nothing follows") {
  REQUIRE(parse({}).print_json == JsonFormat::none);
  REQUIRE(parse({"--print-json"}).print_json == JsonFormat::oss);
  REQUIRE(parse({"--print-json", "--nloops", "3"}).print_json == JsonFormat::oss);
  REQUIRE(parse({"--print-json", "oss"}).print_json == JsonFormat::oss);
  for (const Names& given : {Names{"--print-json", "yaml"}, Names{"--print-json=yaml"}}) {
    REQUIRE(pace::test::why<pace::InputError>([&] { refuse_other_json(parse(given)); }) ==
            "--print-json: invalid value 'yaml'; expected oss or pep, or with --compat any word, at which nothing is "
            "printed");
  }
  REQUIRE_NOTHROW(refuse_other_json(parse({"--print-json", "pep"})));
  // The last one counts.
  REQUIRE_NOTHROW(refuse_other_json(parse({"--print-json", "yaml", "--print-json", "oss"})));
}

TEST_CASE("with --compat any word may follow --print-json, and nothing is printed at one that fastrnns does not know") {
  const auto line = parse({"--compat", "--print-json", "yaml"});
  REQUIRE_NOTHROW(refuse_other_json(line));
  REQUIRE(line.print_json == JsonFormat::other);
  REQUIRE_THAT(namespace_text(line), ContainsSubstring("print_json='yaml'"));
  std::ostringstream out;
  print_json(line.print_json, {{.group = "lstm"}}, out);
  REQUIRE(out.str() == "");
}

TEST_CASE("separators, also an empty one") {
  REQUIRE(parse({"--sep", ""}).sep == "");
  REQUIRE(parse({"--sep", "|"}).sep == "|");
  REQUIRE(parse({"--sep=:"}).sep == ":");
}

TEST_CASE("groups run in one order, whatever order they were asked for in") {
  const auto keys = [](const std::vector<std::string>& given) {
    Names all;
    for (const auto& each : groups_of(parse(given))) all.push_back(each.key);
    return all;
  };
  REQUIRE(keys({}) == Names{"lstm", "resnet"});
  REQUIRE(keys({"--group", "cnns", "rnns", "--variable-lstms"}) == Names{"vl_lstm", "lstm", "resnet"});
  REQUIRE(keys({"--group", "cnns"}) == Names{"resnet"});
  REQUIRE(keys({"--variable-lstms", "--group"}) == Names{"vl_lstm"});
  REQUIRE_THROWS_WITH(groups_of(parse({"--cnns", "resnet18", "--group", "rnns"})),
                      "--cnns has no meaning without the group cnns; expected --group cnns or both");
  REQUIRE_THROWS_WITH(groups_of(parse({"--rnns", "py", "--group", "cnns"})),
                      "--rnns has no meaning without the group rnns; expected --group rnns or both");
  REQUIRE_THROWS_WITH(groups_of(parse({"--group"})), "--group: there is nothing to run; expected rnns, cnns or both");
  // As fastrnns, which runs the runners that exist.
  REQUIRE(keys({"--compat", "--cnns", "resnet18", "--group", "rnns"}) == Names{"lstm"});
  REQUIRE(keys({"--compat", "--rnns", "py", "--group", "cnns"}) == Names{"resnet"});
  REQUIRE(keys({"--compat", "--group"}) == Names{});

  const auto groups = groups_of(parse({"--variable-lstms", "--cnns", "resnet50"}));
  REQUIRE(groups.at(0).title == "variable-length sequence LSTM");
  REQUIRE(groups.at(0).runners == Names{"vl_cudnn", "vl_jit", "vl_py"});
  REQUIRE(groups.at(1).title == "LSTM");
  REQUIRE(groups.at(1).runners ==
          Names{"cudnn", "aten", "jit", "jit_premul", "jit_premul_bias", "jit_simple", "jit_multilayer", "py"});
  REQUIRE(groups.at(2).title == "ResNet");
  REQUIRE(groups.at(2).runners == Names{"resnet50"});
  REQUIRE(groups.at(2).by_name);
  REQUIRE_FALSE(groups.at(1).by_name);
  REQUIRE(groups_of(parse({})).at(1).runners == Names{"resnet18", "resnet18_jit", "resnet50", "resnet50_jit"});
}

TEST_CASE("many steps of sequences of different lengths get a warning") {
  REQUIRE(variable_length_warning(parse({"--variable-lstms", "--nloops", "21"})) ==
          "WARNING: some of the variable sequence length lstms are very unoptimized and therefore take forever to "
          "run.");
  REQUIRE(variable_length_warning(parse({"--variable-lstms", "--nloops", "20"})) == "");
  REQUIRE(variable_length_warning(parse({})) == "");
}

TEST_CASE("invalid values: which option, what was found, what was expected") {
  const std::string above_0 = "; expected a whole number from 1 to 1000000";
  for (const std::string option : {"--seq-length", "--num-layers", "--input-size", "--hidden-size", "--mini-batch"})
    for (const std::string value : {"0", "-3", "many", "2.5", "7x", ""})
      REQUIRE(error_of({option, value}) == option + ": invalid value '" + value + "'" + above_0);
  REQUIRE(error_of({"--seqLength", "0"}) == "--seq-length: invalid value '0'" + above_0);
  for (const std::string value : {"0", "-3", "many", "2.5", "7x", "", "1000001"})
    REQUIRE(error_of({"--nloops", value}) ==
            "--nloops: invalid value '" + value + "'; expected a whole number from 1 to 1000000");
  REQUIRE(error_of({"--warmup", "-1"}) == "--warmup: invalid value '-1'; expected a whole number from 0 to 1000000");
  REQUIRE(error_of({"--fuser", "nnc"}) == "--fuser: invalid value 'nnc'; expected te, old, none or default");
  REQUIRE(error_of({"--executor", "fast"}) ==
          "--executor: invalid value 'fast'; expected profiling, simple, legacy or default");
  REQUIRE(error_of({"--group", "rnns", "dnns"}) ==
          "--group: invalid value 'rnns,dnns'; expected rnns, cnns, both or none");
  REQUIRE(error_of({"--rnns", "aten,,jit"}) ==
          "--rnns: invalid value 'aten,,jit'; expected names of runners, none of them twice");
  for (const char* const option : {"--rnns", "--cnns"})
    for (const Names& words : {Names{option, ""}, Names{std::string(option) + '='}, Names{option, "aten", ""}})
      REQUIRE(error_of(words) ==
              std::string(option) + ": invalid value ''; expected names of runners, none of them twice");
  REQUIRE(error_of({"--group", ""}) == "--group: invalid value ''; expected rnns, cnns, both or none");
  REQUIRE(error_of({"--cnns", "resnet18", "resnet18"}) ==
          "--cnns: invalid value 'resnet18,resnet18'; expected names of runners, none of them twice");
  REQUIRE(error_of({"--baseline-runner", ""}) == "--baseline-runner: invalid value ''; expected the name of a runner");
  REQUIRE(error_of({"--nloops"}) == "--nloops: expected a value after it: a whole number from 1 to 1000000");
  // Catch2 is asked next.
  REQUIRE(Parsed({"--no-such-option"}).given.rest == Names{"--no-such-option"});
}

TEST_CASE("with --compat, options that fastrnns' loop does not have are refused by name") {
  const auto why = [](const std::string& word) {
    pace::args::Arguments given;
    given.given = {"--compat", word.substr(0, word.find('='))};
    return pace::test::why<pace::InputError>([&] { refuse_with_compat(given); });
  };
  REQUIRE(why("--baseline-runner") ==
          "--baseline-runner does not go together with --compat: fastrnns' loop runs one runner "
          "after another and compares none");
  for (const char* const each : {"--optimizer", "--optimizer-code", "--set-to-none"}) {
    INFO(each);
    REQUIRE(why(each) ==
            std::string(each) +
                " does not go together with --compat: fastrnns' loop zeroes gradients in place and updates "
                "no parameters");
  }
  REQUIRE_THAT(why("--peak-memory-at-most=1.1"),
               StartsWith("--peak-memory-at-most does not go together with --compat: "));
  REQUIRE_THAT(why("--no-slower-than=1.1"), StartsWith("--no-slower-than does not go together with --compat: "));
  for (const char* const each : {"--budget", "--warm-up", "--json", "--csv", "--junit", "--baseline", "--save-baseline",
                                 "--processes", "--resume", "--seed", "--time-limit", "--max-rounds", "--clock"}) {
    INFO(each);
    REQUIRE(why(each) == std::string(each) +
                             " does not go together with --compat: fastrnns' loop has its own measuring, "
                             "whose results are its table and --print-json");
  }
  for (const char* const each : {"--warmup", "--nloops", "--inference", "--log-operator-inputs", "--threads",
                                 "--isolation", "--tf32", "--packages", "--print-json=oss", "--budgets"}) {
    INFO(each);
    REQUIRE(why(each) == "nothing was thrown");
  }
}

TEST_CASE("numbers that are too large are refused, not cut") {
  REQUIRE_THAT(error_of({"--warmup", "9223372036854775807"}), StartsWith("--warmup: "));
  REQUIRE(error_of({"--cuda-pointwise-block-size", "4294967297"}) ==
          "--cuda-pointwise-block-size: invalid value '4294967297'; expected a whole number from 0 to 2147483647");
  REQUIRE(error_of({"--no-slower-than", "inf"}) ==
          "--no-slower-than: invalid value 'inf'; expected a number from 0.001 to 1000000, such as 1.05");
}

TEST_CASE("JSON of a run is refused beside a list of it, whatever stands between them") {
  for (const char* const option : {"--list", "--dry-run"}) {
    const std::string reason = std::string("--print-json does not go together with ") + option +
                               ": which measure nothing that could be printed as JSON";
    CHECK(error_of({option, "--print-json"}) == reason);
    CHECK(error_of({"--print-json=pep", "--rnns", "py", option}) == reason);
  }
}

TEST_CASE("Catch2's options and pace's stand on the same line") {
  const Parsed parsed({"--warm-up", "0.5", "--warmup", "3", "--json", "file.json", "--baseline", "old.json", "--seed",
                       "0x11", "--rnns", "py", "--durations", "yes", "-r", "xml"});
  REQUIRE(parsed.error == "");
  REQUIRE(parsed.session.measuring.warm_up == std::chrono::milliseconds(500));
  REQUIRE(parsed.line.warmup == 3);
  REQUIRE(parsed.session.json == "file.json");
  REQUIRE(parsed.session.baseline.compare_with == Names{"old.json"});
  REQUIRE(parsed.session.measuring.seed == 17);
  REQUIRE(parsed.line.rnns == Names{"py"});
  REQUIRE(parsed.given.rest == Names{"--durations", "yes", "-r", "xml"});
  REQUIRE(Parsed({"--nloops", "3", "[rnn]"}).given.rest == Names{"[rnn]"});
  REQUIRE(Parsed({"--rnns=py", "[rnn]"}).given.rest == Names{"[rnn]"});
}

}  // namespace
