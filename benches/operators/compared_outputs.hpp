// ComparedOutputs: whether a replay compared the outputs of any row.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "pace/report/text.hpp"
#include "pace/result/result.hpp"

namespace pace::benches::operators {

/// Some outputs of a recorded suite show nothing: they have no elements, or are NaN throughout. Beside others that are
/// compared, that is no reason to fail. Where there are no others, the run has shown nothing of any implementation.
class ComparedOutputs {
 public:
  void add(const Result& result) {
    for (const auto& row : result.implementations) {
      any_ = any_ || row.checked || row.outcome == Outcome::unreached;
      if (row.is_baseline && row.uncompared) cases_.push_back(result.name + ": " + describe(*row.uncompared));
    }
  }

  /// The error of a run that should compare outputs; empty: there is none. Either outputs were compared, or only the
  /// time ran out, or the run had nothing to compare.
  [[nodiscard]] std::string problem() const {
    if (any_ || cases_.empty()) return {};
    constexpr std::size_t most_named = 10;
    std::string text = "no outputs were compared, so that nothing is shown of them:";
    for (std::size_t i = 0; i < std::min(cases_.size(), most_named); ++i) text += "\n  " + report::printable(cases_[i]);
    if (cases_.size() > most_named) text += "\n  ... and " + std::to_string(cases_.size() - most_named) + " more";
    return text + "\nExpected at least one recorded call with outputs that have elements and are not NaN throughout";
  }

 private:
  bool any_ = false;
  /// The cases without compared outputs, each with the reason.
  std::vector<std::string> cases_;
};

}  // namespace pace::benches::operators
