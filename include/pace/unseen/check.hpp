// Check: one check of a candidate by calls.
#pragma once

#include <string>

#include "pace/subject/implementation.hpp"

namespace pace::detail {

/// Checks implementations whose outputs are right for the operands given. May have learned from the baseline, and may
/// call it again.
class Check {
 public:
  virtual ~Check() = default;
  /// Returns the fault of a candidate as text; empty if none. May throw what calls throw.
  [[nodiscard]] virtual std::string find_fault(Implementation& candidate) = 0;
  /// Whether the finding is no fault in a candidate that keeps what it derives from an operand. A later check may find
  /// that.
  [[nodiscard]] virtual bool is_explained_by_kept_operand() const { return false; }
};

}  // namespace pace::detail
