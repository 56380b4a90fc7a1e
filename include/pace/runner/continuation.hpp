// Continuation: a process goes on where an earlier one of the same run ended.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/core/bazel.hpp"
#include "pace/core/error.hpp"
#include "pace/core/inherited_signals.hpp"
#include "pace/core/parse_json.hpp"
#include "pace/core/result.hpp"
#include "pace/core/run_context.hpp"
#include "pace/core/unfinished.hpp"
#include "pace/report/json.hpp"
#include "pace/runner/hand_over.hpp"
#include "pace/runner/this_program.hpp"

namespace pace::runner {

/// Set for a process that may go on where another one ended: the file with what that one found, such as
/// /proc/self/fd/5, handed over open.
inline constexpr const char* continuation_variable = "PACE_CONTINUE_FILE";
/// ... by its number, so that programs that it starts in turn do not take it for theirs.
inline constexpr const char* continuing_variable = "PACE_CONTINUE_PROCESS";
/// Set for a process that is watched by another, which starts it anew when it dies (see supervisor.hpp): its number.
inline constexpr const char* supervised_variable = "PACE_SUPERVISED_PROCESS";

/// Whether the variable holds the number of this process.
[[nodiscard]] inline bool names_this_process(const char* variable) {
  return environment_variable(variable) == std::to_string(::getpid());
}

/// A process may end before its tests do: a CUDA context in which a kernel has done something illegal, or never ends,
/// cannot be had back; an implementation may crash. Then the program runs anew, with the same command line. There the
/// tests run again from the first one on, but comparisons whose results are known are not measured again: they return
/// what was found, which is published and judged as before, so that every file and the exit code are those of one run.
/// The comparison that ended the process is known, too; hence each new process gets further, and there is an end.
class Continuation : public RunContext::Checkpoint {
 public:
  /// Throws InputError if the file that the variable names is not what another process leaves.
  explicit Continuation(char** arguments) : arguments_(arguments) {
    const std::string path = environment_variable(continuation_variable);
    const bool for_another =
        !environment_variable(continuing_variable).empty() && !names_this_process(continuing_variable);
    if (!path.empty() && !for_another) take_over(path);
    supervised_ = names_this_process(supervised_variable);
    run_context().recollection = this;
  }
  Continuation(const Continuation&) = delete;
  ~Continuation() override {
    run_context().recollection = nullptr;
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  /// Whether an earlier process has left something.
  [[nodiscard]] bool continues() const { return !known_.empty() || !fates_.empty(); }

  /// Also of an earlier run.
  void remember(Result result) {
    result.recalled = true;
    keep(line_of(result));
    known_.push_back(std::move(result));
  }

  /// Everything that will be recalled, in the order in which it was found.
  void for_each_known(const std::function<void(const Result&)>& use) const {
    for (const auto& each : known_) use(each);
  }

  [[nodiscard]] bool knows(const std::string& name) const override {
    for (const auto& each : known_)
      if (each.name == name) return true;
    for (const auto& each : fates_)
      if (each.comparison == name) return true;
    return false;
  }

  bool recall(const std::string& name, Result& result) override {
    if (supervised_) leave_signals_to_supervisor();
    for (auto each = known_.begin(); each != known_.end(); ++each) {
      if (each->name != name) continue;
      result = std::move(*each);
      known_.erase(each);
      return true;
    }
    return false;
  }

  bool next_fate(const std::string& name, RunContext::PriorFailure& fate) override {
    for (auto each = fates_.begin(); each != fates_.end(); ++each) {
      if (each->comparison != name) continue;
      fate = std::move(each->fate);
      fates_.erase(each);
      return true;
    }
    return false;
  }

  /// Keeps a result, once it is written. Does not return if this one's device is lost: the fresh process begins. Where
  /// that cannot be, `out` says so, and later comparisons on the device are reported as unreached.
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
        }
      }
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (!problem.empty()) throw InputError({path}, "is not what an earlier process found: " + problem);
  }

  /// A suite's samples would fill the memory. What goes wrong matters only once a device is lost.
  void keep(const std::string& line) {
    if (descriptor_ < 0 && trouble_.empty()) descriptor_ = open_unnamed_file(trouble_);
    if (trouble_.empty()) trouble_ = append_all(descriptor_, line);
  }

  /// Catch2 catches signals during a test, and reports them as if the run ended there. This run does not.
  static void leave_signals_to_supervisor() {
    for (const int number : {SIGINT, SIGTERM, SIGSEGV, SIGILL, SIGFPE, SIGABRT, SIGBUS}) ::signal(number, SIG_DFL);
    take_back_when_ended();
  }

  void execute() {
    if (!trouble_.empty()) throw Error(trouble_);
    const std::string self = this_program();
    ::setenv(continuation_variable, ("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), 1);
    ::setenv(continuing_variable, std::to_string(::getpid()).c_str(), 1);
    // What is ignored outlives exec, and would be taken for inherited there.
    for (const int number : {SIGPIPE, SIGXFSZ}) inherited_signals.restore(number);
    ::execv(self.c_str(), arguments_);
    throw Error("cannot execute " + self + ": " + std::strerror(errno));
  }

  char** const arguments_;
  bool supervised_ = false;
  /// What was not asked for yet.
  std::vector<Result> known_;
  std::vector<Ended> fates_;
  /// The file of everything published so far, recalled or new; below 0 before the first of it.
  int descriptor_ = -1;
  /// Why it cannot be kept; empty: it can.
  std::string trouble_;
};

}  // namespace pace::runner
