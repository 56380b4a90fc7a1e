// MeasuringRun: the tests of a run that measures, and what follows them up to the exit code.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch_session.hpp>
#include <catch2/catch_test_case_info.hpp>
#include <catch2/internal/catch_test_case_registry_impl.hpp>

#include <cstddef>
#include <locale>
#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include "pace/os/activity.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/sink.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/bazel_sinks.hpp"
#include "pace/runner/cases.hpp"
#include "pace/runner/catch2_session-inl.hpp"
#include "pace/runner/continuation.hpp"
#include "pace/runner/framework_xml.hpp"
#include "pace/runner/listed_cases-inl.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/repeat.hpp"
#include "pace/runner/replicate_sink.hpp"
#include "pace/runner/result_files-inl.hpp"
#include "pace/runner/run_output-inl.hpp"
#include "pace/runner/session_call-inl.hpp"
#include "pace/runner/stored_baseline.hpp"

namespace pace::runner::detail {

/// The parts of a run that measures.
struct RunParts {
  SessionCall& call;
  const RepeatedRun& repeated;
  const FrameworkXml& xml;
  RunOutput& output;
  Continuation& continuation;
  BaselineGate& baseline;
  const ChosenCases& chosen;
  BazelSinks bazel;
};

/// Passes results to the sinks while the object lives, judged against the stored baseline if there is one.
class Listening {
 public:
  Listening(const RunParts& run, RunAccount& account)
      : own_(run_context().on_result([&](const Result& result) {
          const Result& judged = run.baseline.judged(result);
          account.add(judged);
          FailedCases::add(judged);
          run.output.sinks().write(judged);
          run.continuation.add(result, run.output.errors());
        })) {}
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;
  ~Listening() { run_context().remove_listener(own_); }

 private:
  RunContext::ListenerId own_;
};

/// Runs the tests, finishes the files, and decides the exit code. It may change at each step, and later steps depend on
/// earlier ones, so the steps share one object.
class MeasuringRun {
 public:
  /// What `parts` refers to must outlive the object.
  explicit MeasuringRun(const RunParts& parts)
      : parts_(parts), options_(parts.call.options), is_shard_(parts.call.session.config().shardCount() > 1) {}
  MeasuringRun(const MeasuringRun&) = delete;
  MeasuringRun& operator=(const MeasuringRun&) = delete;

  /// Returns the exit code. To be called once.
  [[nodiscard]] int run() {
    code_ = run_and_show_tests();
    if (::fcntl(STDERR_FILENO, F_GETFD) < 0) activity()->is_mute = true;
    tell_first_process();
    finish_files();
    const bool complained = print_complaints();
    print_closed_gates();
    if (!is_verdict() && (sinks().failures() > 0 || complained)) return exit_error;
    if (is_shard_ && is_without_named_cases()) return 0;
    const int exit_code = exit_code_of_results();
    if (exit_code != 0 && exit_code != exit_unmeasured && !is_replicate()) print_commands_to_repeat(exit_code);
    return tell_bazel(exit_code) ? exit_code : exit_error;
  }

 private:
  [[nodiscard]] report::FanOut& sinks() { return parts_.output.sinks(); }

  [[nodiscard]] int run_and_show_tests() {
    const std::string& parts = parts_.call.config.progress_parts;
    // All that one of several processes prints is kept.
    if (!options_.no_progress && !is_replicate()) shown_.emplace(parts.empty() ? "tests" : parts);
    listening_.emplace(parts_, account_);
    const int code = run_tests(parts_.call.session, account_);
    shown_.reset();
    return code;
  }

  /// Leaves what this process found beside results to the one that starts several.
  void tell_first_process() {
    sinks().use(parts_.output.replicate(), [&](ReplicateSink& sink) {
      for (const auto& problem : OtherFailures::found) sink.write_problem(problem);
      for (const auto& failed : failed_cases()) sink.write_failed(failed);
      // Another shard may have what this one has not.
      if (is_shard_ && code_ == 0 && account_.empty()) sink.write_empty();
    });
  }

  /// A run that failed without a result leaves the files of its options as they were. Bazel's files belong to this run.
  void finish_files() {
    const bool found_nothing =
        account_.empty() && code_ != 0 && !(code_ == exit_unmeasured && options_.allow_unmeasured);
    const BazelSinks& bazel = parts_.bazel;
    sinks().finish([&](report::Sink& sink) {
      if (&sink == bazel.junit) bazel.junit->merge(parts_.xml.content());
      return &sink == bazel.junit || &sink == bazel.infrastructure || &sink == parts_.output.table() || !found_nothing;
    });
  }

  /// Prints the errors of the run as a whole. Returns whether anything is.
  [[nodiscard]] bool print_complaints() {
    const SessionConfig& config = parts_.call.config;
    bool complained = false;
    for (const auto& complaint :
         {is_shard_ ? complaint_of_all_shards(parts_.call.session.config(), parts_.chosen, parts_.repeated)
                    : parts_.chosen.complaint(),
          parts_.baseline.complaint(), config.complaint ? config.complaint() : ""}) {
      if (complaint.empty()) continue;
      parts_.output.complain(complaint);
      complained = true;
    }
    return complained;
  }

  /// Prints the closed gates of the stored baseline. One of them makes the run fail.
  void print_closed_gates() {
    for (const auto& closed : parts_.baseline.closed_gates()) {
      parts_.output.complain(report::printable_lines(closed));
      if (code_ == 0) code_ = exit_failed;
    }
  }

  /// Whether the code stays, whatever sinks and complaints say. --allow-unmeasured excuses neither a failed sink nor a
  /// complaint. In one of several processes a failed test is not yet a verdict: the others may prove its gates.
  [[nodiscard]] bool is_verdict() const {
    return code_ != 0 && code_ != exit_unmeasured && !(is_replicate() && code_ == exit_failed);
  }

  /// Notes the names of --case that this shard has not. Returns whether it has none of them, and nothing failed.
  [[nodiscard]] bool is_without_named_cases() {
    const bool is_empty = note_missing_cases(parts_.call.session.config(), parts_.chosen, parts_.output.errors());
    return is_empty && code_ == 0 && account_.empty();
  }

  /// Returns the exit code by the results, and prints the reason.
  [[nodiscard]] int exit_code_of_results() {
    std::ostringstream why;
    why.imbue(std::locale::classic());
    const int exit_code = account_.exit_code(code_, options_.allow_undecided, options_.allow_unmeasured, why);
    parts_.output.errors() << report::printable_lines(why.str()) << std::flush;
    return exit_code;
  }

  /// Returns what failed. The only test case of a program needs no name.
  [[nodiscard]] std::vector<FailedCase> failed_cases() const {
    const auto& tests = Catch::getAllTestCasesSorted(parts_.call.session.config());
    const bool is_only_test = tests.size() == 1 && !tests.front().getTestCaseInfo().isHidden();
    auto found = FailedCases::to_repeat();
    if (is_only_test)
      for (auto& each : found) each.test.clear();
    return found;
  }

  void print_commands_to_repeat(int exit_code) {
    print_repeat_commands(
        failed_cases(), exit_code, [&](const FailedCase& failed) { return words_to_repeat(failed, parts_.repeated); },
        parts_.output.errors());
  }

  /// Writes Bazel's file of failures of the machine, if there were any. Returns false if that fails.
  [[nodiscard]] bool tell_bazel(int exit_code) {
    const std::size_t failed_before = sinks().failures();
    if (exit_code != 0 && account_.is_for_machine(exit_code, TotalsListener::totals.assertions.failed))
      sinks().use(parts_.bazel.infrastructure, [&](InfrastructureSink& sink) {
        // Bazel has no state for skipped tests.
        if (exit_code == exit_unmeasured) sink.tell("tests", account_.why_unmeasured(code_));
        sink.leave();
      });
    return sinks().failures() == failed_before;
  }

  const RunParts parts_;
  const SessionOptions& options_;
  const bool is_shard_;
  int code_ = exit_error;
  std::optional<report::ShownProgress> shown_;
  RunAccount account_;
  std::optional<Listening> listening_;
};

}  // namespace pace::runner::detail
