// Outcomes: how the check and the measurement of an implementation ended, and why.
#pragma once

#include <ostream>
#include <string>

#include "pace/base/spelling.hpp"

namespace pace {

/// How the check and the measurement of one implementation ended.
enum class Outcome {
  measured,       ///< timed, and its outputs, if checked, agree with the baseline's
  wrong,          ///< its outputs differ from the baseline's; it has no speed-up, timed or not
  threw,          ///< ended with an exception; keeps its figures if that came after the rounds, in another timing mode
  refused,        ///< could not be made or run here: no kernel, no package, too little memory
  unreached,      ///< not run: the time of the whole program was spent
  crashed,        ///< ended the whole process
  timed_out,      ///< ran longer than allowed, so its process was ended
  out_of_memory,  ///< needed more memory than was available
};

/// Returns the name of the enumerator, with spaces for underscores.
[[nodiscard]] inline const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::measured:
      return "measured";
    case Outcome::wrong:
      return "wrong";
    case Outcome::threw:
      return "threw";
    case Outcome::refused:
      return "refused";
    case Outcome::unreached:
      return "unreached";
    case Outcome::crashed:
      return "crashed";
    case Outcome::timed_out:
      return "timed out";
    case Outcome::out_of_memory:
      return "out of memory";
  }
  return "?";
}
/// Prints to_string() of the value.
inline std::ostream& operator<<(std::ostream& out, Outcome outcome) { return out << to_string(outcome); }

/// Returns whether the implementation ran and failed: neither measured nor refused nor left out when time ran out.
[[nodiscard]] inline bool at_fault(Outcome outcome) {
  return outcome != Outcome::measured && outcome != Outcome::refused && outcome != Outcome::unreached;
}

/// Why outputs that should be compared were not.
enum class Uncompared {
  varies,        ///< the baseline's outputs differ from call to call
  only_nan,      ///< the outputs are NaN throughout
  empty,         ///< the outputs have no elements
  empty_or_nan,  ///< some outputs have no elements, and the others are NaN throughout
  no_output,     ///< the function returns nothing and writes to no operand tensor that is compared
};

/// Returns the name of the enumerator, with spaces for underscores.
[[nodiscard]] inline const char* to_string(Uncompared reason) {
  switch (reason) {
    case Uncompared::varies:
      return "varies";
    case Uncompared::only_nan:
      return "only nan";
    case Uncompared::empty:
      return "empty";
    case Uncompared::empty_or_nan:
      return "empty or nan";
    case Uncompared::no_output:
      return "no output";
  }
  return "?";
}
/// Prints to_string() of the value.
inline std::ostream& operator<<(std::ostream& out, Uncompared reason) { return out << to_string(reason); }
/// Returns the reason as the end of a sentence about outputs.
[[nodiscard]] inline std::string describe(Uncompared reason) {
  switch (reason) {
    case Uncompared::varies:
      return "the baseline does not repeat itself";
    case Uncompared::only_nan:
      return "they are NaN throughout";
    case Uncompared::empty:
      return "they have no elements";
    case Uncompared::empty_or_nan:
      return "they have no elements, or are NaN throughout";
    case Uncompared::no_output:
      return "nothing is returned, and no operand tensor that is compared is written to; try: return the outputs, "
             "write it to an operand tensor, or declare that nothing is compared (" +
             check_text("Method::none", "method=\"none\"") + ')';
  }
  return "?";
}

/// Why the rounds ended.
enum class StopReason {
  not_started,  ///< no implementation could be timed
  budget,       ///< Options::budget was spent
  max_rounds,   ///< Options::max_rounds was reached
  rule,         ///< the stopping rule was met, such as when every expectation is decided
  deadline,     ///< the time of the whole program was spent
};

/// Returns the name of the enumerator, with spaces for underscores.
[[nodiscard]] inline const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::not_started:
      return "not started";
    case StopReason::budget:
      return "budget";
    case StopReason::max_rounds:
      return "max rounds";
    case StopReason::rule:
      return "rule";
    case StopReason::deadline:
      return "deadline";
  }
  return "?";
}
/// Prints to_string() of the value.
inline std::ostream& operator<<(std::ostream& out, StopReason reason) { return out << to_string(reason); }

}  // namespace pace
