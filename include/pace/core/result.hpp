// Result: what one comparison found out, as plain values. Printing, judging and storing are done elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "pace/core/conditions.hpp"
#include "pace/core/error.hpp"
#include "pace/core/units.hpp"
#include "pace/core/verdict.hpp"

namespace pace {

/// What became of one implementation.
enum class Outcome {
  measured,       ///< ran, was timed, and (where checked) computes what the baseline computes
  wrong,          ///< its outputs differ from the baseline's: timed or not, it gets no speed-up
  threw,          ///< ended with an exception
  refused,        ///< could not be made to run here: no kernel, no package, no memory
  unreached,      ///< the time of the whole program ran out first; nothing is known of it
  crashed,        ///< took the whole process along
  timed_out,      ///< did not come back for so long that its process was ended
  out_of_memory,  ///< asked for more memory than there was
};

/// Quantiles of the time per iteration over all samples of one implementation.
struct TimeSummary {
  std::size_t samples = 0;
  Nanoseconds min{}, q20{}, median{}, q80{}, max{};
  /// The median's, by order statistics; absent when there are too few samples for the confidence asked for.
  std::optional<Interval<Nanoseconds>> interval{};
  /// Scaled median absolute deviation over the median: 0.01 is a spread of 1 %.
  double spread = 0;
};

/// Speed-up = baseline time / candidate time, from paired rounds.
struct SpeedupSummary {
  /// Crossover cycles: each is one paired observation.
  std::size_t observations = 0;
  /// Observations in which both sides took exactly as long.
  std::size_t ties = 0;
  double q20 = 0, median = 0, q80 = 0;
  /// Simultaneous over all candidates of the comparison; absent when there are too few observations.
  std::optional<Interval<double>> interval{};
  /// The interval holds whenever the rounds ended, also where expectations decided that; false: only for a number of
  /// rounds that did not depend on the figures.
  bool anytime = false;
};

/// The baseline against itself inside a comparison, where the true speed-up is known.
struct ControlSummary {
  /// 1: the same calls; below 1: with calls added.
  double injected = 1;
  SpeedupSummary speedup = {};
  /// At the comparison's alpha.
  bool proven_slower = false, proven_faster = false;
};

/// What a gate must know of the comparison that a row stands in.
struct GateContext {
  /// What it was compared with; empty: not known.
  std::string baseline = {};
  /// Consecutive samples that make up one crossover cycle.
  std::size_t rounds_per_cycle = 1;
  /// Iterations of each sample; 0: not known.
  std::int64_t iterations = 0;
  /// From the start of one cycle to the start of the next, the samples of all implementations included; 0: not known.
  Nanoseconds cycle{};
  /// Error rates of one gate on this row (see Options): the comparison's, shared among its candidates.
  double alpha = 1e-3, beta = 1e-2;
  /// By how much (ln of a ratio) identical code may differ in one process, which no number of samples shows.
  double allowance = 0;
  /// Name of the comparison; empty: not known.
  std::string comparison = {};
  /// Why no verdict may rest on the figures (see Conditions); empty: nothing speaks against them.
  std::string disturbance = {};
  /// Why the figures cannot be true; empty: they can. Then there is no verdict either, and no gate lets it through.
  std::string impossible = {};
  /// Why the rounds ended before their time; empty: they did not.
  std::string cut_short = {};
};

/// What one call does, counted exactly, outside the timed rounds.
struct CallCounts {
  /// Through LibTorch's dispatcher, without those that operators call in turn.
  std::int64_t operator_calls = 0;
  /// Blocks taken from LibTorch's allocators, and their bytes (on a GPU as it rounds them).
  std::int64_t allocations = 0, bytes_allocated = 0;

  [[nodiscard]] bool operator==(const CallCounts&) const = default;
};

/// One way to time the same calls beside the one that the gate is about: cold, hot, graph, host.
struct ModeSummary {
  std::string name;
  std::optional<TimeSummary> time = {};
  /// Absent for the baseline, and where it has no time in this mode.
  std::optional<SpeedupSummary> speedup = {};
  /// Why there is none; empty otherwise.
  std::string missing = {};
};

/// What one call asks of a GPU, counted exactly, outside the timed rounds.
struct DeviceCounts {
  /// Kernels that ran; what the host launched (kernels and graphs); waits of the host for the device.
  std::int64_t kernels = 0, launches = 0, synchronisations = 0;
  /// Nodes of the call captured into a CUDA graph: kernels, copies, fills. Absent if it cannot be captured.
  std::optional<std::int64_t> graph_nodes = {};

  [[nodiscard]] bool operator==(const DeviceCounts&) const = default;
};

/// What one call takes of a GPU's memory, by LibTorch's allocator.
struct DeviceMemory {
  /// The most bytes allocated at once beyond those before the call; bytes taken from the driver in addition.
  std::int64_t peak = 0, reserved = 0;
  /// Blocks asked for, and requests to the driver, which wait for the device.
  std::int64_t allocations = 0, driver_allocations = 0;
};

struct ImplementationResult {
  std::string name;
  bool is_baseline = false;
  Outcome outcome = Outcome::refused;
  /// Why `outcome` is not `measured`; empty otherwise.
  std::string message;
  /// Whether the outputs were compared at all (the baseline's own are, between its calls).
  bool checked = false;
  /// Largest absolute difference to the baseline's outputs that the check saw.
  double max_abs_error = 0;

  /// The very first call, apart from all others: loading, lazy initialisation, compiling on demand.
  Nanoseconds first_call{};
  std::int64_t warm_up_iterations = 0;
  /// False: the warm-up reached its cap before two blocks agreed.
  bool warmed_up = false;

  /// Time per iteration of each sample, in the order of rounds.
  std::vector<Nanoseconds> samples;
  std::optional<TimeSummary> time;
  /// ln(baseline time / own time), one per crossover cycle; empty for the baseline.
  std::vector<double> log_ratios;
  std::optional<SpeedupSummary> speedup;
  GateContext context;
  /// On a GPU: all four, the gate's own among them.
  std::vector<ModeSummary> modes;
  std::optional<DeviceMemory> device_memory;
  /// If asked for (see Options::device_counts); absent unless two calls count the same.
  std::optional<DeviceCounts> device_counts;

  /// Absent unless two calls on the same operands counted the same; then `why_uncounted` says why.
  std::optional<CallCounts> counts;
  std::string why_uncounted;

  /// What the comparison's own expectations say of this implementation, in the order in which they were stated.
  std::vector<Judgement> judgements;

  /// What one iteration moves and computes, if the user declared it.
  std::optional<double> bytes, flops;
  /// As a share of what the machine was measured to move or compute at most, whichever is nearer; on a GPU, where those
  /// are known.
  std::optional<double> share_of_peak;

  /// Measured, and every expectation let it through.
  [[nodiscard]] bool acceptable() const {
    if (outcome != Outcome::measured) return false;
    for (const auto& judgement : judgements)
      if (!judgement.acceptable) return false;
    return true;
  }

  /// 1e9 bytes per second (10^9, not 2^30) at the median time.
  [[nodiscard]] std::optional<double> gigabytes_per_second() const { return rate(bytes); }
  /// 1e9 floating-point operations per second at the median time.
  [[nodiscard]] std::optional<double> gigaflops_per_second() const { return rate(flops); }

 private:
  // Units per nanosecond are giga-units per second.
  [[nodiscard]] std::optional<double> rate(const std::optional<double>& amount) const {
    if (!amount || !time || time->median.count() <= 0) return std::nullopt;
    return *amount / time->median.count();
  }
};

/// Why the rounds ended.
enum class StopReason {
  not_started,  ///< no implementation could be timed
  budget,       ///< the time was spent
  max_rounds,   ///< as many rounds as allowed
  rule,         ///< the stopping rule knew enough
  deadline,     ///< the time of the whole program was spent
};

struct Result {
  std::string name;
  /// The name of a part of each iteration that was timed apart. Empty: the result is of the whole.
  std::string phase;
  /// In the order in which they were added; exactly one is the baseline.
  std::vector<ImplementationResult> implementations;

  std::int64_t iterations = 0;  ///< per sample, the same for every implementation
  std::size_t rounds = 0;
  StopReason stop_reason = StopReason::not_started;
  Nanoseconds elapsed{};  ///< of the timed rounds, with what happens between them
  std::string clock;
  Nanoseconds clock_resolution{};
  /// The GPU whose time that is, such as `NVIDIA H200`. Empty: the host's.
  std::string device;
  /// What the implementations are called with: types and sizes, such as `Float[16, 1024]`, and numbers. Empty: not known.
  std::string inputs;
  double confidence = 0;
  std::uint64_t seed = 0;
  /// What else happened on the machine during the rounds.
  Conditions conditions;
  /// If asked for (see Options::controls): against itself, and slowed.
  std::vector<ControlSummary> controls;
  /// A device that was asked for and is not there: an infrastructure failure. Empty otherwise.
  std::string missing_device;
  /// How a device was lost to this process, so that nothing more can run on it. Empty otherwise.
  std::string lost_device;
  /// An earlier process of this run found it; it was not measured again.
  bool recalled = false;
  /// What belongs to the numbers, in full sentences.
  std::vector<std::string> notes;
  /// The same comparison by parts of each iteration, if these were timed apart; the result itself is of their sum.
  std::vector<Result> phases;

  /// Throws Error listing the known names if there is no such phase.
  [[nodiscard]] const Result& in_phase(std::string_view wanted) const {
    std::string known;
    for (const auto& each : phases) {
      if (each.phase == wanted) return each;
      known += known.empty() ? each.phase : ", " + each.phase;
    }
    throw Error("result '" + name + "' has no phase '" + std::string(wanted) +
                "'; it has: " + (known.empty() ? "none" : known));
  }

  [[nodiscard]] const ImplementationResult& baseline() const {
    for (const auto& each : implementations)
      if (each.is_baseline) return each;
    throw Error("result '" + name + "' has no baseline");
  }

  /// Throws Error listing the known names if there is no such implementation.
  [[nodiscard]] const ImplementationResult& operator[](std::string_view implementation) const {
    std::string known;
    for (const auto& each : implementations) {
      if (each.name == implementation) return each;
      known += known.empty() ? each.name : ", " + each.name;
    }
    throw Error("result '" + name + "' has no implementation '" + std::string(implementation) + "'; it has: " + known);
  }

  /// Whether every implementation ran and agreed with the baseline.
  [[nodiscard]] bool all_measured() const {
    for (const auto& each : implementations)
      if (each.outcome != Outcome::measured) return false;
    return !implementations.empty();
  }
};

[[nodiscard]] inline const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::measured:
      return "measured";
    case Outcome::wrong:
      return "wrong";
    case Outcome::threw:
      return "threw";
    case Outcome::refused:
      return "refused";
    case Outcome::unreached:
      return "unreached";
    case Outcome::crashed:
      return "crashed";
    case Outcome::timed_out:
      return "timed out";
    case Outcome::out_of_memory:
      return "out of memory";
  }
  return "?";
}
inline std::ostream& operator<<(std::ostream& out, Outcome outcome) { return out << to_string(outcome); }

/// It ran, and failed: neither refused beforehand nor left out for want of time.
[[nodiscard]] inline bool at_fault(Outcome outcome) {
  return outcome != Outcome::measured && outcome != Outcome::refused && outcome != Outcome::unreached;
}

[[nodiscard]] inline const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::not_started:
      return "not started";
    case StopReason::budget:
      return "budget";
    case StopReason::max_rounds:
      return "max rounds";
    case StopReason::rule:
      return "rule";
    case StopReason::deadline:
      return "deadline";
  }
  return "?";
}
inline std::ostream& operator<<(std::ostream& out, StopReason reason) { return out << to_string(reason); }

}  // namespace pace
