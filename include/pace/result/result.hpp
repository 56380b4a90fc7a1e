// Result: the measurements of one comparison as plain values, without printing, judging and storing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"
#include "pace/base/utf8.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/counters.hpp"
#include "pace/result/gate_context.hpp"
#include "pace/result/outcome.hpp"
#include "pace/result/verdict.hpp"

namespace pace {

/// Time that a clock adds to each call, such as that of its events. It is the same for all implementations, and a part
/// of every sample.
struct ClockOverhead {
  Nanoseconds added{};  ///< time that the clock adds to a call
  Nanoseconds error{};  ///< uncertainty of `added`: half the range of its readings on several kernels
};

/// Quantiles of the time per iteration over all samples of one implementation. They are what the clock read: verdicts
/// and speed-ups rest on them. Tables show them without what the clock adds.
struct TimeSummary {
  std::size_t samples = 0;  ///< number of samples
  Nanoseconds min{};        ///< shortest time
  Nanoseconds q20{};        ///< quantile 0.2
  Nanoseconds median{};     ///< quantile 0.5
  Nanoseconds q80{};        ///< quantile 0.8
  Nanoseconds max{};        ///< longest time
  Nanoseconds q99{};        ///< quantile 0.99 of the samples
  Nanoseconds mean{};       ///< mean of the samples
  /// Confidence interval of the median by order statistics; absent with too few samples.
  std::optional<Interval<Nanoseconds>> interval{};
  /// Median absolute deviation, scaled to a standard deviation, over the median: 0.01 is 1 %.
  double spread = 0;
  /// Part of each of these times that the clock adds; absent if it adds nothing, or if that is unknown.
  std::optional<ClockOverhead> overhead{};

  /// Returns `time` without what the clock adds, and at least 0: the time to show.
  [[nodiscard]] Nanoseconds shown(Nanoseconds time) const {
    return overhead ? std::max(Nanoseconds{}, time - overhead->added) : time;
  }
  /// Returns the median to show.
  [[nodiscard]] Nanoseconds shown_median() const { return shown(median); }
  /// Returns the interval to show, which includes the uncertainty of what the clock adds; absent without `interval`.
  [[nodiscard]] std::optional<Interval<Nanoseconds>> shown_interval() const {
    if (!interval || !overhead) return interval;
    return Interval<Nanoseconds>{shown(interval->low - overhead->error), shown(interval->high + overhead->error),
                                 interval->confidence};
  }
};

/// Quantiles of the speed-up (baseline time / candidate time) over paired rounds.
struct SpeedupSummary {
  /// Number of crossover cycles; each is one paired observation.
  std::size_t observations = 0;
  /// Number of observations with exactly the same time on both sides.
  std::size_t ties = 0;
  double q20 = 0;     ///< quantile 0.2
  double median = 0;  ///< quantile 0.5
  double q80 = 0;     ///< quantile 0.8
  double mean = 0;    ///< baseline's mean time / own mean time; 0: unknown
  /// Confidence interval of the median, simultaneous over all candidates; absent with too few observations.
  std::optional<Interval<double>> interval{};
  /// Whether the interval is valid at every stopping time, also if expectations ended the rounds. Otherwise the number
  /// of rounds must not depend on the figures.
  bool anytime = false;
};

/// Measurement of the baseline against itself, where the true speed-up is certain.
struct ControlSummary {
  /// True speed-up: 1 for the same calls, below 1 with calls added.
  double injected = 1;
  SpeedupSummary speedup = {};  ///< measured speed-up
  bool proven_slower = false;   ///< whether a speed-up below 1 is proven at the comparison's alpha
  bool proven_faster = false;   ///< whether a speed-up above 1 is proven at the comparison's alpha
};

/// Exact counts of one call, taken outside of the timed rounds.
struct CallCounts {
  /// Calls of operators through LibTorch's dispatcher, without calls inside of operators.
  std::int64_t operator_calls = 0;
  std::int64_t allocations = 0;      ///< blocks taken from LibTorch's allocators
  std::int64_t bytes_allocated = 0;  ///< bytes of these blocks, on a GPU as the allocator rounds them
  /// Most bytes of these blocks that were held at once; absent if calls with equal counts differ in it.
  std::optional<std::int64_t> peak_bytes = {};

  /// Returns whether all counts but the peak are equal.
  [[nodiscard]] bool operator==(const CallCounts& other) const {
    return operator_calls == other.operator_calls && allocations == other.allocations &&
           bytes_allocated == other.bytes_allocated;
  }
  /// Returns the counts of `calls` equal calls, without a peak.
  [[nodiscard]] friend CallCounts operator*(std::int64_t calls, const CallCounts& one) {
    return {calls * one.operator_calls, calls * one.allocations, calls * one.bytes_allocated};
  }
};

/// Instructions of one call, as the fewest and the most of several counts; equal if the counts agree.
struct InstructionCount {
  std::int64_t low = 0;   ///< fewest instructions of one call
  std::int64_t high = 0;  ///< most instructions of one call
  /// Smallest ratio of own to baseline instructions; absent for the baseline.
  std::optional<double> ratio_low = {};
  std::optional<double> ratio_high = {};  ///< largest ratio; absent for the baseline
  std::string counter = {};               ///< source of the count: `callgrind` or `perf`
};

/// Times of the same calls by one clock of a GPU comparison.
struct ModeSummary {
  std::string name;                      ///< name of the clock: `cold`, `hot`, `graph` or `host`
  std::optional<TimeSummary> time = {};  ///< time per iteration; absent if it was not measured
  /// Speed-up over the baseline; absent for the baseline, or if this clock has no time of the baseline.
  std::optional<SpeedupSummary> speedup = {};
  /// Why `time` is absent; empty otherwise.
  std::string missing = {};
};

/// Exact counts of one call on a GPU, taken outside of the timed rounds.
struct DeviceCounts {
  std::int64_t kernels = 0;           ///< kernels that ran
  std::int64_t launches = 0;          ///< kernels and graphs that the host launched
  std::int64_t synchronisations = 0;  ///< waits of the host for the device
  /// Nodes of the CUDA graph of the call: kernels, copies, fills; absent if the call cannot be captured.
  std::optional<std::int64_t> graph_nodes = {};

  /// Returns whether all counts are equal.
  [[nodiscard]] bool operator==(const DeviceCounts&) const = default;
};

/// Energy of one call on a GPU, by the board's counter of all energy during calls of one implementation alone.
struct EnergySummary {
  double millijoules = 0;                               ///< energy of one call; 0: unknown
  std::optional<Interval<double>> interval = {};        ///< its interval in millijoules; absent with too few moves
  std::size_t moves = 0;                                ///< moves of the counter that it rests on
  std::optional<double> ratio = {};                     ///< own energy over the baseline's; absent for the baseline
  std::optional<Interval<double>> ratio_interval = {};  ///< interval of `ratio`; absent with too few moves
  std::string missing = {};                             ///< why it is unknown; empty otherwise
};

/// GPU memory that one call takes, by the statistics of LibTorch's allocator.
struct DeviceMemory {
  std::int64_t peak = 0;                ///< most allocated bytes beyond those before the call
  std::int64_t reserved = 0;            ///< bytes that the allocator took from the driver during the call
  std::int64_t allocations = 0;         ///< blocks that the call requested
  std::int64_t driver_allocations = 0;  ///< requests to the driver; each waits for the device
};

/// Parts of a row that matchers have looked at. A failure that none has looked at fails the run (RunAccount), since no
/// assertion can have reported it.
struct Examined {
  bool outcome = false;     ///< whether the implementation ran and was correct
  bool judgements = false;  ///< the judgements of the comparison's expectations
  bool shown = false;       ///< a table beside Catch2's messages already has the judgements' messages
};

/// Measurements and judgements of one implementation: a row of a Result.
struct ImplementationResult {
  std::string name;                    ///< name of the implementation
  bool is_baseline = false;            ///< whether it is the baseline of the comparison
  Outcome outcome = Outcome::refused;  ///< how its check and its measurement ended
  /// Why `outcome` is not `measured`; empty otherwise.
  std::string message;
  /// Whether the outputs were compared; the baseline's are compared between its calls.
  bool checked = false;
  /// Why outputs that should be compared were not, so that no claim about times is proven (Severity::unproven); absent
  /// otherwise.
  std::optional<Uncompared> uncompared = {};
  /// Largest absolute difference from the baseline's outputs that the check found.
  double max_abs_error = 0;

  /// Time of the first call, with loading, lazy initialisation and compilation on demand.
  Nanoseconds first_call{};
  std::int64_t warm_up_iterations = 0;  ///< number of iterations of the warm-up
  /// Whether two blocks of the warm-up agreed before its time was spent.
  bool warmed_up = false;

  /// Time per iteration of each sample, in the order of rounds.
  std::vector<Nanoseconds> samples;
  std::optional<TimeSummary> time;  ///< summary of `samples`; absent if nothing was timed
  /// ln(baseline time / own time), one per crossover cycle; empty for the baseline.
  std::vector<double> log_ratios;
  std::optional<SpeedupSummary> speedup;  ///< summary of `log_ratios`; absent for the baseline
  /// Speed-up over the baseline in further samples after the rounds, each on unseen values; absent for the baseline, on
  /// a GPU, and without time for it.
  std::optional<SpeedupSummary> on_unseen_values;
  GateContext context;  ///< properties of the comparison that a gate needs
  /// Times by all four clocks of a GPU, the gate's included; empty on the CPU.
  std::vector<ModeSummary> modes;
  std::optional<DeviceMemory> device_memory;  ///< memory of one call on a GPU; absent on the CPU
  /// Counts of one call on a GPU (Options::device_counts); absent unless two calls have equal counts.
  std::optional<DeviceCounts> device_counts;
  std::optional<EnergySummary> energy;   ///< energy of one call on a GPU (Options::energy); absent otherwise
  std::vector<CounterSummary> counters;  ///< counters (Options::counters), in their order

  /// Counts of one call; absent unless two calls on equal operands have equal counts.
  std::optional<CallCounts> counts;
  std::string why_uncounted;  ///< why `counts` is absent; empty otherwise
  /// Instructions of one call; absent unless counted in place of times.
  std::optional<InstructionCount> instructions;

  /// Verdicts of the comparison's expectations on this implementation, in the order of their statement.
  std::vector<Judgement> judgements;

  /// Shared by all copies of the row, so that a test's matchers mark the published row; never null.
  std::shared_ptr<Examined> examined = std::make_shared<Examined>();

  std::optional<double> bytes;  ///< bytes that one iteration moves, if declared (Comparison::bytes)
  std::optional<double> flops;  ///< floating-point operations of one iteration, if declared (Comparison::flops)
  /// Share of the measured peak bandwidth or computing rate that it reaches, the larger one. Absent without either, and
  /// on the CPU outside of the operator bench.
  std::optional<double> share_of_peak;

  /// Returns whether the implementation was measured and every judgement is acceptable.
  [[nodiscard]] bool acceptable() const {
    if (outcome != Outcome::measured) return false;
    for (const auto& judgement : judgements)
      if (!judgement.acceptable) return false;
    return true;
  }

  /// Returns the bandwidth at the shown median in GB/s (10^9 bytes, not 2^30); absent without `bytes` or `time`.
  [[nodiscard]] std::optional<double> gigabytes_per_second() const { return rate(bytes); }
  /// Returns the computing rate at the shown median in GFLOP/s; absent without `flops` or `time`.
  [[nodiscard]] std::optional<double> gigaflops_per_second() const { return rate(flops); }

 private:
  // One unit per nanosecond is one giga-unit per second.
  [[nodiscard]] std::optional<double> rate(const std::optional<double>& amount) const {
    if (!amount || !time || time->shown_median().count() <= 0) return std::nullopt;
    return *amount / time->shown_median().count();
  }
};

/// Result::phase of a result about the host's time for each call until it returns, on a GPU.
inline constexpr const char* host_phase = "host";

/// Thrown when code reads a figure of a result that was passed over (Result::passed_over). Ends the test case. No
/// std::exception, so that a test's handler of errors does not catch it.
struct PassedOver {
  std::string what;  ///< the comparison and the reason
};

/// Measurements of one comparison.
struct Result {
  std::string name;  ///< name of the comparison
  /// Phase of each iteration that the result is about, or host_phase; empty: the whole iteration.
  std::string phase;
  /// Rows in the order of their addition; exactly one is the baseline.
  std::vector<ImplementationResult> implementations;

  std::int64_t iterations = 0;                       ///< iterations per sample, equal for all implementations
  std::size_t rounds = 0;                            ///< number of timed rounds
  StopReason stop_reason = StopReason::not_started;  ///< why the rounds ended
  Nanoseconds elapsed{};                             ///< time of the rounds, with the work between samples
  std::string clock;                                 ///< name of the clock, such as `wall` or `graph`
  Nanoseconds clock_resolution{};                    ///< smallest step of the clock
  /// Name of the timed GPU, such as `NVIDIA H200`; empty: the time of the host.
  std::string device;
  /// Types and sizes of the operands, such as `Float[16, 1024]`, and numbers; empty: unknown.
  std::string inputs;
  /// Whether this process ran comparisons of this name with several inputs, this one included.
  bool repeats_name = false;
  double confidence = 0;   ///< Options::confidence of the comparison
  std::uint64_t seed = 0;  ///< Options::seed of the comparison
  /// Options::check_seed of the comparison, or the one it drew.
  std::uint64_t check_seed = 0;
  /// Options::audit of the comparison: `off`, `standard` or `strict`; empty: unknown.
  std::string audit;
  /// Place of the comparison among those that spend the error budget of `--suite-alpha`, from 1; 0: no such budget, or
  /// no expectation on times.
  std::size_t gate_number = 0;
  /// Load and state of the machine during the rounds.
  Conditions conditions;
  /// Baseline against itself, and against itself with calls added; empty unless Options::controls is set.
  std::vector<ControlSummary> controls;
  /// Requested device that does not exist, a failure of the infrastructure; empty otherwise.
  std::string missing_device;
  /// How this process lost a device: nothing more can run on it; empty otherwise.
  std::string lost_device;
  /// Whether an earlier process of this run measured it.
  bool recalled = false;
  /// Why nothing was measured although nothing failed, such as in a dry run (RunContext::cases); empty: it was.
  /// Matchers take such a result as met, and nothing publishes it.
  std::string passed_over;
  /// Remarks on the figures, in full sentences.
  std::vector<std::string> notes;
  /// Results for the phases of each iteration, if they were timed apart; this result is then about their sum. If gates
  /// are about the host's time on a GPU, its result (host_phase) comes last.
  std::vector<Result> phases;

  /// Returns the result for the phase `wanted`. Throws Error, naming those that exist, if there is none, and
  /// PassedOver.
  [[nodiscard]] const Result& in_phase(std::string_view wanted) const {
    require_measured();
    std::string known;
    for (const auto& each : phases) {
      if (each.phase == wanted) return each;
      known += known.empty() ? each.phase : ", " + each.phase;
    }
    throw Error("result '" + name + "' has no phase '" + std::string(wanted) +
                "'; it has: " + (known.empty() ? "none" : known));
  }

  /// Returns the row of the baseline. Throws Error if there is none, and PassedOver.
  [[nodiscard]] const ImplementationResult& baseline() const {
    require_measured();
    for (const auto& each : implementations)
      if (each.is_baseline) return each;
    throw Error("result '" + name + "' has no baseline");
  }

  /// Returns the row of `implementation`. Throws Error, naming those that exist, if there is none, and PassedOver.
  [[nodiscard]] const ImplementationResult& operator[](std::string_view implementation) const {
    require_measured();
    std::string known;
    for (const auto& each : implementations) {
      if (each.name == implementation || each.name == valid_utf8(implementation)) return each;
      known += known.empty() ? each.name : ", " + each.name;
    }
    throw Error("result '" + name + "' has no implementation '" + std::string(implementation) + "'; it has: " + known);
  }

  /// Replaces names that are not UTF-8 by those in result files, so that an earlier run and this one have equal names.
  void make_names_valid() {
    for (auto* const text : {&name, &inputs}) *text = valid_utf8(*text);
    for (auto& each : implementations)
      for (auto* const text : {&each.name, &each.context.comparison, &each.context.inputs, &each.context.baseline})
        *text = valid_utf8(*text);
    for (auto& phase : phases) phase.make_names_valid();
  }

  /// Returns whether there are implementations, all of them measured.
  [[nodiscard]] bool all_measured() const {
    for (const auto& each : implementations)
      if (each.outcome != Outcome::measured) return false;
    return !implementations.empty();
  }

 private:
  void require_measured() const {
    if (!passed_over.empty()) throw PassedOver{"comparison '" + name + "': " + passed_over};
  }
};

/// Returns the name that tells comparisons called `name` apart by their inputs, as `--case` takes it.
[[nodiscard]] inline std::string name_with_inputs(const std::string& name, const std::string& inputs) {
  return inputs.empty() ? name : name + ' ' + inputs;
}

/// Returns the name for tables and messages: with the inputs if the name alone is ambiguous.
[[nodiscard]] inline std::string case_name(const Result& result) {
  return result.repeats_name ? name_with_inputs(result.name, result.inputs) : result.name;
}

}  // namespace pace
