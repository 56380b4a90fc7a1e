// PlannedCase and CaseSelection: which comparisons of a run are measured, decided before anything of them is made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/result/options.hpp"

namespace pace {

/// A comparison before it is measured.
struct PlannedCase {
  std::string name = {};                          ///< name of the comparison
  std::vector<std::string> implementations = {};  ///< names, the baseline first
  std::string inputs = {};                        ///< description of the operands; empty: unknown
  std::vector<std::string> expectations = {};     ///< expectations, in words
  /// Time of the rounds and the warm-ups by their budgets, without making inputs, first calls and checks.
  Nanoseconds budget{};
  std::optional<Audit> audit = {};  ///< how much the candidates are distrusted; none: no audit
};

/// Decides which comparisons of a run are measured.
class CaseSelection {
 public:
  CaseSelection() = default;
  CaseSelection(const CaseSelection&) = delete;
  CaseSelection& operator=(const CaseSelection&) = delete;
  virtual ~CaseSelection() = default;

  /// Returns why the comparison is not measured, as a sentence without its full stop; empty: it is. May be called
  /// repeatedly.
  [[nodiscard]] virtual std::string passes_over(const PlannedCase& planned) = 0;
};

}  // namespace pace
