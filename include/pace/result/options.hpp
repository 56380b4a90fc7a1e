// Options: how long and how a comparison is measured, with the reasons for the defaults.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/spelling.hpp"
#include "pace/base/units.hpp"
#include "pace/result/counters.hpp"

namespace pace {

/// Operand sets of the implementations from round to round.
enum class OperandPolicy {
  /// One set per implementation. They swap sets every round, so that the effect of placement cancels within a cycle.
  crossover,
  /// One set per implementation, for all rounds. Shows the effect of placement; not for gates.
  fixed,
  /// One set for all implementations, to save memory. Each finds the caches as the one before it left them.
  shared,
};

/// Processes that the implementations of a comparison run in.
enum class Isolate {
  /// All in this process, taking turns in each round.
  none,
  /// A process for each, so that none can slow or help another. Only the clock is in this process. For calls on the CPU
  /// with one thread.
  sides,
};

/// How much a comparison distrusts its candidates. Each level includes the ones above it.
enum class Audit {
  /// Compares the outputs of the first calls and of the last timed one with the baseline's. Operands must stay
  /// unchanged. You vouch for the rest: settings that a call leaves changed are neither found nor restored.
  off,
  /// Finds a colleague's mistakes, too. Calls on unseen values before and after the rounds, edge values and gradients.
  /// Finds outputs that share memory or are filled in late, changed settings and operands, and times that the machine's
  /// memory does not allow.
  standard,
  /// For code that a model wrote or that nobody has reviewed. Also finds code that is right or fast only while
  /// measured. Takes about twice the time of `standard`, and memory for some twenty copies of the operands.
  strict,
};

/// When the rounds of a comparison end, if it has expectations before it runs.
enum class StopPolicy {
  /// As soon as every expectation is decided: the least time to a verdict.
  decided,
  /// When the budget is spent: more precise times.
  budget,
};

/// Clock that decides gates. On the CPU there is only the wall clock.
enum class ClockChoice {
  /// The wall clock on the CPU; on a GPU `graph` if every implementation can be captured, else `hot`.
  automatic,
  cold,      ///< GPU: as `graph`, with the L2 cache flushed before each call
  hot,       ///< GPU: between events in the stream, with back-to-back calls
  graph,     ///< GPU: between events inside a CUDA graph of the calls, without the host
  host,      ///< GPU: the time of the host until a call returns
  profiler,  ///< GPU: time of kernels and copies, by CUPTI; slow
  wall,      ///< host's clock, until the device is done
};

/// Upper limit of Options::max_rounds. The storage for all rounds, at least eight bytes each, is allocated before the
/// first one.
inline constexpr std::size_t most_rounds = 10'000'000;

/// How long and how a comparison is measured.
struct Options {
  /// Time for the timed rounds of one comparison, all implementations together. With expectations, time that the
  /// measuring thread waited for a core, and that of cycles that are left out and of rests, does not count, up to three
  /// budgets. Neither does it without them while too few cycles are left for an interval.
  Nanoseconds budget = std::chrono::seconds(1);

  /// Rounds continue past the budget up to this time while the median has no interval. Expectations stated before the
  /// rounds continue them past both times, up to the dozen or so cycles that a verdict takes, or the end of the
  /// program's time. Fewer cycles suffice if one side takes more than ten times its limit.
  Nanoseconds hard_limit = std::chrono::seconds(20);

  /// Shortest time of the rounds for a verdict, also past a shorter budget; earlier ends leave every verdict undecided.
  /// A dozen cycles of 50 us would miss a call that slows down later or is seldom slow. With 0, rounds end as soon as
  /// everything is decided.
  Nanoseconds least_duration = std::chrono::milliseconds(100);

  /// Longest warm-up of one implementation.
  Nanoseconds warm_up = std::chrono::milliseconds(100);

  /// The warm-up ends when two consecutive blocks differ by at most this share of the faster one.
  double warm_up_agreement = 0.02;

  /// Number of iterations of one implementation's warm-up, instead of `warm_up`; it makes at least one. Only the time
  /// of the whole program ends it earlier, with a note in the result.
  std::optional<std::int64_t> warm_up_iterations = {};

  /// Shortest sample in clock resolutions. With 1000, reading the clock takes at most a thousandth of a sample.
  double resolutions_per_sample = 1000;

  /// Shortest sample in time. Shorter samples measure interrupts and the state of the branch predictor.
  Nanoseconds min_sample = std::chrono::microseconds(50);

  /// Largest number of calls per sample; 0: no limit. Comparisons set it themselves if the baseline writes to its
  /// operands.
  std::int64_t max_iterations = 0;

  /// Largest number of rounds; at most `most_rounds`.
  std::size_t max_rounds = 10'000;

  /// Family-wise confidence of all speed-up intervals of a comparison.
  double confidence = 0.95;

  /// Probability, over all gates of a comparison, that a false claim passes or a guard that holds fails. The default
  /// allows one false alarm in a thousand comparisons, so that failures stay credible. A hundredth of it takes 1.7
  /// times the rounds for a candidate that violates its expectation, and no more for one that meets it.
  double alpha = 1e-3;

  /// Probability, over all gates of a comparison, that a true claim fails or a violated guard passes.
  double beta = 1e-2;

  /// Seed of the order of implementations, and of input generators that take it.
  std::uint64_t seed = 0x9ace;

  /// Seed of everything that no implementation may foresee: the times of checks, and their unseen values. 0: each
  /// comparison draws one from the operating system and stores it in its result.
  std::uint64_t check_seed = 0;

  /// How much the candidates are distrusted. With PACE_NO_AUDIT there is only `off`.
#ifdef PACE_NO_AUDIT
  Audit audit = Audit::off;
#else
  Audit audit = Audit::standard;
#endif

  /// Operand sets that implementations run on.
  OperandPolicy operands = OperandPolicy::crossover;

  /// Processes that implementations run in.
  Isolate isolate = Isolate::none;

  /// When the rounds end.
  StopPolicy stop = StopPolicy::decided;

  /// Largest share of the rounds' time that other work may take from this process: steal time, waiting for a core, or a
  /// container's quota. Beyond it there is no verdict. Other work mostly affects both sides alike and widens the
  /// interval, so that the error rates hold. Five runnable tasks on two cores take 0.6; beyond 0.9, hardly a sample is
  /// whole. With 1, interference never prevents a verdict. 0 stands for 0.9, or for 0.2 where operators have several
  /// threads, which wait for a preempted one.
  double max_interference = 0;

  /// Whether to time the baseline against itself too, also with calls added, between cycles and for at most a tenth of
  /// the time. Shows how no difference, and one of known size, appear on this machine.
  bool controls = false;

  /// Clock that decides gates.
  ClockChoice clock = ClockChoice::automatic;

  /// Whether to count kernels, launches and waits of one GPU call after the rounds. Expectations on such counts set it.
  bool device_counts = false;

  /// Whether to measure the energy of a GPU call after the rounds, for some seconds. Expectations of energy set it.
  bool energy = false;

  /// Counters of the CPU and of the GPU to read after the rounds, by names of counter_entries. Expectations add theirs.
  std::vector<std::string> counters = {};

  /// Time for each further timing of a GPU comparison (cold, hot, graph, host), as a share of the budget; 0: none.
  double mode_share = 0.25;

  /// Whether `mode_share` was set explicitly: a comparison that cannot use it then adds a note.
  bool asks_for_mode_share = false;
};

/// Returns whether the clock times only calls on a GPU.
[[nodiscard]] inline bool is_for_gpu(ClockChoice choice) {
  return choice != ClockChoice::automatic && choice != ClockChoice::wall;
}

/// Throws Error with the name and the range of the first option that is out of range.
inline void validate(const Options& options) {
  const auto require = [](bool holds, const char* what) {
    if (!holds) throw Error(std::string("options: ") + what);
  };
  require(options.budget.count() > 0, "budget must be longer than 0");
  require(options.hard_limit >= options.budget, "hard_limit must not be shorter than budget");
  require(options.least_duration.count() >= 0, "least_duration must not be negative");
  require(options.warm_up.count() >= 0, "warm_up must not be negative");
  require(options.warm_up_agreement > 0, "warm_up_agreement must be above 0");
  require(options.warm_up_iterations.value_or(0) >= 0, "warm_up_iterations must not be negative");
  require(options.resolutions_per_sample >= 1, "resolutions_per_sample must be at least 1");
  require(options.min_sample.count() >= 0, "min_sample must not be negative");
  require(options.max_iterations >= 0, "max_iterations must not be negative");
  require(options.max_rounds >= 1 && options.max_rounds <= most_rounds,
          "max_rounds must be a number from 1 to 10000000");
  require(options.confidence > 0 && options.confidence < 1, "confidence must lie between 0 and 1, such as 0.95");
  require(options.max_interference >= 0 && options.max_interference <= 1,
          "max_interference must be above 0 and at most 1, such as 0.9, or 0 for the default");
  require(options.mode_share >= 0 && options.mode_share <= 10, "mode_share must lie between 0 and 10, such as 0.25");
  for (auto each = options.counters.begin(); each != options.counters.end(); ++each)
    if (counter_entry(*each) == nullptr || std::find(options.counters.begin(), each, *each) != each)
      throw Error("options: counters: '" + *each + "' is no counter, or there twice; expected names of " +
                  names_of_counters());
  require(options.alpha > 0 && options.alpha < 0.5, "alpha must lie between 0 and 0.5, such as 0.001");
  require(options.beta > 0 && options.beta < 0.5, "beta must lie between 0 and 0.5, such as 0.01");
}

/// Returns the name of the enumerator.
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

/// Returns the name of the enumerator.
[[nodiscard]] inline const char* to_string(OperandPolicy policy) {
  switch (policy) {
    case OperandPolicy::crossover:
      return "crossover";
    case OperandPolicy::fixed:
      return "fixed";
    case OperandPolicy::shared:
      return "shared";
  }
  return "?";
}

/// Returns the name of the enumerator.
[[nodiscard]] inline const char* to_string(Audit audit) {
  switch (audit) {
    case Audit::off:
      return "off";
    case Audit::standard:
      return "standard";
    case Audit::strict:
      return "strict";
  }
  return "?";
}

/// Returns the name of the enumerator.
[[nodiscard]] inline const char* to_string(Isolate isolate) {
  switch (isolate) {
    case Isolate::none:
      return "none";
    case Isolate::sides:
      return "sides";
  }
  return "?";
}

/// Returns the name of the enumerator.
[[nodiscard]] inline const char* to_string(StopPolicy policy) {
  switch (policy) {
    case StopPolicy::decided:
      return "decided";
    case StopPolicy::budget:
      return "budget";
  }
  return "?";
}

/// Returns the options set that only affect calls on a GPU, as on a command line.
[[nodiscard]] inline std::vector<std::string> options_for_gpu(const Options& options) {
  std::vector<std::string> found;
  if (is_for_gpu(options.clock)) found.push_back(option_text("clock", to_string(options.clock)));
  if (options.asks_for_mode_share) found.emplace_back("--mode-share");
  if (options.energy) found.emplace_back("--energy");
  return found;
}

}  // namespace pace
