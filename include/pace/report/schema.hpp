// The schema of results files: which keys a line has, and what they mean. docs/results.md has these tables, and
// //tests/report:schema_test fails where the two differ.
#pragma once

#include <array>
#include <string_view>
#include <tuple>

#include "pace/base/units.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/fields.hpp"
#include "pace/report/json.hpp"
#include "pace/report/schema_of_figures.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"

namespace pace::report {

/// @cond
// The page of keys, docs/results.md, documents these tables; a reference would repeat it.

/// Texts of `outcome`.
template <>
struct Schema<Outcome> {
  static constexpr std::array values{Outcome::measured,  Outcome::wrong,   Outcome::threw,     Outcome::refused,
                                     Outcome::unreached, Outcome::crashed, Outcome::timed_out, Outcome::out_of_memory};
};
/// Texts of `stop_reason`.
template <>
struct Schema<StopReason> {
  static constexpr std::array values{StopReason::not_started, StopReason::budget, StopReason::max_rounds,
                                     StopReason::rule, StopReason::deadline};
};
/// Texts of `uncompared`.
template <>
struct Schema<Uncompared> {
  static constexpr std::array values{Uncompared::varies, Uncompared::only_nan, Uncompared::empty,
                                     Uncompared::empty_or_nan, Uncompared::no_output};
};
/// Texts of `severity`.
template <>
struct Schema<Severity> {
  static constexpr std::array values{Severity::impossible, Severity::unproven, Severity::too_brief, Severity::unchecked,
                                     Severity::cut_short};
};
/// Texts of `verdict`.
template <>
struct Schema<Verdict> {
  static constexpr std::array values{Verdict::passed, Verdict::failed, Verdict::undecided, Verdict::invalid};
};

/// Machine, program and commit of the results.
template <>
struct Schema<Environment> {
  static constexpr std::string_view name = "environment";
  static constexpr auto fields = std::tuple{
      field("date_utc", &Environment::date_utc, "when the run began, ISO 8601"),
      field("hostname", &Environment::hostname, "name of the machine"),
      field("command_line", &Environment::command_line, "the program and its arguments, to be pasted into a shell"),
      field("cpu", &Environment::cpu, "name of the processor"),
      field("cores", &Environment::cores, "cores that the process may use"),
      field("cpu_quota", &Environment::cpu_quota, "cores' worth of time that a container grants"),
      field("governor", &Environment::governor, "what sets the frequency of the cores; empty where nothing does"),
      field("turbo", &Environment::turbo, "whether cores may exceed their nominal frequency"),
      field("aslr", &Environment::aslr, "whether addresses differ from run to run"),
      field("load_average_1min", &Environment::load, "mean number of runnable threads over the last minute"),
      field("memory_bytes", &Environment::memory_bytes, "bytes of memory; 0: not known"),
      field("kernel", &Environment::kernel, "name, version and architecture of the kernel"),
      field("compiler", &Environment::compiler, "what compiled the program"),
      field("build_flags", &Environment::build_flags, "compiler options of the program's own sources"),
      field("optimized", &Environment::optimized, "whether the program was compiled with optimisation"),
      field("commit", &Environment::commit, "the commit that was checked out when the program ran"),
      field("variables", &Environment::variables,
            "variables of CUDA, LibTorch, OpenMP, BLAS, allocators and the linker that were set, and their values"),
      further_keys(&Environment::extra,
                   "`libtorch`, `libtorch_cpu_capability`, `libtorch_threads`, `build` (a hash of the linker's build "
                   "IDs of the program and its own libraries), with a GPU `gpu` and `gpu_driver`, and what a program "
                   "adds"),
  };
};

/// How the results were measured.
template <>
struct Schema<Options> {
  static constexpr std::string_view name = "options";
  static constexpr auto fields = std::tuple{
      field("budget_ns", &Options::budget, "time for the rounds of one comparison, ns"),
      field("least_duration_ns", &Options::least_duration, "least time of the rounds for a verdict, ns"),
      field("warm_up_ns", &Options::warm_up, "cap on the warm-up of one implementation, ns"),
      field("max_rounds", &Options::max_rounds, "cap on the number of rounds"),
      field("confidence", &Options::confidence, "of all intervals of a comparison together"),
      field("alpha", &Options::alpha,
            "of a comparison: rate of false passes of claims and false alarms of guards; null with `suite_alpha`"),
      field("beta", &Options::beta, "of a comparison: rate of false failures of claims and false passes of guards"),
      field("seed", &Options::seed, "repeats orders and inputs"),
      field("check_seed", &Options::check_seed,
            "repeats the values and moments of checks; 0: each comparison drew one"),
  };
};

/// The first line of a results file.
template <>
struct Schema<ResultsHeader> {
  static constexpr std::string_view name = "first line";
  static constexpr auto fields = std::tuple{
      required_field("schema_version", &ResultsHeader::version, "the version of these tables"),
      field("pace_version", &ResultsHeader::pace_version, "what wrote the file"),
      required_field("environment", &ResultsHeader::environment, "where and with what the results were measured"),
      field("configuration", &ResultsHeader::configuration,
            "options and machine that figures depend on; `--resume` goes on only where they are equal"),
      field("options", &ResultsHeader::options, "how the results were measured"),
      field("expires_utc", &ResultsHeader::expires_utc, "of `--save-baseline`: until when `--baseline` takes the file"),
      field("suite_alpha", &ResultsHeader::suite_alpha,
            "rate of wrong verdicts (α) of all gates of the run or shard (`--suite-alpha`)"),
  };
};

/// A reason against the figures.
template <>
struct Schema<Objection> {
  static constexpr std::string_view name = "objection";
  static constexpr auto fields = std::tuple{
      required_field("severity", &Objection::severity, "what it does to verdicts (see above)"),
      required_field("why", &Objection::why, "the reason"),
      field("remedy", &Objection::remedy, "what to do; empty: nothing is known"),
  };
};

/// Figures of the comparison that a gate needs.
template <>
struct Schema<GateContext> {
  static constexpr std::string_view name = "context";
  static constexpr auto fields = std::tuple{
      field("rounds_per_cycle", &GateContext::rounds_per_cycle, "samples that make up one crossover cycle"),
      field("cycle_ns", &GateContext::cycle, "from one cycle to the next, ns; 0: not known"),
      field("alpha", &GateContext::alpha,
            "of one gate: rate of false passes of claims and false alarms of guards; 0: nothing was stated of times in "
            "a run with `suite_alpha`"),
      field("beta", &GateContext::beta, "of one gate: rate of false failures of claims and false passes of guards"),
      field("objections", &GateContext::objections, "reasons against the figures, at most one of each severity"),
      field("excess_in_rounds", &GateContext::excess_in_rounds,
            "speed-up of the rounds over the largest that is likely on unseen values; 1: not proven larger"),
  };
};

/// One implementation of a result.
template <>
struct Schema<ImplementationResult> {
  using Row = ImplementationResult;
  static constexpr std::string_view name = "implementation";
  static constexpr auto fields = std::tuple{
      required_field("name", &Row::name, "unique within its comparison"),
      required_field("baseline", &Row::is_baseline, "true for the implementation that others are compared with"),
      required_field("outcome", &Row::outcome, "what became of it"),
      field("message", &Row::message, "why the outcome is not `measured`"),
      field("checked", &Row::checked, "whether the outputs were compared"),
      field("uncompared", &Row::uncompared,
            "why outputs that were to be compared were not; null: they were, or were not to be"),
      field("max_abs_error", &Row::max_abs_error, "largest absolute difference to the baseline's outputs",
            &Row::checked),
      field("first_call_ns", &Row::first_call, "the very first call, apart from all others, ns"),
      field("warm_up_iterations", &Row::warm_up_iterations, "calls before timing"),
      field("warmed_up", &Row::warmed_up, "whether the times had settled by then"),
      field("time", &Row::time, "null where nothing was timed"),
      field("speedup", &Row::speedup, "null for the baseline, and where nothing was timed"),
      field("speedup_on_unseen_values", &Row::on_unseen_values, "null for the baseline, and where it was not measured"),
      field("expectations", &Row::judgements, "in the order in which they were stated"),
      field("modes", &Row::modes, "on a GPU: the same calls timed in further modes"),
      field("device_memory", &Row::device_memory, "of one call on a GPU"),
      field("device_counts", &Row::device_counts, "of one call on a GPU"),
      field("energy", &Row::energy, "of one call on a GPU; null unless `--energy` or an expectation asks for it"),
      field("counters", &Row::counters, "those that `--counters` or an expectation asks for"),
      field("counts", &Row::counts, "of one call; null unless two calls counted the same"),
      field("why_uncounted", &Row::why_uncounted, "why `counts` or its peak is null"),
      field("instructions", &Row::instructions, "of one call; null unless counted in place of times"),
      field("bytes", &Row::bytes, "what one iteration moves, as declared"),
      field("flops", &Row::flops, "what one iteration computes, as declared"),
      field("share_of_peak", &Row::share_of_peak, "of what the machine was measured to move or compute at most"),
      derived_field("gb_per_s", &Row::gigabytes_per_second, "1e9 bytes per second at the shown time"),
      derived_field("gflop_per_s", &Row::gigaflops_per_second, "1e9 operations per second at the shown time"),
      field("context", &Row::context, "what a gate knows of the comparison"),
      field("samples_ns", &Row::samples, "ns per iteration of each sample, in the order of rounds"),
      field("log_ratios", &Row::log_ratios, "ln(baseline time / own time), in the order of cycles"),
  };
};

/// One control of `--controls`.
template <>
struct Schema<ControlSummary> {
  static constexpr std::string_view name = "control";
  static constexpr auto fields = std::tuple{
      field("injected", &ControlSummary::injected, "the true speed-up: 1, or less where calls were added"),
      field("speedup", &ControlSummary::speedup, "of the baseline over itself"),
      field("proven_slower", &ControlSummary::proven_slower, "at the comparison's alpha"),
      field("proven_faster", &ControlSummary::proven_faster, "at the comparison's alpha"),
  };
};

/// State of the GPU during the rounds.
template <>
struct Schema<GpuConditions> {
  static constexpr std::string_view name = "gpu";
  static constexpr auto fields = std::tuple{
      field("readings", &GpuConditions::readings, "how often the driver was asked"),
      field("lowest_clock_mhz", &GpuConditions::lowest_clock, "of the multiprocessors"),
      field("highest_clock_mhz", &GpuConditions::highest_clock, "of the multiprocessors"),
      field("hottest_celsius", &GpuConditions::hottest, "highest temperature"),
      field("most_power_watts", &GpuConditions::most_power, "highest power"),
      field("slowed", &GpuConditions::slowed, "share of readings in which heat or the hardware slowed it down"),
      field("power_limited", &GpuConditions::power_limited, "share of readings at its power limit"),
      field("suspect_cycles", &GpuConditions::suspect_cycles, "cycles during which the clock changed"),
      field("dropped_cycles", &GpuConditions::dropped_cycles, "cycles left out: clocks differed between the sides"),
      field("paused_ns", &GpuConditions::paused, "rests in which it cooled down, ns"),
      field("other_processes", &GpuConditions::other_processes, "processes beside this one that compute on it"),
      field("others", &GpuConditions::others, "share of its multiprocessors' time that these used"),
      field("sharing", &GpuConditions::sharing, "who shares it: an instance of MIG, MPS, other processes"),
  };
};

/// State of the machine during the rounds.
template <>
struct Schema<Conditions> {
  static constexpr std::string_view name = "conditions";
  static constexpr auto fields = std::tuple{
      field("steal", &Conditions::steal, "share of the CPU time that the hypervisor gave to others"),
      field("others", &Conditions::others, "share of all cores' time that other processes used"),
      field("waiting", &Conditions::waiting, "share of the rounds in which the measuring thread had to wait"),
      field("throttled", &Conditions::throttled, "share of the rounds in which the container's quota was used up"),
      field("involuntary_switches", &Conditions::involuntary_switches, "times that the thread was put aside"),
      field("interrupted_cycles", &Conditions::interrupted_cycles,
            "cycles left out: another process had the core within a sample"),
      field("clock_error_ns", &Conditions::clock_error, "what the clock counted more than a hardware counter, ns"),
      field("suspended_ns", &Conditions::suspended, "for how long the machine slept, ns"),
      field("longest_cycle_ns", &Conditions::longest_cycle, "of the crossover cycles, ns"),
      field("median_cycle_ns", &Conditions::median_cycle, "of the crossover cycles, ns"),
      field("shortest_cycle_ns", &Conditions::shortest_cycle, "of the crossover cycles, ns"),
      field("gpu", &Conditions::gpu, "null where no GPU did the work"),
      field("disturbances", &Conditions::disturbances, "why no verdict may rest on the figures, in sentences"),
  };
};

/// A line of a results file after the first.
template <>
struct Schema<Result> {
  static constexpr std::string_view name = "result";
  static constexpr auto fields = std::tuple{
      required_field("name", &Result::name, "of the comparison"),
      field("iterations", &Result::iterations, "calls per sample"),
      field("rounds", &Result::rounds, "samples of each implementation"),
      field("stop_reason", &Result::stop_reason, "why the rounds ended (`rule`: everything was decided)"),
      field("elapsed_ns", &Result::elapsed, "of all timed rounds, ns"),
      field("clock", &Result::clock, "what timed the calls"),
      field("clock_resolution_ns", &Result::clock_resolution, "ns"),
      field("device", &Result::device, "name of the GPU; empty: the CPU"),
      field("inputs", &Result::inputs, "types and sizes of the operands"),
      field("confidence", &Result::confidence, "of all speed-up intervals together"),
      field("seed", &Result::seed, "repeats the order and the inputs"),
      field("check_seed", &Result::check_seed, "repeats the values and moments of checks"),
      field("audit", &Result::audit, "how much candidates were distrusted: `off`, `standard` or `strict`"),
      field("gate_number", &Result::gate_number,
            "place among the comparisons that spend `suite_alpha`, from 1; 0: it spends nothing by what it states"),
      field("conditions", &Result::conditions, "what else happened on the machine"),
      field("controls", &Result::controls, "of `--controls`"),
      field("missing_device", &Result::missing_device, "a device that was asked for and is not there"),
      field("lost_device", &Result::lost_device, "how a device became unusable"),
      field("notes", &Result::notes, "what belongs to the figures, in sentences"),
      required_field("implementations", &Result::implementations, "in the order in which they were added"),
  };
};

/// @endcond

}  // namespace pace::report
