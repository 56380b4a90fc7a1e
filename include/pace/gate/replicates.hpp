// Replicates: joint judgement of the same gates in several processes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"

namespace pace::gate {

/// Measurement of one gate in one process.
struct Finding {
  std::string comparison;      ///< name of the comparison
  std::string implementation;  ///< name of the implementation
  std::string expectation;     ///< description of the expectation
  DemandedSpeed demanded;      ///< demanded speed-up
  /// Median of ln(baseline time / own time) over the crossover cycles; not finite if no verdict may rest on them.
  double centre = 0;
  std::string unchecked = {};  ///< its objection of Severity::unchecked, which keeps claims from passing
};

/// Measurements of one gate in all processes, in the order of their ends.
struct ReplicatedGate {
  Finding first;                ///< measurement in the first process
  std::vector<double> centres;  ///< Finding::centre of each process
  Judgement judgement;          ///< joint judgement
  /// Standard deviation of the centres between processes; 0 for one process.
  double deviation = 0;
  std::string unchecked = {};  ///< first Finding::unchecked of a process; keeps a claim from passing
};

/// Judges gates by one observation per process. The rounds of one process share effects that differ between processes:
/// addresses of buffers and code, the state of the machine. Uses stats::ReplicateTest, valid after every process. Each
/// gate has its own error rates.
class Replicates {
 public:
  /// Adds the findings of one process. If a gate occurs twice in `findings`, the first counts.
  void add_process(const std::vector<Finding>& findings);

  /// Returns the number of processes so far.
  [[nodiscard]] std::size_t processes() const { return processes_; }
  /// Returns all gates, in the order of their first finding.
  [[nodiscard]] const std::vector<ReplicatedGate>& gates() const { return gates_; }

  /// Returns whether every gate is proven to pass or to fail: no further process is needed.
  [[nodiscard]] bool decided() const;
  /// Returns whether there is a gate and no gate is closed.
  [[nodiscard]] bool acceptable() const;

 private:
  std::size_t index_of(const Finding& finding);
  static void judge(ReplicatedGate& gate);

  std::vector<ReplicatedGate> gates_;
  /// For each gate, the number of the last process with a finding about it.
  std::vector<std::size_t> last_process_;
  std::size_t processes_ = 0;
};

/// Returns the median of ImplementationResult::log_ratios, less the excess over unseen values. NaN if there are none,
/// if other work on the machine disturbed them, or if the excess is unknown.
[[nodiscard]] double centre_of(const ImplementationResult& row);

}  // namespace pace::gate

#ifdef PACE_HEADER_ONLY
#include "pace/gate/replicates-inl.hpp"
#endif
