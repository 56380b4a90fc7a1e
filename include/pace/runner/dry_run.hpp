// --dry-run: the tests run, their comparisons are listed in place of being measured, and nothing is judged.
#pragma once

#include <catch2/catch_test_case_info.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/table.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/cases.hpp"

namespace pace::runner {

/// The findings of a dry run beside the comparisons.
struct DryRunFindings {
  std::vector<std::string> notes;     ///< what the list cannot show
  std::vector<std::string> problems;  ///< failures that the run would have as well
};

/// Takes the place of Catch2's reporter in a dry run, which passes and fails no assertion on figures.
class DryRunReporter final : public Catch::StreamingReporterBase {
 public:
  using StreamingReporterBase::StreamingReporterBase;
  /// Name under which it is registered.
  static constexpr const char* name = "pace-dry-run";
  /// Returns its description in Catch2's list of reporters.
  static std::string getDescription() { return "pace: for --dry-run, prints nothing"; }

  /// Findings of the run.
  static inline DryRunFindings found;
  /// The message of a PassedOver exception since the last assertion.
  static inline std::string passed_over;

  /// Begins to count what the test case lists.
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    StreamingReporterBase::testCaseStarting(info);
    listed_before_ = listed();
    open_ = 0;
  }

  /// Enters an assertion that did not hold, an exception, or a skipped test case.
  void assertionEnded(const Catch::AssertionStats& stats) override {
    const auto& assertion = stats.assertionResult;
    // isOk() is true for a skip.
    const bool is_skip = assertion.getResultType() == Catch::ResultWas::ExplicitSkip;
    if (assertion.isOk() && !is_skip) return;
    const std::string test = "the test case '" + report::printable(currentTestCaseInfo->name) + '\'';
    const bool has_listed = listed() > listed_before_;
    if (is_skip) {
      std::string note = test + " is skipped: " + report::printable(std::string(assertion.getMessage()));
      // Once for all sections and generated values.
      if (found.notes.empty() || found.notes.back() != note) found.notes.push_back(std::move(note));
    } else if (const std::string reason = std::exchange(passed_over, "");
               !reason.empty() && !goes_on_after(assertion)) {
      found.notes.push_back(
          test + " reads figures, so that what comes after that is not listed: " + report::printable(reason));
    } else if (!reason.empty() || (has_listed && assertion.getResultType() == Catch::ResultWas::ExpressionFailed)) {
      ++open_;
    } else if (currentTestCaseInfo->okToFail()) {
      // By [!mayfail] or [!shouldfail], which excuse it in the run as well.
      found.notes.push_back(test + " fails, as its tags allow: " + text_of(assertion));
    } else {
      found.problems.push_back(test + " fails: " + text_of(assertion));
    }
  }

  /// Enters how many assertions of the test case were not judged.
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (open_ > 0)
      found.notes.push_back("the test case '" + report::printable(stats.testInfo->name) +
                            "': " + std::to_string(open_) + (open_ == 1 ? " assertion does" : " assertions do") +
                            " not hold without figures, and is not judged");
    StreamingReporterBase::testCaseEnded(stats);
  }

 private:
  /// Returns the examined expression of an assertion, and its message.
  [[nodiscard]] static std::string text_of(const Catch::AssertionResult& assertion) {
    const std::string message(assertion.getMessage());
    if (!assertion.hasExpression()) return report::printable(message);
    return report::printable(assertion.getExpandedExpression()) +
           (assertion.hasMessage() ? ": " + report::printable(message) : "");
  }

  /// Returns whether the test case goes on after an assertion that failed by an exception: CHECK catches what its own
  /// expression throws.
  [[nodiscard]] static bool goes_on_after(const Catch::AssertionResult& assertion) {
    const std::string macro(assertion.getTestMacroName());
    return macro.starts_with("CHECK");
  }

  [[nodiscard]] static std::size_t listed() {
    const auto* const chosen = dynamic_cast<const ChosenCases*>(run_context().cases);
    return chosen == nullptr ? 0 : chosen->planned().size();
  }

  std::size_t listed_before_ = 0, open_ = 0;
};

/// Prints the findings of a dry run. Each comparison has its implementations, the time by their budgets, the level of
/// the audit and the operands. Then come the `files` that the run would write. A line has `width` columns.
inline void print_dry_run(const std::vector<ListedCase>& planned, const DryRunFindings& found,
                          const std::vector<std::string>& files, const std::string& limits, std::size_t width,
                          bool use_colour, std::ostream& out) {
  using report::Align;
  using report::Cell;
  std::vector<std::vector<Cell>> rows;
  Nanoseconds sum{};
  std::size_t wide = 0;
  for (const auto& [each, is_kept] : planned) {
    if (!is_kept) sum += each.budget;
    std::vector<Cell> row{{report::printable(each.name), report::Colour::bold},
                          {report::printable(joined(each.implementations, ", "))},
                          {is_kept                   ? "kept"
                           : each.budget.count() > 0 ? format_time(each.budget)
                                                     : "-"},
                          {each.audit && !is_kept ? to_string(*each.audit) : "-"}};
    std::size_t taken = 8;
    for (const auto& cell : row) taken += report::display_width(cell.text);
    wide = std::max(wide, taken);
    rows.push_back(std::move(row));
  }
  report::StreamingTable table({{"case", 4, Align::left},
                                {"implementations", 15, Align::left},
                                {"budget", 7},
                                {"audit", 5, Align::left},
                                {"operands", 8, Align::left}},
                               use_colour, /*indent=*/0);
  table.fit(rows);
  constexpr std::size_t least = 16;
  const std::size_t left = width > wide + least ? width - wide : least;
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].push_back({report::shortened(report::printable(planned[i].plan.inputs), left), report::Colour::dim});
  if (!rows.empty()) out << table.header_if_due(rows.size());
  for (const auto& row : rows) out << table.line(row);
  // Most cases of a program expect the same.
  std::vector<std::pair<std::string, std::size_t>> expectations;
  for (const auto& [plan, is_kept] : planned)
    for (const auto& text : plan.expectations) {
      const auto known = std::ranges::find(expectations, text, &std::pair<std::string, std::size_t>::first);
      if (known == expectations.end())
        expectations.emplace_back(text, 1);
      else
        ++known->second;
    }
  for (const auto& [text, count] : expectations)
    out << "  " << std::to_string(count) << (count == 1 ? " case expects " : " cases expect ")
        << report::printable(text) << '\n';
  out << std::to_string(planned.size()) << (planned.size() == 1 ? " case" : " cases") << " would be measured";
  // Kept results and counts of instructions have no budget.
  if (sum.count() > 0)
    out << ", for about " << (sum < std::chrono::seconds(10) ? format_time(sum) : report::rough_duration(sum))
        << " by their budgets; making inputs, compiling, first calls and checks come on top";
  out << '\n';
  if (!limits.empty()) out << limits << '\n';
  for (const auto& file : files) out << "would write " << report::printable(file) << '\n';
  for (const auto& note : found.notes) out << "Note: " << note << '\n';
  out << "dry run: nothing was measured\n" << std::flush;
}

}  // namespace pace::runner
