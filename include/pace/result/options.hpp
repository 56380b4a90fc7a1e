// Options: how long and how a comparison is measured, with the reasons for the defaults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/units.hpp"

namespace pace {

/// On which operand sets an implementation runs from round to round.
enum class OperandPolicy {
  /// One set per implementation, exchanged between the implementations every round, so that the effect of placement
  /// cancels within a cycle.
  crossover,
  /// One set per implementation, for all rounds. Shows how large the effect of placement is; not for gates.
  fixed,
  /// One set for all implementations, which takes the least memory. Each implementation finds the caches as its
  /// predecessor left them.
  shared,
};

/// Which processes the implementations of a comparison run in.
enum class Isolate {
  /// All in this process, one after the other in each round.
  none,
  /// Each in a process of its own, so that nothing that one does to its process can slow or help another. Only the
  /// clock is in this process. For calls on the CPU with one thread.
  sides,
};

/// How much a comparison distrusts its candidates. Each level does what the one above it does, and more.
enum class Audit {
  /// The outputs of the first calls and of the last timed one are compared with the baseline's, and operands and
  /// settings must stay as they are. You vouch for the rest.
  off,
  /// What a colleague's mistake can trip, too: a call on unseen values before and after the rounds, edge values,
  /// gradients, outputs that share memory or are filled in late, changed settings and operands, times that the memory
  /// of the machine does not allow.
  standard,
  /// For code that a model wrote or that nobody has reviewed: also what is correct or fast only while it is measured.
  /// This takes about twice the time of `standard`, and memory for some twenty copies of the operands.
  strict,
};

/// When the rounds of a comparison end, if its expectations are given before it runs.
enum class StopPolicy {
  /// As soon as every expectation is decided, for the least time to a verdict.
  decided,
  /// When the budget is spent, also if all is decided earlier, for more precise times.
  budget,
};

/// The clock of the calls on which gates are decided. On the CPU there is the wall clock alone.
enum class ClockChoice {
  /// The wall clock on the CPU; on a GPU `graph` if every implementation can be captured, else `hot`.
  automatic,
  cold,      ///< GPU: as `graph`, with the L2 cache flushed before each call
  hot,       ///< GPU: between events in the stream, with the calls following each other
  graph,     ///< GPU: between events inside a CUDA graph of the calls, without the host
  host,      ///< GPU: the time of the host until a call returns
  profiler,  ///< GPU: the time in which kernels and copies run, by CUPTI; slow
  wall,      ///< the host's clock, until the device is done
};

/// Upper limit of Options::max_rounds. The storage for all rounds is allocated before the first one, at least eight
/// bytes for each.
inline constexpr std::size_t most_rounds = 10'000'000;

/// How long and how a comparison is measured.
struct Options {
  /// Time for the timed rounds of one comparison, all implementations together. With expectations, time in which the
  /// measuring thread had to wait for a core does not count, up to three budgets.
  Nanoseconds budget = std::chrono::seconds(1);

  /// Time until which rounds may continue past the budget, if the median has no interval before. With expectations that
  /// are given before the rounds, these continue past both times until there are the dozen or so cycles that a verdict
  /// takes, or the time of the whole program is spent; fewer cycles suffice if one side takes more than ten times what
  /// its limit allows.
  Nanoseconds hard_limit = std::chrono::seconds(20);

  /// Shortest time of the rounds after which a verdict is given. Rounds with expectations go on until then, past the
  /// budget if that is shorter, and all cycles count: a dozen cycles of 50 us would be over before a call that slows
  /// down, or that seldom takes longer, shows that. Where the rounds end before, every verdict is undecided. With 0,
  /// rounds end as soon as everything is decided.
  Nanoseconds least_duration = std::chrono::milliseconds(100);

  /// Longest warm-up of one implementation.
  Nanoseconds warm_up = std::chrono::milliseconds(100);

  /// The warm-up ends when two consecutive blocks differ by at most this share of the faster one.
  double warm_up_agreement = 0.02;

  /// Number of iterations of the warm-up of one implementation (at least one), instead of `warm_up`. Only the time of
  /// the whole program may end it before, which the result notes.
  std::optional<std::int64_t> warm_up_iterations = {};

  /// Shortest sample in clock resolutions. With 1000, reading the clock takes at most a thousandth of a sample.
  double resolutions_per_sample = 1000;

  /// Shortest sample in time. Shorter samples measure interrupts and the state of the branch predictor.
  Nanoseconds min_sample = std::chrono::microseconds(50);

  /// Largest number of calls of one sample; 0: no limit. Comparisons whose baseline writes to its operands set it
  /// themselves.
  std::int64_t max_iterations = 0;

  /// Largest number of rounds; at most `most_rounds`.
  std::size_t max_rounds = 10'000;

  /// Family-wise confidence of all speed-up intervals of a comparison together.
  double confidence = 0.95;

  /// Probability, for all gates of a comparison together, that a false claim passes or a guard that holds fails. The
  /// default keeps failures credible: one false alarm in a thousand comparisons. A hundredth of it takes 1.7 times the
  /// rounds for a candidate that violates its expectation, and no more rounds for one that meets it.
  double alpha = 1e-3;

  /// Probability, for all gates of a comparison together, that a true claim fails or a guard that is violated passes.
  double beta = 1e-2;

  /// Seed of the order of implementations, and of input generators that take it.
  std::uint64_t seed = 0x9ace;

  /// Seed of what no implementation may foresee: when it is checked, and on which values. 0: each comparison draws one
  /// from the operating system, which its result has.
  std::uint64_t check_seed = 0;

  /// How much the candidates are distrusted. With PACE_NO_AUDIT there is no other level than `off`.
#ifdef PACE_NO_AUDIT
  Audit audit = Audit::off;
#else
  Audit audit = Audit::standard;
#endif

  /// On which operand sets implementations run.
  OperandPolicy operands = OperandPolicy::crossover;

  /// In which processes implementations run.
  Isolate isolate = Isolate::none;

  /// When the rounds end.
  StopPolicy stop = StopPolicy::decided;

  /// Largest share of the time of the rounds that other work may take from this process (CPU time stolen by a
  /// hypervisor, waiting for a core, a container's quota); beyond it, no verdict is given. Other work meets both sides
  /// alike and widens the interval, so that the error rates hold; five runnable tasks on two cores take 0.6. Beyond
  /// 0.9, hardly a sample is whole. With 1, interference never prevents a verdict. 0 stands for 0.9, and for 0.2 where
  /// operators have several threads: these wait for the one that is put aside, so that other work need not meet both
  /// sides alike.
  double max_interference = 0;

  /// Whether the baseline is also timed against itself, and against itself with calls added, between the cycles and for
  /// at most a tenth of the time. This shows how no difference and a known difference appear on this machine.
  bool controls = false;

  /// The clock on whose times gates are decided.
  ClockChoice clock = ClockChoice::automatic;

  /// Whether kernels, launches and waits of one call on a GPU are counted after the rounds. An expectation on such a
  /// count switches it on.
  bool device_counts = false;

  /// Time for each further timing of a GPU comparison (cold, hot, graph, host), as a share of the budget; 0: none.
  double mode_share = 0.25;

  /// Whether `mode_share` was set explicitly, for example on a command line: a comparison that cannot use it notes
  /// that.
  bool asks_for_mode_share = false;
};

/// Whether the clock times calls on a GPU alone.
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

/// Returns the options that were set and have a meaning for calls on a GPU only, as on a command line.
[[nodiscard]] inline std::vector<std::string> options_for_gpu(const Options& options) {
  std::vector<std::string> found;
  if (is_for_gpu(options.clock)) found.push_back(std::string("--clock ") + to_string(options.clock));
  if (options.asks_for_mode_share) found.emplace_back("--mode-share");
  return found;
}

}  // namespace pace
