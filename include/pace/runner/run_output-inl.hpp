// RunOutput: where the table, the messages and the results of a run go.
#pragma once

#include <unistd.h>
#include <catch2/catch_session.hpp>

#include <iostream>
#include <locale>
#include <memory>
#include <ostream>
#include <string>
#include <utility>

#include "pace/os/bazel.hpp"
#include "pace/os/terminal.hpp"
#include "pace/report/console.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/sink.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/catch2_session-inl.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/replicate_sink.hpp"
#include "pace/runner/session_call-inl.hpp"
#include "pace/timing/wall.hpp"

namespace pace::runner::detail {

/// A second stream to the buffer of a standard one. Catch2 replaces the buffer of std::cout by one that keeps the text
/// of tests until they end (for JUnit). Through this stream, rows appear as they come, and a crash loses none.
class DirectStream {
 public:
  explicit DirectStream(std::ostream& standard) : stream_(standard.rdbuf()) { stream_.imbue(std::locale::classic()); }
  [[nodiscard]] std::ostream& get() { return stream_; }

 private:
  std::ostream stream_;
};

/// Where a run's table, messages and results go. A sink that fails is reported at once; once all have failed, nothing
/// more is measured.
class RunOutput {
 public:
  /// Adds the table, unless the options leave it out, and the sink of one of several processes. `environment` is
  /// printed above the table.
  RunOutput(SessionCall& call, const report::Environment& environment)
      : to_stderr_(stdout_is_for_machines(call.session.config())),
        table_stream_(to_stderr_ ? std::cerr : std::cout),
        errors_(std::cerr),
        sinks_([this](const std::string& message) { give_up(message); }) {
    if (!call.options.no_table) add_table(call, environment);
    if (const auto path = environment_variable(replicate_variable); !path.empty()) add_replicate(path);
  }
  RunOutput(const RunOutput&) = delete;
  RunOutput& operator=(const RunOutput&) = delete;

  [[nodiscard]] std::ostream& table_stream() { return table_stream_.get(); }
  [[nodiscard]] std::ostream& errors() { return errors_.get(); }
  [[nodiscard]] report::FanOut& sinks() { return sinks_; }
  /// Returns the sink of the table; null: there is no table.
  [[nodiscard]] report::ConsoleSink* table() const { return table_; }
  /// Returns the sink of one of several processes; null: this process is the only one.
  [[nodiscard]] ReplicateSink* replicate() const { return replicate_; }

  /// Prints a message of the program.
  void complain(const std::string& message) { errors() << "pace: " << message << '\n' << std::flush; }

 private:
  void give_up(const std::string& message) {
    complain(message);
    if (!sinks_.all_failed()) return;
    run_context().deadline = {timing::WallClock().now(), "no result can be written any more"};
    complain("nothing more is measured: " + run_context().deadline->reason);
  }

  void add_table(SessionCall& call, const report::Environment& environment) {
    // Messages that Catch2 writes to a file are complete. It adds Bazel's file by itself, which has pace's gates as
    // well.
    const bool beside_assertions = !to_stderr_ && call.reports_by_default && !call.options.dry_run;
    const int descriptor = to_stderr_ ? STDERR_FILENO : STDOUT_FILENO;
    auto made = std::make_unique<report::ConsoleSink>(
        table_stream(), report::ConsoleStyle{.use_colour = colour_for(call.session.config(), descriptor),
                                             .blocks = call.options.verbose,
                                             .beside_assertions = beside_assertions,
                                             .shortens = ::isatty(descriptor) == 1,
                                             .width = [descriptor] { return columns_of(descriptor); }});
    table_ = made.get();
    table_->introduce(environment);
    sinks_.add(std::move(made));
  }

  void add_replicate(const std::string& path) {
    auto made = std::make_unique<ReplicateSink>(path);
    replicate_ = made.get();
    sinks_.add(std::move(made));
    run_context().defers_judgements = true;
  }

  /// Whether the standard output is left to a reporter of Catch2.
  const bool to_stderr_;
  DirectStream table_stream_;
  DirectStream errors_;
  report::FanOut sinks_;
  report::ConsoleSink* table_ = nullptr;
  ReplicateSink* replicate_ = nullptr;
};

}  // namespace pace::runner::detail
