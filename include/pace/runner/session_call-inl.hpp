// SessionCall: how the program was called, and which options do not go together.
#pragma once

#include <catch2/catch_session.hpp>

#include <algorithm>
#include <array>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/report/text.hpp"
#include "pace/result/options.hpp"
#include "pace/runner/catch2_session-inl.hpp"
#include "pace/runner/dry_run.hpp"
#include "pace/runner/ready_made_reporter.hpp"
#include "pace/runner/repeat.hpp"
#include "pace/runner/session_config.hpp"
#include "pace/runner/session_options.hpp"
#include "pace/runner/stored_baseline.hpp"

namespace pace::runner::detail {

/// Throws InputError for an option beside --suite-alpha that gives gates error rates of its own, or that takes over
/// verdicts of another run.
inline void refuse_beside_suite_alpha(const SessionOptions& options) {
  if (!options.suite_alpha) return;
  const auto refuse = [](const std::string& other, const std::string& why) {
    throw InputError({}, "--suite-alpha does not go with " + other + ", " + why + "; expected one of them");
  };
  if (options.given.has("--alpha")) refuse("--alpha", "which gives each comparison an error rate of its own");
  if (!options.baseline.compare_with.empty())
    refuse("--baseline", "whose gates spend the error rate of each comparison");
  if (options.processes > 1)
    refuse("--processes", "whose gates on a speed-up over the baseline spend the error rate of each comparison");
  if (options.resume) refuse("--resume", "since the earlier run may have spent any part of that rate");
}

/// Throws InputError for options that are at odds with a list or a dry run. Options in `replaced` are the program's
/// own, and mean something else.
inline void refuse_beside_plans(const SessionOptions& options, const std::vector<std::string>& replaced,
                                const Catch::ConfigData& config) {
  const std::string plan = options.list ? "--list" : "--dry-run";
  if (!options.list && !options.dry_run) return;
  static constexpr std::array<std::pair<const char*, const char*>, 9> at_odds{
      {{"--case", "which chooses among the names that are listed"},
       {"--csv", "since no result is written"},
       {"--json", "since no result is written"},
       {"--junit", "since no result is written"},
       {"--html", "since no result is written"},
       {"--save-baseline", "since no result is written"},
       {"--baseline", "since no result is judged"},
       {"--resume", "since no earlier result is read"},
       {"--processes", "since no process measures"}}};
  for (const auto& [option, why] : at_odds)
    if (options.list && options.given.has(option) && std::ranges::find(replaced, option) == replaced.end())
      throw InputError({}, plan + ": does not go with " + option + ", " + why + "; expected one of them");
  if (only_tells(config)) throw InputError({}, plan + ": does not go with Catch2's lists; expected one of them");
  if (!config.reporterSpecifications.empty() || !config.defaultOutputFilename.empty())
    throw InputError({}, plan + ": does not go with Catch2's --reporter and --out, since no assertion is reported");
}

/// Throws InputError for options that are at odds with the processes of the tests.
inline void refuse_beside_isolation(const SessionOptions& options) {
  if (options.call_timeout && !options.isolation)
    throw InputError(
        {}, "--call-timeout has no meaning where the tests run in this process; expected --isolation on beside it");
  if (options.measuring.isolate == Isolate::sides && options.threads != 1)
    throw InputError({}, "--isolate sides: does not go with --threads " + std::to_string(options.threads) +
                             ", since a process cannot be copied together with the threads of its pool; expected "
                             "--threads 1");
  if (options.measuring.isolate == Isolate::sides && !options.measuring.counters.empty())
    throw InputError({},
                     "--isolate sides: does not go with --counters, since the events of its processes are not "
                     "counted; expected one of them");
}

/// How the program was called. Pace and Catch2 share one command line: pace reads its options first, and leaves the
/// rest to Catch2.
struct SessionCall {
  /// Reads pace's options and the program's own. `config` must outlive the object. Throws InputError for options that
  /// cannot be read.
  SessionCall(int argc, char** argv, const SessionConfig& config)
      : argc(argc), argv(argv), config(config), options(defaults_of(config)), groups(pace_options(options)) {
    for (auto& group : groups)
      std::erase_if(group.options, [&](const args::Option& option) {
        return std::ranges::find(config.replaced, option.name()) != config.replaced.end();
      });
    std::erase_if(groups, [](const args::Group& group) { return group.options.empty(); });
    groups.insert(groups.begin(), config.own_options.begin(), config.own_options.end());
    options.given = args::parse(groups, {argv + std::min(argc, 1), argv + argc},
                                {.keeps_rest = true, .has_help = false, .camel_case = config.camel_case});
  }
  SessionCall(const SessionCall&) = delete;
  SessionCall& operator=(const SessionCall&) = delete;

  /// Lets Catch2 read the rest of the command line. Returns false if it has printed an error.
  [[nodiscard]] bool read_rest() {
    // A misspelt filter would otherwise pass for a run without failures.
    auto& warnings = session.configData().warnings;
    warnings = static_cast<Catch::WarnAbout::What>(warnings | Catch::WarnAbout::UnmatchedTestSpec);
    // Catch2 prints its help as soon as it reads the option; what this program is for stands before it.
    if (std::ranges::any_of(options.given.rest,
                            [](const std::string& word) { return word == "-h" || word == "--help" || word == "-?"; }))
      std::cout << args::help(groups) << "\nTest cases, reporters and other options of Catch2:\n" << std::flush;
    return read_catch2_options(session, argv[0], options.given.rest, groups);
  }

  /// Throws InputError for a value that is out of range, and for options that do not go together.
  void refuse_contradictions() {
    validate(options.measuring);
    validate(options.baseline);
    refuse_beside_suite_alpha(options);
    refuse_beside_plans(options, config.replaced, session.configData());
  }

  /// Lets Catch2 report by pace's own reporter, in a dry run and where the program's cases are not test cases.
  void choose_reporter() {
    auto& data = session.configData();
    reports_by_default = data.reporterSpecifications.empty() && data.defaultOutputFilename.empty();
    if (options.dry_run)
      data.reporterSpecifications = {Catch::ReporterSpec(DryRunReporter::name, {}, {}, {})};
    else if (config.list && reports_by_default && options.processes <= 1)
      data.reporterSpecifications = {Catch::ReporterSpec(ReadyMadeReporter::name, {}, {}, {})};
  }

  /// Returns the data for commands that repeat one case. It refers to this object.
  [[nodiscard]] RepeatedRun repeated() {
    return {.groups = groups,
            .given = options.given,
            .left_out = config.not_repeated,
            .filters = session.config().getTestsOrTags(),
            .seed = options.measuring.seed,
            .rng_seed = session.config().rngSeed()};
  }

  const int argc;
  char** const argv;
  const SessionConfig& config;
  Catch::Session session;
  SessionOptions options;
  args::Groups groups;              ///< pace's options and the program's own, with their targets in `options`
  bool reports_by_default = false;  ///< whether the command line chose no reporter and no file of Catch2

 private:
  [[nodiscard]] static SessionOptions defaults_of(const SessionConfig& config) {
    SessionOptions options;
    options.measuring = config.options;
    options.isolation = config.isolated;
    return options;
  }
};

}  // namespace pace::runner::detail
