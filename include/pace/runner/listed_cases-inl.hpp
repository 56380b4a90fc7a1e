// The cases of a run, listed: a dry run, and names of --case that no comparison has.
#pragma once

#include <unistd.h>
#include <catch2/catch_session.hpp>

#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include "pace/os/read_file.hpp"
#include "pace/os/terminal.hpp"
#include "pace/report/text.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/cases.hpp"
#include "pace/runner/catch2_session-inl.hpp"
#include "pace/runner/continuation.hpp"
#include "pace/runner/dry_run.hpp"
#include "pace/runner/own_process.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/repeat.hpp"
#include "pace/runner/replicates.hpp"
#include "pace/runner/result_files-inl.hpp"
#include "pace/runner/run_output-inl.hpp"
#include "pace/runner/session_call-inl.hpp"
#include "pace/runner/supervisor.hpp"

namespace pace::runner::detail {

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

/// Prints the gaps of a list or a dry run, such as lines of inputs that could not be read. Returns its exit code, which
/// is `code` if it lacks nothing.
[[nodiscard]] inline int code_of_plan(int code, const SessionConfig& config, std::ostream& errors) {
  const std::string complaint = config.complaint ? config.complaint() : "";
  if (complaint.empty()) return code;
  errors << "pace: " << complaint << '\n' << std::flush;
  return code == 0 ? exit_error : code;
}

/// Runs the tests, but lists each comparison instead of measuring it. Prints the list. Returns the exit code: 0 if
/// nothing failed that does not depend on figures.
[[nodiscard]] inline int run_dry(SessionCall& call, const ChosenCases& chosen, const RepeatedRun& repeated,
                                 RunOutput& output) {
  Catch::Session& session = call.session;
  RunAccount nothing;
  const int code = run_tests(session, nothing);
  const auto& found = DryRunReporter::found;
  std::string limits;
  if (call.options.processes > 1)
    limits = "in at most " + std::to_string(call.options.processes) + " processes, one after another";
  if (const auto& deadline = run_context().deadline)
    limits += (limits.empty() ? "" : "\n") + std::string("nothing more is measured once its time is over: ") +
              deadline->reason;
  print_dry_run(chosen.planned(), found, files_of(call.options), limits, columns_of(STDOUT_FILENO),
                colour_for(session.config(), STDOUT_FILENO), output.table_stream());
  for (const auto& problem : found.problems) output.complain(problem);
  const bool is_shard = session.config().shardCount() > 1;
  if (const auto complaint =
          is_shard ? complaint_of_all_shards(session.config(), chosen, repeated) : chosen.complaint();
      !complaint.empty()) {
    output.complain(complaint);
    return exit_error;
  }
  if (is_shard) (void)note_missing_cases(session.config(), chosen, output.errors());
  // A test that is skipped, or that fails for want of figures, is no failure of a dry run.
  if (!found.problems.empty()) return exit_failed;
  return code == exit_failed || code == exit_unmeasured ? 0 : code;
}

}  // namespace pace::runner::detail
