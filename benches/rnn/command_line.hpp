// The command line of the bench: fastrnns' options in every spelling, and the bench's own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "benches/rnn/bench_json.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/corpus/python_repr.hpp"
#include "pace/report/text.hpp"
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
  /// The word of --print-json where that is JsonFormat::other.
  std::string other_json = {};
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
  /// A candidate's step may hold this many times the baseline's bytes at once.
  std::optional<double> peak_memory_at_most;
  /// The sizes of convolutional networks' inputs; fastrnns has no options for them.
  std::int64_t images = 32, image_side = 224;
  /// default, on or off.
  std::string tf32 = "default";
  /// Where operators' inputs are recorded to. Empty: they are not.
  std::string log_operator_inputs;
  /// none, sgd or adam; and which code of LibTorch: single, foreach or fused.
  std::string optimizer = "none", optimizer_code = "single";
  /// Whether gradients are taken away before each step instead of zeroed.
  bool set_to_none = false;
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
  /// Listed by name on the command line.
  bool by_name = false;
};

/// In the order of their runs, not of the command line. Throws InputError if there are none, or if runners of a group
/// that does not run are given; with --compat, as in fastrnns, neither is an error.
[[nodiscard]] inline std::vector<Group> groups_of(const CommandLine& line) {
  const auto has_group = [&line](const char* name) { return std::ranges::find(line.group, name) != line.group.end(); };
  std::vector<Group> groups;
  if (line.variable_lstms) groups.push_back({"vl_lstm", "variable-length sequence LSTM", variable_length_rnns});
  if (has_group("rnns")) groups.push_back({"lstm", "LSTM", line.rnns.value_or(default_rnns), line.rnns.has_value()});
  if (has_group("cnns"))
    groups.push_back({"resnet", "ResNet", line.cnns.value_or(default_cnns), line.cnns.has_value()});
  // As in fastrnns, where lists of groups that do not run have no effect.
  if (line.compat) return groups;
  const auto refuse = [](const std::string& option, const std::string& group) {
    throw InputError(
        {}, option + " has no meaning without the group " + group + "; expected --group " + group + " or both");
  };
  if (line.rnns && !has_group("rnns")) refuse("--rnns", "rnns");
  if (line.cnns && !has_group("cnns")) refuse("--cnns", "cnns");
  if (groups.empty()) throw InputError({}, "--group: there is nothing to run; expected rnns, cnns or both");
  return groups;
}

/// The facts of the device and the requested runners that decide whether an option has an effect.
struct Effects {
  bool on_gpu = false;
  /// Whether a runner is TorchScript; whether one is compiled.
  bool scripted = false, compiled = false;
  /// Whether one is captured in CUDA graphs.
  bool graphed = false;
};

/// Throws InputError for options that would have no effect with the others, on the device and runners that are chosen.
inline void refuse_without_effect(const CommandLine& line, const args::Arguments& given,
                                  const std::vector<Group>& groups, const Effects& effects) {
  const auto refuse = [&](const std::string& option, const std::string& why) {
    if (given.has(option)) throw InputError({}, option + " has no meaning here: " + why);
  };
  if (line.inference)
    for (const char* const option : {"--optimizer", "--set-to-none"})
      refuse(option, "--inference leaves the backward out, which makes the gradients");
  if (line.optimizer == "none")
    refuse("--optimizer-code", "no optimiser is asked for; expected --optimizer sgd or adam");
  if (effects.graphed)
    refuse("--set-to-none", "a runner is captured in CUDA graphs, which add to gradients at fixed addresses");
  // Users of fastrnns give its own options for any runner.
  if (!line.compat && line.print_json != JsonFormat::none) refuse("--sep", "--print-json prints no table");
  if (!line.compat && !effects.on_gpu)
    for (const char* const option :
         {"--cuda-pointwise-loop-level", "--cuda-pointwise-block-count", "--cuda-pointwise-block-size"})
      refuse(option, "runners on the CPU have no kernels of a GPU; expected --device cuda");
  if (!effects.compiled) refuse("--packages", "no compiled runner is asked for; expected one such as py_aot_inductor");
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

/// Throws InputError for a word after --print-json that is neither oss nor pep; fastrnns takes any.
inline void refuse_other_json(const CommandLine& line) {
  if (line.print_json == JsonFormat::other && !line.compat)
    throw InputError({}, "--print-json: invalid value '" + report::printable(line.other_json) +
                             "'; expected oss or pep, or with --compat any word, at which nothing is printed");
}

/// Throws InputError for options that fastrnns' loop cannot obey: comparisons with a baseline, and everything that
/// steers pace's own measuring.
inline void refuse_with_compat(const args::Arguments& given) {
  const auto refuse = [&](const std::string& option, const char* why) {
    if (given.has(option)) throw InputError({}, option + " does not go together with --compat: " + why);
  };
  for (const char* const option : {"--baseline-runner", "--no-slower-than", "--peak-memory-at-most"})
    refuse(option, "fastrnns' loop runs one runner after another and compares none");
  for (const char* const option : {"--optimizer", "--optimizer-code", "--set-to-none"})
    refuse(option, "fastrnns' loop zeroes gradients in place and updates no parameters");
  runner::SessionOptions session;
  for (const auto& option : args::names_of(runner::pace_options(session)))
    if (option != "--threads" && option != "--isolation" && option != "--no-table" && option != "--no-progress")
      refuse(option, "fastrnns' loop has its own measuring, whose results are its table and --print-json");
}

/// Belongs on stderr before the group of variable-length runners, unless JSON is asked for; empty if it does not apply.
[[nodiscard]] inline std::string variable_length_warning(const CommandLine& line) {
  constexpr std::int64_t call_timeout = 30;
  if (!line.variable_lstms || line.nloops_of_loop() + line.warmup_of_loop() <= call_timeout) return {};
  return "WARNING: some of the variable sequence length lstms are very unoptimized and therefore take forever to run.";
}

/// The line of the original that prints its options.
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
  const std::string json = text(line.print_json == JsonFormat::oss   ? "oss"
                                : line.print_json == JsonFormat::pep ? "pep"
                                                                     : line.other_json);
  return "Namespace(seqLength=" + number(line.seq_length) + ", numLayers=" + number(line.num_layers) +
         ", inputSize=" + number(line.input_size) + ", hiddenSize=" + number(line.hidden_size) +
         ", miniBatch=" + number(line.mini_batch) + ", warmup=" + number(line.warmup_of_loop()) +
         ", nloops=" + number(line.nloops_of_loop()) + ", device=" + maybe(line.device, text) +
         ", variable_lstms=" + (line.variable_lstms ? "True" : "False") + ", sep=" + text(line.sep) +
         ", print_json=" + (line.print_json == JsonFormat::none ? std::string("None") : json) +
         ", rnns=" + maybe(line.rnns, list) + ", cnns=" + maybe(line.cnns, list) + ", group=" + list(line.group) +
         ", fuser=" + text(line.fuser) + ", executor=" + maybe(line.executor, text) +
         ", cuda_pointwise_loop_level=" + maybe(line.cuda_pointwise_loop_level, number) +
         ", cuda_pointwise_block_count=" + maybe(line.cuda_pointwise_block_count, number) +
         ", cuda_pointwise_block_size=" + maybe(line.cuda_pointwise_block_size, number) + ')';
}

/// The most steps of one runner: their times are kept in memory.
inline constexpr std::int64_t most_steps = 1'000'000;

namespace detail {

/// The most of one dimension: larger values in several dimensions overflow the size of a tensor.
inline constexpr std::int64_t most_of_a_size = 1'000'000;

/// Names of runners, or of groups of them, with commas or spaces between them.
template <class To>
[[nodiscard]] args::Value runner_names(To& to, std::string placeholder = "a,b", std::string shown = "") {
  return {std::move(placeholder), "names of runners, none of them twice",
          [&to](const std::string& text) {
            const auto names = args::read_names(text);
            if (names) to = *names;
            return names.has_value();
          },
          std::move(shown)};
}

/// The sizes of models, which the tools ask for, too. `Line` has the members of CommandLine.
template <class Line>
[[nodiscard]] args::Group size_options(Line& line) {
  const auto size = [](std::int64_t& to) { return args::whole(to, 1, most_of_a_size); };
  return {"RNN: sizes",
          {{"--seq-length", "steps of a sequence", size(line.seq_length)},
           {"--num-layers", "layers", size(line.num_layers)},
           {"--input-size", "features of an input", size(line.input_size)},
           {"--hidden-size", "features of a state", size(line.hidden_size)},
           {"--mini-batch", "sequences in a batch", size(line.mini_batch)},
           args::Option("--device", "where they run",
                        args::text(line.device, "cpu|cuda[:NUMBER]", "cpu, cuda or cuda:NUMBER"))
               .by_default("cuda where there is one")}};
}

/// The same, with sizes of images, which fastrnns does not have.
[[nodiscard]] inline args::Group all_size_options(CommandLine& line) {
  using args::Option;
  args::Group sizes = size_options(line);
  for (Option option :
       {Option("--images", "batch of the convolutional networks", args::whole(line.images, 1, 1'000'000)),
        Option("--image-side", "height and width of their images", args::whole(line.image_side, 32, 1'000'000))})
    sizes.options.push_back(std::move(option));
  return sizes;
}

[[nodiscard]] inline args::Group runner_options(CommandLine& line, const std::string& known) {
  using args::Option;
  using Text = const std::string&;
  return {
      "RNN: what runs",
      {Option("--rnns",
              "runners of recurrent networks, with commas or spaces between them" +
                  (known.empty() ? "" : "; there are " + known),
              runner_names(line.rnns, "a,b", "fastrnns' list"))
           .as_list(),
       Option("--cnns", "runners of convolutional networks", runner_names(line.cnns, "a,b", "fastrnns' list"))
           .as_list(),
       Option("--group", "what to run",
              {"rnns,cnns|none", "rnns, cnns, both or none",
               [&group = line.group](Text text) {
                 group.clear();
                 if (text == "none") return true;
                 const auto read = args::read_names(text);
                 group = read.value_or(group);
                 const auto known = [](Text each) { return each == "rnns" || each == "cnns"; };
                 return read && std::ranges::all_of(group, known);
               },
               "cnns and rnns"})
           .as_list("none"),
       {"--variable-lstms", "also sequences of different lengths, which takes long and ignores --seq-length",
        args::flag(line.variable_lstms)},
       {"--inference", "forwards alone, without gradients", args::flag(line.inference)},
       {"--optimizer", "update the parameters in each step, as a phase of its own",
        args::one_of(line.optimizer, {"none", "sgd", "adam"})},
       {"--optimizer-code",
        "what updates: torch::optim one parameter after the other, or LibTorch's operators for all of them",
        args::one_of(line.optimizer_code, {"single", "foreach", "fused"})},
       {"--set-to-none", "take gradients away before each step, so that the backward allocates them",
        args::flag(line.set_to_none)},
       Option::refused("--grad-scaler",
                       "LibTorch has no gradient scaler in C++, and the runners compute in float32, whose gradients "
                       "need none; //benches/models has --amp --grad-scaler"),
       {"--packages", "packages compiled beforehand, for runners such as py_aot_inductor; again for another",
        args::each(line.packages, "folder", "a folder's name")},
       {"--log-operator-inputs",
        "also record the operators of one step of each runner, into files that //benches/operators replays",
        args::folder(line.log_operator_inputs)}}};
}

[[nodiscard]] inline args::Group measuring_options(CommandLine& line) {
  using args::Option;
  return {
      "RNN: measurement",
      {Option("--warmup",
              "steps of each runner before the table's, instead of the time that --warm-up gives (with --compat: "
              "10)",
              args::whole(line.warmup, 0, most_steps)),
       Option("--nloops",
              "steps of each runner in the table, or a few more so that each runner takes each turn equally often, "
              "unless --budget ends them before (with --compat: 100)",
              args::whole(line.nloops, 1, most_steps))
           .by_default("100 at most, within the budget"),
       // --baseline is the stored one.
       Option("--baseline-runner", "what the others are compared with",
              args::text(line.baseline, "name", "the name of a runner"))
           .by_default("cudnn on a GPU, aten on a CPU"),
       {"--no-slower-than", "fail a runner that is proven to take more than this times the baseline's time for a step",
        args::factor(line.no_slower_than)},
       {"--peak-memory-at-most",
        "fail a runner whose step has more bytes in use at once than this times the baseline's",
        args::factor(line.peak_memory_at_most)},
       {"--compat",
        "fastrnns' own loop, one runner after another, compared with none: seconds called milliseconds on the CPU, and "
        "with JSON no word of runners that fail",
        args::flag(line.compat)}}};
}

[[nodiscard]] inline args::Group execution_options(CommandLine& line) {
  using args::Option;
  const auto kernel_number = [](std::optional<std::int64_t>& to) {
    return args::whole(to, 0, std::numeric_limits<int>::max());
  };
  return {"RNN: how it runs",
          {{"--fuser", "TorchScript's fuser", args::one_of(line.fuser, {"te", "old", "none", "default"})},
           Option("--executor", "TorchScript's executor",
                  args::one_of(line.executor, {"profiling", "simple", "legacy", "default"}))
               .by_default("the fuser's"),
           Option("--cuda-pointwise-loop-level", "of the fuser's kernels on a GPU; 0: its own",
                  kernel_number(line.cuda_pointwise_loop_level)),
           Option("--cuda-pointwise-block-count", "blocks of such kernels; 0: its own",
                  kernel_number(line.cuda_pointwise_block_count)),
           Option("--cuda-pointwise-block-size", "threads of a block; 0: its own",
                  kernel_number(line.cuda_pointwise_block_size)),
           {"--tf32",
            "products of float32 on a GPU with ten bits of mantissa: on, off, or as LibTorch has it, in cuDNN alone",
            args::one_of(line.tf32, {"default", "on", "off"})}}};
}

[[nodiscard]] inline args::Group printing_options(CommandLine& line) {
  using args::Option;
  using Text = const std::string&;
  std::vector<std::string> plans{"--list"};
  plans.emplace_back("--dry-run");
  return {"RNN: output",
          {Option("--sep", "between the columns of the table",
                  {"text", "a text", [&line](Text text) { return line.sep = text, true; }, "a space"}),
           Option("--print-json", "JSON instead of the table: of means, or of single times; oss if nothing follows",
                  {"oss|pep", "oss or pep",
                   [&line](Text text) {
                     line.print_json = text == "oss"   ? JsonFormat::oss
                                       : text == "pep" ? JsonFormat::pep
                                                       : JsonFormat::other;
                     line.other_json = line.print_json == JsonFormat::other ? text : "";
                     return true;
                   },
                   ""})
               .value_optional("oss")
               .excludes(plans, "which measure nothing that could be printed as JSON")}};
}

}  // namespace detail

/// The bench's options; `line` must outlive them. `known`: the names of all runners, for the help.
[[nodiscard]] inline args::Groups rnn_options(CommandLine& line, const std::string& known = "") {
  return {detail::runner_options(line, known), detail::all_size_options(line), detail::measuring_options(line),
          detail::execution_options(line), detail::printing_options(line)};
}

}  // namespace pace::benches::rnn
