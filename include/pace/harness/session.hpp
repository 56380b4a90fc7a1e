// The main function of a measuring program: Catch2's session, with pace's options, table and result files.
#pragma once

#include <catch2/catch_session.hpp>
#include <unistd.h>

#include <exception>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pace/core/run_context.hpp"
#include "pace/harness/bazel.hpp"
#include "pace/harness/bazel_sinks.hpp"
#include "pace/harness/continuation.hpp"
#include "pace/harness/framework_xml.hpp"
#include "pace/harness/replicates.hpp"
#include "pace/harness/session_options.hpp"
#include "pace/harness/stored_baseline.hpp"
#include "pace/harness/threads.hpp"
#include "pace/harness/time_limit.hpp"
#include "pace/harness/torch_environment.hpp"
#include "pace/report/console.hpp"
#include "pace/report/csv.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/fan_out.hpp"
#include "pace/report/json.hpp"
#include "pace/report/junit.hpp"

namespace pace::harness {

/// What a program adds to the common main function.
struct SessionConfig {
  /// Defaults of every comparison; the command line goes over them.
  Options options;
  /// Takes Catch2's parser with pace's options and returns it with more. Catch2 keeps no copies of names and
  /// descriptions: give it literals.
  std::function<Catch::Clara::Parser(Catch::Clara::Parser)> extend_cli;
  /// Runs between the parsing and the tests. An Error that it throws ends the program with its message.
  std::function<void()> after_parse;
  /// Added to the environment in result files.
  std::map<std::string, std::string> environment;
};

/// Of bad options, of files that cannot be written, and of results that got lost. Catch2's own codes are 2 (no test
/// ran), 3 (a filter matched nothing), 4 (all skipped) and 42 (a test failed).
inline constexpr int exit_error = 1;

namespace detail {

inline constexpr int catch2_no_tests_ran = 2, catch2_all_skipped = 4;

/// Only lists, help: nothing will be measured.
[[nodiscard]] inline bool only_tells(const Catch::ConfigData& config) {
  return config.showHelp || config.libIdentify || config.listTests || config.listTags || config.listReporters ||
         config.listListeners;
}

/// Whether a Catch2 reporter writes something to the standard output that a table would spoil, such as XML.
[[nodiscard]] inline bool stdout_is_for_machines(const Catch::Config& config) {
  for (const auto& reporter : config.getProcessedReporterSpecs()) {
    const bool to_stdout =
        reporter.outputFilename.empty() || reporter.outputFilename == "-" || reporter.outputFilename == "%stdout";
    if (to_stdout && reporter.name != "console" && reporter.name != "compact") return true;
  }
  return false;
}

[[nodiscard]] inline bool colour_for(const Catch::Config& config, int descriptor) {
  if (config.defaultColourMode() == Catch::ColourMode::ANSI) return true;
  if (config.defaultColourMode() == Catch::ColourMode::None) return false;
  return report::wants_colour(descriptor);
}

/// A stream of our own to a standard one. Catch2 swaps the buffer of std::cout for one that keeps what tests print
/// until they end (for JUnit); through this stream rows appear, and survive, as they come.
class DirectStream {
 public:
  explicit DirectStream(std::ostream& standard) : stream_(standard.rdbuf()) {}
  [[nodiscard]] std::ostream& get() { return stream_; }

 private:
  std::ostream stream_;
};

/// Hands results to the sinks for as long as it lives, judged against the stored baseline if there is one.
class Listening {
 public:
  Listening(report::FanOut& sinks, BaselineGate& baseline, Continuation& continuation, std::ostream& errors) {
    run_context().on_result([&](const Result& result) {
      sinks.write(baseline.judged(result));
      continuation.add(result, errors);
    });
    run_context().on_judgement(
        [&sinks](const ImplementationResult& row, const Judgement& judgement) { sinks.write(row, judgement); });
  }
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { run_context().clear_listeners(); }
};

[[nodiscard]] inline report::Environment environment_of(int argc, char** argv, const SessionConfig& config) {
  auto environment = report::read_environment(std::vector<std::string>(argv, argv + argc));
  describe_torch(environment.extra);
  for (const auto& [key, value] : config.environment) environment.extra[key] = value;
  return environment;
}

/// Opens the files before anything is measured for them.
inline void add_files(report::FanOut& sinks, const SessionOptions& options, const report::Environment& environment) {
  std::set<std::string> csv, json;
  if (!options.csv.empty()) csv.insert(output_path(options.csv));
  if (!options.json.empty()) json.insert(output_path(options.json));
  if (csv == json && !csv.empty()) throw Error("--csv and --json name the same file, '" + *csv.begin() + "'");
  if (!undeclared_outputs().empty()) {
    csv.insert(inside(undeclared_outputs(), "results.csv"));
    json.insert(inside(undeclared_outputs(), "results.json"));
  }
  if (!options.junit.empty()) sinks.add(std::make_unique<report::JUnitSink>(output_path(options.junit), environment));
  for (const auto& path : csv) sinks.add(std::make_unique<report::CsvSink>(path));
  for (const auto& path : json) sinks.add(std::make_unique<report::JsonSink>(path, environment));
}

/// Bazel's own files. Returns the sink of its XML, which waits for Catch2's part; null outside of Bazel.
inline report::JUnitSink* add_bazel_files(report::FanOut& sinks, const FrameworkXml& xml,
                                          const report::Environment& environment) {
  if (const auto path = environment_variable("TEST_WARNINGS_OUTPUT_FILE"); !path.empty())
    sinks.add(std::make_unique<WarningsSink>(path));
  if (const auto path = environment_variable("TEST_INFRASTRUCTURE_FAILURE_FILE"); !path.empty())
    sinks.add(std::make_unique<InfrastructureSink>(path));
  if (xml.bazel_file().empty()) return nullptr;
  auto junit = std::make_unique<report::JUnitSink>(xml.bazel_file(), environment);
  auto* const waiting = junit.get();
  sinks.add(std::move(junit));
  return waiting;
}

inline int run_tests(Catch::Session& session) {
  const PrematureExitFile guard;
  const int code = session.run();
  // On a machine without what they need, which each of them said. Bazel knows no skipped tests.
  if (code == catch2_all_skipped) {
    std::cout << "pace: every test was skipped; nothing was measured\n" << std::flush;
    return 0;
  }
  // With more shards than tests some shard is empty, which is nobody's mistake. (A filter that matches in no shard has
  // a code of its own.)
  return code == catch2_no_tests_ran && session.config().shardCount() > 1 ? 0 : code;
}

inline int run_session(int argc, char** argv, const SessionConfig& config) {
  tell_catch2_of_bazel();
  FrameworkXml xml;
  Catch::Session session;
  SessionOptions options;
  options.measuring = config.options;
  seed_from_bazel(options.measuring);
  auto parser = with_pace_options(session.cli(), options);
  session.cli(config.extend_cli ? config.extend_cli(std::move(parser)) : std::move(parser));
  // A misspelt filter would otherwise pass for a run without failures.
  auto& warnings = session.configData().warnings;
  warnings = static_cast<Catch::WarnAbout::What>(warnings | Catch::WarnAbout::UnmatchedTestSpec);
  if (const int code = session.applyCommandLine(argc, argv); code != 0) return code;
  validate(options.measuring);
  if (session.configData().showHelp) return session.run();
  run_context().options = options.measuring;
  run_context().deadline = deadline_of(options.time_limit, clock::WallClock().now(), process_age());
  use_threads(options.threads);
  if (config.after_parse) config.after_parse();
  if (only_tells(session.configData())) return session.run();
  if (options.processes > 1) {
    const PrematureExitFile guard;
    return run_replicates({argv + 1, argv + argc}, options.processes, options.measuring.seed, std::cout, std::cerr);
  }

  const auto environment = environment_of(argc, argv, config);
  const bool to_stderr = stdout_is_for_machines(session.config());
  xml.give_back();
  DirectStream table_stream(to_stderr ? std::cerr : std::cout);
  DirectStream errors(std::cerr);
  report::FanOut sinks([&errors](const std::string& message) {
    errors.get() << "pace: " << message << "; no further results go there\n" << std::flush;
  });
  if (!options.no_table) {
    const bool colour = colour_for(session.config(), to_stderr ? STDERR_FILENO : STDOUT_FILENO);
    auto table = std::make_unique<report::ConsoleSink>(table_stream.get(), colour);
    table->introduce(environment);
    sinks.add(std::move(table));
  }
  if (const auto path = environment_variable(replicate_variable); !path.empty()) {
    sinks.add(std::make_unique<ReplicateSink>(path));
    // The centre of rounds that end when something looks proven lies a little too far out.
    run_context().options.stop = StopPolicy::budget;
  }
  add_files(sinks, options, environment);
  auto* const junit = add_bazel_files(sinks, xml, environment);
  BaselineGate baseline(options.baseline, options.measuring, environment);
  if (auto sink = baseline_sink(options.baseline, options.measuring, environment)) sinks.add(std::move(sink));

  Continuation continuation(argv);
  const Listening listening(sinks, baseline, continuation, errors.get());
  const int code = run_tests(session);
  sinks.finish([&](report::Sink& sink) {
    if (&sink == junit) junit->merge(xml.content());
  });
  const std::string complaint = baseline.complaint();
  if (!complaint.empty()) errors.get() << "pace: " << complaint << '\n' << std::flush;
  return code == 0 && (sinks.failures() > 0 || !complaint.empty()) ? exit_error : code;
}

}  // namespace detail

/// Runs the tests of this program, and shows and stores every result that `run_context()` publishes meanwhile. Returns
/// the exit code: 0 only if every test passed, every filter matched, and every result was written.
inline int main(int argc, char** argv, const SessionConfig& config = {}) {
  try {
    return detail::run_session(argc, argv, config);
  } catch (const std::exception& error) {
    std::cerr << "pace: " << error.what() << '\n';
    return exit_error;
  }
}

}  // namespace pace::harness
