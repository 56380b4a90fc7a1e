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

/// Returns the error rates for each of `count` demands, so that wrong verdicts of either kind have the probabilities
/// `family` over all demands. Uses Holm's procedure on each side (S. Holm, "A simple sequentially rejective multiple
/// test procedure", 1979). Demands with explicit rates are left out. `weighed(i)` returns demand i. Allocates nothing.
[[nodiscard]] Rates shared_rates(std::size_t count, const Rates& family,
                                 FunctionRef<WeighedDemand(std::size_t)> weighed);

/// Identifies a demand by two indices.
struct DemandId {
  std::size_t stated = 0;                            ///< index of the expectation among those stated
  std::size_t implementation = 0;                    ///< index of the row in the result
  bool operator==(const DemandId&) const = default;  ///< compares both
};

/// Tests all demands after each cycle, and says when every one is decided: the stopping rule of the rounds. judge_all()
/// then uses its tests, so that each cycle is weighed once. Allocates all memory before the first cycle. A cycle takes
/// a fraction of a microsecond per demand.
class Panel {
 public:
  /// Makes an empty panel with the error rates `family` for all demands.
  explicit Panel(Rates family) : family_(family) {}

  /// Adds a demand. `own` and `reference` are positions in the `samples` of add_cycle().
  void watch(const Demand& demand, std::size_t own, std::size_t reference, DemandId id = {});
  /// Returns whether there are no demands.
  [[nodiscard]] bool empty() const { return watched_.empty(); }
  /// Returns the number of demands.
  [[nodiscard]] std::size_t size() const { return watched_.size(); }

  /// Adds the observations of one cycle: the `rounds` rounds from index `first` on. `samples[i]` has implementation i's
  /// times per iteration by round, each from a sample of `iterations` iterations.
  void add_cycle(std::span<const std::vector<Nanoseconds>> samples, std::size_t first, std::size_t rounds,
                 std::int64_t iterations);

  /// Returns whether every demand is decided. A guard is not while the mean of all times is beyond its limit, proven or
  /// not. More cycles tell a call that is seldom slow from a stall of the machine.
  [[nodiscard]] bool decided() const;

  /// Demand with its test, which has the observations of all cycles.
  struct Watched {
    Demand demand;               ///< the demand
    std::size_t own;             ///< position of the implementation in the samples
    std::size_t reference;       ///< position of its reference in the samples
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

/// Returns `stated` for calls with a host time of their own, which is judged in host_phase. A guard about both times is
/// there twice. On the host it is let through if undecided, unless it states otherwise. `guards_of_both` is false if a
/// clock was chosen for all gates.
[[nodiscard]] std::vector<Stated> share_among_clocks(std::span<const Stated> stated, bool guards_of_both);

/// Returns whether an expectation is about times other than the host's.
[[nodiscard]] bool expects_on_device(std::span<const Stated> stated);
/// Returns whether an expectation is about this phase.
[[nodiscard]] bool expects_in_phase(std::span<const Stated> stated, const std::string& phase);

/// Returns a panel of the stated demands on times in one phase; empty `phase`: in whole iterations. `timed` are the
/// rows of the timed implementations in `result`, in the order of the samples from position `first` on. Leaves out
/// demands on implementations that are not timed, since no cycle decides them.
[[nodiscard]] Panel watch_all(const Result& result, std::span<const std::size_t> timed, std::span<const Stated> stated,
                              const Rates& family, const std::string& phase = {}, std::size_t first = 0);

/// Returns the error rates for the whole and for each phase with demands on times, so that all together have `family`.
[[nodiscard]] Rates share_among_phases(std::span<const Stated> stated, const Rates& family);

/// Judges every row by the expectations stated for it in the phase of the result. Sets ImplementationResult::judgements
/// in the order of their statement. The error rates `family` hold for all verdicts together. Rows without figures take
/// no share. `panels` come from watch_all() for `stated`; demands that none has watched are weighed by the row's
/// samples.
void judge_all(Result& result, std::span<const Stated> stated, const Rates& family, std::span<const Panel> panels = {});

/// Marks the judgements of `result` and its phases that several processes decide together (Judgement::deferred):
/// speed-ups, and implementations that were not reached.
void defer_judgements(Result& result);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/panel-inl.hpp"
#endif
