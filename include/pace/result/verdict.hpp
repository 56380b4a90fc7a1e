// Verdict: the decision of a gate on one implementation, with its reason.
#pragma once

#include <optional>
#include <ostream>
#include <string>

namespace pace {

/// Decision on one expectation.
enum class Verdict {
  passed,     ///< proven at the stated error rate
  failed,     ///< disproven, or the outputs are wrong
  undecided,  ///< neither: the confidence interval contains the threshold
  invalid,    ///< no measurements allow a verdict
};

/// Demanded speed-up over the baseline, for a joint judgement of several processes.
struct DemandedSpeed {
  bool guard = false;                 ///< whether the demand is a guard; false: a claim
  double limit = 1;                   ///< guard: largest time in baseline times; claim: smallest speed-up
  double alpha = 1e-3;                ///< error rate, as gate::Rates::alpha
  double beta = 1e-2;                 ///< error rate, as gate::Rates::beta
  bool closes_when_undecided = true;  ///< whether an undecided verdict closes the gate
  /// Whether an undecided verdict is explicitly let through (WhenUndecided::let_through).
  bool allowed_undecided = false;
};

/// Verdict on one expectation for one implementation, with its reason.
struct Judgement {
  /// Description of the expectation, such as "speed-up of at least 1.20x".
  std::string expectation = {};
  Verdict verdict = Verdict::invalid;  ///< decision on the expectation
  /// Whether the gate is open: the verdict is `passed`, or `undecided` without closing it.
  bool acceptable = false;
  /// Figures and threshold, then `why: ...` and `try: ...` on lines of their own where there is something to say.
  std::string message = {};
  /// Demanded speed-up; absent for other demands, and without figures.
  std::optional<DemandedSpeed> speed = {};
  /// Whether the gate is open without a proof, and the expectation does not explicitly allow that
  /// (WhenUndecided::let_through). The exit code then differs from a run that passed.
  bool unresolved = false;
  /// Whether several processes decide the gate together (`--processes`) rather than this one.
  bool deferred = false;
  /// Why another process may reach another verdict, and what to try; empty: unlikely.
  std::string near_limit = {};
};

/// Returns the name of the enumerator.
[[nodiscard]] inline const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed:
      return "passed";
    case Verdict::failed:
      return "failed";
    case Verdict::undecided:
      return "undecided";
    case Verdict::invalid:
      return "invalid";
  }
  return "?";
}
/// Prints to_string() of the value.
inline std::ostream& operator<<(std::ostream& out, Verdict verdict) { return out << to_string(verdict); }

}  // namespace pace
