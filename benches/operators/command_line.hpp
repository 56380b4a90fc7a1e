// The command line of the operator bench: operatorbench's options in both spellings, and pace's own.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benches/aot/fuser.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/options.hpp"
#include "pace/args/command_line.hpp"
#include "pace/core/error.hpp"

namespace pace::benches::operators {

/// What counts instructions.
enum class Counter { callgrind, perf };

struct CommandLine {
  benches::operators::ReplayOptions replay;
  std::optional<benches::operators::compat::Generation> compat;
  /// Given, not defaulted.
  std::optional<std::string> suite, op, dtype, device, backends;
  std::optional<std::size_t> max_samples;
  /// All options that were given, pace's among them.
  args::Arguments given;
  std::vector<std::string> inductor_configs;
  /// A category of the shipped set; empty: all.
  std::string category;
  /// Tags of declared cases; empty: all.
  std::string tag;
  /// The folder of files that no option names.
  std::string output_dir;
  /// What counts instructions in the place of times.
  std::optional<Counter> counter;
  bool measure_nvfuser = false, no_nvfuser = false, profile = false;
  benches::aot::Fuser fuser = benches::aot::Fuser::standard;
};

namespace detail {

[[nodiscard]] inline std::optional<bool> read_bool(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* yes : {"true", "1", "yes", "on", "t", "y"})
    if (text == yes) return true;
  for (const char* no : {"false", "0", "no", "off", "f", "n"})
    if (text == no) return false;
  return std::nullopt;
}

}  // namespace detail

namespace detail {

struct Meaningless {
  std::string_view option, why;
};

/// What pace measures and judges by, and PyTorch's operatorbench has no counterpart of.
inline constexpr std::string_view fixed_repeats = "the original measures --repeats times, however long that takes";
inline constexpr std::string_view nothing_judged = "the original judges nothing";
inline constexpr std::array<Meaningless, 27> meaningless_in_compat = {{
    {"--backends", "the original compares eager with Inductor; --inductor-config and --measure-nvfuser add to them"},
    {"--category", "the original knows no categories; expected --op"},
    {"--tag", "the original replays recorded inputs alone"},
    {"--no-slower-than", nothing_judged},
    {"--save-baseline", nothing_judged},
    {"--baseline", nothing_judged},
    {"--baseline-margin", nothing_judged},
    {"--baseline-expires", nothing_judged},
    {"--process-spread", nothing_judged},
    {"--alpha", nothing_judged},
    {"--suite-alpha", nothing_judged},
    {"--beta", nothing_judged},
    {"--stop", nothing_judged},
    {"--max-interference", nothing_judged},
    {"--processes", "the original measures in one process"},
    {"--confidence", "the original states no intervals"},
    {"--controls", "the original has none"},
    {"--budget", fixed_repeats},
    {"--warm-up", fixed_repeats},
    {"--max-rounds", fixed_repeats},
    {"--time-limit", fixed_repeats},
    {"--clock", "the original's own clocks are part of what it does"},
    {"--mode-share", "the original times calls in one way"},
    {"--operands", "the original gives all models the same tensors"},
    {"--least-duration", nothing_judged},
    {"--check-seed", "the original checks by no other values than those that are timed"},
    {"--isolate", "the original runs all models in one process"},
}};
inline constexpr std::string_view nothing_timed = "instructions are counted, and nothing is timed";
inline constexpr std::array<Meaningless, 27> meaningless_for_counts = {{
    {"--accuracy-checking", "a count checks the outputs, too; expected one of them"},
    {"--repeats", "a count is repeated three times"},
    {"--profile", "the profiler's work would be counted"},
    {"--no-slower-than", nothing_timed},
    {"--budget", nothing_timed},
    {"--least-duration", nothing_timed},
    {"--warm-up", nothing_timed},
    {"--max-rounds", nothing_timed},
    {"--stop", nothing_timed},
    {"--operands", nothing_timed},
    {"--check-seed", "a count checks the outputs by the values of --seed"},
    {"--alpha", nothing_timed},
    {"--suite-alpha", nothing_timed},
    {"--beta", nothing_timed},
    {"--confidence", nothing_timed},
    {"--max-interference", nothing_timed},
    {"--controls", nothing_timed},
    {"--processes", nothing_timed},
    {"--save-baseline", nothing_timed},
    {"--baseline", nothing_timed},
    {"--baseline-margin", nothing_timed},
    {"--baseline-expires", nothing_timed},
    {"--process-spread", nothing_timed},
    {"--isolate", nothing_timed},
    {"--clock", nothing_timed},
    {"--mode-share", nothing_timed},
    {"--compat", "the original counts no instructions"},
}};
inline constexpr std::string_view one_cycle = "correctness takes one cycle of rounds, which resolves no speed";
inline constexpr std::array<Meaningless, 4> meaningless_for_accuracy = {{
    {"--repeats", one_cycle},
    {"--max-rounds", one_cycle},
    {"--no-slower-than", one_cycle},
    {"--mode-share", one_cycle},
}};

template <std::size_t count>
void refuse_meaningless(const args::Arguments& given, const std::array<Meaningless, count>& options,
                        const std::string& mode) {
  for (const auto& [option, why] : options)
    if (given.has(option))
      throw InputError({}, std::string(option) + " has no meaning with " + mode + ": " + std::string(why));
}

}  // namespace detail

/// Throws InputError for an option that says nothing in the mode that the others choose.
inline void require_meaning(const CommandLine& line) {
  const auto refuse = [](const std::string& message) { throw InputError({}, message); };
  if (line.counter) detail::refuse_meaningless(line.given, detail::meaningless_for_counts, "--count-instructions");
  if (line.replay.instructions_at_most && !line.counter)
    refuse("--instructions-at-most has no meaning without --count-instructions; expected both");
  if (line.compat) {
    detail::refuse_meaningless(line.given, detail::meaningless_in_compat, "--compat");
    if (line.given.has("--skip-rules") && line.replay.skip_rules != benches::operators::SkipRules::upstream)
      refuse("--skip-rules none has no meaning with --compat: the original leaves operators out; expected upstream");
    if (line.given.has("--fuser") && !line.measure_nvfuser)
      refuse("--fuser has no meaning with --compat unless --measure-nvfuser is given: no other model is TorchScript");
    return;
  }
  if (line.replay.accuracy_only)
    detail::refuse_meaningless(line.given, detail::meaningless_for_accuracy, "--accuracy-checking");
  if (line.given.has("--repeats") && line.given.has("--max-rounds"))
    refuse("--max-rounds has no meaning with --repeats, which is a number of cycles of rounds; expected one of them");
}

/// The bench's options; `line` must outlive them. `known`: the names of all back ends, for the help.
[[nodiscard]] inline args::Groups operator_options(CommandLine& line, const std::vector<std::string>& known) {
  using args::Option;
  std::string names;
  for (const auto& name : known) names += (names.empty() ? "" : ", ") + name;
  using Text = const std::string&;
  auto& replay = line.replay;
  const auto yes_or_no = [](bool& to) {
    return args::Value{"yes|no", "true or false",
                       [&to](Text text) {
                         const auto value = detail::read_bool(text);
                         to = value.value_or(to);
                         return value.has_value();
                       },
                       "no"};
  };
  using compat::Generation;
  return {
      {"Operators: inputs",
       {{"--suite",
         "the folder timm_train, hf_train or torchbench_train in --suite-dir, in $PACE_OPERATOR_INPUTS or in "
         "./operator_inp_logs",
         args::text(line.suite, "timm|huggingface|torchbench", "timm, huggingface or torchbench")},
        {"--inp-file", "recorded inputs of one model", args::file(replay.inp_file)},
        {"--suite-dir", "recorded inputs of a suite, *.txt", args::folder(replay.suite_dir)},
        Option("--op", "names such as aten.add.Tensor, or all",
               args::text(line.op, "a,b|all", "names of operators, or all"))
            .by_default("all"),
        Option("--category", "categories of the shipped set, such as pointwise, or all (not with --compat)",
               args::text(line.category, "a,b|all", "names of categories, or all"))
            .by_default("a few operators of each"),
        {"--tag", "tags of the cases that the program's source files declare, such as short",
         args::text(line.tag, "a,b", "names of tags")},
        Option("--skip-rules",
               "upstream leaves out what PyTorch's operatorbench does not run on the device (with --compat always "
               "upstream)",
               {"none|upstream", "none or upstream",
                [&rules = replay.skip_rules](Text given) { return rules = parse_skip_rules(given), true; }, "none"}),
        Option("--dtype", "float32, float16, bfloat16, float64 or recorded",
               args::text(line.dtype, "type", "a floating-point type"))
            .by_default("float32"),
        Option("--device", "where they run (with --compat: cuda)",
               args::text(line.device, "cpu|cuda[:NUMBER]", "cpu, cuda or cuda:NUMBER"))
            .by_default("cpu"),
        Option("--max-samples", "samples of each at most", args::whole_from(line.max_samples, 1))
            .by_default("15; of the shipped inputs' default set 2, in its first run 1"),
        {"--start-idx", "the first sample of each", args::whole_from(replay.start_idx, 0)},
        {"--channels-last", "four-dimensional inputs in channels-last memory format",
         args::flag(replay.channels_last)}}},
      {"Operators: back ends",
       {Option("--backends", "the baseline, then candidates (not with --compat); there are " + names,
               args::text(line.backends, "a,b", "names of back ends"))
            .by_default("eager,torchscript,aot_inductor"),
        {"--inductor-config",
         "one more back end: halide, autotune, max_autotune, coordinate_descent, simd, no_simd, or OPTION=VALUE of "
         "Inductor's own; again for another",
         args::each(line.inductor_configs, "name", "a configuration of Inductor")},
        Option("--measure-nvfuser",
               "TorchScript as one more back end (this LibTorch has no nvFuser); a flag, or with a value",
               yes_or_no(line.measure_nvfuser))
            .value_optional("true"),
        Option("--no-measure-nvfuser", "without that back end, as it is by default", args::flag(line.no_nvfuser))
            .excludes({"--measure-nvfuser"}, "one asks for the back end, the other for none"),
        {"--fuser",
         "TorchScript's fuser",
         {"default|none|nnc", "default, none or nnc",
          [&fuser = line.fuser](Text given) { return fuser = benches::aot::parse_fuser(given), true; }, "default"}}}},
      {"Operators: what is measured",
       {Option("--accuracy-checking",
               "correctness rather than speed: by cosine, fewest rounds; a flag, or with a value",
               yes_or_no(replay.accuracy_only))
            .value_optional("true"),
        Option("--repeats", "cycles of rounds at most (with --compat: 3)", args::whole(replay.repeats, 1, 1'000'000)),
        Option("--no-slower-than",
               "fail a candidate that is proven to take more than this times the baseline's time (not with --compat or "
               "--accuracy-checking)",
               args::factor(replay.no_slower_than))
            .by_default("10 on most of the shipped inputs, none on others"),
        Option("--count-instructions",
               "instructions of one call in the place of times: callgrind runs the program under Valgrind's Callgrind, "
               "perf reads the CPU's own counter",
               args::choice(line.counter, {{"callgrind", Counter::callgrind}, {"perf", Counter::perf}}))
            .value_optional("callgrind"),
        {"--instructions-at-most",
         "with --count-instructions: fail a candidate that executes more than this times the baseline's instructions",
         args::factor(replay.instructions_at_most)},
        {"--profile", "a trace of each operator by LibTorch's profiler, in log/ in the output folder",
         args::flag(line.profile)},
        Option("--output-dir",
               "where the files of a suite go that are not named otherwise, and those of --profile and --compat",
               args::folder(line.output_dir))
            .by_default("the current folder"),
        {"--compat",
         "as a generation of PyTorch's operatorbench does it, flaws included: on all cores unless --threads is given, "
         "outside of inference mode; no table, nothing judged. Standard error says what differs from the original",
         args::choice(line.compat, {{"old", Generation::old}, {"new", Generation::new_}})}}},
  };
}

}  // namespace pace::benches::operators
