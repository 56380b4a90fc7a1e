// The findings of a run of the program: one or several pairs of sides, and the exit code that follows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "pace/report/stored_baseline.hpp"
#include "pace/result/verdict.hpp"
#include "tools/compare_results/two_sides.hpp"

namespace pace::tools::compare_results {

/// Exit codes: every gate open, at least one closed, nothing compared; none closed, but at least one let through
/// undecided (as of a program that measures).
inline constexpr int all_acceptable = 0, not_acceptable = 1, not_compared = 2, not_resolved = 43;

/// A file of one side, as it is named in outputs.
struct SourceFile {
  std::string path, date_utc, commit, hostname;
  bool cut_off = false;  ///< whether its last line was cut off, so that a result is missing
};

/// One pair of sides.
struct Step {
  std::vector<SourceFile> then, now;
  std::vector<Compared> rows;
};

/// All that was compared.
struct Outcome {
  report::Settings settings;
  std::vector<Step> steps;
  bool allow_undecided = false;

  /// Returns how many rows of all steps `holds` is true for.
  template <class Holds>
  [[nodiscard]] std::size_t count(const Holds& holds) const {
    std::size_t number = 0;
    for (const auto& step : steps)
      for (const auto& row : step.rows) number += holds(row) ? 1 : 0;
    return number;
  }
  [[nodiscard]] std::size_t compared() const {
    return count([](const Compared& row) { return !row.is_new; });
  }
  /// Returns how many rows the old results do not have.
  [[nodiscard]] std::size_t new_rows() const {
    return count([](const Compared& row) { return row.is_new; });
  }
  /// Returns whether no row has figures on both sides.
  [[nodiscard]] bool without_figures() const {
    return count([](const Compared& row) { return row.factor.has_value(); }) == 0;
  }
  [[nodiscard]] std::size_t closed() const {
    return count([](const Compared& row) { return !row.judgement.acceptable; });
  }
  /// Returns how many gates are open without a proof.
  [[nodiscard]] std::size_t let_through() const {
    return count([](const Compared& row) {
      return row.judgement.acceptable && row.judgement.verdict != Verdict::passed && !row.is_new;
    });
  }
  /// Returns the files that lack a line because they were cut off.
  [[nodiscard]] std::vector<std::string> cut_off() const {
    std::vector<std::string> paths;
    for (const auto& step : steps)
      for (const auto* side : {&step.then, &step.now})
        for (const auto& file : *side)
          if (file.cut_off && std::ranges::find(paths, file.path) == paths.end()) paths.push_back(file.path);
    return paths;
  }
  [[nodiscard]] int exit_code() const {
    if (closed() > 0) return not_acceptable;
    // Open questions may be allowed, but a run that has asked none has not passed.
    if (without_figures()) return not_compared;
    // Nobody has decided about rows that are lost.
    if (!cut_off().empty()) return not_resolved;
    const bool unresolved = count([](const Compared& row) { return row.judgement.unresolved; }) > 0;
    return unresolved && !allow_undecided ? not_resolved : all_acceptable;
  }
};

}  // namespace pace::tools::compare_results
