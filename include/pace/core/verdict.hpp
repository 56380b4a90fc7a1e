// Verdict: what a gate says of one implementation, and why.
#pragma once

#include <optional>
#include <ostream>
#include <string>

namespace pace {

enum class Verdict {
  passed,     ///< proven, with the confidence stated
  failed,     ///< disproven, or the implementation is wrong
  undecided,  ///< the interval still holds the threshold: the data cannot tell
  invalid,    ///< nothing was measured that a verdict could rest on
};

/// What was demanded of the speed-up over the baseline, for a judgement of several processes together.
struct DemandedSpeed {
  /// A guard allows `limit` times the baseline's time; a claim is `limit` times as fast.
  bool guard = false;
  double limit = 1;
  /// As of gate::Rates.
  double alpha = 1e-3, beta = 1e-2;
  bool closes_when_undecided = true;
  /// Let through undecided by name (WhenUndecided::let_through).
  bool allowed_undecided = false;
};

struct Judgement {
  /// What was expected, such as "speed-up of at least 1.20x".
  std::string expectation = {};
  Verdict verdict = Verdict::invalid;
  /// Whether the gate lets this through: `passed`, or `undecided` where the expectation only forbids what is proven.
  bool acceptable = false;
  /// The figures, the threshold, and what to do about it.
  std::string message = {};
  /// Absent where something else was demanded, or there were no figures.
  std::optional<DemandedSpeed> speed = {};
  /// Let through although nothing is proven, where the expectation does not allow that by name
  /// (WhenUndecided::let_through): the exit code differs from that of a run in which everything passed.
  bool unresolved = false;
  /// This process is one of several that decide together (`--processes`), and leaves the gate to all of them.
  bool deferred = false;
};

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
inline std::ostream& operator<<(std::ostream& out, Verdict verdict) { return out << to_string(verdict); }

}  // namespace pace
