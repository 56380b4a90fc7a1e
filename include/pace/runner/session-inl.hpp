// The main function of a measuring program.
#pragma once

#include "pace/runner/session.hpp"

#include <ATen/Context.h>
#include <catch2/catch_session.hpp>
#include <catch2/catch_translate_exception.hpp>
#include <catch2/reporters/catch_reporter_registrars.hpp>

#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "pace/base/cut_text.hpp"
#include "pace/os/activity.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/exit_guard.hpp"
#include "pace/os/kept_pipes.hpp"
#include "pace/os/memory.hpp"
#include "pace/os/steady_memory.hpp"
#include "pace/os/unfinished.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/json.hpp"
#include "pace/report/program_output.hpp"
#include "pace/report/progress_line.hpp"
#include "pace/report/text.hpp"
#include "pace/result/suite_budget.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/cases.hpp"
#include "pace/runner/catch2_session-inl.hpp"
#include "pace/runner/classic_numbers.hpp"
#include "pace/runner/continuation.hpp"
#include "pace/runner/dry_run.hpp"
#include "pace/runner/framework_xml.hpp"
#include "pace/runner/html_sink.hpp"
#include "pace/runner/listed_cases-inl.hpp"
#include "pace/runner/measuring_run-inl.hpp"
#include "pace/runner/ready_made_reporter.hpp"
#include "pace/runner/repeat.hpp"
#include "pace/runner/result_files-inl.hpp"
#include "pace/runner/run_facts-inl.hpp"
#include "pace/runner/run_output-inl.hpp"
#include "pace/runner/session_call-inl.hpp"
#include "pace/runner/session_config.hpp"
#include "pace/runner/session_options.hpp"
#include "pace/runner/several_processes-inl.hpp"
#include "pace/runner/stored_baseline.hpp"
#include "pace/runner/supervisor.hpp"
#include "pace/runner/threads.hpp"
#include "pace/runner/time_limit.hpp"
#include "pace/runner/torch_environment.hpp"
#include "pace/timing/wall.hpp"

#ifdef PACE_CUDA
#include "pace/gpu/cuda/locked_clocks.hpp"
#include "pace/gpu/cuda/names.hpp"
#endif

namespace pace::runner {

namespace detail {

/// Returns the bytes that a watched process may use; none in a program with CUDA, which reserves memory that it never
/// touches, or with a sanitizer.
[[nodiscard]] inline std::optional<std::int64_t> memory_limit() {
#ifdef PACE_CUDA
  return std::nullopt;
#else
  return limit_on_data();
#endif
}

/// The message of a comparison without figures, for a test that looked for them.
[[nodiscard]] inline std::string text_of_passed_over(const PassedOver& over) {
  DryRunReporter::passed_over = over.what;
  return over.what;
}

/// Starts the process that measures, unless nothing is measured or the options want no other process, and watches it.
/// Returns the exit code of the run; none in the process that goes on.
[[nodiscard]] inline std::optional<int> watch_measuring_process(const SessionCall& call) {
  const SessionOptions& options = call.options;
  const bool supervised = is_supervised();
  // Pipes are kept before the fork, since any process of this run may be the first to read an input.
  if (options.measures) keep_pipes();
  if (!options.measures || options.dry_run || options.processes != 1 || supervised || !options.isolation)
    return std::nullopt;
  const report::ClearsLeftLine clears(!options.no_progress);
  const auto call_timeout = options.call_timeout.value_or(default_call_timeout);
  // All processes of the run write to one results file of the page.
  const std::string of_page =
      options.html.empty() ? "" : results_of_page(std::filesystem::absolute(output_path(options.html)).string());
  const auto code = supervise(call_timeout, memory_limit(), !files_of(options).empty(), call.config.now, std::cerr);
  if (code && !of_page.empty()) remove_if_empty(of_page);
  return code;
}

#ifdef PACE_CUDA
/// Locks the clocks of the GPUs if the options want that. It is done by the first process of a run alone, which ends
/// after all others.
[[nodiscard]] inline std::unique_ptr<cuda::LockedClocks> lock_gpu_clocks(const SessionOptions& options) {
  static constexpr const char* done = "PACE_GPU_CLOCKS_LOCKED";
  if (options.lock_gpu_clocks.empty() || !options.measures || options.dry_run) return nullptr;
  if (const char* const locked = std::getenv(done)) {
    if (locked == options.lock_gpu_clocks) return nullptr;
    throw InputError({}, "--lock-gpu-clocks " + options.lock_gpu_clocks + ": the run that this one is part of has " +
                             "locked them to " + locked + "; expected the same");
  }
  auto addresses = cuda::device_addresses_from_fork();
  if (addresses.empty()) return nullptr;
  auto locked = std::make_unique<cuda::LockedClocks>(std::move(addresses), options.lock_gpu_clocks);
  ::setenv(done, options.lock_gpu_clocks.c_str(), 1);
  return locked;
}
#endif

/// Whether there is a GPU that this program can use.
[[nodiscard]] inline bool has_gpu() {
#ifdef PACE_CUDA
  if (run_context().forks_ranks) return !names_of_gpus().empty();
#endif
  return at::hasCUDA();
}

/// Why there is no GPU, as a clause.
[[nodiscard]] inline std::string reason_for_no_gpu() {
#ifdef PACE_CUDA
  if (run_context().forks_ranks && !cuda::device_names_from_fork().fault.empty())
    return cuda::device_names_from_fork().fault;
#endif
  return "there is no GPU that this program can use";
}

/// Lets what runs in this process follow the options.
inline void apply_options(SessionCall& call) {
  SessionOptions& options = call.options;
  run_context().options = options.measuring;
  run_context().deadline = deadline_of(options.time_limit, timing::WallClock().now(), run_age());
  if (call.config.after_parse) call.config.after_parse(options);
  run_context().call_timeout = options.call_timeout;
  use_threads(options.threads);
  // Looking for a GPU starts CUDA, which then works in no fork of this process.
  if (has_options_for_gpu(options) && !has_gpu()) refuse_options_for_gpu(options, reason_for_no_gpu());
}

/// Prints the names of the measurements. Returns the exit code.
[[nodiscard]] inline int print_list(SessionCall& call) {
  const SessionConfig& config = call.config;
  if (complain_of_filters(call.session, std::cerr)) return catch2_unmatched_filter;
  if (config.prepare && config.list) config.prepare(std::cerr, std::cerr);
  if (config.list) return config.list(std::cout), code_of_plan(0, config, std::cerr);
  const auto tests = chosen_tests(call.session);
  for (const auto& name : tests) std::cout << report::printable(name) << '\n';
  if (!tests.empty()) return 0;
  std::cerr << "pace: --list: no test case is chosen; Catch2's --list-tests lists all that are not hidden\n";
  return catch2_no_tests_ran;
}

/// Gives the run the error rate of --suite-alpha. Each shard has as much of the rate as the others, since none knows
/// how many comparisons they have.
inline void take_suite_budget(SessionCall& call) {
  if (!call.options.suite_alpha) return;
  run_context().suite_budget = std::make_shared<SuiteBudget>(
      SuiteBudget{.alpha = *call.options.suite_alpha / call.session.config().shardCount()});
}

/// Goes on from an earlier run if the options want that. Returns the facts that must be equal for a later run to go on
/// from this one; empty: it cannot.
[[nodiscard]] inline Configuration go_on(Continuation& continuation, const SessionCall& call,
                                         const report::Environment& environment, RunOutput& output) {
  Configuration configuration;
  if (call.config.configuration) configuration = configuration_of(call.config, call.options, environment);
  if (output.table() != nullptr && continuation.continues()) output.table()->already_introduced();
  if (call.options.resume && !continuation.continues())
    resume(continuation, call.options, configuration, output.errors());
  return configuration;
}

[[nodiscard]] inline report::ResultsHeader header_of(const SessionCall& call, const report::Environment& environment,
                                                     const Configuration& configuration) {
  report::ResultsHeader header{
      .environment = environment, .configuration = configuration, .options = call.options.measuring};
  if (const auto& suite = run_context().suite_budget) {
    header.suite_alpha = suite->alpha;
    header.options->alpha = std::numeric_limits<double>::quiet_NaN();
  }
  return header;
}

/// Measures in this process, or lists the measurements. Returns the exit code.
[[nodiscard]] inline int run_here(SessionCall& call, FrameworkXml& xml, const RepeatedRun& repeated) {
  const SessionOptions& options = call.options;
  const SessionConfig& config = call.config;
  const auto environment = environment_of(call);
  xml.give_back();
  take_suite_budget(call);
  RunOutput output(call, environment);
  Continuation continuation(call.argv);
  const Configuration configuration = go_on(continuation, call, environment, output);

  // This comes before any file is opened for writing, so that a start that fails changes none.
  refuse_overwriting_baseline(options);
  BaselineGate baseline(options.baseline, options.measuring, environment);
  const std::string page_program = program_of_page(options);
  ChosenCases chosen(options.cases, options.dry_run);
  if (options.dry_run || !options.cases.empty()) run_context().cases = &chosen;
  const Catch::ExceptionTranslatorRegistrar of_passed_over(&text_of_passed_over);
  if (config.prepare) config.prepare(output.table_stream(), output.errors());

  ResultFiles files(output.sinks(), options,
                    {.header = header_of(call, environment, configuration),
                     // A file that begins with earlier results is written at once, and a dry run writes none.
                     .earlier = options.dry_run ? std::vector<Result>() : earlier_results(continuation, options)});
  files.add_results();
  const BazelSinks bazel = files.add_bazel_files(xml);
  files.add_baseline();
  files.add_pages(page_program, [&](const std::string& message) { output.complain(message); });

  PrematureExitFile::make();
  const pace::detail::ExitGuard no_exit("before its results were written");
  PartsOfTests::total = config.progress_parts.empty() ? chosen_tests(call.session).size() : 0;
  if (options.dry_run) return code_of_plan(run_dry(call, chosen, repeated, output), config, output.errors());
  return MeasuringRun({.call = call,
                       .repeated = repeated,
                       .xml = xml,
                       .output = output,
                       .continuation = continuation,
                       .baseline = baseline,
                       .chosen = chosen,
                       .bazel = bazel})
      .run();
}

/// Takes the steps of a program from its command line to its exit code. Some end the program: help, a list, a process
/// that only watches another one.
inline int run_session(int argc, char** argv, const SessionConfig& config) {
  tell_catch2_of_bazel();
  FrameworkXml xml;
  SessionCall call(argc, argv, config);
  Catch::Session& session = call.session;
  SessionOptions& options = call.options;
  if (!call.read_rest()) return exit_error;
  call.refuse_contradictions();
  choose_colours_of_catch2(session.configData());
  if (session.configData().showHelp) return session.run();
  refuse_beside_isolation(options);
  const Catch::ReporterRegistrar<DryRunReporter> silent(DryRunReporter::name);
  const Catch::ReporterRegistrar<ReadyMadeReporter> without_places(ReadyMadeReporter::name);
  options.measures = !options.list && !only_tells(session.configData());
#ifdef PACE_CUDA
  const auto locked = lock_gpu_clocks(options);
#endif
  // The fork comes before threads and the use of a GPU, which do not survive it.
  if (const auto code = watch_measuring_process(call)) return *code;
  take_back_when_ended();
  apply_options(call);
  if (options.list) return print_list(call);
  if (!options.measures) return session.run();
  if (options.processes > 1) (void)files_of_replicates(options, session.configData());
  call.choose_reporter();
  const RepeatedRun repeated = call.repeated();
  if (options.processes > 1 && !options.dry_run) return run_several_processes(call, repeated);
  return run_here(call, xml, repeated);
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
