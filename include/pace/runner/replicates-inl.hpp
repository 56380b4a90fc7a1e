// A program runs its tests in several processes of itself, one after another, and judges their gates.
#pragma once

#include "pace/runner/replicates.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "pace/base/error.hpp"
#include "pace/base/format.hpp"
#include "pace/base/random.hpp"
#include "pace/gate/replicates.hpp"
#include "pace/os/bazel.hpp"
#include "pace/os/file_descriptor.hpp"
#include "pace/os/output_file.hpp"
#include "pace/os/process.hpp"
#include "pace/os/read_file.hpp"
#include "pace/os/unfinished.hpp"
#include "pace/report/replicates.hpp"
#include "pace/report/text.hpp"
#include "pace/result/result.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/run/progress.hpp"
#include "pace/run/run_context.hpp"
#include "pace/runner/own_process.hpp"
#include "pace/runner/process_files.hpp"
#include "pace/runner/repeat.hpp"
#include "pace/runner/replicate_sink.hpp"
#include "pace/timing/wall.hpp"

namespace pace::runner {

namespace detail {

/// Returns the existing files of processes other than `own`: those with lower numbers, and those with higher numbers up
/// to the first that is missing. Files beyond the gap may belong to other programs.
[[nodiscard]] inline std::vector<std::string> files_of_others(const ReplicateFiles& files, std::size_t own) {
  std::vector<std::string> found;
  for (const auto& path : files.all()) {
    for (std::size_t process = 1;; ++process) {
      if (process == own) continue;
      auto file = of_process(path, process);
      struct stat info{};
      if (::lstat(file.c_str(), &info) == 0 && (S_ISREG(info.st_mode) || S_ISLNK(info.st_mode)))
        found.push_back(std::move(file));
      else if (process > own)
        break;
    }
  }
  return found;
}

/// Removes files that an earlier run left under the numbers of processes other than `process`, which is the first one
/// of this run to write its files: they would pass for files of this run. Throws Error if one cannot be removed.
inline void remove_files_of_earlier_run(const ReplicateFiles& files, std::size_t process, std::ostream& out) {
  for (const auto& file : files_of_others(files, process)) {
    if (::unlink(file.c_str()) != 0)
      throw Error("--processes: cannot remove '" + file + "', which an earlier run has left: " + std::strerror(errno));
    out << "removed " << report::printable(file) << ", which an earlier run has left\n";
  }
}

/// Returns a text that changes when one of the files of that process is written.
[[nodiscard]] inline std::string state_of_files(const ReplicateFiles& files, std::size_t process) {
  std::string state;
  for (const auto& path : files.all())
    if (struct stat info{}; ::stat(of_process(path, process).c_str(), &info) == 0)
      state += std::to_string(info.st_ino) + ' ' + std::to_string(info.st_size) + ' ' +
               std::to_string(info.st_mtim.tv_sec) + '.' + std::to_string(info.st_mtim.tv_nsec) + ' ';
  return state;
}

PACE_INLINE std::vector<std::string> words_for_replicate(std::vector<std::string> words, const ReplicateFiles& files,
                                                         std::size_t process, std::uint64_t seed, Nanoseconds left) {
  words.insert(words.end(), {"--processes", "1", "--seed", std::to_string(seed), "--allow-undecided", "on",
                             "--allow-unmeasured", "off"});
  // Seconds are read as a plain number.
  if (std::isfinite(left.count()))
    words.insert(words.end(),
                 {"--time-limit", format_fixed(std::max(std::chrono::duration<double>(left).count(), 0.001), 3)});
  for (const auto& [option, path] :
       {std::pair{"--csv", &files.csv}, {"--json", &files.json}, {"--junit", &files.junit}})
    if (!path->empty()) words.insert(words.end(), {option, of_process(*path, process)});
  return words;
}

PACE_INLINE std::vector<std::string> environment_for_replicates(const std::string& file, std::size_t process) {
  auto kept = environment_beside_test({replicate_variable, replicate_number_variable});
  kept.push_back(std::string(replicate_variable) + '=' + file);
  kept.push_back(std::string(replicate_number_variable) + '=' + std::to_string(process));
  return kept;
}

/// Runs the processes of a ReplicatedRun, and judges their findings.
class ReplicateProcesses {
 public:
  /// `run` must outlive it. The files under the given names serve as locks: another run or option with such a name is
  /// refused.
  explicit ReplicateProcesses(const ReplicatedRun& run) : run_(run), seeds_(run.seed) {
    for (const auto& path : run.files.all()) locks_.push_back(std::make_unique<OutputFile>(path));
  }
  ReplicateProcesses(const ReplicateProcesses&) = delete;
  ReplicateProcesses& operator=(const ReplicateProcesses&) = delete;
  /// Removes empty files of these names, such as one that a killed run has left: nothing is written to them.
  ~ReplicateProcesses() {
    for (const auto& path : run_.files.all())
      if (struct stat info{}; ::lstat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && info.st_size == 0)
        ::unlink(path.c_str());
  }

  [[nodiscard]] int run() {
    const auto& deadline = run_context().deadline;
    for (std::size_t process = 1; process <= run_.most && !replicates_.decided(); ++process) {
      const Nanoseconds start = clock_.now();
      // The first process runs even if no time is left, so that the names of unreached implementations are known.
      if (process > 1 && deadline && start + longest_ > deadline->time) {
        run_.out << "no further process: " << deadline->reason << '\n';
        break;
      }
      // The gates may be decided before the last of them.
      if (progress() != nullptr) progress()->part(process, run_.most);
      report_step({.what = "all tests in a process of its own"});
      const UnnamedFile found, output;
      const int code = run_process(process, start, found, output);
      if (const auto end = take(process, code, found, output)) return *end;
      if (code != exit_unmeasured) longest_ = std::max(longest_, clock_.now() - start);
    }
    return judge();
  }

 private:
  /// Runs one process, which began at `start`. Returns its exit code.
  [[nodiscard]] int run_process(std::size_t process, Nanoseconds start, const UnnamedFile& found,
                                const UnnamedFile& output) {
    const auto& deadline = run_context().deadline;
    const Nanoseconds left_over =
        deadline ? deadline->time - start : Nanoseconds(std::numeric_limits<double>::infinity());
    auto own_words = words_for_replicate(run_.words, run_.files, process, seeds_(), left_over);
    const auto before = state_of_files(run_.files, process);
    const ReplicateFiles of_results{.json = run_.files.json};
    const auto results_before = state_of_files(of_results, process);
    const int code = run_self(std::move(own_words), environment_for_replicates(found.path(), process), output);
    // Files stay until one is written: a start that fails, and a process that measures nothing, remove none.
    if (!has_written_ && state_of_files(run_.files, process) != before) {
      has_written_ = true;
      remove_files_of_earlier_run(run_.files, process, run_.out);
    }
    if (!run_.files.json.empty() && state_of_files(of_results, process) != results_before)
      run_.on_results(of_process(run_.files.json, process));
    return code;
  }

  /// Takes the findings that a process left in `found`. Returns the exit code of the run if it ends with this process.
  [[nodiscard]] std::optional<int> take(std::size_t process, int code, const UnnamedFile& found,
                                        const UnnamedFile& output) {
    const auto complain = [&](const std::string& what) {
      run_.err << "pace: process " << process << ' ' << what << ". What it printed:\n"
               << read_file(output.path(), "what it printed") << std::flush;
      return code == exit_failed || code == exit_unmeasured ? code : exit_error;
    };
    const std::string which = "process " + std::to_string(process) + " of at most " + std::to_string(run_.most);
    if (code == exit_unmeasured && run_.allow_unmeasured) {
      rest_.add(read_left(found.path()));
      run_.out << which << " measured nothing\n" << std::flush;
      return std::nullopt;
    }
    if (code != 0 && code != exit_failed) return complain("ended with exit code " + std::to_string(code));
    const auto left = read_left(found.path());
    if (!left.problems.empty() || (code != 0 && left.closed == 0)) {
      const int ended =
          complain(left.problems.empty() ? "failed for another reason than its gates on speed"
                                         : "found what no further process can mend: " + left.problems.front());
      run_.on_failed(left.failed);
      return ended;
    }
    if (left.empty) {
      run_.out << which << ": this shard has nothing to measure\n" << std::flush;
      return 0;
    }
    const bool reached_all =
        std::all_of(left.rows.begin(), left.rows.end(), [](const auto& row) { return row.measured; });
    // An implementation that was not reached, or a gate that is open, might have had a judgement.
    if (left.findings.empty() && left.open.empty() && reached_all)
      return complain("judged no speed-up, so there is nothing to replicate");
    rest_.add(left);
    replicates_.add_process(left.findings);
    run_.out << which << '\n' << std::flush;
    return std::nullopt;
  }

  /// Judges the gates by all processes. Returns the exit code.
  [[nodiscard]] int judge() const {
    RunAccount account;
    const auto& gates = replicates_.gates();
    const auto unmeasured = rest_.tell(account, gates);
    if (account.empty() && gates.empty())
      return exit_without_figures("no process could measure anything; nothing was measured", run_.allow_unmeasured,
                                  run_.err);
    if (!gates.empty()) {
      report::print(replicates_, run_.out);
      run_.out << std::flush;
    }
    std::vector<FailedCase> failed;
    const auto add = [&](const std::string& comparison) {
      if (std::ranges::find(failed, comparison, &FailedCase::name) == failed.end())
        failed.push_back({.test = "", .name = comparison});
    };
    for (const auto& gate : gates)
      if (!gate.judgement.acceptable) add(gate.first.comparison);
    for (const auto& each : unmeasured) {
      add(each.comparison);
      run_.err << "pace: "
               << report::printable('\'' + each.comparison + "': '" + each.implementation + "': " + each.expectation +
                                    " is not proven: a process has not measured it")
               << '\n'
               << std::flush;
    }
    if (failed.empty()) return account.exit_code(0, run_.allow_undecided, run_.allow_unmeasured, run_.err);
    run_.on_failed(failed);
    return exit_failed;
  }

  const ReplicatedRun& run_;
  SplitMix64 seeds_;
  std::vector<std::unique_ptr<OutputFile>> locks_;
  timing::WallClock clock_;
  gate::Replicates replicates_;
  Rest rest_;
  bool has_written_ = false;
  /// Time of the longest process.
  Nanoseconds longest_{};
};

}  // namespace detail

PACE_INLINE int run_replicates(const ReplicatedRun& run) { return detail::ReplicateProcesses(run).run(); }

}  // namespace pace::runner
