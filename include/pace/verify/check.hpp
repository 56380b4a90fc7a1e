// Check: one question to a candidate, which its calls answer.
#pragma once

#include <string>

#include "pace/subject/implementation.hpp"

namespace pace::detail {

/// A check of one implementation whose output is right for the operands given. It may have learned from the baseline
/// before, and may call it again.
class Check {
 public:
  virtual ~Check() = default;
  /// Returns what is wrong with a candidate, as text; empty if nothing is. May throw what calls throw.
  [[nodiscard]] virtual std::string find_fault(Implementation& candidate) = 0;
  /// Whether it is no fault of a candidate that keeps what it derives from an operand, which a later check may find.
  [[nodiscard]] virtual bool is_explained_by_kept_operand() const { return false; }
};

}  // namespace pace::detail
