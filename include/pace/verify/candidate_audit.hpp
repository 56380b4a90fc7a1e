// CandidateAudit: what a comparison tells the checks of its candidates, and what they find. The room `audit` has them;
// NoAudit takes their place where the caller vouches for the candidates.
#pragma once

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

/// What the first calls of the baseline have shown. The references must outlive the audit's last call.
struct BaselineCalls {
  Implementation& baseline;
  Nanoseconds took;  ///< by a checked call
  const Expected& expected;
  /// How outputs are compared. Its method may change while the audit learns, if a float64 reference fails.
  const check::CheckOptions& check;
  /// Adds to what is expected on operands of other values: reference outputs and tolerances, or the latter alone.
  std::function<void(Expected&, const OperandSet&)> complete, learn_tolerances;
  /// Returns which autograd graph a candidate's output lacks, as text; empty: none.
  std::function<std::string(Implementation&)> find_lost_graph;
};

/// Result of the additional calls of one implementation beside its first calls.
struct Examination {
  /// What is wrong, in words; empty if nothing is.
  std::string problem = {};
  /// What one call counts; none unless two calls on the same operands counted the same.
  std::optional<CallCounts> counts = {};
  std::string why_uncounted = {};
  /// What readers of the times must know.
  std::vector<std::string> notes = {};
  /// Whether it keeps what it derives from operands, and whether an output repeats elements in memory.
  bool keeps = false, repeats_outputs = false;
  /// Whether it was called on values that what it keeps from call to call should not be left with.
  bool made_calls = false;
};

/// An objection to the figures of one implementation.
struct RowObjection {
  std::size_t index = 0;
  Objection objection = {};
};

/// Why the baseline's times in the rounds are not its own; nothing if they are.
struct SlowedBaseline {
  /// Something that a candidate has done slows it: why, as a clause.
  std::string by_candidate = {};
  /// Other work on the machine accounts for it, or there may be a slowdown that nothing can show: why, as a clause.
  std::string by_others = {};
};

/// The speed-up of one implementation on unseen values.
struct UnseenSpeed {
  std::size_t index = 0;
  SpeedupSummary speedup = {};
  /// Those of the phases of a step, in their order; nothing for a phase that is too short.
  std::vector<std::optional<SpeedupSummary>> phases = {};
  /// What a reader must know of it; empty: nothing.
  std::string note = {};
};

/// Result of the audits in the rounds and of the checks after them.
struct AuditFindings {
  std::vector<Drop> dropped = {};
  /// For each implementation of the comparison: of the outputs of its last timed calls.
  std::vector<double> max_abs_errors = {};
  /// What readers of the times must know.
  std::vector<std::string> notes = {};
  /// Indices of the implementations that keep what they derive from an operand.
  std::vector<std::size_t> keeps = {};
  std::vector<RowObjection> objections = {};
  /// The speed-ups on unseen values of the candidates that have one.
  std::vector<UnseenSpeed> on_unseen_values = {};
  SlowedBaseline slowed_baseline = {};
  /// CPU seconds that the baseline alone used in a second; 0: unknown.
  double baseline_cores = 0;
  /// One that was dropped spoilt the samples of the others.
  bool measure_again = false;

  /// Enters the fault that ended the rounds. Returns whether there is one.
  bool take(std::optional<Drop> fault) {
    if (!fault) return false;
    dropped.push_back(*std::move(fault));
    return measure_again = true;
  }
};

/// Looks for faults between the cycles of the rounds, and ends the rounds when it finds one. CandidateAudit does so
/// where the implementations run in this process, SideAudits where each has a process of its own.
class Auditor : public timing::RoundObserver {
 public:
  /// The rounds of these implementations begin, with so many iterations a sample.
  virtual void begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) = 0;
  /// Returns whether an audit found a fault, so that the rounds end.
  [[nodiscard]] virtual bool found() const = 0;
};

/// Follows one comparison from the first call to the checks after the rounds. It may throw what the calls of an
/// implementation throw.
class CandidateAudit : public Auditor {
 public:
  // The first calls.

  /// Before the first call of an implementation.
  virtual void start() {}
  /// After the last call of an implementation before timing: leaves everything as start() found it.
  virtual void finish() = 0;
  /// Gives the operands of a set their first values, whatever was done to them.
  virtual void repair(std::size_t set) = 0;
  /// Takes what is right from the baseline.
  virtual void learn(const BaselineCalls& calls) = 0;
  /// After the first calls of an implementation, one of which took `took`, were found correct: makes further ones.
  [[nodiscard]] virtual Examination examine(Implementation& implementation, Nanoseconds took) = 0;
  /// Before the first call of a candidate. `options` are those that limit timed calls. Returns what every correct call
  /// reads and writes at least.
  virtual timing::LeastTraffic before_candidates(const Options& /*options*/) { return {}; }

  // The rounds.

  /// Before each pass of measuring: gives all operands their first values and forgets what an earlier pass has found,
  /// so that an implementation which has left since then accounts for nothing that is found later.
  virtual void begin_pass() = 0;
  /// Looks for operands that the baseline leaves alone and that do not hold the values of this round, or else their
  /// first ones, in all sets, and gives them their first values.
  virtual void look_at_operands() = 0;
  /// After the rounds of begin_rounds(): whether each was right in them, and is right and as fast where it does not
  /// expect to be looked at. `figures` are those of these rounds.
  [[nodiscard]] virtual AuditFindings check(RoundFigures figures) = 0;

  // The process of one side, whose rounds are timed from another process (Isolate::sides).

  /// Judges outputs of timed calls so far that have other bits than those that are known to be right.
  virtual void judge_timed_outputs() {}
  /// Checks one candidate, whatever that takes. Returns what is wrong, as text; empty if nothing is.
  [[nodiscard]] virtual std::string audit_one(std::size_t /*index*/) { return {}; }
  /// The rounds lasted for `elapsed`, and `shortest` has for each implementation of begin_rounds() the shortest time of
  /// a call in a sample.
  virtual void take_times(Nanoseconds /*elapsed*/, std::vector<Nanoseconds> /*shortest*/) {}
  /// Whether outputs are random numbers of which the distribution alone is compared, so that each round has a seed of
  /// its own.
  [[nodiscard]] virtual bool draws_anew() const { return false; }
  /// How often random numbers of timed calls of the implementation `index` were those of earlier ones, for each output
  /// tensor.
  [[nodiscard]] virtual std::vector<Repetitions> repetitions_of(std::size_t /*index*/) const { return {}; }
};

/// An audit that waits for the operands, and has forked whatever must not share their memory.
class PendingAudit {
 public:
  virtual ~PendingAudit() = default;
  /// Both must outlive the audit.
  [[nodiscard]] virtual std::unique_ptr<CandidateAudit> begin(const Prepared& prepared) = 0;
};

/// Which samples of the baseline count in a process beside those of a candidate.
enum class BaselineSamples { all, on_unseen_values, none };

/// Starts an audit before a comparison makes anything. `clock` and `plan` must outlive it.
using StartAudit = std::unique_ptr<PendingAudit> (*)(timing::Clock& clock, const ComparisonPlan& plan,
                                                     BaselineSamples samples);

}  // namespace pace::detail
