// Which comparisons a run measures: those that --case names; none in a dry run, which lists them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "pace/base/utf8.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "pace/run/planned_case.hpp"
#include "pace/run/run_context.hpp"

namespace pace::runner {

/// A comparison that a dry run lists.
struct ListedCase {
  PlannedCase plan;      ///< the known facts
  bool is_kept = false;  ///< whether its result is an earlier run's (`--resume`)
};

/// The selection of a run by its options.
class ChosenCases final : public CaseSelection {
 public:
  /// `asked`: names of the comparisons that are measured, alone or with inputs (name_with_inputs()); empty: all. In a
  /// `dry_run` none is measured.
  ChosenCases(std::vector<std::string> asked, bool dry_run) : asked_(std::move(asked)), dry_run_(dry_run) {
    for (auto& name : asked_) name = valid_utf8(name);
  }

  [[nodiscard]] std::string passes_over(const PlannedCase& as_made) override {
    // The name that results have (Result::make_names_valid()), which a command that repeats the case gives.
    PlannedCase planned = as_made;
    planned.name = valid_utf8(planned.name);
    planned.inputs = valid_utf8(planned.inputs);
    const std::string whole = name_with_inputs(planned.name, planned.inputs);
    if (known_.insert(planned.name).second) seen_.push_back(planned.name);
    if (known_with_inputs_.insert(whole).second) with_inputs_.push_back(whole);
    if (!asked_.empty() && std::ranges::find(asked_, planned.name) == asked_.end() &&
        std::ranges::find(asked_, whole) == asked_.end())
      return "it is not the one that --case names, so that it has no figures";
    if (!dry_run_) return "";
    const auto* const earlier = run_context().recollection;
    planned_.push_back({planned, earlier != nullptr && earlier->knows(planned.name)});
    return "a dry run measures nothing, so that it has no figures";
  }

  /// Returns the comparisons that a dry run would have measured, in their order.
  [[nodiscard]] const std::vector<ListedCase>& planned() const { return planned_; }

  /// Returns the names that were asked for and that no comparison has.
  [[nodiscard]] std::vector<std::string> missing() const {
    std::vector<std::string> names;
    for (const auto& name : asked_)
      if (std::ranges::find(seen_, name) == seen_.end() && std::ranges::find(with_inputs_, name) == with_inputs_.end())
        names.push_back(name);
    return names;
  }
  /// Returns whether names were asked for and no comparison has any of them.
  [[nodiscard]] bool chose_nothing() const { return !asked_.empty() && missing().size() == asked_.size(); }

  /// Returns a message about the first name that was asked for and that no comparison has; empty: there is none.
  [[nodiscard]] std::string complaint() const {
    for (const auto& name : missing()) {
      constexpr std::size_t most = 10;
      // A known name with inputs that it does not come with.
      std::vector<std::string> those = with_inputs_;
      std::erase_if(those, [&](const std::string& each) {
        return std::ranges::none_of(
            seen_, [&](const std::string& one) { return name.starts_with(one + ' ') && each.starts_with(one + ' '); });
      });
      if (those.empty()) those = seen_;
      std::string known;
      for (std::size_t i = 0; i < those.size() && i < most; ++i)
        known += (i == 0 ? "" : ", ") + ('\'' + report::printable(those[i]) + '\'');
      if (those.size() > most) known += " and " + std::to_string(those.size() - most) + " more";
      return "--case: no comparison is called '" + report::printable(name) + "'; expected " +
             (known.empty() ? "the name of a comparison; the tests that ran make none" : "one of " + known);
    }
    return "";
  }

 private:
  std::vector<std::string> asked_;
  bool dry_run_;
  /// Names of all comparisons that came, each once.
  std::vector<std::string> seen_;
  /// The same with their inputs.
  std::vector<std::string> with_inputs_;
  /// The same to look up: a run may have 100,000 comparisons.
  std::unordered_set<std::string> known_, known_with_inputs_;
  std::vector<ListedCase> planned_;
};

}  // namespace pace::runner
