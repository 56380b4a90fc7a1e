// The main function of a measuring program.
#pragma once

#include "pace/runner/session.hpp"

#include <ATen/Context.h>
#include <unistd.h>
#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/catch_translate_exception.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>
#include <catch2/reporters/catch_reporter_event_listener.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <locale>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/base/cut_text.hpp"
#include "pace/base/error.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/exit_guard.hpp"
#include "pace/os/kept_pipes.hpp"
#include "pace/os/pages.hpp"
#include "pace/os/read_file.hpp"
#include "pace/os/report_program.hpp"
#include "pace/os/same_file.hpp"
#include "pace/os/steady_memory.hpp"
#include "pace/os/terminal.hpp"
#include "pace/os/unfinished.hpp"
#include "pace/report/console.hpp"
#include "pace/report/csv.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/json.hpp"
#include "pace/report/junit.hpp"
#include "pace/report/program_output.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/text.hpp"
#include "pace/result/exit_code.hpp"
#include "pace/result/progress.hpp"
#include "pace/result/run_context.hpp"
#include "pace/result/suite_budget.hpp"
#include "pace/runner/bazel_sinks.hpp"
#include "pace/runner/build_id.hpp"
#include "pace/runner/cases.hpp"
#include "pace/runner/classic_numbers.hpp"
#include "pace/runner/continuation.hpp"
#include "pace/runner/dry_run.hpp"
#include "pace/runner/framework_xml.hpp"
#include "pace/runner/html_sink.hpp"
#include "pace/runner/own_process.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/ready_made_reporter.hpp"
#include "pace/runner/repeat.hpp"
#include "pace/runner/replicates.hpp"
#include "pace/runner/resume.hpp"
#include "pace/runner/session_config.hpp"
#include "pace/runner/session_options.hpp"
#include "pace/runner/stored_baseline.hpp"
#include "pace/runner/supervisor.hpp"
#include "pace/runner/threads.hpp"
#include "pace/runner/time_limit.hpp"
#include "pace/runner/torch_environment.hpp"

namespace pace::runner {

namespace detail {

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

/// Returns the test cases that the command line chooses, in the order in which they run.
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

/// A second stream to the buffer of a standard one. Catch2 replaces the buffer of std::cout by one that keeps the text
/// of tests until they end (for JUnit); through this stream rows appear as they come, and are not lost in a crash.
class DirectStream {
 public:
  explicit DirectStream(std::ostream& standard) : stream_(standard.rdbuf()) { stream_.imbue(std::locale::classic()); }
  [[nodiscard]] std::ostream& get() { return stream_; }

 private:
  std::ostream stream_;
};

/// Passes results to the sinks while the object lives, judged against the stored baseline if there is one.
class Listening {
 public:
  Listening(report::FanOut& sinks, BaselineGate& baseline, Continuation& continuation, RunAccount& account,
            std::ostream& errors)
      : own_(run_context().on_result([&](const Result& result) {
          const Result& judged = baseline.judged(result);
          account.add(judged);
          FailedCases::add(judged);
          sinks.write(judged);
          continuation.add(result, errors);
        })) {}
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { run_context().remove_listener(own_); }

 private:
  RunContext::ListenerId own_;
};

[[nodiscard]] inline report::Environment environment_of(int argc, char** argv, const SessionConfig& config) {
  auto environment = report::read_environment(std::vector<std::string>(argv, argv + argc));
  describe_torch(environment.extra);
  // Code that was not committed differs in nothing else.
  environment.extra["build"] = code_id();
  for (const auto& [key, value] : config.environment) environment.extra[key] = value;
  return environment;
}

/// Returns the options and the facts of the machine on which a run's figures depend.
[[nodiscard]] inline Configuration configuration_of(const SessionConfig& config, const SessionOptions& session,
                                                    const report::Environment& environment) {
  Configuration all = config.configuration();
  const Options& options = session.measuring;
  const auto add = [&](const char* name, const auto& value) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << value;
    all.emplace(name, text.str());
  };
  add("--budget", options.budget.count() * 1e-9);
  add("--least-duration", options.least_duration.count() * 1e-9);
  add("--warm-up", options.warm_up.count() * 1e-9);
  add("--max-rounds", options.max_rounds);
  add("--confidence", options.confidence);
  add("--seed", options.seed);
  add("--check-seed", options.check_seed);
  add("--threads", session.threads);
  add("--clock", to_string(options.clock));
  add("--audit", to_string(options.audit));
  add("--operands", to_string(options.operands));
  add("--isolate", to_string(options.isolate));
  add("--stop", to_string(options.stop));
  add("--mode-share", options.mode_share);
  add("--controls", options.controls ? "yes" : "no");
  if (session.suite_alpha)
    add("--suite-alpha", *session.suite_alpha);
  else
    add("--alpha", options.alpha);
  add("--beta", options.beta);
  add("--max-interference", options.max_interference);
  // Without isolation a crash or a call that hangs ends the run; with isolation it becomes a row.
  add("--isolation", session.isolation ? "on" : "off");
  add("--call-timeout", session.call_timeout.value_or(default_call_timeout).count() * 1e-9);
  add("the processor", environment.cpu);
  add("LibTorch", environment.extra.at("libtorch"));
  add("what LibTorch uses of the processor", environment.extra.at("libtorch_cpu_capability"));
  add("the build", build_id());
  for (const char* key : {"gpu", "gpu_driver"})
    if (const auto found = environment.extra.find(key); found != environment.extra.end()) add(key, found->second);
  return all;
}

/// Returns the results of an earlier process or run that this one continues, for the beginning of files. With a stored
/// baseline there are none: results are then written when they are published and judged.
[[nodiscard]] inline std::vector<Result> earlier_results(const Continuation& continuation,
                                                         const SessionOptions& options) {
  std::vector<Result> earlier;
  if (options.baseline.compare_with.empty())
    continuation.for_each_known([&](const Result& result) { earlier.push_back(result); });
  return earlier;
}

/// The sinks of results files as JSON Lines, by path. They belong to the FanOut, which drops one that fails.
using JsonSinks = std::map<std::string, const report::Sink*>;

/// Opens the files before anything is measured for them.
inline JsonSinks add_files(report::FanOut& sinks, const SessionOptions& options, const report::ResultsHeader& header,
                           const std::vector<Result>& earlier) {
  std::set<std::string> csv, json;
  if (!options.csv.empty()) csv.insert(output_path(options.csv));
  if (!options.json.empty()) json.insert(output_path(options.json));
  // For one of several processes, options name all files.
  if (!undeclared_outputs().empty() && !is_replicate()) {
    csv.insert(pace::detail::inside(undeclared_outputs(), "results.csv"));
    json.insert(pace::detail::inside(undeclared_outputs(), "results.json"));
  }
  if (!options.junit.empty())
    sinks.add(std::make_unique<report::JUnitSink>(output_path(options.junit), header.environment));
  for (const auto& path : csv) sinks.add(std::make_unique<report::CsvSink>(path, earlier));
  JsonSinks of_json;
  for (const auto& path : json) {
    auto sink = std::make_unique<report::JsonSink>(path, header, earlier);
    of_json[path] = sink.get();
    sinks.add(std::move(sink));
  }
  for (const auto& make : report::OwnSink::all())
    if (auto sink = make(header.environment)) sinks.add(std::move(sink));
  return of_json;
}

/// Throws InputError if a page is asked for that cannot be made, before anything is measured. Returns the program that
/// makes pages; empty if there is none and none is asked for.
[[nodiscard]] inline std::string program_of_page(const SessionOptions& options) {
  std::string program = report_program();
  if (options.html.empty()) return program;
  if (program.empty()) Pages::refuse_without_program();
  const std::string page = output_path(options.html);
  for (const auto& [option, path] : {std::pair{"--json", options.json},
                                     {"--csv", options.csv},
                                     {"--junit", options.junit},
                                     {"--save-baseline", options.baseline.save}})
    if (!path.empty() && (page == output_path(path) || same_file(page, output_path(path))))
      throw InputError({},
                       std::string("--html and ") + option + " name the same file, '" + page + "'; expected two names");
  return program;
}

/// Adds the sinks of pages, after all others, which a page that takes long must not keep from their files: the page of
/// --html, and under `bazel test` one beside the results. `warn` receives why the latter could not be made.
inline void add_pages(report::FanOut& sinks, const SessionOptions& options, const std::string& program,
                      const JsonSinks& of_json, const report::ResultsHeader& header, const std::vector<Result>& earlier,
                      const HtmlSink::Warn& warn) {
  // A file that could not be written may hold the results of an earlier run.
  const auto lost = [&sinks, &of_json](const std::string& path) { return !sinks.has(of_json.at(path)); };
  // The process that starts several makes one page of all their results.
  if (!options.html.empty() && !is_replicate()) {
    // The lines of a pipe are gone once they are read.
    const std::string json = options.json.empty() ? "" : output_path(options.json);
    const bool is_stream = std::filesystem::exists(json) && !std::filesystem::is_regular_file(json);
    const std::string results = is_stream ? "" : json;
    sinks.add(std::make_unique<HtmlSink>(
        HtmlSink::Settings{.path = output_path(options.html), .program = program, .results = results, .lost = lost},
        header, earlier));
  }
  if (undeclared_outputs().empty() || is_replicate() || program.empty()) return;
  const auto inside = [](const char* name) { return pace::detail::inside(undeclared_outputs(), name); };
  if (!options.html.empty() && output_path(options.html) == inside("report.html")) return;
  sinks.add(std::make_unique<HtmlSink>(HtmlSink::Settings{.path = inside("report.html"),
                                                          .program = program,
                                                          .results = inside("results.json"),
                                                          .lost = lost,
                                                          .warn = warn},
                                       header, earlier));
}

/// The sinks of Bazel's files that are complete only after the tests; null outside of Bazel.
struct BazelSinks {
  /// Gets Catch2's test cases after the tests.
  report::JUnitSink* junit = nullptr;
  /// Is written once the exit code is known.
  InfrastructureSink* infrastructure = nullptr;
};

/// Adds sinks for the files that Bazel expects.
inline BazelSinks add_bazel_files(report::FanOut& sinks, const FrameworkXml& xml,
                                  const report::Environment& environment) {
  BazelSinks waiting;
  if (const auto path = environment_variable("TEST_WARNINGS_OUTPUT_FILE"); !path.empty())
    sinks.add(std::make_unique<WarningsSink>(path));
  if (const auto path = environment_variable("TEST_INFRASTRUCTURE_FAILURE_FILE"); !path.empty()) {
    auto infrastructure = std::make_unique<InfrastructureSink>(path);
    waiting.infrastructure = infrastructure.get();
    sinks.add(std::move(infrastructure));
  }
  if (xml.bazel_file().empty()) return waiting;
  auto junit = std::make_unique<report::JUnitSink>(xml.bazel_file(), environment);
  waiting.junit = junit.get();
  sinks.add(std::move(junit));
  return waiting;
}

/// Returns the bytes that a watched process may use; none in a program with CUDA, which reserves memory that it never
/// touches.
[[nodiscard]] inline std::optional<std::int64_t> memory_limit() {
#ifdef PACE_CUDA
  return std::nullopt;
#else
  return available_memory();
#endif
}

/// Adds the results of an earlier run to the continuation. Throws InputError if the options or the file do not allow
/// it.
inline void resume(Continuation& continuation, const SessionOptions& options, const Configuration& configuration,
                   std::ostream& errors) {
  if (configuration.empty()) throw InputError({}, "--resume: this program's runs cannot be resumed");
  if (options.json.empty())
    throw InputError({}, "--resume: expected --json FILE beside it, the result file of the run to go on from");
  if (!options.baseline.compare_with.empty() || !options.baseline.save.empty())
    throw InputError({}, "--resume does not go with stored baselines");
  const std::string path = output_path(options.json);
  auto results = results_to_resume(path, configuration);
  errors << "pace: " << path << ": " << std::to_string(results.size()) << " results of an earlier run are kept\n"
         << std::flush;
  for (auto& result : results) continuation.remember(std::move(result));
}

/// Returns the files of a run of several processes. Throws InputError for options that have no meaning in such a run.
[[nodiscard]] inline ReplicateFiles files_of_replicates(const SessionOptions& options,
                                                        const Catch::ConfigData& config) {
  const auto refuse = [](const std::string& what) { throw InputError({}, "--processes: " + what); };
  if (!options.baseline.compare_with.empty() || !options.baseline.save.empty())
    refuse(
        "does not go with --baseline and --save-baseline, since the gates decide how many processes there are; "
        "expected a number of runs with --save-baseline FILE that is fixed beforehand");
  if (options.resume) refuse("does not go with --resume; expected one of them");
  if (options.given.has("--stop") && options.measuring.stop == StopPolicy::decided)
    refuse(
        "does not go with --stop decided, since all processes together decide the gates, and each spends its budget; "
        "expected --stop budget, or no --stop");
  if (!config.reporterSpecifications.empty() || !config.defaultOutputFilename.empty())
    refuse("does not go with Catch2's --reporter and --out; expected --junit FILE, which is written for each process");
  const auto path = [](const std::string& named, const char* of_bazel) {
    if (!named.empty()) return output_path(named);
    return undeclared_outputs().empty() ? std::string() : pace::detail::inside(undeclared_outputs(), of_bazel);
  };
  return {.csv = path(options.csv, "results.csv"),
          .json = path(options.json, "results.json"),
          .junit = options.junit.empty() ? "" : output_path(options.junit),
          .more = options.more_files};
}

/// Throws InputError for an option beside --suite-alpha that gives gates error rates of its own, or that takes over
/// verdicts of another run.
inline void refuse_beside_suite_alpha(const SessionOptions& options) {
  if (!options.suite_alpha) return;
  const auto refuse = [](const std::string& other, const std::string& why) {
    throw InputError({}, "--suite-alpha does not go with " + other + ", " + why + "; expected one of them");
  };
  if (options.given.has("--alpha")) refuse("--alpha", "which gives each comparison an error rate of its own");
  if (!options.baseline.compare_with.empty())
    refuse("--baseline", "whose gates have the error rate of each comparison");
  if (options.processes > 1)
    refuse("--processes", "whose gates on a speed-up over the baseline have the error rate of each comparison");
  if (options.resume) refuse("--resume", "since the earlier run may have spent any part of the rate");
}

/// Keeps Catch2's totals, of which its session returns an exit code only.
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

/// The message of a comparison without figures, in which a test has looked for them.
[[nodiscard]] inline std::string text_of_passed_over(const PassedOver& over) {
  DryRunReporter::passed_over = over.what;
  return over.what;
}

/// Prints what a list or a dry run lacks, such as lines of inputs that could not be read. Returns its exit code, which
/// is `code` if it lacks nothing.
[[nodiscard]] inline int code_of_plan(int code, const SessionConfig& config, std::ostream& errors) {
  const std::string complaint = config.complaint ? config.complaint() : "";
  if (complaint.empty()) return code;
  errors << "pace: " << complaint << '\n' << std::flush;
  return code == 0 ? exit_error : code;
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

/// Returns the files that the run writes its results to.
[[nodiscard]] inline std::vector<std::string> files_of(const SessionOptions& options) {
  std::set<std::string> files;
  for (const auto& path : {options.csv, options.json, options.junit, options.html})
    if (!path.empty()) files.insert(output_path(path));
  if (!undeclared_outputs().empty()) {
    for (const char* name : {"results.csv", "results.json"})
      files.insert(pace::detail::inside(undeclared_outputs(), name));
    if (!report_program().empty()) files.insert(pace::detail::inside(undeclared_outputs(), "report.html"));
  }
  if (!options.baseline.save.empty()) files.insert(output_path(options.baseline.save));
  files.insert(options.more_files.begin(), options.more_files.end());
  return {files.begin(), files.end()};
}

/// Throws InputError for options that are at odds with a list or a dry run; those of `replaced` are the program's own,
/// and mean something else.
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

/// Returns the message of a run of all shards' tests about a name that --case was given and that no comparison has;
/// empty if each has one. A shard knows the names of its own tests alone, so that this program lists all of them in a
/// process of its own, which measures nothing. The first shard asks for all.
[[nodiscard]] inline std::string complaint_of_all_shards(const Catch::Config& config, const ChosenCases& chosen,
                                                         const RepeatedRun& run) {
  if (config.shardCount() <= 1 || config.shardIndex() != 0) return "";
  constexpr std::string_view head = "pace: --case: no comparison is called ";
  for (const auto& name : chosen.missing()) {
    auto words = words_to_repeat({.test = "", .name = name}, run);
    words.insert(words.end(), {"--dry-run", "--no-progress"});
    const UnnamedFile output;
    const int code = run_self(
        std::move(words),
        environment_beside_test({replicate_variable, replicate_number_variable, continuation_variable,
                                 continuing_variable, supervised_variable, activity_variable, "TEST_TOTAL_SHARDS",
                                 "TEST_SHARD_INDEX", "TEST_SHARD_STATUS_FILE", "TEST_UNDECLARED_OUTPUTS_DIR"}),
        output);
    const std::string printed = read_file(output.path(), "what it printed");
    if (const auto at = printed.find(head); at != std::string::npos)
      return printed.substr(at, printed.find('\n', at) - at).substr(std::string_view("pace: ").size());
    // A test that fails in the list is reported by the shard that has it.
    if (code != 0 && code != exit_failed)
      return "--case: whether a comparison of another shard is called '" + report::printable(name) +
             "' is not known, since the process that lists the tests of all shards ended with exit code " +
             std::to_string(code) + ". What it printed:\n" + report::printable_lines(printed);
  }
  return "";
}

/// Prints which cases that --case names are in none of a shard's tests; another shard may have them. Returns whether
/// none of them is.
[[nodiscard]] inline bool note_missing_cases(const Catch::Config& config, const ChosenCases& chosen,
                                             std::ostream& errors) {
  for (const auto& name : chosen.missing())
    errors << "pace: --case: shard " << config.shardIndex() + 1 << " of " << config.shardCount()
           << " has no comparison called '" << report::printable(name)
           << "', which is no failure: another shard may have it\n"
           << std::flush;
  return chosen.chose_nothing();
}

/// Runs the tests, of which each comparison is listed in place of being measured, and prints the list. Returns the exit
/// code: 0 if nothing failed that does not depend on figures.
[[nodiscard]] inline int run_dry(Catch::Session& session, const SessionOptions& options, const ChosenCases& chosen,
                                 const RepeatedRun& repeated, std::ostream& out, std::ostream& errors) {
  RunAccount nothing;
  const int code = run_tests(session, nothing);
  const auto& found = DryRunReporter::found;
  std::string limits;
  if (options.processes > 1)
    limits = "in at most " + std::to_string(options.processes) + " processes, one after another";
  if (const auto& deadline = run_context().deadline)
    limits += (limits.empty() ? "" : "\n") + std::string("nothing more is measured once its time is over: ") +
              deadline->reason;
  print_dry_run(chosen.planned(), found, files_of(options), limits, columns_of(STDOUT_FILENO),
                colour_for(session.config(), STDOUT_FILENO), out);
  for (const auto& problem : found.problems) errors << "pace: " << problem << '\n' << std::flush;
  const bool is_shard = session.config().shardCount() > 1;
  if (const auto complaint =
          is_shard ? complaint_of_all_shards(session.config(), chosen, repeated) : chosen.complaint();
      !complaint.empty()) {
    errors << "pace: " << complaint << '\n' << std::flush;
    return exit_error;
  }
  if (is_shard) (void)note_missing_cases(session.config(), chosen, errors);
  // A test that is skipped, or that fails for want of figures, is no failure of a dry run.
  if (!found.problems.empty()) return exit_failed;
  return code == exit_failed || code == exit_unmeasured ? 0 : code;
}

inline int run_session(int argc, char** argv, const SessionConfig& config) {
  tell_catch2_of_bazel();
  FrameworkXml xml;
  Catch::Session session;
  SessionOptions options;
  options.measuring = config.options;
  options.isolation = config.isolated;
  args::Groups groups = pace_options(options);
  for (auto& group : groups)
    std::erase_if(group.options, [&](const args::Option& option) {
      return std::ranges::find(config.replaced, option.name()) != config.replaced.end();
    });
  std::erase_if(groups, [](const args::Group& group) { return group.options.empty(); });
  groups.insert(groups.begin(), config.own_options.begin(), config.own_options.end());
  options.given = args::parse(groups, {argv + std::min(argc, 1), argv + argc},
                              {.keeps_rest = true, .has_help = false, .camel_case = config.camel_case});
  // A misspelt filter would otherwise pass for a run without failures.
  auto& warnings = session.configData().warnings;
  warnings = static_cast<Catch::WarnAbout::What>(warnings | Catch::WarnAbout::UnmatchedTestSpec);
  // Catch2 prints its help as soon as it reads the option; what this program is for stands before it.
  if (std::ranges::any_of(options.given.rest,
                          [](const std::string& word) { return word == "-h" || word == "--help" || word == "-?"; }))
    std::cout << args::help(groups) << "\nTest cases, reporters and other options of Catch2:\n" << std::flush;
  if (!read_catch2_options(session, argv[0], options.given.rest, groups)) return exit_error;
  validate(options.measuring);
  validate(options.baseline);
  refuse_beside_suite_alpha(options);
  refuse_beside_plans(options, config.replaced, session.configData());
  choose_colours_of_catch2(session.configData());
  if (session.configData().showHelp) return session.run();
  if (options.call_timeout && !options.isolation)
    throw InputError(
        {}, "--call-timeout has no meaning where the tests run in this process; expected --isolation on beside it");
  if (options.measuring.isolate == Isolate::sides && options.threads != 1)
    throw InputError({}, "--isolate sides: does not go with --threads " + std::to_string(options.threads) +
                             ", since a process cannot be copied together with the threads of its pool; expected "
                             "--threads 1");
  const Catch::ReporterRegistrar<DryRunReporter> silent(DryRunReporter::name);
  const Catch::ReporterRegistrar<ReadyMadeReporter> without_places(ReadyMadeReporter::name);
  options.measures = !options.list && !only_tells(session.configData());
  const bool supervised = is_supervised();
  // Pipes are kept before the fork, since any process of this run may be the first to read an input.
  if (options.measures) keep_pipes();
  // The fork comes before threads and the use of a GPU, which do not survive it.
  if (options.measures && !options.dry_run && options.processes == 1 && !supervised && options.isolation) {
    std::optional<report::ClearsLeftLine> clears(std::in_place, !options.no_progress);
    const auto call_timeout = options.call_timeout.value_or(default_call_timeout);
    // All processes of the run write to one results file of the page.
    const std::string of_page =
        options.html.empty() ? "" : results_of_page(std::filesystem::absolute(output_path(options.html)).string());
    if (const auto code = supervise(call_timeout, memory_limit(), config.now, std::cerr)) {
      if (!of_page.empty()) remove_if_empty(of_page);
      return *code;
    }
  }
  take_back_when_ended();
  run_context().options = options.measuring;
  run_context().deadline = deadline_of(options.time_limit, timing::WallClock().now(), run_age());
  if (config.after_parse) config.after_parse(options);
  use_threads(options.threads);
  if (!at::hasCUDA()) refuse_options_for_gpu(options, "there is no GPU that this program can use");
  if (options.list) {
    if (complain_of_filters(session, std::cerr)) return catch2_unmatched_filter;
    if (config.prepare && config.list) config.prepare(std::cerr, std::cerr);
    if (config.list) return config.list(std::cout), code_of_plan(0, config, std::cerr);
    const auto tests = chosen_tests(session);
    for (const auto& name : tests) std::cout << report::printable(name) << '\n';
    if (!tests.empty()) return 0;
    std::cerr << "pace: --list: no test case is chosen; Catch2's --list-tests lists all that are not hidden\n";
    return catch2_no_tests_ran;
  }
  if (!options.measures) return session.run();
  if (options.processes > 1) (void)files_of_replicates(options, session.configData());
  const bool reports_by_default =
      session.configData().reporterSpecifications.empty() && session.configData().defaultOutputFilename.empty();
  if (options.dry_run)
    session.configData().reporterSpecifications = {Catch::ReporterSpec(DryRunReporter::name, {}, {}, {})};
  else if (config.list && reports_by_default && options.processes <= 1)
    session.configData().reporterSpecifications = {Catch::ReporterSpec(ReadyMadeReporter::name, {}, {}, {})};
  const RepeatedRun repeated{.groups = groups,
                             .given = options.given,
                             .left_out = config.not_repeated,
                             .filters = session.config().getTestsOrTags(),
                             .seed = options.measuring.seed,
                             .rng_seed = session.config().rngSeed()};
  if (options.processes > 1 && !options.dry_run) {
    auto files = files_of_replicates(options, session.configData());
    (void)program_of_page(options);
    PrematureExitFile::make();
    std::optional<report::ShownProgress> shown;
    if (!options.no_progress) shown.emplace("processes");
    const auto repeat = [&](const std::vector<std::string>& comparisons) {
      std::vector<FailedCase> failed;
      for (const auto& name : comparisons) failed.push_back({.test = "", .name = name});
      print_repeat_commands(
          failed, exit_failed, [&](const FailedCase& each) { return words_to_repeat(each, repeated); }, std::cerr);
    };
    // One page has the results of all processes.
    Pages pages = Pages::at(options.html.empty() ? "" : output_path(options.html));
    if (files.json.empty()) files.json = pages.results_file("");
    const int code = run_replicates({argv + 1, argv + argc}, files, options.processes, options.measuring.seed,
                                    options.allow_undecided, options.allow_unmeasured, std::cout, std::cerr, repeat,
                                    [&](const std::string& json) { pages.add(json); });
    return pages.make("pace", std::cerr) || code != 0 ? code : exit_error;
  }

  const auto environment = environment_of(argc, argv, config);
  const bool to_stderr = stdout_is_for_machines(session.config());
  xml.give_back();
  // Each shard has as much of the rate as the others, since none knows how many comparisons they have.
  if (options.suite_alpha)
    run_context().suite_budget =
        std::make_shared<SuiteBudget>(SuiteBudget{.alpha = *options.suite_alpha / session.config().shardCount()});
  DirectStream table_stream(to_stderr ? std::cerr : std::cout);
  DirectStream errors(std::cerr);
  report::FanOut sinks([&](const std::string& message) {
    errors.get() << "pace: " << message << '\n' << std::flush;
    if (!sinks.all_failed()) return;
    run_context().deadline = {timing::WallClock().now(), "no result can be written any more"};
    errors.get() << "pace: nothing more is measured: " << run_context().deadline->reason << '\n' << std::flush;
  });
  report::ConsoleSink* table = nullptr;
  // Messages that Catch2 writes to a file are complete. It adds Bazel's file by itself, which has pace's gates as well.
  const bool beside_assertions = !to_stderr && reports_by_default && !options.dry_run;
  if (!options.no_table) {
    const int descriptor = to_stderr ? STDERR_FILENO : STDOUT_FILENO;
    auto made = std::make_unique<report::ConsoleSink>(
        table_stream.get(), report::ConsoleStyle{.use_colour = colour_for(session.config(), descriptor),
                                                 .blocks = options.verbose,
                                                 .beside_assertions = beside_assertions,
                                                 .shortens = ::isatty(descriptor) == 1,
                                                 .width = [descriptor] { return columns_of(descriptor); }});
    table = made.get();
    table->introduce(environment);
    sinks.add(std::move(made));
  }
  ReplicateSink* replicate = nullptr;
  if (const auto path = environment_variable(replicate_variable); !path.empty()) {
    auto made = std::make_unique<ReplicateSink>(path);
    replicate = made.get();
    sinks.add(std::move(made));
    run_context().defers_judgements = true;
  }
  Continuation continuation(argv);
  Configuration configuration;
  if (config.configuration) configuration = configuration_of(config, options, environment);
  if (table != nullptr && continuation.continues()) table->already_introduced();
  if (options.resume && !continuation.continues()) resume(continuation, options, configuration, errors.get());
  // This comes before any file is opened for writing, so that a start that fails changes none.
  refuse_overwriting(options.baseline, {{"--save-baseline", options.baseline.save},
                                        {"--json", options.json},
                                        {"--csv", options.csv},
                                        {"--junit", options.junit},
                                        {"--html", options.html}});
  BaselineGate baseline(options.baseline, options.measuring, environment);
  const std::string page_program = program_of_page(options);
  ChosenCases chosen(options.cases, options.dry_run);
  if (options.dry_run || !options.cases.empty()) run_context().cases = &chosen;
  const Catch::ExceptionTranslatorRegistrar of_passed_over(&text_of_passed_over);
  if (config.prepare) config.prepare(table_stream.get(), errors.get());
  report::ResultsHeader header{
      .environment = environment, .configuration = configuration, .options = options.measuring};
  if (const auto& suite = run_context().suite_budget) {
    header.suite_alpha = suite->alpha;
    header.options->alpha = std::numeric_limits<double>::quiet_NaN();
  }
  const auto earlier = earlier_results(continuation, options);
  const JsonSinks of_json = add_files(sinks, options, header, earlier);
  const BazelSinks bazel = add_bazel_files(sinks, xml, environment);
  if (auto sink = baseline_sink(options.baseline, header)) sinks.add(std::move(sink));
  add_pages(sinks, options, page_program, of_json, header, earlier, [&](const std::string& message) {
    errors.get() << "pace: " << message << '\n' << std::flush;
  });

  PrematureExitFile::make();
  const pace::detail::ExitGuard no_exit("before its results were written");
  PartsOfTests::total = config.progress_parts.empty() ? chosen_tests(session).size() : 0;
  if (options.dry_run)
    return code_of_plan(run_dry(session, options, chosen, repeated, table_stream.get(), errors.get()), config,
                        errors.get());
  std::optional<report::ShownProgress> shown;
  // All that one of several processes prints is kept.
  if (!options.no_progress && !is_replicate())
    shown.emplace(config.progress_parts.empty() ? "tests" : config.progress_parts);
  // Another shard may have what this one has not.
  const bool is_shard = session.config().shardCount() > 1;
  RunAccount account;
  const Listening listening(sinks, baseline, continuation, account, errors.get());
  int code = run_tests(session, account);
  shown.reset();
  sinks.use(replicate, [&](ReplicateSink& sink) {
    for (const auto& problem : OtherFailures::found) sink.write_problem(problem);
    if (is_shard && code == 0 && account.empty()) sink.write_empty();
  });
  // A run that failed without a result leaves the files of its options as they were. Bazel's files belong to this run.
  const bool found_nothing = account.empty() && code != 0 && !(code == exit_unmeasured && options.allow_unmeasured);
  sinks.finish([&](report::Sink& sink) {
    if (&sink == bazel.junit) bazel.junit->merge(xml.content());
    return &sink == bazel.junit || &sink == bazel.infrastructure || &sink == table || !found_nothing;
  });
  bool complained = false;
  for (const auto& complaint :
       {is_shard ? complaint_of_all_shards(session.config(), chosen, repeated) : chosen.complaint(),
        baseline.complaint(), config.complaint ? config.complaint() : ""}) {
    if (complaint.empty()) continue;
    errors.get() << "pace: " << complaint << '\n' << std::flush;
    complained = true;
  }
  for (const auto& closed : baseline.closed_gates()) {
    errors.get() << "pace: " << report::printable_lines(closed) << '\n' << std::flush;
    if (code == 0) code = exit_failed;
  }
  // --allow-unmeasured excuses neither a failed sink nor a complaint. In one of several processes a failed test is not
  // yet a verdict: the others may prove its gates.
  const bool is_verdict = code != 0 && code != exit_unmeasured && !(is_replicate() && code == exit_failed);
  if (!is_verdict && (sinks.failures() > 0 || complained)) return exit_error;
  if (is_shard) {
    const bool is_empty = note_missing_cases(session.config(), chosen, errors.get());
    if (is_empty && code == 0 && account.empty()) return 0;
  }
  std::ostringstream why;
  why.imbue(std::locale::classic());
  const int exit_code = account.exit_code(code, options.allow_undecided, options.allow_unmeasured, why);
  errors.get() << report::printable_lines(why.str()) << std::flush;
  if (exit_code != 0 && exit_code != exit_unmeasured && !is_replicate()) {
    const auto& tests = Catch::getAllTestCasesSorted(session.config());
    const bool is_only_test = tests.size() == 1 && !tests.front().getTestCaseInfo().isHidden();
    print_repeat_commands(
        FailedCases::to_repeat(), exit_code,
        [&](FailedCase failed) {
          if (is_only_test) failed.test.clear();
          return words_to_repeat(failed, repeated);
        },
        errors.get());
  }
  const std::size_t failed_before = sinks.failures();
  if (exit_code != 0 && account.is_for_machine(exit_code, TotalsListener::totals.assertions.failed))
    sinks.use(bazel.infrastructure, [&](InfrastructureSink& sink) {
      // Bazel has no state for skipped tests.
      if (exit_code == exit_unmeasured) sink.tell("tests", account.why_unmeasured(code));
      sink.leave();
    });
  return sinks.failures() > failed_before ? exit_error : exit_code;
}

}  // namespace detail

PACE_INLINE int main(int argc, char** argv, const SessionConfig& config) {
  run_context().has_runner = true;
  keep_freed_memory();
  use_classic_numbers();
  report::ProgramOutput output;
  int code = exit_error;
  try {
    code = output.exit_code(detail::run_session(argc, argv, config), "pace", exit_error);
  } catch (const std::exception& error) {
    std::cerr << "pace: " << report::printable_lines(cut_text(error.what())) << '\n';
  }
  __atomic_store_n(&activity()->exit_code, code, __ATOMIC_RELAXED);
  __atomic_store_n(&activity()->finished, true, __ATOMIC_RELEASE);
  pace::detail::fail_without_handlers();
  return code;
}

}  // namespace pace::runner
