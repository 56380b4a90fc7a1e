// Replicates: what several processes found about the same gates, judged together.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"
#include "pace/gate/demand.hpp"
#include "pace/gate/evidence.hpp"
#include "pace/gate/judge.hpp"
#include "pace/stats/quantile.hpp"
#include "pace/stats/sorted.hpp"

namespace pace::gate {

/// What one process found out about one gate.
struct Finding {
  std::string comparison, implementation, expectation;
  DemandedSpeed demanded;
  /// Median of ln(baseline time / own time) over its crossover cycles; not finite if no verdict may rest on them.
  double centre = 0;
};

/// All processes' findings about one gate, in the order in which the processes ended.
struct ReplicatedGate {
  Finding first;
  std::vector<double> centres;
  Judgement judgement;
  /// Standard deviation of the centres: what differs from process to process; 0 of one.
  double deviation = 0;
};

/// One number a process and gate, since rounds of one process share whatever differs between processes: where buffers
/// and code lie, what the machine did meanwhile. Judged by stats::ReplicateTest, which may be looked at after every
/// process; each gate at its own error rates.
class Replicates {
 public:
  /// The findings of one more process. A gate found twice in it counts once: the first time.
  void add_process(const std::vector<Finding>& findings) {
    ++processes_;
    for (const auto& finding : findings) {
      const std::size_t i = index_of(finding);
      if (std::exchange(last_process_[i], processes_) == processes_) continue;
      if (std::isfinite(finding.centre)) gates_[i].centres.push_back(finding.centre);
      judge(gates_[i]);
    }
  }

  [[nodiscard]] std::size_t processes() const { return processes_; }
  [[nodiscard]] const std::vector<ReplicatedGate>& gates() const { return gates_; }

  /// Nothing that further processes find could be needed: every gate is proven one way or the other.
  [[nodiscard]] bool decided() const {
    return !gates_.empty() && std::all_of(gates_.begin(), gates_.end(), [](const ReplicatedGate& gate) {
      return gate.judgement.verdict == Verdict::passed || gate.judgement.verdict == Verdict::failed;
    });
  }
  [[nodiscard]] bool acceptable() const {
    return !gates_.empty() && std::all_of(gates_.begin(), gates_.end(),
                                          [](const ReplicatedGate& gate) { return gate.judgement.acceptable; });
  }

 private:
  std::size_t index_of(const Finding& finding) {
    for (std::size_t i = 0; i < gates_.size(); ++i) {
      const Finding& known = gates_[i].first;
      if (known.comparison == finding.comparison && known.implementation == finding.implementation &&
          known.expectation == finding.expectation && known.demanded.guard == finding.demanded.guard &&
          known.demanded.limit == finding.demanded.limit)
        return i;
    }
    gates_.push_back({finding, {}, {}, 0});
    last_process_.push_back(0);
    return gates_.size() - 1;
  }

  static void judge(ReplicatedGate& gate) {
    const auto& demanded = gate.first.demanded;
    Demand demand{.burden = demanded.guard ? Burden::guard : Burden::claim,
                  .threshold = (demanded.guard ? -1 : 1) * std::log(demanded.limit),
                  .limit = demanded.limit,
                  .when_undecided = demanded.closes_when_undecided ? WhenUndecided::close
                                    : demanded.allowed_undecided   ? WhenUndecided::let_through
                                                                   : WhenUndecided::by_burden,
                  .method = Method::replicates};
    if (gate.centres.empty()) {
      gate.judgement = {.expectation = gate.first.expectation,
                        .verdict = Verdict::undecided,
                        .message = '\'' + gate.first.implementation + "' has no figures from any process yet"};
      demand.leave_open(gate.judgement);
      return;
    }
    const auto evidence = weigh(gate.centres, demand);
    GateContext context;
    context.comparison = gate.first.comparison;
    gate.judgement = judge_observations(demand, gate.first.implementation, context, gate.centres, evidence,
                                        {demanded.alpha, demanded.beta});
    gate.deviation = gate.centres.size() > 1 ? evidence.deviation : 0;
  }

  std::vector<ReplicatedGate> gates_;
  /// For each gate, the process that last found something about it.
  std::vector<std::size_t> last_process_;
  std::size_t processes_ = 0;
};

/// Median over the cycles of a row; NaN if it has none, or other work on the machine disturbed them.
[[nodiscard]] inline double centre_of(const ImplementationResult& row) {
  if (row.log_ratios.empty() || !row.context.disturbance.empty()) return std::numeric_limits<double>::quiet_NaN();
  return stats::median(stats::sorted(row.log_ratios));
}

}  // namespace pace::gate
