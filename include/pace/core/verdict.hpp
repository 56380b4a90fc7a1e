// Verdict: what a gate says of one implementation, and why.
#pragma once

#include <string>

namespace pace {

enum class Verdict {
  passed,     ///< proven, with the confidence stated
  failed,     ///< disproven, or the implementation is wrong
  undecided,  ///< the interval still holds the threshold: the data cannot tell
  invalid,    ///< nothing was measured that a verdict could rest on
};

struct Judgement {
  /// What was expected, such as "speed-up of at least 1.20x".
  std::string expectation = {};
  Verdict verdict = Verdict::invalid;
  /// Whether the gate lets this through: `passed`, or `undecided` where the expectation only forbids what is proven.
  bool acceptable = false;
  /// The figures, the threshold, and what to do about it.
  std::string message = {};
};

[[nodiscard]] inline const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::passed: return "passed";
    case Verdict::failed: return "failed";
    case Verdict::undecided: return "undecided";
    case Verdict::invalid: return "invalid";
  }
  return "?";
}

}  // namespace pace
