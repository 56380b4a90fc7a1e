// PlannedCase and CaseSelection: which comparisons of a run are measured, decided before anything of them is made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/result/options.hpp"

namespace pace {

/// What is known of a comparison before it is measured.
struct PlannedCase {
  std::string name = {};                          ///< name of the comparison
  std::vector<std::string> implementations = {};  ///< names, the baseline first
  std::string inputs = {};                        ///< description of the operands; empty: unknown
  std::vector<std::string> expectations = {};     ///< what is expected, in words
  /// Time by the budgets: the rounds and the warm-up of each implementation. Making inputs, first calls and checks come
  /// on top.
  Nanoseconds budget{};
  std::optional<Audit> audit = {};  ///< how much the candidates are distrusted; none: nothing is audited
};

/// Decides which comparisons of a run are measured.
class CaseSelection {
 public:
  CaseSelection() = default;
  CaseSelection(const CaseSelection&) = delete;
  CaseSelection& operator=(const CaseSelection&) = delete;
  virtual ~CaseSelection() = default;

  /// Returns why nothing of the comparison is measured, in a whole sentence without its full stop; empty: it is
  /// measured. It may be asked more than once about the same comparison.
  [[nodiscard]] virtual std::string passes_over(const PlannedCase& planned) = 0;
};

}  // namespace pace
