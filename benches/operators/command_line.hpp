// What a person may ask of the operator bench: operatorbench's options in both spellings, and pace's own.
#pragma once

#include <catch2/internal/catch_clara.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/core/error.hpp"
#include "pace/families/operators/compat/options.hpp"
#include "pace/families/operators/options.hpp"
#include "pace/harness/session_options.hpp"
#include "pace/subject/fuser.hpp"

namespace pace::benches::operators {

struct CommandLine {
  families::operators::ReplayOptions replay;
  std::optional<families::operators::compat::Generation> compat;
  /// Given, not defaulted.
  std::optional<std::string> suite, op, dtype, device, backends;
  std::vector<std::string> inductor_configs;
  /// Of the shipped set; empty: all.
  std::string category;
  /// Where files go that nobody has named.
  std::string output_dir;
  bool measure_nvfuser = false, profile = false;
  subject::Fuser fuser = subject::Fuser::standard;
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

/// Catch2's parser with the bench's options. Each may be given again, and the last one counts: a target's own arguments
/// come before those of whoever runs it.
[[nodiscard]] inline Catch::Clara::Parser with_operator_options(Catch::Clara::Parser parser, CommandLine& line) {
  using harness::detail::option;
  using Text = const std::string&;
  auto& replay = line.replay;
  const auto text = [](std::string& to) { return [&to](Text given) { return to = given, !given.empty(); }; };
  const auto given = [](std::optional<std::string>& to) { return [&to](Text text) { return to = text, !text.empty(); }; };
  const auto flag = [](bool& to) {
    return [&to](Text text) {
      const auto value = detail::read_bool(text);
      to = value.value_or(to);
      return value.has_value();
    };
  };
  const auto number = [](std::size_t& to) { return [&to](Text text) { return harness::read_number(text, to); }; };

  parser |= option("--suite", "name", "operators: timm, huggingface or torchbench: the folder timm_train, hf_train or "
                   "torchbench_train in --suite-dir, in $PACE_OPERATOR_INPUTS or in ./operator_inp_logs",
                   "timm, huggingface or torchbench", given(line.suite));
  parser |= option("--inp-file", "file", "operators: recorded inputs of one model", "a file name", text(replay.inp_file));
  parser |= option("--suite-dir", "directory", "operators: recorded inputs of a suite, *.txt", "a folder's name",
                   text(replay.suite_dir));
  parser |= option("--op", "a,b|all", "operators: names such as aten.add.Tensor, or all", "names of operators, or all",
                   given(line.op));
  parser |= option("--category", "a,b", "operators: categories of the shipped set, such as pointwise, or all; "
                   "without it a few operators of each", "names of categories, or all", text(line.category));
  parser |= option("--skip-rules", "none|upstream",
                   "operators: upstream leaves out what PyTorch's operatorbench does not run (defaults to none)",
                   "none or upstream", [&rules = replay.skip_rules](Text given) {
                     rules = families::operators::parse_skip_rules(given);
                     return true;
                   });
  parser |= option("--dtype", "type", "operators: float32, float16, bfloat16, float64 or recorded (defaults to float32)", "a floating-point type",
                   given(line.dtype));
  parser |= option("--device", "device", "operators: cpu, cuda or cuda:NUMBER (defaults to cpu; with --compat to cuda)",
                   "cpu, cuda or cuda:NUMBER", given(line.device));
  parser |= option("--max-samples", "number", "operators: samples of each at most (defaults to 15)", "a whole number",
                   number(replay.max_samples));
  parser |= option("--start-idx", "number", "operators: the first sample of each (defaults to 0)", "a whole number",
                   number(replay.start_idx));
  parser |= option("--backends", "a,b",
                   "operators: the baseline, then candidates (defaults to eager,torchscript,aot_inductor)",
                   "names of back ends", given(line.backends));
  parser |= option("--inductor-config", "name",
                   "operators: one more back end: halide, autotune, max_autotune, coordinate_descent, freezing, simd, "
                   "no_simd, or OPTION=VALUE of Inductor's own; again for another", "a configuration of Inductor",
                   [&configs = line.inductor_configs](Text given) {
                     configs.push_back(given);
                     return !given.empty();
                   });
  parser |= option("--measure-nvfuser", "yes|no",
                   "operators: TorchScript as one more back end (this LibTorch has no nvFuser); a flag, or with a value",
                   "true or false", flag(line.measure_nvfuser));
  parser |= option("--fuser", "default|none|nnc", "operators: TorchScript's fuser", "default, none or nnc",
                   [&fuser = line.fuser](Text given) {
                     fuser = subject::parse_fuser(given);
                     return true;
                   });
  parser |= option("--accuracy-checking", "yes|no",
                   "operators: correctness rather than speed: by cosine, fewest rounds; a flag, or with a value",
                   "true or false", flag(replay.accuracy_only));
  parser |= option("--repeats", "number", "operators: cycles of rounds at most (with --compat defaults to 3)",
                   "a whole number above 0", [&repeats = replay.repeats](Text given) {
                     return harness::read_number(given, repeats.emplace()) && *repeats > 0;
                   });
  parser |= Catch::Clara::Opt(replay.channels_last)["--channels-last"](
      "operators: four-dimensional inputs in channels-last memory format");
  parser |= Catch::Clara::Opt(line.profile)["--profile"](
      "operators: a trace of each operator by LibTorch's profiler, in log/ in the output folder");
  parser |= option("--no-slower-than", "factor",
                   "operators: fail a candidate that is proven to take more than this times the baseline's time (defaults "
                   "to 10 on most of the shipped inputs, to none on yours)", "a number above 0, such as 1.1",
                   [&limit = replay.no_slower_than](Text given) {
                     return harness::read_number(given, limit.emplace()) && *limit > 0;
                   });
  parser |= option("--output-dir", "directory",
                   "operators: where the files of a suite go that are not named otherwise (defaults to where you stand)",
                   "a folder's name", text(line.output_dir));
  parser |= option("--compat", "old|new", "operators: as a generation of PyTorch's operatorbench does it, flaws included",
                   "old or new", [&compat = line.compat](Text given) {
                     using families::operators::compat::Generation;
                     compat = given == "old" ? Generation::old : Generation::new_;
                     return given == "old" || given == "new";
                   });
  return parser;
}

}  // namespace pace::benches::operators
