// ResultFiles: opens the files that a run writes, before anything is measured for them.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/pages.hpp"
#include "pace/os/report_program.hpp"
#include "pace/os/same_file.hpp"
#include "pace/report/csv.hpp"
#include "pace/report/json.hpp"
#include "pace/report/junit.hpp"
#include "pace/report/sink.hpp"
#include "pace/result/result.hpp"
#include "pace/runner/bazel_sinks.hpp"
#include "pace/runner/framework_xml.hpp"
#include "pace/runner/html_sink.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/session_options.hpp"
#include "pace/runner/stored_baseline.hpp"

namespace pace::runner::detail {

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
    if (!path.empty() && same_path(page, output_path(path)))
      throw InputError({},
                       std::string("--html and ") + option + " name the same file, '" + page + "'; expected two names");
  return program;
}

/// Throws Error if an option that writes a file names a stored baseline.
inline void refuse_overwriting_baseline(const SessionOptions& options) {
  refuse_overwriting(options.baseline, {{"--save-baseline", options.baseline.save},
                                        {"--json", options.json},
                                        {"--csv", options.csv},
                                        {"--junit", options.junit},
                                        {"--html", options.html}});
}

/// The sinks of Bazel's files that are complete only after the tests; null outside of Bazel.
struct BazelSinks {
  /// Gets Catch2's test cases after the tests.
  report::JUnitSink* junit = nullptr;
  /// Is written once the exit code is known.
  InfrastructureSink* infrastructure = nullptr;
};

/// Adds the sinks of a run's files. Each opens its file. Pages read results files, so this object must live until the
/// sinks are finished.
class ResultFiles {
 public:
  /// The beginning of all files of results.
  struct Beginning {
    report::ResultsHeader header;
    std::vector<Result> earlier;  ///< results of an earlier process or run
  };

  /// `sinks` and `options` must outlive the object.
  ResultFiles(report::FanOut& sinks, const SessionOptions& options, Beginning beginning)
      : sinks_(sinks),
        options_(options),
        header_(std::move(beginning.header)),
        earlier_(std::move(beginning.earlier)) {}
  ResultFiles(const ResultFiles&) = delete;
  ResultFiles& operator=(const ResultFiles&) = delete;

  /// Adds the files that options name, Bazel's undeclared outputs, and the program's own sinks.
  void add_results() {
    std::set<std::string> csv, json;
    if (!options_.csv.empty()) csv.insert(output_path(options_.csv));
    if (!options_.json.empty()) json.insert(output_path(options_.json));
    // For one of several processes, options name all files.
    if (!undeclared_outputs().empty() && !is_replicate()) {
      csv.insert(in_undeclared_outputs("results.csv"));
      json.insert(in_undeclared_outputs("results.json"));
    }
    if (!options_.junit.empty())
      sinks_.add(std::make_unique<report::JUnitSink>(output_path(options_.junit), header_.environment));
    for (const auto& path : csv) sinks_.add(std::make_unique<report::CsvSink>(path, earlier_));
    for (const auto& path : json) {
      auto sink = std::make_unique<report::JsonSink>(path, header_, earlier_);
      json_[path] = sink.get();
      sinks_.add(std::move(sink));
    }
    for (const auto& make : report::OwnSink::all())
      if (auto sink = make(header_.environment)) sinks_.add(std::move(sink));
  }

  /// Adds the files that Bazel expects.
  [[nodiscard]] BazelSinks add_bazel_files(const FrameworkXml& xml) {
    BazelSinks waiting;
    if (const auto path = environment_variable("TEST_WARNINGS_OUTPUT_FILE"); !path.empty())
      sinks_.add(std::make_unique<WarningsSink>(path));
    if (const auto path = environment_variable("TEST_INFRASTRUCTURE_FAILURE_FILE"); !path.empty()) {
      auto infrastructure = std::make_unique<InfrastructureSink>(path);
      waiting.infrastructure = infrastructure.get();
      sinks_.add(std::move(infrastructure));
    }
    if (xml.bazel_file().empty()) return waiting;
    auto junit = std::make_unique<report::JUnitSink>(xml.bazel_file(), header_.environment);
    waiting.junit = junit.get();
    sinks_.add(std::move(junit));
    return waiting;
  }

  /// Adds the file of --save-baseline.
  void add_baseline() {
    if (auto sink = baseline_sink(options_.baseline, header_)) sinks_.add(std::move(sink));
  }

  /// Adds the page of --html, and under `bazel test` one beside the results, which `program` makes. They come last: a
  /// page that takes long must not keep the others from their files. `warn` receives why the latter page could not be
  /// made.
  void add_pages(const std::string& program, const HtmlSink::Warn& warn) {
    // The process that starts several makes one page of all their results.
    if (!options_.html.empty() && !is_replicate()) {
      // The lines of a pipe are gone once they are read.
      const std::string json = options_.json.empty() ? "" : output_path(options_.json);
      const bool is_stream = std::filesystem::exists(json) && !std::filesystem::is_regular_file(json);
      const std::string results = is_stream ? "" : json;
      add_page({.path = output_path(options_.html), .program = program, .results = results});
    }
    if (undeclared_outputs().empty() || is_replicate() || program.empty()) return;
    const std::string page = in_undeclared_outputs("report.html");
    if (!options_.html.empty() && output_path(options_.html) == page) return;
    add_page({.path = page, .program = program, .results = in_undeclared_outputs("results.json"), .warn = warn});
  }

 private:
  [[nodiscard]] static std::string in_undeclared_outputs(const char* name) {
    return pace::detail::inside(undeclared_outputs(), name);
  }

  void add_page(HtmlSink::Settings settings) {
    // A file that could not be written may hold the results of an earlier run.
    settings.lost = [this](const std::string& path) { return !sinks_.has(json_.at(path)); };
    sinks_.add(std::make_unique<HtmlSink>(std::move(settings), header_, earlier_));
  }

  report::FanOut& sinks_;
  const SessionOptions& options_;
  const report::ResultsHeader header_;
  const std::vector<Result> earlier_;
  /// The sinks of results files as JSON Lines, by path. They belong to the FanOut, which drops one that fails.
  std::map<std::string, const report::Sink*> json_;
};

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

}  // namespace pace::runner::detail
