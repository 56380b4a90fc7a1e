// The command line of the program that compares files.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "benches/files/loaders/sweep.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/check/check_options.hpp"

namespace pace::benches::files {

/// The options, before any file is opened.
struct CommandLine {
  std::string baseline;                       ///< a file, or `op:NAME`
  std::vector<std::string> candidates;        ///< files, or `op:NAME`
  std::vector<std::string> backends;          ///< for a baseline of torch.export; empty: not given
  std::vector<std::string> inductor_configs;  ///< each is one more back end
  std::string inputs;
  std::vector<std::string> libraries;
  std::vector<loaders::Sweep> sweeps;
  std::optional<std::string> device;
  bool trust = false;
  std::optional<double> speedup_at_least, no_slower_than, mean_no_slower_than, peak_memory_at_most;
  check::CheckOptions check;
  /// Whether later calls may overwrite the outputs of earlier ones.
  bool reuses_outputs = false;
  /// Whether files without input tensors are declared to compute from their own content.
  bool captures = false;
  /// Numbers of operand tensors, counted from 0: workspaces, and those that stay the same between calls.
  std::vector<std::size_t> scratch, constant;
  /// All options that were given, pace's among them.
  args::Arguments given;
};

/// pace's options that mean something else here, or are refused.
inline const std::vector<std::string> replaced_options = {"--baseline", "--save-baseline", "--baseline-margin",
                                                          "--baseline-expires", "--process-spread"};

namespace detail {

[[nodiscard]] inline args::Group compared_options(CommandLine& line) {
  using args::Option;
  using Text = const std::string&;
  return {
      "Files that are compared",
      {Option("--baseline",
              "the file (TorchScript, torch.export, AOTInductor, a kernel's YAML), Python function (FILE.py:NAME) or "
              "operator that others are compared with",
              args::text(line.baseline, "file|file:name|op:name", "a file name, FILE:NAME, or op:NAME"))
           .once(),
       {"--candidate", "a file, a Python function or an operator that is compared with it; again for another",
        args::each(line.candidates, "file|file:name|op:name", "a file name, FILE:NAME, or op:NAME")},
       {"--inputs",
        "tensors that torch.save wrote, FILE.py:NAME, text such as \"(T([8, 128], f32),)\", a file of such lines or of "
        "recorded "
        "calls, or a folder of files, each a case",
        args::text(line.inputs, "file|folder|text", "a file, FILE.py:NAME, a folder, or text that begins with (")},
       {"--sweep",
        "values for the name of a size in the text of inputs, such as batch=1:64:x2; again for another name",
        {"name=first:last:step", "NAME=FIRST:LAST:xFACTOR, NAME=FIRST:LAST:+STEP or NAME=VALUE,VALUE",
         [&sweeps = line.sweeps](Text text) { return sweeps.push_back(loaders::parse_sweep(text)), true; }, ""}},
       {"--library", "a shared library that registers operators, loaded before the files; again for another",
        args::each(line.libraries, "file", "a file name")},
       Option::refused("--model", "it would be about every file; expected FILE:NAME for one program of an archive"),
       {"--device", "where the inputs are: cpu, cuda or cuda:NUMBER; by default where the file of inputs says",
        args::text(line.device, "device", "cpu, cuda or cuda:NUMBER")},
       {"--trust", "run the code that files and libraries hold", args::flag(line.trust)}}};
}

[[nodiscard]] inline args::Group backend_options(CommandLine& line) {
  return {
      "Back ends of a torch.export file",
      {{"--backend",
        "how --baseline runs: nativert or aot_inductor, which compiles it; again for another, the first is the "
        "baseline (default without --candidate: both)",
        args::each(line.backends, "nativert|aot_inductor", "nativert or aot_inductor")},
       {"--inductor-config",
        "one more back end: autotune, max_autotune, coordinate_descent, freezing, simd, no_simd, or OPTION=VALUE of "
        "Inductor's own; again for another",
        args::each(line.inductor_configs, "name", "a configuration of Inductor")}}};
}

[[nodiscard]] inline args::Group expectation_options(CommandLine& line) {
  using args::Option;
  using Text = const std::string&;
  const auto tolerance = [](std::optional<double>& to) { return args::number(to, 0, 1e6, "0.001", "number"); };
  const auto operands = [](std::vector<std::size_t>& to) {
    return args::Value{"number", "the number of an operand tensor, counted from 0",
                       [&to](Text text) { return args::read_number(text, to.emplace_back()); }, ""};
  };
  return {
      "Expectations of each candidate",
      {{"--speedup-at-least", "claim: it is proven to be at least so many times as fast",
        args::factor(line.speedup_at_least)},
       {"--no-slower-than", "guard: it is not proven to take more than so many times the time",
        args::factor(line.no_slower_than)},
       {"--mean-no-slower-than", "the same of the mean, which outliers count in",
        args::factor(line.mean_no_slower_than)},
       {"--peak-memory-at-most", "its call has at most so many times the baseline's bytes in use at once",
        args::factor(line.peak_memory_at_most)},
       {"--check", "how outputs are compared",
        args::choice(line.check.method, {{"allclose", check::CheckOptions::Method::allclose},
                                         {"cosine", check::CheckOptions::Method::cosine},
                                         {"bitwise", check::CheckOptions::Method::bitwise},
                                         {"random", check::CheckOptions::Method::random},
                                         {"order_free", check::CheckOptions::Method::order_free},
                                         {"sign_free", check::CheckOptions::Method::sign_free},
                                         {"ties", check::CheckOptions::Method::ties}})},
       {"--reuses-outputs",
        "later calls may overwrite the outputs of earlier ones, where each is read before the next call",
        args::flag(line.reuses_outputs)},
       {"--scratch",
        "this operand tensor is a workspace, which is not compared: input tensors count from 0, and behind them the "
        "buffers that calls write to; again for another",
        operands(line.scratch)},
       {"--constant",
        "this operand tensor, counted from 0 in the same way, stays the same between calls, as a weight; again for "
        "another",
        operands(line.constant)},
       {"--captures", "files without input tensors compute from what they hold, so that claims may pass",
        args::flag(line.captures)},
       Option("--rtol", "relative tolerance of outputs, in place of their type's", tolerance(line.check.rtol))
           .by_default("by type"),
       Option("--atol", "absolute tolerance of outputs", tolerance(line.check.atol)).by_default("by type and size")}};
}

[[nodiscard]] inline args::Group refused_options() {
  using args::Option;
  const std::string no_stored_times =
      "--baseline names a file here; expected --json FILE, and //tools/compare_results for the files of two runs";
  return {
      "Stored baselines, which this program lacks",
      {Option::refused("--save-baseline", no_stored_times), Option::refused("--baseline-margin", no_stored_times),
       Option::refused("--baseline-expires", no_stored_times), Option::refused("--process-spread", no_stored_times)}};
}

}  // namespace detail

/// The program's options; `line` must outlive them.
[[nodiscard]] inline args::Groups file_options(CommandLine& line) {
  return {detail::compared_options(line), detail::backend_options(line), detail::expectation_options(line),
          detail::refused_options()};
}

/// Throws InputError for options that are missing, or that have no effect beside the others.
inline void require_meaning(const CommandLine& line) {
  const auto refuse = [](const std::string& message) { throw InputError({}, message); };
  if (line.baseline.empty()) refuse("--baseline FILE is missing: the file, or op:NAME, that others are compared with");
  if (line.inputs.empty())
    refuse("--inputs is missing: tensors that torch.save wrote, or text such as \"(T([8, 128], f32),)\"");
  using Method = check::CheckOptions::Method;
  const bool has_no_tolerance = line.check.method == Method::cosine || line.check.method == Method::bitwise ||
                                line.check.method == Method::random;
  if (has_no_tolerance && (line.check.rtol || line.check.atol))
    refuse("--rtol and --atol have no meaning with --check cosine, bitwise or random; expected one of them");
  for (const auto operand : line.scratch)
    if (std::ranges::find(line.constant, operand) != line.constant.end())
      refuse("--scratch " + std::to_string(operand) + " does not go together with --constant " +
             std::to_string(operand) +
             ": calls may overwrite a workspace, so that nothing of it stays; expected one "
             "of them");
  for (const auto& each : line.backends)
    if (each != "nativert" && each != "aot_inductor")
      refuse("--backend: invalid value '" + each + "'; expected nativert or aot_inductor");
}

}  // namespace pace::benches::files
