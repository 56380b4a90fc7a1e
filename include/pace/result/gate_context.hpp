// GateContext: what a gate needs to know of a comparison to judge one of its rows, and the objections to its figures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/message_parts.hpp"
#include "pace/base/units.hpp"
#include "pace/result/suite_budget.hpp"

namespace pace {

/// Effect of an objection on the verdicts of its row, the gravest first.
enum class Severity {
  impossible,  ///< the figures cannot be true: every verdict is `invalid`
  unproven,    ///< the figures prove nothing about times: a claim that they meet is `invalid`
  too_brief,   ///< the rounds were too brief (Options::least_duration): every verdict is `undecided`
  unchecked,   ///< a check was left out: a claim that the figures meet is `undecided`
  cut_short,   ///< the rounds ended early: explains a verdict of `undecided`
};

[[nodiscard]] inline const char* to_string(Severity severity) {
  switch (severity) {
    case Severity::impossible:
      return "impossible";
    case Severity::unproven:
      return "unproven";
    case Severity::too_brief:
      return "too_brief";
    case Severity::unchecked:
      return "unchecked";
    case Severity::cut_short:
      return "cut_short";
  }
  return "";
}

/// A reason against the figures of a row.
struct Objection {
  Severity severity = Severity::impossible;  ///< effect on verdicts
  std::string why = {};                      ///< as a clause
  std::string remedy = {};                   ///< remedy to try, as a clause; may be empty

  /// Returns both as one text.
  [[nodiscard]] std::string describe() const {
    return remedy.empty() ? why : why + std::string(before_remedy) + remedy;
  }
  /// Returns an objection of a text as describe() returns it.
  [[nodiscard]] static Objection of(Severity severity, std::string_view described) {
    auto parts = MessageParts::of("", described);
    return {severity, std::move(parts.why), std::move(parts.remedy)};
  }
};

/// Properties of a comparison that a gate needs to judge one of its rows.
struct GateContext {
  /// Name of the baseline; empty: unknown.
  std::string baseline = {};
  /// Samples of the baseline, in the order of rounds; null: unknown, as in a row read from a file.
  std::shared_ptr<const std::vector<Nanoseconds>> baseline_samples = {};
  /// CallCounts::peak_bytes of the baseline; absent: unknown.
  std::optional<std::int64_t> baseline_peak_bytes = {};
  /// Number of consecutive samples per crossover cycle.
  std::size_t rounds_per_cycle = 1;
  /// Number of iterations of each sample; 0: unknown.
  std::int64_t iterations = 0;
  /// Time from one cycle's start to the next one's, with the samples of all implementations; 0: unknown.
  Nanoseconds cycle{};
  /// Share of Options::alpha for one gate on this row. With `budget`: share of the rate that the comparison's
  /// expectations spend; 0 if none is about times.
  double alpha = 1e-3;
  double beta = 1e-2;  ///< share of Options::beta for one gate on this row
  /// Name of the comparison; empty: unknown.
  std::string comparison = {};
  /// Result::inputs of the comparison; empty: unknown.
  std::string inputs = {};
  /// Name of the clock of the verdicts, such as `graph`, if several clocks timed the calls; empty otherwise.
  std::string clock = {};
  /// Why the figures allow no verdict (see Conditions); empty: they do.
  std::string disturbance = {};
  /// Whether outputs repeat elements in memory: fewer are written than they have.
  bool repeats_outputs = false;
  /// Whether calls may keep values derived from an operand, so that they need not read it again.
  bool keeps = false;
  /// Reasons against the figures, at most one of each severity, the gravest first.
  std::vector<Objection> objections = {};
  /// Whether outputs for the caller's operands were off by a finite difference, which a wider tolerance could allow.
  bool beyond_tolerance = false;
  /// Speed-up in the rounds over the largest one that is likely on unseen values; 1: not proven to be larger.
  double excess_in_rounds = 1;
  /// Speed-up in the rounds over the median on unseen values, proven or not; 1: no factor that counts.
  double likely_excess_in_rounds = 1;
  /// Part of the comparison in the run's error budget (`--suite-alpha`), which matchers spend from; null: each matcher
  /// has `alpha`.
  std::shared_ptr<ComparisonBudget> budget = {};

  /// Returns the reason and the remedy of the objection of this severity; empty if there is none.
  [[nodiscard]] std::string describe(Severity severity) const {
    const auto* const found = find(severity);
    return found == nullptr ? std::string() : found->describe();
  }
  /// Returns the objection of this severity; null: there is none.
  [[nodiscard]] const Objection* find(Severity severity) const {
    const auto found = std::ranges::find(objections, severity, &Objection::severity);
    return found == objections.end() ? nullptr : &*found;
  }
  /// Returns whether there is an objection of this severity.
  [[nodiscard]] bool has(Severity severity) const { return find(severity) != nullptr; }
  /// Enters an objection, replacing the one of its severity. An empty reason removes that one.
  void enter(Objection objection) {
    std::erase_if(objections, [&](const Objection& each) { return each.severity == objection.severity; });
    if (objection.why.empty()) return;
    const auto place = std::ranges::lower_bound(objections, objection.severity, {}, &Objection::severity);
    objections.insert(place, std::move(objection));
  }
};

}  // namespace pace
