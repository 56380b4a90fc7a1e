// The command line of the operator bench: operatorbench's options in both spellings, and pace's own.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "benches/files/aot/fuser.hpp"
#include "benches/operators/compat/options.hpp"
#include "benches/operators/options.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace::benches::operators {

/// The program of PyTorch's that is followed: a generation of operatorbench, or operator_benchmark.
enum class Original { operatorbench_old, operatorbench_new, operator_benchmark };

/// Names of the timers of other libraries, the one of the CPU first.
inline const std::vector<std::string> foreign_timers = {
    "benchmark_cpu",      "do_bench", "do_bench_cudagraph", "do_bench_using_profiling", "inductor",
    "inductor_cudagraph", "profiler"};

/// What counts instructions.
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
  /// What counts instructions in the place of times.
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

}  // namespace detail

namespace detail {

/// An option and why it is refused in each mode; empty: it has a meaning there.
struct Meaningless {
  std::string_view option;
  std::string_view compat = {}, execution_times = {}, counts = {}, accuracy = {}, gradients = {}, timer = {};
};

inline constexpr std::string_view original_judges_nothing = "the original judges nothing";
inline constexpr std::string_view fixed_repeats = "the original measures --repeats times, however long that takes";
inline constexpr std::string_view one_process = "the original measures in one process";
inline constexpr std::string_view no_intervals = "the original states no intervals";
inline constexpr std::string_view no_controls = "the original has none";
inline constexpr std::string_view own_clocks = "the original's own clocks are part of what it does";
inline constexpr std::string_view one_way = "the original times calls in one way";
inline constexpr std::string_view same_tensors = "the original gives all models the same tensors";
inline constexpr std::string_view no_other_values = "the original checks by no other values than those that are timed";
inline constexpr std::string_view doubles =
    "iterations double until a batch of them takes long enough; expected --budget";
inline constexpr std::string_view keeps_no_outputs = "no output is kept there while later calls are made";
inline constexpr std::string_view checks_nothing = "the original compares no outputs";
inline constexpr std::string_view two_modes = "the original has two modes; expected --backends eager,torchscript";
inline constexpr std::string_view nothing_timed = "instructions are counted, and nothing is timed";
inline constexpr std::string_view one_cycle = "correctness takes one cycle of rounds, which resolves no speed";
inline constexpr std::string_view forward_alone = "it is about forward passes alone";

/// `compat`: --compat old and new; `execution_times`: --compat operator_benchmark; `counts`: --count-instructions;
/// `accuracy`: --accuracy-checking; `gradients`: --bwd and --fwd-bwd; `timer`: --timer.
inline constexpr auto meaningless = std::to_array<Meaningless>({
    {.option = "--backends",
     .compat = "the original compares eager with Inductor; --inductor-config and --measure-nvfuser add to them"},
    {.option = "--category", .compat = "the original knows no categories; expected --op"},
    {.option = "--tag", .compat = "the original replays recorded inputs alone"},
    {.option = "--bwd", .compat = "the original measures no backward passes", .counts = forward_alone},
    {.option = "--fwd-bwd", .compat = "the original measures no backward passes", .counts = forward_alone},
    {.option = "--no-slower-than",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed,
     .accuracy = one_cycle},
    {.option = "--accuracy-checking",
     .execution_times = checks_nothing,
     .counts = "a count checks the outputs, too; expected one of them"},
    {.option = "--repeats",
     .execution_times = doubles,
     .counts = "a count is repeated three times",
     .accuracy = one_cycle},
    {.option = "--profile",
     .execution_times = "the profiler's work would be timed",
     .counts = "the profiler's work would be counted",
     .gradients = forward_alone},
    {.option = "--inductor-config", .execution_times = two_modes, .gradients = "packages have no backward pass"},
    {.option = "--measure-nvfuser", .execution_times = two_modes},
    {.option = "--output-dir", .execution_times = "nothing is written there; expected --json or --csv"},
    {.option = "--save-baseline",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--baseline",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--baseline-margin",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--baseline-expires",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--process-spread",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--alpha",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--suite-alpha",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--beta",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--stop",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--max-interference",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--least-duration",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.option = "--processes", .compat = one_process, .execution_times = one_process, .counts = nothing_timed},
    {.option = "--isolate",
     .compat = "the original runs all models in one process",
     .execution_times = one_process,
     .counts = nothing_timed,
     .gradients = "the passes are timed inside of the iterations, by the process that makes them",
     .timer = "the timer is in this process"},
    {.option = "--confidence", .compat = no_intervals, .execution_times = no_intervals, .counts = nothing_timed},
    {.option = "--controls", .compat = no_controls, .execution_times = no_controls, .counts = nothing_timed},
    {.option = "--budget", .compat = fixed_repeats, .counts = nothing_timed},
    {.option = "--warm-up",
     .compat = fixed_repeats,
     .execution_times = "the original warms up by 100 iterations",
     .counts = nothing_timed},
    {.option = "--max-rounds",
     .compat = fixed_repeats,
     .execution_times = doubles,
     .counts = nothing_timed,
     .accuracy = one_cycle},
    {.option = "--time-limit", .compat = fixed_repeats, .execution_times = doubles},
    {.option = "--clock",
     .compat = own_clocks,
     .execution_times = own_clocks,
     .counts = nothing_timed,
     .gradients = "each pass is launched anew, as training does",
     .timer = "both say what times; expected one of them"},
    {.option = "--timer",
     .compat = own_clocks,
     .execution_times = own_clocks,
     .counts = nothing_timed,
     .gradients = "those timers do not tell the passes apart"},
    {.option = "--mode-share",
     .compat = one_way,
     .execution_times = one_way,
     .counts = nothing_timed,
     .accuracy = one_cycle,
     .gradients = "each pass is launched anew, as training does",
     .timer = "the timer calls in its own way alone"},
    {.option = "--operands", .compat = same_tensors, .execution_times = same_tensors, .counts = nothing_timed},
    {.option = "--reuses-outputs",
     .compat = keeps_no_outputs,
     .execution_times = checks_nothing,
     .counts = keeps_no_outputs},
    {.option = "--check-seed",
     .compat = no_other_values,
     .execution_times = checks_nothing,
     .counts = "a count checks the outputs by the values of --seed"},
    {.option = "--audit",
     .compat = "the original trusts what it measures; expected no --compat, or no --audit",
     .execution_times = "the original trusts what it measures; expected no --compat, or no --audit",
     .counts = "a count compares outputs and audits nothing"},
    {.option = "--count-instructions",
     .compat = "the original counts no instructions",
     .execution_times = "the original counts no instructions"},
    {.option = "--operator-range", .compat = "the original chooses by --op"},
});

/// Options of operator_benchmark alone.
inline constexpr auto options_of_iterations = std::to_array<std::string_view>(
    {"--iterations", "--warmup-iterations", "--num-runs", "--min-time-per-test", "--report-aibench"});

/// Throws InputError for a given option that `mode`, a member of Meaningless, has a reason against.
inline void refuse_meaningless(const args::Arguments& given, std::string_view Meaningless::* mode,
                               const std::string& name) {
  for (const auto& each : meaningless)
    if (!(each.*mode).empty() && given.has(each.option))
      throw InputError({}, std::string(each.option) + " has no meaning with " + name + ": " + std::string(each.*mode));
}

}  // namespace detail

/// Throws InputError for an option that says nothing in the mode that the others choose.
inline void require_meaning(const CommandLine& line) {
  using detail::Meaningless;
  const auto refuse = [](const std::string& message) { throw InputError({}, message); };
  const auto refuse_with = [&](std::string_view Meaningless::* mode, const std::string& name) {
    detail::refuse_meaningless(line.given, mode, name);
  };
  if (line.replay.instructions_at_most && !line.counter)
    refuse("--instructions-at-most has no meaning without --count-instructions; expected both");
  if (line.execution_times()) {
    refuse_with(&Meaningless::execution_times, "--compat operator_benchmark");
    if (line.iterations && line.given.has("--budget"))
      refuse("--budget has no meaning with --iterations, which makes one batch; expected one of them");
    return;
  }
  for (const auto option : detail::options_of_iterations)
    if (line.given.has(option))
      refuse(std::string(option) + " has no meaning without --compat operator_benchmark; expected both");
  if (line.counter && !line.generation()) refuse_with(&Meaningless::counts, "--count-instructions");
  if (line.generation()) {
    refuse_with(&Meaningless::compat, "--compat");
    if (line.given.has("--skip-rules") && line.replay.skip_rules != benches::operators::SkipRules::upstream)
      refuse("--skip-rules none has no meaning with --compat: the original leaves operators out; expected upstream");
    if (line.given.has("--fuser") && !line.measure_nvfuser)
      refuse("--fuser has no meaning with --compat unless --measure-nvfuser is given: no other model is TorchScript");
    return;
  }
  if (line.backward || line.forward_backward)
    refuse_with(&Meaningless::gradients, line.backward ? "--bwd" : "--fwd-bwd");
  if (!line.timer.empty()) refuse_with(&Meaningless::timer, "--timer");
  if (line.replay.accuracy_only) refuse_with(&Meaningless::accuracy, "--accuracy-checking");
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
  return {
      {"Operators: inputs",
       {{"--suite",
         "the folder timm_train, hf_train or torchbench_train in --suite-dir, in $PACE_OPERATOR_INPUTS or in "
         "./operator_inp_logs",
         args::text(line.suite, "timm|huggingface|torchbench", "timm, huggingface or torchbench")},
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
        {"--reuses-outputs",
         "later calls may overwrite the outputs of earlier ones, where each is read before the next call",
         args::flag(replay.reuses_outputs)},
        Option("--repeats", "cycles of rounds at most (with --compat: 3)", args::whole(replay.repeats, 1, 1'000'000)),
        Option("--no-slower-than",
               "fail a candidate that is proven to take more than this times the baseline's time (not with --compat or "
               "--accuracy-checking)",
               args::factor(replay.no_slower_than))
            .by_default("10 on most of the shipped inputs, none on others"),
        Option("--bwd",
               "the backward pass of each operator that has one: rows and guards are about gradients, which are "
               "compared; by default of eager and torchscript",
               args::flag(line.backward))
            .excludes({"--fwd-bwd"}, "one asks for the backward pass, the other for both"),
        {"--fwd-bwd", "the forward and the backward pass of each operator that has one, together and apart",
         args::flag(line.forward_backward)},
        {"--timer",
         "time as a timer of PyTorch's or Triton's does, once for each sample of pace's: on a CPU benchmark_cpu, on a "
         "GPU "
         "the others",
         args::one_of(line.timer, foreign_timers)},
        Option("--count-instructions",
               "instructions of one call in the place of times: callgrind runs the program under Valgrind's Callgrind, "
               "perf reads the CPU's own counter",
               args::choice(line.counter, {{"callgrind", Counter::callgrind}, {"perf", Counter::perf}}))
            .value_optional("callgrind"),
        {"--instructions-at-most",
         "with --count-instructions: fail a candidate that executes more than this times the baseline's instructions",
         args::factor(replay.instructions_at_most)},
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
         args::flag(line.for_observer)},
        {"--profile", "a trace of each operator by LibTorch's profiler, in log/ in the output folder",
         args::flag(line.profile)},
        Option("--output-dir",
               "where the files of a suite go that are not named otherwise, and those of --profile and --compat",
               args::folder(line.output_dir))
            .by_default("the current folder"),
        {"--compat",
         "as a generation of PyTorch's operatorbench, or its operator_benchmark, does it, flaws included: on all cores "
         "unless --threads is given, outside of inference mode; no table, nothing judged. Standard error says what "
         "differs from the original",
         args::choice(line.compat, {{"old", Original::operatorbench_old},
                                    {"new", Original::operatorbench_new},
                                    {"operator_benchmark", Original::operator_benchmark}})}}},
  };
}

}  // namespace pace::benches::operators
