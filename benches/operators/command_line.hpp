// The command line of the operator bench: operatorbench's options in both spellings, and pace's own.
#pragma once

#include <catch2/internal/catch_clara.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "benches/aot/fuser.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/options.hpp"
#include "pace/core/error.hpp"
#include "pace/runner/session_options.hpp"

namespace pace::benches::operators {

struct CommandLine {
  benches::operators::ReplayOptions replay;
  std::optional<benches::operators::compat::Generation> compat;
  /// Given, not defaulted.
  std::optional<std::string> suite, op, dtype, device, backends;
  /// Kept here, since Catch2 keeps views of texts alone.
  std::string help_of_backends;
  std::optional<std::size_t> max_samples;
  /// Names of all options that were given, such as `--op`.
  std::set<std::string, std::less<>> given;
  std::vector<std::string> inductor_configs;
  /// A category of the shipped set; empty: all.
  std::string category;
  /// The folder of files that no option names.
  std::string output_dir;
  bool measure_nvfuser = false, profile = false;
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

/// The words of a command line in one spelling: the old generation gives `--measure-nvfuser` and `--accuracy-checking` a
/// value, the new one has `--no-measure-nvfuser`, and either may be written with underscores. They keep the words alive.
[[nodiscard]] inline std::vector<char*> in_one_spelling(int argc, char** argv, std::deque<std::string>& words) {
  std::vector<char*> result;
  for (int i = 0; i < argc; ++i) {
    std::string word = argv[i];
    if (i > 0 && word.starts_with("--")) {
      const std::size_t end = std::min(word.find('='), word.size());
      std::replace(word.begin() + 2, word.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
    }
    if (word == "--no-measure-nvfuser") word = "--measure-nvfuser=false";
    if (word == "--measure-nvfuser" || word == "--accuracy-checking") {
      const bool has_value = i + 1 < argc && detail::read_bool(argv[i + 1]);
      word += has_value ? '=' + std::string(argv[++i]) : "=true";
    }
    words.push_back(std::move(word));
    result.push_back(words.back().data());
  }
  result.push_back(nullptr);
  return result;
}

/// The names of the options among the words of a command line, `--op` for `--op=all`.
[[nodiscard]] inline std::set<std::string, std::less<>> option_names(const std::deque<std::string>& words) {
  std::set<std::string, std::less<>> names;
  for (const auto& word : words)
    if (word.starts_with("--")) names.insert(word.substr(0, word.find_first_of("=:")));
  return names;
}

namespace detail {

struct Meaningless {
  std::string_view option, why;
};

/// What pace measures and judges by, and PyTorch's operatorbench has no counterpart of.
inline constexpr std::string_view fixed_repeats = "the original measures --repeats times, however long that takes";
inline constexpr std::string_view nothing_judged = "the original judges nothing";
inline constexpr std::array<Meaningless, 22> meaningless_in_compat = {{
    {"--backends", "the original compares eager with Inductor; --inductor-config and --measure-nvfuser add to them"},
    {"--category", "the original knows no categories; expected --op"},
    {"--no-slower-than", nothing_judged},
    {"--save-baseline", nothing_judged},
    {"--baseline", nothing_judged},
    {"--baseline-margin", nothing_judged},
    {"--baseline-expires", nothing_judged},
    {"--process-spread", nothing_judged},
    {"--alpha", nothing_judged},
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
    {"--figures", "the original times calls in one way"},
    {"--operands", "the original gives all models the same tensors"},
}};
inline constexpr std::string_view one_cycle = "correctness takes one cycle of rounds, which resolves no speed";
inline constexpr std::array<Meaningless, 4> meaningless_for_accuracy = {{
    {"--repeats", one_cycle},
    {"--max-rounds", one_cycle},
    {"--no-slower-than", one_cycle},
    {"--figures", one_cycle},
}};

template <std::size_t count>
void refuse_meaningless(const std::set<std::string, std::less<>>& given, const std::array<Meaningless, count>& options,
                        const std::string& mode) {
  for (const auto& [option, why] : options)
    if (given.contains(option))
      throw InputError({}, std::string(option) + " has no meaning with " + mode + ": " + std::string(why));
}

}  // namespace detail

/// Throws InputError for an option that says nothing in the mode that the others choose.
inline void require_meaning(const CommandLine& line) {
  const auto refuse = [](const std::string& message) { throw InputError({}, message); };
  if (line.compat) {
    detail::refuse_meaningless(line.given, detail::meaningless_in_compat, "--compat");
    if (line.given.contains("--skip-rules") && line.replay.skip_rules != benches::operators::SkipRules::upstream)
      refuse("--skip-rules none has no meaning with --compat: the original leaves operators out; expected upstream");
    if (line.given.contains("--fuser") && !line.measure_nvfuser)
      refuse("--fuser has no meaning with --compat unless --measure-nvfuser is given: no other model is TorchScript");
    return;
  }
  if (line.replay.accuracy_only)
    detail::refuse_meaningless(line.given, detail::meaningless_for_accuracy, "--accuracy-checking");
  if (line.given.contains("--repeats") && line.given.contains("--max-rounds"))
    refuse("--max-rounds has no meaning with --repeats, which is a number of cycles of rounds; expected one of them");
}

/// Catch2's parser with the bench's options; `line` must outlive it. `known`: the names of all back ends, for the help.
[[nodiscard]] inline Catch::Clara::Parser with_operator_options(Catch::Clara::Parser parser, CommandLine& line,
                                                                const std::vector<std::string>& known) {
  using runner::detail::option;
  using Text = const std::string&;
  auto& replay = line.replay;
  const auto text = [](std::string& to) { return [&to](Text given) { return to = given, !given.empty(); }; };
  const auto given = [](std::optional<std::string>& to) {
    return [&to](Text text) { return to = text, !text.empty(); };
  };
  const auto flag = [](bool& to) {
    return [&to](Text text) {
      const auto value = detail::read_bool(text);
      to = value.value_or(to);
      return value.has_value();
    };
  };
  const auto number = [](std::size_t& to) { return [&to](Text text) { return runner::read_number(text, to); }; };

  parser |= option("--suite", "name",
                   "operators: timm, huggingface or torchbench: the folder timm_train, hf_train or "
                   "torchbench_train in --suite-dir, in $PACE_OPERATOR_INPUTS or in ./operator_inp_logs",
                   "timm, huggingface or torchbench", given(line.suite));
  parser |=
      option("--inp-file", "file", "operators: recorded inputs of one model", "a file name", text(replay.inp_file));
  parser |= option("--suite-dir", "directory", "operators: recorded inputs of a suite, *.txt", "a folder's name",
                   text(replay.suite_dir));
  parser |= option("--op", "a,b|all", "operators: names such as aten.add.Tensor, or all", "names of operators, or all",
                   given(line.op));
  parser |= option("--category", "a,b",
                   "operators: categories of the shipped set, such as pointwise, or all; without it a few operators of "
                   "each (not with --compat)",
                   "names of categories, or all", text(line.category));
  parser |=
      option("--skip-rules", "none|upstream",
             "operators: upstream leaves out what PyTorch's operatorbench does not run on the device (defaults to "
             "none; with --compat always upstream)",
             "none or upstream", [&rules = replay.skip_rules](Text given) {
               rules = benches::operators::parse_skip_rules(given);
               return true;
             });
  parser |=
      option("--dtype", "type", "operators: float32, float16, bfloat16, float64 or recorded (defaults to float32)",
             "a floating-point type", given(line.dtype));
  parser |= option("--device", "device", "operators: cpu, cuda or cuda:NUMBER (defaults to cpu; with --compat to cuda)",
                   "cpu, cuda or cuda:NUMBER", given(line.device));
  parser |= option("--max-samples", "number",
                   "operators: samples of each at most (defaults to 15, of the shipped inputs' default set to 2, in "
                   "its first run to 1)",
                   "a whole number above 0", [&most = line.max_samples](Text given) {
                     return runner::read_number(given, most.emplace()) && *most > 0;
                   });
  parser |= option("--start-idx", "number", "operators: the first sample of each (defaults to 0)", "a whole number",
                   number(replay.start_idx));
  line.help_of_backends =
      "operators: the baseline, then candidates (defaults to eager,torchscript,aot_inductor; not with --compat); there "
      "are ";
  for (const auto& name : known) line.help_of_backends += (&name == known.data() ? "" : ", ") + name;
  parser |= option("--backends", "a,b", line.help_of_backends.c_str(), "names of back ends", given(line.backends));
  parser |= option("--inductor-config", "name",
                   "operators: one more back end: halide, autotune, max_autotune, coordinate_descent, simd, "
                   "no_simd, or OPTION=VALUE of Inductor's own; again for another",
                   "a configuration of Inductor", [&configs = line.inductor_configs](Text given) {
                     configs.push_back(given);
                     return !given.empty();
                   });
  parser |=
      option("--measure-nvfuser", "yes|no",
             "operators: TorchScript as one more back end (this LibTorch has no nvFuser); a flag, or with a value",
             "true or false", flag(line.measure_nvfuser));
  parser |= option("--fuser", "default|none|nnc", "operators: TorchScript's fuser", "default, none or nnc",
                   [&fuser = line.fuser](Text given) {
                     fuser = benches::aot::parse_fuser(given);
                     return true;
                   });
  parser |= option("--accuracy-checking", "yes|no",
                   "operators: correctness rather than speed: by cosine, fewest rounds; a flag, or with a value",
                   "true or false", flag(replay.accuracy_only));
  parser |= option("--repeats", "number", "operators: cycles of rounds at most (with --compat defaults to 3)",
                   "a whole number from 1 to 1000000", [&repeats = replay.repeats](Text given) {
                     return runner::read_number(given, repeats.emplace()) && *repeats > 0 && *repeats <= 1'000'000;
                   });
  parser |= Catch::Clara::Opt(replay.channels_last)["--channels-last"](
      "operators: four-dimensional inputs in channels-last memory format");
  parser |= Catch::Clara::Opt(line.profile)["--profile"](
      "operators: a trace of each operator by LibTorch's profiler, in log/ in the output folder");
  parser |=
      option("--no-slower-than", "factor",
             "operators: fail a candidate that is proven to take more than this times the baseline's time (defaults "
             "to 10 on most of the shipped inputs, to none on yours; not with --compat or --accuracy-checking)",
             runner::a_factor,
             [&limit = replay.no_slower_than](Text given) { return runner::read_factor(given, limit.emplace()); });
  parser |= option("--output-dir", "directory",
                   "operators: where the files of a suite go that are not named otherwise, and those of --profile and "
                   "--compat (defaults to the current folder)",
                   "a folder's name", text(line.output_dir));
  parser |= option("--compat", "old|new",
                   "operators: as a generation of PyTorch's operatorbench does it, flaws included: on all cores unless "
                   "--threads is given, outside of inference mode; no table, nothing judged. Standard error says what "
                   "differs from the original",
                   "old or new", [&compat = line.compat](Text given) {
                     using benches::operators::compat::Generation;
                     compat = given == "old" ? Generation::old : Generation::new_;
                     return given == "old" || given == "new";
                   });
  return parser;
}

}  // namespace pace::benches::operators
