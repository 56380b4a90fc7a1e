// Catch2's session: the choices of its options, and listeners to its tests.
#pragma once

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <cstddef>
#include <iostream>
#include <ostream>
#include <string>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/os/exit_guard.hpp"
#include "pace/os/terminal.hpp"
#include "pace/report/text.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/progress.hpp"
#include "pace/runner/dry_run.hpp"
#include "pace/runner/ready_made_reporter.hpp"
#include "pace/runner/repeat.hpp"

namespace pace::runner::detail {

inline constexpr int catch2_no_tests_ran = 2, catch2_unmatched_filter = 3;

/// Returns whether the program only prints lists or help, and measures nothing.
[[nodiscard]] inline bool only_tells(const Catch::ConfigData& config) {
  return config.showHelp || config.libIdentify || config.listTests || config.listTags || config.listReporters ||
         config.listListeners;
}

/// Returns whether a Catch2 reporter writes a format to the standard output that a table would spoil, such as XML.
[[nodiscard]] inline bool stdout_is_for_machines(const Catch::Config& config) {
  for (const auto& reporter : config.getProcessedReporterSpecs()) {
    const bool to_stdout =
        reporter.outputFilename.empty() || reporter.outputFilename == "-" || reporter.outputFilename == "%stdout";
    if (to_stdout && reporter.name != "console" && reporter.name != "compact" &&
        reporter.name != DryRunReporter::name && reporter.name != ReadyMadeReporter::name)
      return true;
  }
  return false;
}

[[nodiscard]] inline bool colour_for(const Catch::Config& config, int descriptor) {
  if (config.defaultColourMode() == Catch::ColourMode::ANSI) return true;
  if (config.defaultColourMode() == Catch::ColourMode::None) return false;
  return wants_colour(descriptor);
}

/// Lets Catch2 follow the variables about colours, unless an option chooses. On a terminal it decides by itself.
inline void choose_colours_of_catch2(Catch::ConfigData& config) {
  if (config.defaultColourMode != Catch::ColourMode::PlatformDefault) return;
  const auto wish = colour_wish();
  if (wish == ColourWish::never) config.defaultColourMode = Catch::ColourMode::None;
  if (wish == ColourWish::always) config.defaultColourMode = Catch::ColourMode::ANSI;
}

/// Returns the test cases that the command line chooses, in the order of their runs.
[[nodiscard]] inline std::vector<std::string> chosen_tests(Catch::Session& session) {
  const auto& config = session.config();
  std::vector<std::string> names;
  for (const auto& test : Catch::filterTests(Catch::getAllTestCasesSorted(config), config.testSpec(), config))
    names.push_back(test.getTestCaseInfo().name);
  return names;
}

/// Prints each filter of the command line that no test case matches, as Catch2 does in a run. Returns whether there is
/// one.
[[nodiscard]] inline bool complain_of_filters(Catch::Session& session, std::ostream& errors) {
  const auto& config = session.config();
  std::vector<std::string> bad = config.testSpec().getInvalidSpecs();
  for (const auto& match : config.testSpec().matchesByFilter(Catch::getAllTestCasesSorted(config), config))
    if (match.tests.empty()) bad.push_back(match.name);
  for (const auto& filter : bad)
    errors << "pace: --list: no test case matches '" << report::printable(filter)
           << "'; Catch2's --list-tests lists all that are not hidden\n"
           << std::flush;
  return !bad.empty();
}

/// Reports the test cases as parts of the run.
class PartsOfTests : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;
  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    if (progress() == nullptr || total < 2) return;
    progress()->part(++number_, total);
    progress()->subject(info.name);
    report_step({.what = "test"});
  }
  /// Number of test cases; below 2: they are no parts.
  static inline std::size_t total = 0;

 private:
  std::size_t number_ = 0;
};

/// Keeps Catch2's totals, since its session returns only an exit code.
class TotalsListener : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override { totals = stats.totals; }
  static inline Catch::Totals totals;
};

/// Finds test cases that failed in one of several processes. Deferred judgements fail no assertion, so the cause is an
/// assertion that is not a gate, or an exception.
class OtherFailures : public Catch::EventListenerBase {
 public:
  using EventListenerBase::EventListenerBase;
  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    // Failures that a tag such as [!mayfail] allows are not counted here.
    if (stats.totals.assertions.failed > 0)
      found.push_back("the test case '" + stats.testInfo->name + "' failed, and not by its gates on speed alone");
  }
  static inline std::vector<std::string> found;
};

inline int run_tests(Catch::Session& session, RunAccount& account) {
  const pace::detail::ExitGuard no_exit("before its tests were through");
  const Catch::ListenerRegistrar<TotalsListener> listener("pace");
  const Catch::ListenerRegistrar<OtherFailures> other_failures("pace, other failures");
  const Catch::ListenerRegistrar<FailedCases> failed_cases("pace, failed cases");
  const Catch::ListenerRegistrar<PartsOfTests> parts("pace, parts");
  const int code = session.run();
  // Catch2 counts SKIP among the assertions.
  const auto& assertions = TotalsListener::totals.assertions;
  account.add_tests(TotalsListener::totals.testCases.total(), assertions.total() - assertions.skipped);
  // With more shards than tests some shard is empty, which is not an error. A filter that matches in no shard has
  // another code.
  return code == catch2_no_tests_ran && session.config().shardCount() > 1 ? 0 : code;
}

/// Lets Catch2 read the words that are not options of pace or of the program. Returns false if it has printed an error.
[[nodiscard]] inline bool read_catch2_options(Catch::Session& session, const char* program,
                                              const std::vector<std::string>& words, const args::Groups& groups) {
  std::vector<const char*> argv{program};
  for (const auto& word : words) argv.push_back(word.c_str());
  if (session.applyCommandLine(static_cast<int>(argv.size()), argv.data()) == 0) return true;
  for (const auto& word : words)
    if (const auto like = word.starts_with("--") ? args::nearest(groups, word.substr(0, word.find('='))) : "";
        !like.empty())
      std::cerr << "pace: " << report::printable(word) << ": did you mean " << like << "?\n" << std::flush;
  return false;
}

}  // namespace pace::runner::detail
