// ReadyMadeReporter: Catch2's reporter for programs with ready-made tests. Their user wrote none, and so knows no
// source file.
#pragma once

#include <catch2/catch_test_case_info.hpp>
#include <catch2/interfaces/catch_interfaces_config.hpp>
#include <catch2/internal/catch_console_colour.hpp>
#include <catch2/reporters/catch_reporter_helpers.hpp>
#include <catch2/reporters/catch_reporter_streaming_base.hpp>

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>

#include "pace/report/text.hpp"

namespace pace::runner {

/// Prints what failed, as Catch2's console reporter does, but for files and lines of the program's code, expressions of
/// it and names of its test cases. The text of a failed gate begins with the name of its case.
class ReadyMadeReporter final : public Catch::StreamingReporterBase {
 public:
  using StreamingReporterBase::StreamingReporterBase;
  /// Name under which it is registered.
  static constexpr const char* name = "pace-ready-made";
  /// Returns its description in Catch2's list of reporters.
  static std::string getDescription() { return "pace: failures of a program's own cases, without places in code"; }

  /// Prints a filter that Catch2 cannot read.
  void reportInvalidTestSpec(Catch::StringRef filter) override { m_stream << "Invalid Filter: " << filter << '\n'; }
  /// Prints a filter that no test case has.
  void noMatchingTestCases(Catch::StringRef filter) override {
    m_stream << "No test cases matched '" << filter << "'\n";
  }
  /// Prints an assertion unless it passed; with Catch2's --success those that passed, too. A signal that ends the
  /// program comes as a failed assertion.
  void assertionEnded(const Catch::AssertionStats& stats) override {
    const auto& assertion = stats.assertionResult;
    const auto type = assertion.getResultType();
    std::string text;
    // An exception has its message; Catch2's expression is one of the code, or `{Unknown expression ...}`.
    if (assertion.hasExpression() && type != Catch::ResultWas::ThrewException) text = assertion.getExpandedExpression();
    for (const auto& info : stats.infoMessages) text += (text.empty() ? "" : "\n") + info.message;
    if (type == Catch::ResultWas::ExplicitSkip)
      print("SKIPPED", Catch::Colour::Skip, text);
    else if (type == Catch::ResultWas::Warning)
      print("WARNING", Catch::Colour::Warning, text);
    else if (!assertion.isOk())
      print("FAILED", Catch::Colour::ResultError, text);
    else if (m_config->includeSuccessfulResults())
      print("PASSED", Catch::Colour::Success, text);
  }

  /// Prints how long a section took, with Catch2's --durations.
  void sectionEnded(const Catch::SectionStats& stats) override {
    if (Catch::shouldShowDuration(*m_config, stats.durationInSeconds))
      m_stream << Catch::getFormattedDuration(stats.durationInSeconds) << " s: " << stats.sectionInfo.name << '\n';
    StreamingReporterBase::sectionEnded(stats);
  }

  /// Prints the totals.
  void testRunEnded(const Catch::TestRunStats& stats) override {
    Catch::printTestRunTotals(m_stream, *m_colour, stats.totals);
    m_stream << "\n\n" << std::flush;
    StreamingReporterBase::testRunEnded(stats);
  }

 private:
  void print(std::string_view verdict, Catch::Colour::Code colour, std::string_view text) {
    m_stream << '\n';
    m_stream << m_colour->guardColour(colour) << verdict << ":\n";
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      m_stream << "  " << report::printable(text.substr(begin, end - begin)) << '\n';
      begin = end + 1;
    }
    m_stream << '\n' << std::flush;
  }
};

}  // namespace pace::runner
