// A run of several processes, one after another: its files, and its page.
#pragma once

#include <catch2/catch_session.hpp>

#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/pages.hpp"
#include "pace/os/unfinished.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/result/options.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/runner/repeat.hpp"
#include "pace/runner/replicates.hpp"
#include "pace/runner/result_files-inl.hpp"
#include "pace/runner/session_call-inl.hpp"
#include "pace/runner/session_options.hpp"

namespace pace::runner::detail {

/// Returns the files of a run of several processes. Throws InputError for options that have no meaning in such a run.
[[nodiscard]] inline ReplicateFiles files_of_replicates(const SessionOptions& options,
                                                        const Catch::ConfigData& config) {
  const auto refuse = [](const std::string& what) { throw InputError({}, "--processes: " + what); };
  if (!options.baseline.compare_with.empty() || !options.baseline.save.empty())
    refuse(
        "does not go with --baseline and --save-baseline, since the gates decide how many processes there are; "
        "expected a fixed number of runs, each with --save-baseline FILE");
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

/// Runs the program in several processes, one after another, and makes one page of all their results. Returns the exit
/// code.
[[nodiscard]] inline int run_several_processes(SessionCall& call, const RepeatedRun& repeated) {
  const SessionOptions& options = call.options;
  auto files = files_of_replicates(options, call.session.configData());
  (void)program_of_page(options);
  PrematureExitFile::make();
  std::optional<report::ShownProgress> shown;
  if (!options.no_progress) shown.emplace("processes");
  const auto repeat = [&](const std::vector<FailedCase>& failed) {
    print_repeat_commands(
        failed, exit_failed, [&](const FailedCase& each) { return words_to_repeat(each, repeated); }, std::cerr);
  };
  Pages pages = Pages::at(options.html.empty() ? "" : output_path(options.html));
  if (files.json.empty()) files.json = pages.results_file("");
  const int code = run_replicates({.words = {call.argv + 1, call.argv + call.argc},
                                   .files = files,
                                   .most = options.processes,
                                   .seed = options.measuring.seed,
                                   .allow_undecided = options.allow_undecided,
                                   .allow_unmeasured = options.allow_unmeasured,
                                   .out = std::cout,
                                   .err = std::cerr,
                                   .on_failed = repeat,
                                   .on_results = [&](const std::string& json) { pages.add(json); }});
  return pages.make("pace", std::cerr) || code != 0 ? code : exit_error;
}

}  // namespace pace::runner::detail
