// Results of several processes, such as --runs_per_test or shards leave them, judged with the process as the unit.
#pragma once

#include <cmath>
#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "pace/baseline/results_file.hpp"
#include "pace/core/error.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/replicates.hpp"
#include "pace/report/replicates.hpp"

namespace pace::selftest {

/// What one file says of every candidate's speed-up over the baseline of its own run. Throws Error if an
/// implementation computed something else, or threw: no number of processes mends that.
[[nodiscard]] inline std::vector<gate::Finding> findings_of(const baseline::ResultsFile& file,
                                                            const Expectation& expectation) {
  const auto& demand = expectation.demand();
  const gate::Rates defaults;
  const DemandedSpeed demanded{demand.burden == gate::Burden::guard, demand.limit, defaults.alpha, defaults.beta,
                               demand.closes_when_undecided()};
  std::vector<gate::Finding> findings;
  for (const auto& result : file.results)
    for (const auto& row : result.implementations) {
      if (row.outcome == Outcome::wrong || row.outcome == Outcome::threw)
        throw Error(file.path + ": '" + result.name + "': '" + row.name + "' " + to_string(row.outcome) + ": " +
                    row.message);
      // A process that other work disturbed found nothing.
      if (row.is_baseline || !row.speedup || !row.context.disturbance.empty()) continue;
      findings.push_back(
          {result.name, row.name, demand.describe(), demanded, std::log(row.speedup->median)});
    }
  return findings;
}

/// Prints the table. Returns 0 if every gate is open, 1 if one is closed. Throws Error if a file cannot be read or is
/// there twice, or if there is nothing to judge.
inline int merge_runs(const std::vector<std::string>& paths, const Expectation& expectation, std::ostream& out) {
  gate::Replicates replicates;
  std::vector<baseline::ResultsFile> files;
  for (const auto& path : paths) {
    files.push_back(baseline::read_results_file(path));
    const auto& added = files.back();
    for (std::size_t i = 0; i + 1 < files.size(); ++i)
      if (files[i].path == added.path) throw Error(path + " is named twice; each file is one process");
    replicates.add_process(findings_of(added, expectation));
  }
  if (replicates.gates().empty()) throw Error("the files hold no speed-ups to judge");
  report::print(replicates, out);
  return replicates.acceptable() ? 0 : 1;
}

}  // namespace pace::selftest
