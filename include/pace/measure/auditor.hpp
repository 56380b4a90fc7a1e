// Auditor: observes the rounds of a comparison, and ends them when it finds a fault beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pace/timing/rounds.hpp"

namespace pace::detail {

/// An observer of the rounds that looks for faults between cycles. AuditDriver does so where the implementations
/// run in this process, SideAudits where each has a process of its own.
class Auditor : public timing::RoundObserver {
 public:
  /// The rounds of these implementations begin, with so many iterations a sample.
  virtual void begin_rounds(const std::vector<std::size_t>& timed, std::int64_t iterations) = 0;
  /// Returns whether an audit found a fault, so that the rounds end.
  [[nodiscard]] virtual bool found() const = 0;
};

}  // namespace pace::detail
