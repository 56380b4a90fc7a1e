// --processes: a program runs its tests in several processes of itself, one after another, and judges their gates.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/units.hpp"
#include "pace/gate/replicates.hpp"
#include "pace/result/result.hpp"
#include "pace/run/exit_code.hpp"
#include "pace/runner/own_process.hpp"
#include "pace/runner/repeat.hpp"
#include "pace/runner/replicate_sink.hpp"

namespace pace::runner {

/// Result files of a run of several processes; each process has its own, by its number. Empty: none.
struct ReplicateFiles {
  std::string csv = {};    ///< path of `--csv`
  std::string json = {};   ///< path of `--json`
  std::string junit = {};  ///< path of `--junit`
  /// Files that are not named by an option; see own_path().
  std::vector<std::string> more = {};

  /// Returns all paths that are not empty.
  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> paths;
    for (const auto* path : {&csv, &json, &junit})
      if (!path->empty()) paths.push_back(*path);
    paths.insert(paths.end(), more.begin(), more.end());
    return paths;
  }
};

namespace detail {

/// Returns the command line of one of several processes: `words` with the seed, the time that is left, and files of its
/// own in the place of the run's.
[[nodiscard]] std::vector<std::string> words_for_replicate(std::vector<std::string> words, const ReplicateFiles& files,
                                                           std::size_t process, std::uint64_t seed, Nanoseconds left);

/// Returns the environment of one of several processes, without the variables for files that Bazel expects of its
/// parent. Both processes have the folder of undeclared outputs, since relative paths refer to it.
[[nodiscard]] std::vector<std::string> environment_for_replicates(const std::string& file, std::size_t process);

/// Collects the rows and open questions of all processes, which are not findings on a speed-up.
class Rest {
 public:
  void add(const Left& left) {
    for (const auto& row : left.rows) rows_[{row.comparison, row.implementation}] |= row.measured;
    for (const auto& each : left.open) {
      auto [known, is_new] = open_.emplace(std::tuple{each.comparison, each.implementation, each.expectation}, each);
      known->second.acceptable = known->second.acceptable && each.acceptable;
    }
  }

  /// Adds all implementations, the `gates`, and the gates without figures to `account`. An implementation that no
  /// process measured is unreached. Returns the gates without figures that are not left open: claims that a
  /// process has not measured.
  [[nodiscard]] std::vector<OpenQuestion> tell(RunAccount& account,
                                               const std::vector<gate::ReplicatedGate>& gates) const {
    for (const auto& [name, measured] : rows_) account.add_outcome(measured ? Outcome::measured : Outcome::unreached);
    const auto add = [&](const std::string& comparison, const std::string& implementation, const Judgement& judgement) {
      ImplementationResult row;
      row.name = implementation;
      row.context.comparison = comparison;
      account.add(row, judgement);
    };
    for (const auto& gate : gates) add(gate.first.comparison, gate.first.implementation, gate.judgement);
    std::vector<OpenQuestion> unmeasured;
    for (const auto& [key, each] : open_) {
      const bool has_figures =
          std::any_of(gates.begin(), gates.end(), [&each = each](const gate::ReplicatedGate& gate) {
            return gate.first.comparison == each.comparison && gate.first.implementation == each.implementation &&
                   gate.first.expectation == each.expectation;
          });
      if (has_figures) continue;
      if (!each.acceptable) unmeasured.push_back(each);
      add(each.comparison, each.implementation,
          {.expectation = each.expectation,
           .verdict = Verdict::undecided,
           .acceptable = each.acceptable,
           .unresolved = each.acceptable});
    }
    return unmeasured;
  }

 private:
  /// By comparison and implementation: whether a process measured it.
  std::map<std::pair<std::string, std::string>, bool> rows_;
  /// By comparison, implementation and expectation.
  std::map<std::tuple<std::string, std::string, std::string>, OpenQuestion> open_;
};

}  // namespace detail

/// A run of several processes of this program with the same command line.
struct ReplicatedRun {
  std::vector<std::string> words;  ///< the command line
  ReplicateFiles files;            ///< given names; each process has files of its own beside them
  std::size_t most = 1;            ///< most processes
  std::uint64_t seed = 0;          ///< each process has a seed of its own, which follows from this one
  bool allow_undecided = false;    ///< exit code 0 in place of exit_undecided
  bool allow_unmeasured = false;   ///< goes on after a process that measures nothing
  std::ostream& out;               ///< gets a line for each process, and the gates
  std::ostream& err;               ///< gets what went wrong
  /// Gets the comparisons with a closed gate, each once, or what failed in a process for another reason.
  std::function<void(const std::vector<FailedCase>& failed)> on_failed;
  /// Gets the JSON file of each process that has written one.
  std::function<void(const std::string& json)> on_results;
};

/// Runs processes until every gate is decided. Returns the exit code of the program. It is exit_failed if a gate is
/// closed or a test of a process failed, and exit_error if a process ended in any other way. It is exit_undecided if an
/// open gate is undecided or no process reached an implementation, unless `allow_undecided` is set. Otherwise it is 0.
/// A process that measures nothing ends the run with exit_unmeasured. With `allow_unmeasured` the run goes on. If no
/// process measures anything, the code is then 0 unless an implementation was not reached. Throws Error if another run
/// or option writes to one of the files.
[[nodiscard]] int run_replicates(const ReplicatedRun& run);

}  // namespace pace::runner

#ifdef PACE_HEADER_ONLY
#include "pace/runner/replicates-inl.hpp"
#endif
