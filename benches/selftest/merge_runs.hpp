// Results of several processes, such as --runs_per_test or shards leave them, judged with the process as the unit.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "pace/args/command_line.hpp"
#include "pace/base/error.hpp"
#include "pace/gate/replicates.hpp"
#include "pace/gate/times.hpp"
#include "pace/report/replicates.hpp"
#include "pace/report/results_file.hpp"
#include "pace/report/stored_baseline.hpp"
#include "tools/compare_results/compare_program.hpp"

namespace pace::benches::selftest {

/// One file's speed-ups of every candidate over the baseline of its own run. A candidate that was disturbed or not
/// reached has a finding without a figure, so that its gate is open only if other processes have figures. Throws Error
/// if an implementation computed something else, threw, crashed, hung or ran out of memory: no number of processes
/// mends that.
[[nodiscard]] inline std::vector<gate::Finding> findings_of(const report::ResultsFile& file,
                                                            const Expectation& expectation) {
  const auto& demand = expectation.demand();
  const gate::Rates defaults;
  const DemandedSpeed demanded{demand.burden == gate::Burden::guard,
                               demand.limit,
                               defaults.alpha,
                               defaults.beta,
                               demand.closes_when_undecided(),
                               demand.when_undecided == WhenUndecided::let_through};
  std::vector<gate::Finding> findings;
  for (const auto& result : file.results)
    for (const auto& row : result.implementations) {
      if (at_fault(row.outcome))
        throw Error(file.path + ": '" + result.name + "': '" + row.name + "' " + to_string(row.outcome) + ": " +
                    row.message);
      for (const auto objection : {Severity::impossible, Severity::unproven})
        if (row.context.has(objection) && (objection == Severity::impossible || !demanded.guard))
          throw Error(file.path + ": '" + result.name + "': '" + row.name + "': " + row.context.describe(objection) +
                      "; no number of processes mends that");
      if (row.is_baseline || row.outcome == Outcome::refused) continue;
      findings.push_back({result.name, row.name, demand.describe(), demanded, gate::centre_of(row),
                          row.context.describe(Severity::unchecked)});
    }
  return findings;
}

/// Prints the table. Returns 0 if every gate is open, 1 if one is closed, 43 if one is let through undecided and
/// `allow_undecided` is not set. Throws Error if a file cannot be read or is there twice, or if there is nothing to
/// judge.
inline int merge_runs(const std::vector<std::string>& paths, const Expectation& expectation, std::ostream& out,
                      bool allow_undecided = false) {
  gate::Replicates replicates;
  std::vector<report::ResultsFile> files;
  for (const auto& path : paths) {
    files.push_back(report::read_results_file(path));
    const auto& added = files.back();
    for (std::size_t i = 0; i + 1 < files.size(); ++i)
      if (files[i].path == added.path) throw Error(path + " is named twice; each file is one process");
    if (added.cut_off) throw Error(path + " is cut off; expected all results of its process");
    replicates.add_process(findings_of(added, expectation));
  }
  if (const auto fault = report::inconsistent(files, {}); !fault.empty()) throw Error(fault);
  const auto has_no_figure = [](const gate::ReplicatedGate& gate) { return gate.centres.empty(); };
  if (std::ranges::all_of(replicates.gates(), has_no_figure)) throw Error("the files hold no speed-ups to judge");
  report::print(replicates, out);
  if (!replicates.acceptable()) return tools::compare_results::not_acceptable;
  const auto is_unresolved = [](const gate::ReplicatedGate& gate) { return gate.judgement.unresolved; };
  return !allow_undecided && std::ranges::any_of(replicates.gates(), is_unresolved)
             ? tools::compare_results::not_resolved
             : tools::compare_results::all_acceptable;
}

inline constexpr const char* merge_usage =
    R"(merge_runs RESULTS.json... [options]

Each file is what one process wrote with --json, or left as results.json in its undeclared outputs (--runs_per_test).
Judges every candidate's speed-up over the baseline of its own run; processes are drawn at random, so each is
one unit. Exit code: 0 if every gate is open, 1 if one is closed, 2 on bad input, 43 if none is closed but a guard is
let through undecided (0 with --allow-undecided).
)";

namespace detail {

struct MergeLine {
  std::optional<double> no_slower_than, speedup_at_least;
  bool allow_undecided = false;
};

/// The options; `line` must outlive them.
[[nodiscard]] inline args::Groups merge_options(MergeLine& line) {
  using args::Option;
  return {
      {"Judging",
       {Option("--no-slower-than", "fail a candidate that is proven to take more than this times the baseline's time",
               args::factor(line.no_slower_than))
            .once()
            .by_default("1.02"),
        Option("--speedup-at-least", "instead: pass only a candidate that is proven to be this much faster",
               args::factor(line.speedup_at_least))
            .once()
            .excludes({"--no-slower-than"}, "it is a second limit; expected one of them"),
        {"--allow-undecided", "exit code 0, not 43, for a guard that is let through undecided",
         args::flag(line.allow_undecided)}}}};
}

}  // namespace detail

/// All of the program but main; `resolve` finds a file that the command line names. Throws Error for a command line or
/// a file that it cannot use.
[[nodiscard]] inline int merge_runs_program(const std::vector<std::string>& words,
                                            const std::function<std::string(const std::string&)>& resolve,
                                            std::ostream& out) {
  detail::MergeLine line;
  const auto options = detail::merge_options(line);
  std::vector<std::string> files;
  if (args::parse(options, words, {.words = &files}).help) return out << merge_usage << args::help(options), 0;
  if (files.empty()) throw InputError({}, "expected files of results; see --help");
  for (auto& file : files) file = resolve(file);
  return merge_runs(files,
                    line.speedup_at_least ? Expectation(SpeedupAtLeast(*line.speedup_at_least))
                                          : Expectation(NoSlowerThan(line.no_slower_than.value_or(1.02))),
                    out, line.allow_undecided);
}

}  // namespace pace::benches::selftest
