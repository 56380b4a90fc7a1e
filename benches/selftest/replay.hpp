// Replay: when a gate would have ended its rounds, and its verdict, from the cycles of longer rounds.
#pragma once

#include <cstddef>
#include <span>

#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/gate/times.hpp"
#include "pace/stats/sequential_test.hpp"

namespace pace::benches::selftest {

struct Replay {
  Verdict verdict = Verdict::undecided;
  /// Until the verdict; all there are if there was none.
  std::size_t cycles = 0;
};

/// Does as gate::Panel and gate::decide would cycle by cycle, with this expectation alone. The rates are the median's,
/// since log ratios say nothing of the mean.
[[nodiscard]] inline Replay replay(const Expectation& expectation, std::span<const double> log_ratios,
                                   const gate::Rates& rates = {}) {
  const gate::Demand& demand = expectation.demand();
  const double pass_level = demand.pass_level(rates), fail_level = demand.fail_level(rates);
  stats::SequentialTest test(demand.threshold, demand.assumption());
  for (const double each : log_ratios) {
    test.add(each);
    const Verdict verdict = gate::decide(test.p_above(), test.p_below(), pass_level, fail_level);
    if (verdict != Verdict::undecided) return {verdict, test.observations()};
  }
  return {Verdict::undecided, test.observations()};
}

}  // namespace pace::benches::selftest
