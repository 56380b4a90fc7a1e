// Replicates: what several processes found about the same gates, judged together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"

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
  void add_process(const std::vector<Finding>& findings);

  [[nodiscard]] std::size_t processes() const { return processes_; }
  [[nodiscard]] const std::vector<ReplicatedGate>& gates() const { return gates_; }

  /// Nothing that further processes find could be needed: every gate is proven one way or the other.
  [[nodiscard]] bool decided() const;
  /// There is a gate, and none is closed.
  [[nodiscard]] bool acceptable() const;

 private:
  std::size_t index_of(const Finding& finding);
  static void judge(ReplicatedGate& gate);

  std::vector<ReplicatedGate> gates_;
  /// For each gate, the process that last found something about it.
  std::vector<std::size_t> last_process_;
  std::size_t processes_ = 0;
};

/// Median over the cycles of a row; NaN if it has none, or other work on the machine disturbed them.
[[nodiscard]] double centre_of(const ImplementationResult& row);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/replicates-inl.hpp"
#endif
