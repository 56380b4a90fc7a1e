// Options: how long and how a comparison is measured. Every default names its reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "pace/core/error.hpp"
#include "pace/core/units.hpp"

namespace pace {

/// Which operand buffers an implementation sees from round to round.
enum class OperandPolicy {
  /// One set per implementation; the sets change hands every round, so placement cancels inside a cycle.
  crossover,
  /// One set per implementation, kept for good. Shows how large the placement bias is; not for gating.
  fixed,
  /// One set for all: least memory. Each implementation finds the caches as its predecessor left them.
  shared,
};

/// When the rounds of a comparison end, if its expectations were stated before it ran.
enum class StopPolicy {
  /// As soon as every expectation is decided: least time to a verdict.
  decided,
  /// When the budget is spent, whatever is decided earlier: where the figures are wanted as well.
  budget,
};

/// What times the calls that a gate is about. On the CPU there is the wall clock alone.
enum class ClockChoice {
  /// The wall clock on the CPU; on a GPU `graph` if every implementation can be captured, else `hot`.
  automatic,
  cold,      ///< GPU: as `graph`, with everything driven out of the L2 cache before each call
  hot,       ///< GPU: between events in the stream, calls following each other
  graph,     ///< GPU: between events inside a CUDA graph of the calls, without the host
  host,      ///< GPU: what a call costs the host until it returns
  profiler,  ///< GPU: the time that kernels and copies ran, by CUPTI; costly
  wall,      ///< the host's clock, until the device is done
};

/// At most so many make one comparison: the storage for all of them is allocated before the first, eight bytes and more
/// for each.
inline constexpr std::size_t most_rounds = 10'000'000;

struct Options {
  /// Time for the timed rounds of one comparison, all implementations together.
  Nanoseconds budget = std::chrono::seconds(1);

  /// Rounds go on past the budget only until the median has an interval at all, and not past this. Where expectations
  /// were stated before the rounds, these go on past both until there are as many cycles as a verdict takes, a dozen or so,
  /// or the time of the whole program is spent; fewer where one side takes more than ten times what the limit allows.
  Nanoseconds hard_limit = std::chrono::seconds(20);

  /// Cap on the warm-up of one implementation.
  Nanoseconds warm_up = std::chrono::milliseconds(100);

  /// Warm-up ends when two consecutive blocks differ by at most this share of the faster one.
  double warm_up_agreement = 0.02;

  /// The warm-up of one implementation is this number of iterations instead (at least one), however long they take: only
  /// the time of the whole program may end it before, which the result notes.
  std::optional<std::int64_t> warm_up_iterations = {};

  /// A sample must last this many clock resolutions, so that reading the clock costs at most a thousandth of it.
  double resolutions_per_sample = 1000;

  /// ... and at least this long: shorter samples measure interrupts and the branch predictor's memory.
  Nanoseconds min_sample = std::chrono::microseconds(50);

  /// Calls of one sample at most; 0: as many as it takes. Comparisons whose baseline writes to its operands set it
  /// themselves.
  std::int64_t max_iterations = 0;

  /// Bounds the number of rounds; at most `most_rounds`.
  std::size_t max_rounds = 10'000;

  /// Family-wise confidence of all speed-up intervals of a comparison together.
  double confidence = 0.95;

  /// Probability of a false alarm or a false proof of all gates of a comparison together: pass a claim that is false, or fail a
  /// guard that holds. One false alarm in a thousand comparisons is what people put up with; making it a hundred times
  /// rarer costs a guilty candidate 1.7 times the rounds, and an innocent one nothing.
  double alpha = 1e-3;

  /// ... and on the cheap side: fail a claim that is true, or pass a guard that is broken.
  double beta = 1e-2;

  /// Seeds the order of implementations and whatever input generator takes it.
  std::uint64_t seed = 0x9ace;

  OperandPolicy operands = OperandPolicy::crossover;

  StopPolicy stop = StopPolicy::decided;

  /// Share of the rounds that other work on the machine may take from this process (CPU time stolen by a hypervisor,
  /// waiting for a core, a container's quota) before no verdict is given. Housekeeping at low priority takes a tenth of
  /// a core that it wants as well, an equal takes half; this lies between. 1 asks for verdicts whatever happens.
  double max_interference = 0.2;

  /// Also times the baseline against itself, and against itself with calls added, between the cycles and for at most a
  /// tenth of the time: what no difference and a known one look like on this machine now.
  bool controls = false;

  ClockChoice clock = ClockChoice::automatic;

  /// Also counts what one call asks of a GPU, after the rounds. An expectation on such a count asks for it by itself.
  bool device_counts = false;

  /// Time for each further figure of a GPU comparison (cold, hot, graph, host), as a share of the budget; 0 for none.
  double figures = 0.25;

  /// Whether `figures` was asked for, as on a command line: a comparison that has no use for it notes that.
  bool asks_for_figures = false;
};

/// Whether only calls on a GPU are timed like that.
[[nodiscard]] inline bool is_for_gpu(ClockChoice choice) {
  return choice != ClockChoice::automatic && choice != ClockChoice::wall;
}

/// Throws Error naming the first option that makes no sense.
inline void validate(const Options& options) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error(std::string("options: ") + what);
  };
  require(options.budget.count() > 0, "budget must be longer than 0");
  require(options.hard_limit >= options.budget, "hard_limit must not be shorter than budget");
  require(options.warm_up.count() >= 0, "warm_up must not be negative");
  require(options.warm_up_agreement > 0, "warm_up_agreement must be above 0");
  require(options.warm_up_iterations.value_or(0) >= 0, "warm_up_iterations must not be negative");
  require(options.resolutions_per_sample >= 1, "resolutions_per_sample must be at least 1");
  require(options.min_sample.count() >= 0, "min_sample must not be negative");
  require(options.max_iterations >= 0, "max_iterations must not be negative");
  require(options.max_rounds >= 1 && options.max_rounds <= most_rounds,
          "max_rounds must be a number from 1 to 10000000");
  require(options.confidence > 0 && options.confidence < 1, "confidence must lie between 0 and 1, such as 0.95");
  require(options.max_interference > 0 && options.max_interference <= 1,
          "max_interference must be above 0 and at most 1, such as 0.2");
  require(options.figures >= 0 && options.figures <= 10, "figures must lie between 0 and 10, such as 0.25");
  require(options.alpha > 0 && options.alpha < 0.5, "alpha must lie between 0 and 0.5, such as 0.001");
  require(options.beta > 0 && options.beta < 0.5, "beta must lie between 0 and 0.5, such as 0.01");
}

[[nodiscard]] inline const char* to_string(ClockChoice choice) {
  switch (choice) {
    case ClockChoice::automatic:
      return "automatic";
    case ClockChoice::cold:
      return "cold";
    case ClockChoice::hot:
      return "hot";
    case ClockChoice::graph:
      return "graph";
    case ClockChoice::host:
      return "host";
    case ClockChoice::profiler:
      return "profiler";
    case ClockChoice::wall:
      return "wall";
  }
  return "?";
}

}  // namespace pace
