// The command line of the operator bench: operatorbench's options in both spellings, and pace's own.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "benches/files/aot/fuser.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/options.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/units.hpp"

namespace pace::benches::operators {

/// The program of PyTorch's that is followed: a generation of operatorbench, or operator_benchmark.
enum class Original { operatorbench_old, operatorbench_new, operator_benchmark };

/// Names of the timers of other libraries, the one of the CPU first.
inline const std::vector<std::string> foreign_timers = {
    "benchmark_cpu",      "do_bench", "do_bench_cudagraph", "do_bench_using_profiling", "inductor",
    "inductor_cudagraph", "profiler"};

/// The counters of instructions.
enum class Counter { callgrind, perf };

struct CommandLine {
  benches::operators::ReplayOptions replay;
  std::optional<Original> compat;
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
  /// A timer of another library (ForeignTimer); empty: none.
  std::string timer;
  /// The folder of files that no option names.
  std::string output_dir;
  /// The counter of instructions in the place of times.
  std::optional<Counter> counter;
  /// Iterations of the only batch of operator_benchmark; none: they double.
  std::optional<std::int64_t> iterations;
  /// Iterations that it does not time, and times of each test.
  std::int64_t warm_up_iterations = 100, runs = 1;
  /// Least time of each of them, over all batches.
  Nanoseconds least_time{};
  /// Whether it prints a line of JSON for each batch.
  bool for_observer = false;
  bool measure_nvfuser = false, no_nvfuser = false, profile = false;
  bool backward = false, forward_backward = false;
  benches::aot::Fuser fuser = benches::aot::Fuser::standard;

  /// Whether operator_benchmark is followed.
  [[nodiscard]] bool execution_times() const { return compat == Original::operator_benchmark; }
  /// The generation of operatorbench that is followed, if one is.
  [[nodiscard]] std::optional<benches::operators::compat::Generation> generation() const {
    using benches::operators::compat::Generation;
    if (!compat || execution_times()) return std::nullopt;
    return compat == Original::operatorbench_old ? Generation::old : Generation::new_;
  }
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

/// A flag that may have a value.
[[nodiscard]] inline args::Value yes_or_no(bool& to) {
  return {"yes|no", "true or false",
          [&to](const std::string& text) {
            const auto value = read_bool(text);
            to = value.value_or(to);
            return value.has_value();
          },
          "no"};
}

[[nodiscard]] inline args::Group input_options(CommandLine& line) {
  using args::Option;
  using Text = const std::string&;
  auto& replay = line.replay;
  return {"Operators: inputs",
          {{"--suite",
            "the folder timm_train, hf_train or torchbench_train in --suite-dir, in $PACE_OPERATOR_INPUTS or in "
            "./operator_inp_logs",
            args::one_of(line.suite, {"timm", "huggingface", "torchbench"})},
           {"--inp-file", "recorded inputs of one model", args::file(replay.inp_file)},
           {"--suite-dir", "recorded inputs of a suite, *.txt and *.json", args::folder(replay.suite_dir)},
           Option("--op", "names such as aten.add.Tensor, or all",
                  args::text(line.op, "a,b|all", "names of operators, or all"))
               .by_default("all"),
           {"--operator-range",
            "of these the ones whose names, without their namespace, begin with such a letter",
            {"a-c,f", "letters and ranges of letters, such as a-c,f",
             [&letters = replay.letters](Text given) { return read_letters(given, letters); }, ""}},
           Option("--category", "categories of the shipped set, such as pointwise, or all (not with --compat)",
                  args::text(line.category, "a,b|all", "names of categories, or all"))
               .by_default("a few operators of each"),
           {"--tag", "tags of the cases that the program's source files declare, such as short",
            args::text(line.tag, "a,b", "names of tags")},
           Option("--skip-rules",
                  "upstream leaves out what PyTorch's operatorbench does not run on the device (with --compat always "
                  "upstream)",
                  args::choice(replay.skip_rules, {{"none", SkipRules::none}, {"upstream", SkipRules::upstream}})),
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
            args::flag(replay.channels_last)}}};
}

[[nodiscard]] inline args::Group backend_options(CommandLine& line, const std::vector<std::string>& known) {
  using args::Option;
  using Text = const std::string&;
  std::string names;
  for (const auto& name : known) names += (names.empty() ? "" : ", ") + name;
  return {
      "Operators: back ends",
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
         [&fuser = line.fuser](Text given) { return fuser = benches::aot::parse_fuser(given), true; }, "default"}}}};
}

[[nodiscard]] inline args::Group measuring_options(CommandLine& line) {
  using args::Option;
  auto& replay = line.replay;
  return {
      "Operators: measurement",
      {Option("--accuracy-checking", "correctness rather than speed: by cosine, fewest rounds; a flag, or with a value",
              yes_or_no(replay.accuracy_only))
           .value_optional("true"),
       {"--reuses-outputs",
        "later calls may overwrite the outputs of earlier ones, where each is read before the next call",
        args::flag(replay.reuses_outputs)},
       Option("--repeats", "cycles of rounds at most (with --compat: 3)", args::whole(replay.repeats, 1, 1'000'000)),
       Option("--no-slower-than",
              "fail a candidate that is proven to take more than this times the baseline's time (not with --compat or "
              "--accuracy-checking)",
              args::factor(replay.no_slower_than))
           .by_default("10 on most of the shipped inputs, none on others"),
       {"--peak-memory-at-most",
        "fail a candidate whose call has more bytes in use at once than this times the baseline's",
        args::factor(replay.peak_memory_at_most)},
       Option("--bwd",
              "the backward pass of each operator that has one: rows and guards are about gradients, which are "
              "compared; by default of eager and torchscript",
              args::flag(line.backward))
           .excludes({"--fwd-bwd"}, "one asks for the backward pass, the other for both"),
       {"--fwd-bwd", "the forward and the backward pass of each operator that has one, together and apart",
        args::flag(line.forward_backward)},
       {"--timer",
        "time as a timer of PyTorch's or Triton's does, once for each sample of pace's: on a CPU benchmark_cpu, on a "
        "GPU the others",
        args::one_of(line.timer, foreign_timers)},
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
       Option("--output-dir", "folder for files of a suite, of --profile and of --compat that are not named otherwise",
              args::folder(line.output_dir))
           .by_default("the current folder")}};
}

[[nodiscard]] inline args::Group original_options(CommandLine& line) {
  using args::Option;
  return {
      "Operators: as PyTorch's programs do it",
      {{"--compat",
        "as a generation of PyTorch's operatorbench, or its operator_benchmark, does it, flaws included: on all cores "
        "unless --threads is given, outside of inference mode; no table, nothing judged. Standard error says what "
        "differs from the original",
        args::choice(line.compat, {{"old", Original::operatorbench_old},
                                   {"new", Original::operatorbench_new},
                                   {"operator_benchmark", Original::operator_benchmark}})},
       Option("--iterations", "with --compat operator_benchmark: iterations of the only batch of a test",
              args::whole(line.iterations, 1, 1'000'000'000))
           .by_default("100, 200, 400 and so on until a batch takes a second"),
       {"--warmup-iterations", "with --compat operator_benchmark: iterations that are not timed",
        args::whole(line.warm_up_iterations, 0, 1'000'000'000)},
       {"--num-runs", "with --compat operator_benchmark: times of each test, a line each",
        args::whole(line.runs, 1, 1'000'000)},
       {"--min-time-per-test",
        "with --compat operator_benchmark: batches double until all of them together take so long, too",
        args::seconds(line.least_time, /*zero_allowed=*/true)},
       {"--report-aibench",
        "with --compat operator_benchmark: a line `PyTorchObserver {...}` for each batch, in milliseconds",
        args::flag(line.for_observer)}}};
}

}  // namespace detail

/// The bench's options; `line` must outlive them. `known`: the names of all back ends, for the help.
[[nodiscard]] inline args::Groups operator_options(CommandLine& line, const std::vector<std::string>& known) {
  return {detail::input_options(line), detail::backend_options(line, known), detail::measuring_options(line),
          detail::original_options(line)};
}

}  // namespace pace::benches::operators
