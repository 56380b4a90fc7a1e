// CandidateAudit: the interface between a comparison and the checks of its candidates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/check/check_options.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/plan.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/host_bandwidth.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/verify/expected.hpp"
#include "pace/verify/repeated_numbers.hpp"
#include "pace/verify/round_figures.hpp"

namespace pace::detail {

/// Results of the baseline's first calls. All but `complete`, which is for CandidateAudit::learn() alone, must outlive
/// the audit's last call.
struct BaselineCalls {
  Implementation& baseline;
  Nanoseconds took;  ///< by a checked call
  const Expected& expected;
  /// The method may change while the audit learns, if a float64 reference fails.
  const check::CheckOptions& check;
  /// Add expectations for unseen operands: `complete` outputs and tolerances, `learn_tolerances` tolerances alone.
  std::function<void(Expected&, const OperandSet&)> complete, learn_tolerances;
  /// Returns which autograd graph a candidate's output lacks, as text; empty if none.
  std::function<std::string(Implementation&)> find_lost_graph;
};

/// Result of the further calls after an implementation's first calls.
struct Examination {
  /// The fault, as text; empty if none.
  std::string problem = {};
  /// Counts of one call; none if two calls on the same operands differ.
  std::optional<CallCounts> counts = {};
  std::string why_uncounted = {};
  /// Notes for readers of the times.
  std::vector<std::string> notes = {};
  /// Whether it keeps what it derives from operands, and whether an output repeats elements in memory.
  bool keeps = false, repeats_outputs = false;
  /// Whether calls on unseen values may have filled the implementation's caches.
  bool made_calls = false;
};

/// An objection to the figures of one implementation.
struct RowObjection {
  std::size_t index = 0;
  Objection objection = {};
};

/// Why something slowed the baseline in the rounds; both empty if nothing did.
struct SlowedBaseline {
  /// Why something that a candidate did slows it, as a clause.
  std::string by_candidate = {};
  /// Why other work on the machine explains it, or why nothing can tell, as a clause.
  std::string by_others = {};
};

/// The speed-up of one implementation on unseen values.
struct UnseenSpeed {
  std::size_t index = 0;
  SpeedupSummary speedup = {};
  /// Speed-ups of a step's phases, in order; nothing for a phase that is too short.
  std::vector<std::optional<SpeedupSummary>> phases = {};
  /// A note for the reader; empty if none.
  std::string note = {};
};

/// Result of the audits in the rounds and of the checks after them.
struct AuditFindings {
  std::vector<Drop> dropped = {};
  /// Largest errors of the last timed outputs, by implementation.
  std::vector<double> max_abs_errors = {};
  /// Notes for readers of the times.
  std::vector<std::string> notes = {};
  /// Indices of the implementations that keep what they derive from an operand.
  std::vector<std::size_t> keeps = {};
  std::vector<RowObjection> objections = {};
  /// Speed-ups on unseen values, for the candidates that have one.
  std::vector<UnseenSpeed> on_unseen_values = {};
  SlowedBaseline slowed_baseline = {};
  /// CPU seconds per second that the baseline used alone; 0: unknown.
  double baseline_cores = 0;
  /// A dropped implementation spoilt the samples of the others.
  bool measure_again = false;

  [[nodiscard]] bool drops(std::size_t index) const {
    return std::ranges::find(dropped, index, &Drop::index) != dropped.end();
  }
  /// Enters the fault that ended the rounds. Returns whether there is one.
  bool take(std::optional<Drop> fault) {
    if (!fault) return false;
    dropped.push_back(*std::move(fault));
    return measure_again = true;
  }
};

/// Ends the rounds when it finds a fault between their cycles. CandidateAudit does so for implementations in this
/// process, SideAudits for those with a process each.
class Auditor : public timing::RoundObserver {
 public:
  /// Rounds of the implementations `timed` begin, with `iterations` calls a sample.
  virtual void begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) = 0;
  /// Whether an audit found a fault, which ends the rounds.
  [[nodiscard]] virtual bool has_fault() const = 0;
  /// Checks all sets for changed operands that the baseline leaves alone. They must hold the round's values, or else
  /// their first ones. Then restores the first values.
  virtual void check_operands() {}
  /// After the rounds. Checks that each implementation was right in them, and stays right and as fast where it expects
  /// no check. `figures` come from these rounds; empty if a fault ended them.
  [[nodiscard]] virtual AuditFindings check_after_rounds(RoundFigures figures) = 0;
};

/// Follows one comparison from the first call to the checks after the rounds. The room `audit` derives from it, and so
/// does NoAudit. May throw what an implementation's calls throw.
class CandidateAudit : public Auditor {
 public:
  // The first calls.

  /// Before the first call of an implementation.
  virtual void before_first_call() {}
  /// After an implementation's last call before timing. Leaves everything as it was before the first one.
  virtual void after_first_calls() = 0;
  /// Writes the first values to the operands of a set.
  virtual void repair(std::size_t set) = 0;
  /// Learns correct behaviour from the baseline.
  virtual void learn(const BaselineCalls& calls) = 0;
  /// Makes further calls of an implementation whose first calls were correct. `took`: time of a checked call. Enters
  /// into `found` what it finds as it goes, so that this is there also if a call throws.
  virtual void examine(Implementation& implementation, Nanoseconds took, Examination& found) = 0;
  /// Before the first call of a candidate. Returns the least traffic of every correct call.
  virtual timing::LeastTraffic before_candidates() { return {}; }

  // The rounds.

  /// Before each pass of measuring. Gives all operands their first values, and forgets what earlier passes found: an
  /// implementation may have left since.
  virtual void begin_pass() = 0;

  // In one side's process, while another process times the rounds (Isolate::sides).

  /// Compares timed outputs whose bits differ from every right output so far.
  virtual void judge_timed_outputs() {}
  /// Checks one candidate, however long that takes. Returns the fault as text; empty if none.
  [[nodiscard]] virtual std::string check_now(std::size_t /*index*/) { return {}; }
  /// The rounds took `elapsed`. `shortest`: shortest time of a call, for each implementation of begin_rounds().
  virtual void take_times(Nanoseconds /*elapsed*/, const std::vector<Nanoseconds>& /*shortest*/) {}
  /// Whether outputs are random numbers that we compare as a distribution, so that each round has its own seed.
  [[nodiscard]] virtual bool draws_anew() const { return false; }
  /// How often timed calls of implementation `index` repeated earlier random numbers, for each output tensor.
  [[nodiscard]] virtual std::vector<Repetitions> repetitions_of(std::size_t /*index*/) const { return {}; }
};

/// An audit that waits for the operands. It has already forked the processes that must not share their memory.
class PendingAudit {
 public:
  virtual ~PendingAudit() = default;
  /// This object and `prepared` must outlive the audit.
  [[nodiscard]] virtual std::unique_ptr<CandidateAudit> begin(const Prepared& prepared) = 0;
};

/// Which samples of the baseline count in a process beside a candidate's samples.
enum class BaselineSamples { all, on_unseen_values, none };

/// Starts an audit before a comparison makes anything. `clock` and `plan` must outlive it.
using StartAudit = std::unique_ptr<PendingAudit> (*)(timing::Clock& clock, const ComparisonPlan& plan,
                                                     BaselineSamples samples);

}  // namespace pace::detail
