// Panel: all demands of a comparison, tested after every cycle and judged together at the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/tails.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/sequential_test.hpp"

namespace pace::gate {

/// A demand with its p-values.
struct WeighedDemand {
  const Demand& demand;  ///< the demand
  double p_above = 1;    ///< p-value of "the centre is at or below the threshold"
  double p_below = 1;    ///< p-value of "the centre is at or above the threshold"
};

/// Returns the error rates for each of `count` demands such that wrong verdicts of either kind have the probabilities
/// `family` for all demands together, by Holm's procedure on each side (S. Holm, "A simple sequentially rejective
/// multiple test procedure", 1979). Demands with explicit rates are left out. `weighed(i)` returns demand i. Allocates
/// nothing.
[[nodiscard]] Rates shared_rates(std::size_t count, const Rates& family,
                                 FunctionRef<WeighedDemand(std::size_t)> weighed);

/// Identifies a demand: the index of its expectation among those stated, and of its implementation in the result.
struct DemandId {
  std::size_t stated = 0;                            ///< index of the expectation
  std::size_t implementation = 0;                    ///< index of the row in the result
  bool operator==(const DemandId&) const = default;  ///< compares both
};

/// The stopping rule of the rounds: it takes each cycle and determines when every demand is decided. judge_all() then
/// takes its tests, so that each cycle is weighed once. All memory is allocated before the first cycle; a cycle takes a
/// fraction of a microsecond per demand.
class Panel {
 public:
  /// Makes an empty panel with the error rates `family` for all demands together.
  explicit Panel(Rates family) : family_(family) {}

  /// Adds a demand. `own` and `reference` are positions in the `samples` of add_cycle().
  void watch(const Demand& demand, std::size_t own, std::size_t reference, DemandId id = {});
  /// Returns whether there are no demands.
  [[nodiscard]] bool empty() const { return watched_.empty(); }
  /// Returns the number of demands.
  [[nodiscard]] std::size_t size() const { return watched_.size(); }

  /// Adds the observations of one cycle. `samples[i]` has the times per iteration of implementation i by round, each of
  /// a sample of `iterations` iterations; the `rounds` rounds from index `first` on are new.
  void add_cycle(std::span<const std::vector<Nanoseconds>> samples, std::size_t first, std::size_t rounds,
                 std::int64_t iterations);

  /// Returns whether every demand is decided. A guard that the mean of all times speaks against, though it proves
  /// nothing, is not: more cycles tell a call that seldom takes long from a stall of the machine.
  [[nodiscard]] bool decided() const;

  /// Demand with its test, which has got the observations of all cycles.
  struct Watched {
    Demand demand;               ///< the demand
    std::size_t own;             ///< position of the implementation in the samples
    std::size_t reference;       ///< position in the samples of what it is held against
    DemandId id;                 ///< where the demand comes from
    stats::SequentialTest test;  ///< its test, for Method::sequential
    TailTests tails;             ///< its tests of single times
    bool slow;                   ///< whether every observation was slow and large (Evidence::slow)
    double p_above = 1;          ///< Weights::p_above of both, computed once a cycle
    double p_below = 1;          ///< Weights::p_below of both, computed once a cycle
  };
  /// Returns all demands.
  [[nodiscard]] const std::vector<Watched>& watched() const { return watched_; }

 private:
  Rates family_;
  std::vector<Watched> watched_;
};

/// Returns what is stated as it is judged where the host has a time of its own, in host_phase: a guard that is about
/// both times is there twice, and unless it states otherwise it is let through where it is undecided on the host.
/// `guards_of_both` is false if a clock was chosen for all gates.
[[nodiscard]] std::vector<Stated> share_among_clocks(std::span<const Stated> stated, bool guards_of_both);

/// Returns whether something is stated of times other than the host's.
[[nodiscard]] bool expects_on_device(std::span<const Stated> stated);
/// Returns whether something is stated of this phase.
[[nodiscard]] bool expects_in_phase(std::span<const Stated> stated, const std::string& phase);

/// Returns a panel of the stated demands on times in one phase or, if `phase` is empty, in whole iterations. `timed`
/// are the rows in `result` of the timed implementations, in the order of the samples from position `first` on. Demands
/// that need an implementation that is not timed are left out, since no cycle decides them.
[[nodiscard]] Panel watch_all(const Result& result, std::span<const std::size_t> timed, std::span<const Stated> stated,
                              const Rates& family, const std::string& phase = {}, std::size_t first = 0);

/// Returns the error rates for each phase, and for the whole, with stated demands on times, such that all together have
/// the error rates `family`.
[[nodiscard]] Rates share_among_phases(std::span<const Stated> stated, const Rates& family);

/// Judges every row by the expectations stated for it in the phase of the result, and sets
/// ImplementationResult::judgements in the order in which they were stated. The error rates `family` hold for all
/// verdicts of the result together. Rows without figures take no share of them, as in a Panel. `panels` have watched
/// the samples of `result`, by watch_all() for `stated`; what none of them has watched is weighed by its samples.
void judge_all(Result& result, std::span<const Stated> stated, const Rates& family, std::span<const Panel> panels = {});

/// Marks the judgements of `result` and its phases that several processes decide together (Judgement::deferred): those
/// on speed-ups, and those on implementations that were not reached.
void defer_judgements(Result& result);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/panel-inl.hpp"
#endif
