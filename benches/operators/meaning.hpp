// Which options of the operator bench have no meaning beside others, and why.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "benches/operators/command_line.hpp"
#include "benches/operators/options.hpp"
#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::operators {

namespace detail {

/// Options, with commas between them, and why they are refused in each mode; empty: they have a meaning there.
struct Meaningless {
  std::string_view options;
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
    {.options = "--backends",
     .compat = "the original compares eager with Inductor; --inductor-config and --measure-nvfuser add to them"},
    {.options = "--category", .compat = "the original knows no categories; expected --op"},
    {.options = "--tag", .compat = "the original replays recorded inputs alone"},
    {.options = "--bwd,--fwd-bwd", .compat = "the original measures no backward passes", .counts = forward_alone},
    {.options = "--no-slower-than",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed,
     .accuracy = one_cycle},
    {.options = "--peak-memory-at-most",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = "instructions are counted by themselves"},
    {.options = "--accuracy-checking",
     .execution_times = checks_nothing,
     .counts = "a count checks the outputs, too; expected one of them"},
    {.options = "--repeats",
     .execution_times = doubles,
     .counts = "a count is repeated three times",
     .accuracy = one_cycle},
    {.options = "--profile",
     .execution_times = "the profiler's work would be timed",
     .counts = "the profiler's work would be counted",
     .gradients = forward_alone},
    {.options = "--inductor-config", .execution_times = two_modes, .gradients = "packages have no backward pass"},
    {.options = "--measure-nvfuser", .execution_times = two_modes},
    {.options = "--output-dir", .execution_times = "nothing is written there; expected --json or --csv"},
    {.options = "--save-baseline,--baseline,--baseline-margin,--baseline-expires,--process-spread,--alpha,"
                "--suite-alpha,--beta,--stop,--max-interference,--least-duration",
     .compat = original_judges_nothing,
     .execution_times = original_judges_nothing,
     .counts = nothing_timed},
    {.options = "--processes", .compat = one_process, .execution_times = one_process, .counts = nothing_timed},
    {.options = "--isolate",
     .compat = "the original runs all models in one process",
     .execution_times = one_process,
     .counts = nothing_timed,
     .gradients = "the passes are timed inside of the iterations, by the process that makes them",
     .timer = "the timer is in this process"},
    {.options = "--confidence", .compat = no_intervals, .execution_times = no_intervals, .counts = nothing_timed},
    {.options = "--counters",
     .compat = no_controls,
     .execution_times = no_controls,
     .counts = nothing_timed,
     .timer = "those timers read no counters"},
    {.options = "--controls", .compat = no_controls, .execution_times = no_controls, .counts = nothing_timed},
    {.options = "--budget", .compat = fixed_repeats, .counts = nothing_timed},
    {.options = "--warm-up",
     .compat = fixed_repeats,
     .execution_times = "the original warms up by 100 iterations",
     .counts = nothing_timed},
    {.options = "--max-rounds",
     .compat = fixed_repeats,
     .execution_times = doubles,
     .counts = nothing_timed,
     .accuracy = one_cycle},
    {.options = "--time-limit", .compat = fixed_repeats, .execution_times = doubles},
    {.options = "--clock",
     .compat = own_clocks,
     .execution_times = own_clocks,
     .counts = nothing_timed,
     .gradients = "each pass is launched anew, as training does",
     .timer = "both say what times; expected one of them"},
    {.options = "--timer",
     .compat = own_clocks,
     .execution_times = own_clocks,
     .counts = nothing_timed,
     .gradients = "those timers do not tell the passes apart"},
    {.options = "--mode-share",
     .compat = one_way,
     .execution_times = one_way,
     .counts = nothing_timed,
     .accuracy = one_cycle,
     .gradients = "each pass is launched anew, as training does",
     .timer = "the timer calls in its own way alone"},
    {.options = "--operands", .compat = same_tensors, .execution_times = same_tensors, .counts = nothing_timed},
    {.options = "--reuses-outputs",
     .compat = keeps_no_outputs,
     .execution_times = checks_nothing,
     .counts = keeps_no_outputs},
    {.options = "--check-seed",
     .compat = no_other_values,
     .execution_times = checks_nothing,
     .counts = "a count checks the outputs by the values of --seed"},
    {.options = "--audit",
     .compat = "the original trusts what it measures; expected no --compat, or no --audit",
     .execution_times = "the original trusts what it measures; expected no --compat, or no --audit",
     .counts = "a count compares outputs and audits nothing"},
    {.options = "--count-instructions",
     .compat = "the original counts no instructions",
     .execution_times = "the original counts no instructions"},
    {.options = "--operator-range", .compat = "the original chooses by --op"},
});

/// Options of operator_benchmark alone.
inline constexpr auto options_of_iterations = std::to_array<std::string_view>(
    {"--iterations", "--warmup-iterations", "--num-runs", "--min-time-per-test", "--report-aibench"});

/// Throws InputError for a given option that `mode`, a member of Meaningless, has a reason against.
inline void refuse_meaningless(const args::Arguments& given, std::string_view Meaningless::* mode,
                               const std::string& name) {
  for (const auto& each : meaningless) {
    if ((each.*mode).empty()) continue;
    const auto options = args::read_names(std::string(each.options)).value();
    for (const auto& option : options)
      if (given.has(option))
        throw InputError({}, option + " has no meaning with " + name + ": " + std::string(each.*mode));
  }
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

}  // namespace pace::benches::operators
