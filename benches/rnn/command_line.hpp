// The command line of the bench: fastrnns' options in every spelling, and the bench's own.
#pragma once

#include <catch2/internal/catch_clara.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/rnn/bench_json.hpp"
#include "benches/rnn/spelling.hpp"
#include "pace/core/error.hpp"
#include "pace/corpus/python_repr.hpp"
#include "pace/runner/session_options.hpp"

namespace pace::benches::rnn {

struct CommandLine {
  std::int64_t seq_length = 100, num_layers = 1, input_size = 512, hidden_size = 512, mini_batch = 64;
  /// None: fastrnns' 10 and 100, or where runners are interleaved as the budget has it.
  std::optional<std::int64_t> warmup, nloops;
  /// None: the program's choice.
  std::optional<std::string> device;
  bool variable_lstms = false;
  std::string sep = " ";
  JsonFormat print_json = JsonFormat::none;
  /// Kept here, since Catch2 keeps views of texts alone.
  std::string help_of_rnns;
  /// None: the lists below.
  std::optional<std::vector<std::string>> rnns, cnns;
  std::vector<std::string> group = {"cnns", "rnns"};
  std::string fuser = "te";
  std::optional<std::string> executor;
  /// 0 leaves LibTorch's own.
  std::optional<std::int64_t> cuda_pointwise_loop_level, cuda_pointwise_block_count, cuda_pointwise_block_size;

  bool compat = false;
  /// Name of the runner that the others are compared with. None: the program's choice.
  std::optional<std::string> baseline;
  /// A candidate may take this many times the baseline's time.
  std::optional<double> no_slower_than;
  /// What convolutional networks are given; fastrnns has no options for it.
  std::int64_t images = 32, image_side = 224;
  /// default, on or off.
  std::string tf32 = "default";
  /// Where operators' inputs are recorded to. Empty: they are not.
  std::string log_operator_inputs;
  /// Forwards alone.
  bool inference = false;
  /// Paths of compiled packages.
  std::vector<std::string> packages;

  [[nodiscard]] std::int64_t warmup_of_loop() const { return warmup.value_or(10); }
  [[nodiscard]] std::int64_t nloops_of_loop() const { return nloops.value_or(100); }
};

/// Names of fastrnns' runners.
inline const std::vector<std::string> default_rnns = {
    "cudnn", "aten", "jit", "jit_premul", "jit_premul_bias", "jit_simple", "jit_multilayer", "py"};
inline const std::vector<std::string> default_cnns = {"resnet18", "resnet18_jit", "resnet50", "resnet50_jit"};
inline const std::vector<std::string> variable_length_rnns = {"vl_cudnn", "vl_jit", "vl_py"};

/// Runners that are measured together.
struct Group {
  /// In JSON; in `Benchmarking ...s`.
  std::string key, title;
  std::vector<std::string> runners;
  /// By name, on the command line.
  bool asked = false;
};

/// In the order in which they run, which is not the one asked for. Throws InputError if there are none.
[[nodiscard]] inline std::vector<Group> groups_of(const CommandLine& line) {
  const auto asked = [&line](const char* name) { return std::ranges::find(line.group, name) != line.group.end(); };
  std::vector<Group> groups;
  if (line.variable_lstms) groups.push_back({"vl_lstm", "variable-length sequence LSTM", variable_length_rnns});
  if (asked("rnns")) groups.push_back({"lstm", "LSTM", line.rnns.value_or(default_rnns), line.rnns.has_value()});
  if (asked("cnns")) groups.push_back({"resnet", "ResNet", line.cnns.value_or(default_cnns), line.cnns.has_value()});
  const auto refuse = [](const std::string& option, const std::string& group) {
    throw InputError(
        {}, option + " has no meaning without the group " + group + "; expected --group " + group + " or both");
  };
  if (line.rnns && !asked("rnns")) refuse("--rnns", "rnns");
  if (line.cnns && !asked("cnns")) refuse("--cnns", "cnns");
  if (groups.empty()) throw InputError({}, "--group: there is nothing to run; expected rnns, cnns or both");
  return groups;
}

/// Whether an option is among the words of a command line, which in_one_spelling() made.
[[nodiscard]] inline bool is_given(const std::vector<std::string>& words, const std::string& option) {
  return std::ranges::any_of(words, [&](const std::string& word) { return word.substr(0, word.find('=')) == option; });
}

/// What of the device and of the runners that are asked for decides whether an option has an effect.
struct Effects {
  bool on_gpu = false;
  /// Whether a runner is TorchScript; whether one is compiled.
  bool scripted = false, compiled = false;
};

/// Throws InputError for options that would have no effect with the others, on the device and runners that are chosen.
inline void refuse_without_effect(const CommandLine& line, const std::vector<std::string>& words,
                                  const std::vector<Group>& groups, const Effects& effects) {
  const auto refuse = [&](const std::string& option, const std::string& why) {
    if (is_given(words, option)) throw InputError({}, option + " has no meaning here: " + why);
  };
  if (line.print_json != JsonFormat::none) refuse("--sep", "--print-json prints no table");
  if (!effects.on_gpu)
    for (const char* const option :
         {"--cuda-pointwise-loop-level", "--cuda-pointwise-block-count", "--cuda-pointwise-block-size"})
      refuse(option, "runners on the CPU have no kernels of a GPU; expected --device cuda");
  if (!effects.compiled) refuse("--packages", "no compiled runner is asked for; expected one such as py_aot_inductor");
  // fastrnns' users give these whatever they run.
  if (!line.compat && !effects.scripted)
    for (const char* const option : {"--fuser", "--executor", "--cuda-pointwise-loop-level",
                                     "--cuda-pointwise-block-count", "--cuda-pointwise-block-size"})
      refuse(option,
             "no runner is TorchScript; expected one such as jit beside it, or --compat, where it may be given all the "
             "same");
  const bool images = std::ranges::any_of(groups, [](const Group& group) { return group.key == "resnet"; });
  if (!images)
    for (const char* const option : {"--images", "--image-side"}) refuse(option, "no convolutional network is run");
}

/// Throws InputError for words that ask fastrnns' loop for what it does not have: comparisons with a baseline, and whatever
/// pace's own measuring is told.
inline void refuse_with_compat(const std::vector<std::string>& words) {
  const auto refuse = [&](const std::string& option, const char* why) {
    if (is_given(words, option)) throw InputError({}, option + " does not go together with --compat: " + why);
  };
  for (const char* const option : {"--baseline-runner", "--no-slower-than"})
    refuse(option, "fastrnns' loop runs one runner after another and compares none");
  runner::SessionOptions session;
  const auto paces = runner::with_pace_options(Catch::Clara::Parser(), session);
  for (const auto& column : paces.getHelpColumns()) {
    const std::string option = column.left.substr(0, column.left.find(' '));
    if (option != "--threads" && option != "--isolation" && option != "--no-table")
      refuse(option, "fastrnns' loop has its own measuring, whose results are its table and --print-json");
  }
}

/// Belongs on stderr before the group of variable-length runners, unless JSON is asked for; empty if it does not apply.
[[nodiscard]] inline std::string variable_length_warning(const CommandLine& line) {
  constexpr std::int64_t call_timeout = 30;
  if (!line.variable_lstms || line.nloops_of_loop() + line.warmup_of_loop() <= call_timeout) return {};
  return "WARNING: some of the variable sequence length lstms are very unoptimized and therefore take forever to run.";
}

/// The line in which the original prints what it was asked for.
[[nodiscard]] inline std::string namespace_text(const CommandLine& line) {
  const auto text = [](const std::string& value) {
    std::string repr;
    corpus::detail::append_repr(repr, std::string_view(value));
    return repr;
  };
  const auto list = [&](const std::vector<std::string>& values) {
    std::string repr = "[";
    for (const auto& each : values) repr += (&each == values.data() ? "" : ", ") + text(each);
    return repr + ']';
  };
  const auto maybe = [](const auto& value, auto&& tell) { return value ? tell(*value) : std::string("None"); };
  const auto number = [](std::int64_t value) { return std::to_string(value); };
  const char* const json = line.print_json == JsonFormat::oss ? "'oss'" : "'pep'";
  return "Namespace(seqLength=" + number(line.seq_length) + ", numLayers=" + number(line.num_layers) +
         ", inputSize=" + number(line.input_size) + ", hiddenSize=" + number(line.hidden_size) +
         ", miniBatch=" + number(line.mini_batch) + ", warmup=" + number(line.warmup_of_loop()) +
         ", nloops=" + number(line.nloops_of_loop()) + ", device=" + maybe(line.device, text) +
         ", variable_lstms=" + (line.variable_lstms ? "True" : "False") + ", sep=" + text(line.sep) +
         ", print_json=" + (line.print_json == JsonFormat::none ? "None" : json) + ", rnns=" + maybe(line.rnns, list) +
         ", cnns=" + maybe(line.cnns, list) + ", group=" + list(line.group) + ", fuser=" + text(line.fuser) +
         ", executor=" + maybe(line.executor, text) +
         ", cuda_pointwise_loop_level=" + maybe(line.cuda_pointwise_loop_level, number) +
         ", cuda_pointwise_block_count=" + maybe(line.cuda_pointwise_block_count, number) +
         ", cuda_pointwise_block_size=" + maybe(line.cuda_pointwise_block_size, number) + ')';
}

namespace detail {

/// The most of one dimension: more than that in several overflows what a tensor can have.
inline constexpr std::int64_t most_of_a_size = 1'000'000;

/// A whole number, `least` at least and most_of_a_size at most.
[[nodiscard]] inline auto read_whole(std::int64_t& to, std::int64_t least) {
  return [&to, least](const std::string& text) { return runner::read_between(text, to, least, most_of_a_size); };
}

/// The same, `most` at most.
[[nodiscard]] inline auto read_whole(std::optional<std::int64_t>& to, std::int64_t least, std::int64_t most) {
  return [&to, least, most](const std::string& text) { return runner::read_between(text, to.emplace(), least, most); };
}

[[nodiscard]] inline auto read_list(std::optional<std::vector<std::string>>& to) {
  return [&to](const std::string& text) { return (to = read_names(text)).has_value(); };
}

[[nodiscard]] inline auto read_one_of(auto& to, std::vector<std::string> words) {
  return [&to, words = std::move(words)](const std::string& text) {
    to = text;
    return std::ranges::find(words, text) != words.end();
  };
}

/// The sizes of models, which the tools ask for, too. `Line` has the members of CommandLine.
template <class Line>
[[nodiscard]] Catch::Clara::Parser with_size_options(Catch::Clara::Parser parser, Line& line) {
  using runner::detail::option;
  const char* const size = "a whole number from 1 to 1000000";
  parser |= option("--seq-length", "number", "rnn: steps of a sequence (defaults to 100)", size,
                   read_whole(line.seq_length, 1));
  parser |= option("--num-layers", "number", "rnn: layers (defaults to 1)", size, read_whole(line.num_layers, 1));
  parser |= option("--input-size", "number", "rnn: features of an input (defaults to 512)", size,
                   read_whole(line.input_size, 1));
  parser |= option("--hidden-size", "number", "rnn: features of a state (defaults to 512)", size,
                   read_whole(line.hidden_size, 1));
  parser |= option("--mini-batch", "number", "rnn: sequences in a batch (defaults to 64)", size,
                   read_whole(line.mini_batch, 1));
  parser |= option("--device", "device", "rnn: cpu, cuda or cuda:NUMBER (defaults to cuda where there is one)",
                   "cpu, cuda or cuda:NUMBER", [&device = line.device](const std::string& text) {
                     device = text;
                     return !text.empty();
                   });
  return parser;
}

}  // namespace detail

/// The most steps of one runner: their times are kept in memory.
inline constexpr std::int64_t most_steps = 1'000'000;

/// Catch2's parser with the bench's options; `line` must outlive it. `known`: the names of all runners, for the help.
[[nodiscard]] inline Catch::Clara::Parser with_rnn_options(Catch::Clara::Parser parser, CommandLine& line,
                                                           const std::string& known = "") {
  using runner::detail::option;
  using Text = const std::string&;
  const char* const from_0 = "a whole number from 0 to 2147483647";
  const char* const names = "names of runners, none of them twice";
  parser = detail::with_size_options(std::move(parser), line);
  parser |= option("--warmup", "number",
                   "rnn: steps of each runner before those of the table, instead of the time that "
                   "--warm-up gives (with --compat defaults to 10)",
                   "a whole number from 0 to 1000000", detail::read_whole(line.warmup, 0, most_steps));
  parser |= option("--nloops", "number",
                   "rnn: steps of each runner in the table, or a few more so that each runner takes "
                   "each turn equally often, unless --budget ends them before (defaults to 100 at most, within the "
                   "budget; with --compat to 100)",
                   "a whole number from 1 to 1000000", detail::read_whole(line.nloops, 1, most_steps));
  parser |= Catch::Clara::Opt(line.variable_lstms)["--variable-lstms"](
      "rnn: also sequences of different lengths, which takes long and ignores --seq-length");
  parser |= option("--sep", "text", "rnn: between the columns of the table (defaults to a space)", "a text",
                   [&line](Text text) { return line.sep = text, true; });
  parser |= option("--print-json", "oss|pep",
                   "rnn: JSON instead of the table: of means, or of single times; oss if "
                   "nothing follows",
                   "oss or pep", [&format = line.print_json](Text text) {
                     const auto read = parse_json_format(text);
                     format = read.value_or(format);
                     return read.has_value();
                   });
  line.help_of_rnns = "rnn: runners of recurrent networks, with commas or spaces between them";
  if (!known.empty()) line.help_of_rnns += "; there are " + known;
  parser |= option("--rnns", "a,b", line.help_of_rnns.c_str(), names, detail::read_list(line.rnns));
  parser |= option("--cnns", "a,b", "rnn: runners of convolutional networks", names, detail::read_list(line.cnns));
  parser |= option("--group", "rnns,cnns|none", "rnn: what to run (defaults to cnns and rnns)",
                   "rnns, cnns, both or none", [&group = line.group](Text text) {
                     group.clear();
                     if (text == "none") return true;
                     const auto read = detail::read_names(text);
                     group = read.value_or(group);
                     const auto known = [](Text each) { return each == "rnns" || each == "cnns"; };
                     return read && std::ranges::all_of(group, known);
                   });
  parser |= option("--fuser", "te|old|none|default", "rnn: TorchScript's fuser (defaults to te)",
                   "te, old, none or default", detail::read_one_of(line.fuser, {"te", "old", "none", "default"}));
  parser |= option("--executor", "profiling|simple|legacy|default",
                   "rnn: TorchScript's executor (defaults to the fuser's)", "profiling, simple, legacy or default",
                   detail::read_one_of(line.executor, {"profiling", "simple", "legacy", "default"}));
  const auto whole = [](std::optional<std::int64_t>& to) {
    return detail::read_whole(to, 0, std::numeric_limits<int>::max());
  };
  parser |= option("--cuda-pointwise-loop-level", "number", "rnn: of the fuser's kernels on a GPU; 0: its own", from_0,
                   whole(line.cuda_pointwise_loop_level));
  parser |= option("--cuda-pointwise-block-count", "number", "rnn: blocks of such kernels; 0: its own", from_0,
                   whole(line.cuda_pointwise_block_count));
  parser |= option("--cuda-pointwise-block-size", "number", "rnn: threads of a block; 0: its own", from_0,
                   whole(line.cuda_pointwise_block_size));
  parser |= Catch::Clara::Opt(line.compat)["--compat"](
      "rnn: fastrnns' own loop, one runner after another, compared with none: seconds called milliseconds on the CPU, "
      "and "
      "with JSON no word of runners that fail");
  // --baseline is the stored one.
  parser |= option("--baseline-runner", "name",
                   "rnn: what the others are compared with (defaults to cudnn on a GPU, to aten on a CPU)",
                   "the name of a runner", [&baseline = line.baseline](Text text) {
                     baseline = text;
                     return !text.empty();
                   });
  parser |=
      option("--tf32", "default|on|off",
             "rnn: products of float32 on a GPU with ten bits of mantissa: on, off, or as LibTorch has it, in cuDNN "
             "alone (default)",
             "default, on or off", detail::read_one_of(line.tf32, {"default", "on", "off"}));
  parser |= Catch::Clara::Opt(line.inference)["--inference"]("rnn: forwards alone, without gradients");
  parser |= option("--packages", "directory",
                   "rnn: packages compiled beforehand, for runners such as py_aot_inductor; again for another",
                   "a folder's name", [&packages = line.packages](Text text) {
                     packages.push_back(text);
                     return !text.empty();
                   });
  parser |= option("--log-operator-inputs", "directory",
                   "rnn: also records the operators of one step of each runner, into files that //benches/operators "
                   "replays",
                   "a folder's name", [&directory = line.log_operator_inputs](Text text) {
                     directory = text;
                     return !text.empty();
                   });
  parser |= option("--images", "number", "rnn: batch of the convolutional networks (defaults to 32)",
                   "a whole number from 1 to 1000000", detail::read_whole(line.images, 1));
  parser |= option("--image-side", "number", "rnn: height and width of their images (defaults to 224)",
                   "a whole number from 32 to 1000000", detail::read_whole(line.image_side, 32));
  parser |= option("--no-slower-than", "factor",
                   "rnn: fail a runner that is proven to take more than this times the baseline's time for a step",
                   runner::a_factor,
                   [&limit = line.no_slower_than](Text text) { return runner::read_factor(text, limit.emplace()); });
  return parser;
}

}  // namespace pace::benches::rnn
