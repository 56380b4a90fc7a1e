// RunSummary: totals of a whole run.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/format.hpp"
#include "pace/result/result.hpp"

namespace pace::report {

/// Counts results as they come.
class RunSummary {
 public:
  /// Counts the cases, outcomes, speed-ups and expectations of one result.
  void add(const Result& result);

  /// Returns the number of implementations with this outcome.
  [[nodiscard]] std::size_t count(Outcome outcome) const { return outcomes_[static_cast<std::size_t>(outcome)]; }

  /// Returns the totals as lines of text; none if there were no cases.
  [[nodiscard]] std::vector<std::string> lines() const;

 private:
  /// A geometric mean as it grows.
  struct Mean {
    double sum_of_logs = 0;
    std::size_t count = 0;
    void add(const std::optional<SpeedupSummary>& speedup) {
      const double ratio = speedup ? speedup->median : 0;
      if (!(ratio > 0) || !std::isfinite(ratio)) return;
      sum_of_logs += std::log(ratio);
      ++count;
    }
    [[nodiscard]] std::string text() const { return format_factor(std::exp(sum_of_logs / static_cast<double>(count))); }
  };
  struct Candidate {
    std::string name, baseline;
    Mean mean = {};
    std::size_t cases = 0, unchecked = 0;
    /// By the name of the timing mode.
    std::vector<std::pair<std::string, Mean>> modes = {};
  };

  void add_candidate(const ImplementationResult& each, const std::string& baseline);

  void add_judgement(const Judgement& judgement, const Result& result, const std::string& implementation);

  [[nodiscard]] static std::string counted(std::size_t count, const std::string& what);

  [[nodiscard]] std::string implementations() const;

  /// Ratios are averaged as ratios: halving one time and doubling another cancel.
  [[nodiscard]] static std::string speedup_of(const Candidate& candidate);

  [[nodiscard]] std::string expectations() const;

  std::size_t cases_ = 0, expectations_ = 0, unmet_ = 0, open_ = 0;
  std::array<std::size_t, 8> outcomes_{};  // by Outcome
  std::vector<Candidate> candidates_;      // in the order in which they came
  /// Line about an expectation that is not met; `rest` follows the name of the comparison.
  struct Unmet {
    std::string name, inputs, rest;
  };
  std::vector<Unmet> unmet_lines_;
  /// Names of comparisons of several inputs, which lines name with their inputs.
  std::set<std::string> repeated_;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/summary-inl.hpp"
#endif
