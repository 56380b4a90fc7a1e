// Check: one question to a candidate after the rounds, which its calls answer.
#pragma once

#include <string>

#include "pace/subject/implementation.hpp"

namespace pace::detail {

/// A check of one implementation. AuditDriver makes the checks in turn. It keeps the time limit, repeats a check after
/// an exception that is not the candidate's, and gives the operands their values again.
class Check {
 public:
  virtual ~Check() = default;
  /// Returns what is wrong with a candidate, as text; empty if nothing is. What cannot be checked is entered into
  /// AuditContext::unasked. May throw what calls throw.
  [[nodiscard]] virtual std::string find_fault(Implementation& candidate) = 0;
  /// Whether it is no fault of a candidate that keeps what it derives from an operand, which a later check may find.
  [[nodiscard]] virtual bool is_explained_by_kept_operand() const { return false; }
};

}  // namespace pace::detail
