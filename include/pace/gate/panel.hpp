// Panel: all demands of a comparison, watched cycle by cycle, and judged together in the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/function_ref.hpp"
#include "pace/core/result.hpp"
#include "pace/core/units.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/stats/sequential_test.hpp"

namespace pace::gate {

/// A demand with the p-values of "the centre is at or below its threshold" and of "at or above".
struct WeighedDemand {
  const Demand& demand;
  double p_above = 1, p_below = 1;
};

/// Rates at which `count` demands are judged so that wrong verdicts of either kind have the given probability for all
/// together: Holm's procedure, on each side. Demands with a rate of their own stand outside. No allocation.
[[nodiscard]] Rates shared_rates(std::size_t count, const Rates& family,
                                 FunctionRef<WeighedDemand(std::size_t)> weighed);

/// The stopping rule: given every cycle while the rounds go on, it says when every demand is decided. All memory is
/// taken before the first cycle; a cycle costs a fraction of a microsecond per demand.
class Panel {
 public:
  explicit Panel(Rates family) : family_(family) {}

  /// `own` and `reference` are positions among the samples that add_cycle is given.
  void watch(const Demand& demand, std::size_t own, std::size_t reference);
  [[nodiscard]] bool empty() const { return watched_.empty(); }
  [[nodiscard]] std::size_t size() const { return watched_.size(); }

  /// `samples[i]` are times per iteration of implementation i, each of a sample of `iterations`; those of `rounds` rounds
  /// from `first` on are new.
  void add_cycle(std::span<const std::vector<Nanoseconds>> samples, std::size_t first, std::size_t rounds,
                 std::int64_t iterations);

  [[nodiscard]] bool decided() const;

 private:
  struct Watched {
    Demand demand;
    std::size_t own, reference;
    stats::SequentialTest test;
    /// The p-values of `test`, computed once a cycle.
    double p_above = 1, p_below = 1;
  };

  Rates family_;
  std::vector<Watched> watched_;
};

/// A panel for whatever was stated of times in one phase, or of the whole, for implementations that are timed: `timed` are
/// their rows in `result`, in the order in which samples will be given, from position `first` on. What needs one that is
/// not timed is left out, since no cycle can decide it.
[[nodiscard]] Panel watch_all(const Result& result, std::span<const std::size_t> timed, std::span<const Stated> stated,
                              const Rates& family, const std::string& phase = {}, std::size_t first = 0);

/// The rates of each phase, and of the whole, whose times something was stated of: all together err as often as `family`.
[[nodiscard]] Rates share_among_phases(std::span<const Stated> stated, const Rates& family);

/// Judges every row by what was stated for it in the result's phase, into ImplementationResult::judgements, in the order
/// in which it was stated, with the error rates `family` for all verdicts of the result together. Rows without figures take
/// no share of them, as they take none of a Panel's.
void judge_all(Result& result, std::span<const Stated> stated, const Rates& family);

/// Marks the judgements of `result` and its phases that several processes decide together (Judgement::deferred): those on
/// speed-ups, and on what was not reached.
void defer_judgements(Result& result);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/panel-inl.hpp"
#endif
