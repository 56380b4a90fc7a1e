// Continuation: a process continues where an earlier one of the same run ended.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <list>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/utf8.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/inherited_signals.hpp"
#include "pace/os/parse_json.hpp"
#include "pace/os/unfinished.hpp"
#include "pace/report/json.hpp"
#include "pace/result/result.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/hand_over.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/this_program.hpp"

namespace pace::runner {

/// Set for a process that continues where another one ended: the file with that one's results, such as /proc/self/fd/5,
/// which is inherited open.
inline constexpr const char* continuation_variable = "PACE_CONTINUE_FILE";
/// The number of the process that continues, so that programs which it starts do not take the file for theirs.
inline constexpr const char* continuing_variable = "PACE_CONTINUE_PROCESS";
/// Set for a process that a supervisor watches and starts again when it dies (see supervisor.hpp): its number.
inline constexpr const char* supervised_variable = "PACE_SUPERVISED_PROCESS";

/// Returns whether the environment variable has the number of this process.
[[nodiscard]] inline bool names_this_process(const char* variable) {
  return environment_variable(variable) == std::to_string(::getpid());
}

/// Returns whether this process keeps ignoring the signal, since it inherited it as ignored. A background job of a
/// shell script inherits SIGINT so, and SIGINT still ends the run. In a run of several processes, the first one ignores
/// it, and the others must not end alone.
[[nodiscard]] inline bool stays_ignored(int number) {
  return inherited_signals.ignores(number) && (number == SIGHUP || is_replicate());
}

/// Lets a run outlive its process, which may end before its tests do: a CUDA context cannot be restored after a kernel
/// that did something illegal or does not end, and an implementation may crash. The program then runs again with the
/// same command line. Its tests run from the first one on, but a comparison with a known result is not measured again.
/// The known result is published and judged as before. So every file and the exit code are as after one run. The
/// comparison that ended a process is known as well, so each new process gets further, and the run ends.
class Continuation : public RunContext::Checkpoint {
 public:
  /// Reads the file that the environment variable names, if it is set for this process. `arguments` are argv. Throws
  /// InputError if the file is not one that another process left.
  explicit Continuation(char** arguments) : arguments_(arguments) {
    const std::string path = environment_variable(continuation_variable);
    const bool for_another =
        !environment_variable(continuing_variable).empty() && !names_this_process(continuing_variable);
    if (!path.empty() && !for_another) take_over(path);
    supervised_ = names_this_process(supervised_variable);
    run_context().recollection = this;
    // New measurements come after all judgements of earlier processes, in whatever order tests run.
    if (const auto& suite = run_context().suite_budget)
      for (const auto& result : known_) suite->gated = std::max(suite->gated, result.gate_number);
  }
  Continuation(const Continuation&) = delete;
  ~Continuation() override {
    run_context().recollection = nullptr;
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  /// Returns whether an earlier process has left results.
  [[nodiscard]] bool continues() const { return !known_.empty() || !fates_.empty(); }

  /// Adds a result to recall, such as one of an earlier run.
  void remember(Result result) {
    result.recalled = true;
    keep(line_of(result));
    known_.push_back(std::move(result));
  }

  /// Calls `use` for each result to recall, oldest first.
  void for_each_known(const std::function<void(const Result&)>& use) const {
    for (const auto& each : known_) use(each);
  }

  // Names in files are UTF-8 (Result::make_names_valid()).
  [[nodiscard]] bool knows(const std::string& raw_name) const override {
    const std::string name = valid_utf8(raw_name);
    for (const auto& each : known_)
      if (each.name == name) return true;
    for (const auto& each : fates_)
      if (each.comparison == name) return true;
    return false;
  }

  /// Catch2 catches signals during a test, and reports them as the end of the run, which goes on in another process.
  void comparison_begins() override {
    for (const int number : {SIGINT, SIGTERM})
      if (stays_ignored(number)) ::signal(number, SIG_IGN);
    if (!supervised_) return;
    for (const int number : {SIGINT, SIGTERM, SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGBUS})
      if (!stays_ignored(number)) ::signal(number, SIG_DFL);
    take_back_when_ended();
  }

  bool recall(const std::string& raw_name, Result& result) override {
    const std::string name = valid_utf8(raw_name);
    for (auto each = known_.begin(); each != known_.end(); ++each) {
      if (each->name != name) continue;
      result = std::move(*each);
      known_.erase(each);
      return true;
    }
    return false;
  }

  bool next_fate(const std::string& raw_name, RunContext::PriorFailure& fate) override {
    const std::string name = valid_utf8(raw_name);
    for (auto each = fates_.begin(); each != fates_.end(); ++each) {
      if (each->comparison != name) continue;
      fate = std::move(each->fate);
      fates_.erase(each);
      return true;
    }
    return false;
  }

  /// Keeps a result for a later process, after it is written. If the result has lost its device, the call does not
  /// return: a fresh process begins in its place. If that fails, `out` gets a message, and later comparisons on the
  /// device are reported as unreached.
  void add(const Result& result, std::ostream& out) {
    if (result.recalled) return;  // is in the file
    keep(line_of(result));
    if (result.lost_device.empty()) return;
    out << "pace: " << result.name << ": the device was lost; a fresh process goes on\n" << std::flush;
    std::fflush(nullptr);
    try {
      execute();
    } catch (const Error& error) {
      out << "pace: no fresh process: " << error.what() << '\n' << std::flush;
    }
  }

 private:
  void take_over(const std::string& path) {
    constexpr std::string_view open_files = "/proc/self/fd/";
    if (path.starts_with(open_files)) descriptor_ = ::dup(std::atoi(path.c_str() + open_files.size()));
    if (descriptor_ < 0) throw InputError({path}, "cannot be opened; expected what an earlier process found");
    std::string problem;
    try {
      const std::string text = read_all(descriptor_);
      for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
        const auto json = parse_json<report::Json>(std::string_view(text).substr(begin, end - begin));
        if (json.contains("fate_of")) {
          report::detail::read_value(json, fates_.emplace_back());
        } else {
          known_.push_back(report::result_from(json));
          known_.back().recalled = true;
          // Failures before a result are in it. A later comparison of the same name has those that follow.
          std::erase_if(fates_, [&](const Ended& each) { return each.comparison == known_.back().name; });
        }
      }
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (!problem.empty()) throw InputError({path}, "is not what an earlier process found: " + problem);
  }

  /// Lines go to a file, since a suite's samples would fill the memory. A failure has no effect until a device is lost.
  void keep(const std::string& line) {
    if (descriptor_ < 0 && trouble_.empty()) descriptor_ = open_unnamed_file(trouble_);
    if (trouble_.empty()) trouble_ = append_all(descriptor_, line);
  }

  void execute() {
    if (!trouble_.empty()) throw Error(trouble_);
    const std::string self = this_program();
    ::setenv(continuation_variable, ("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), 1);
    ::setenv(continuing_variable, std::to_string(::getpid()).c_str(), 1);
    // A signal that is ignored stays so after exec, and the new program would take that for inherited.
    for (const int number : {SIGPIPE, SIGXFSZ}) inherited_signals.restore(number);
    ::execv(self.c_str(), arguments_);
    throw Error("cannot execute " + self + ": " + std::strerror(errno));
  }

  char** const arguments_;
  bool supervised_ = false;
  /// Results that were not recalled yet. A list, since the first of thousands goes first.
  std::list<Result> known_;
  std::vector<Ended> fates_;
  /// The file of all results published so far, recalled or new; below 0 before the first one.
  int descriptor_ = -1;
  /// Why results cannot be kept; empty: they can.
  std::string trouble_;
};

}  // namespace pace::runner
