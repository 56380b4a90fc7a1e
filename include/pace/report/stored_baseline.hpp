// StoredBaseline: what other processes found earlier, and verdicts against it.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "pace/core/config.hpp"
#include "pace/core/error.hpp"
#include "pace/core/result.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/judge.hpp"
#include "pace/gate/times.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/results_file.hpp"

namespace pace::report {

/// Keys of the environment in a results file. Hosts of one kind count as one machine, since a CI's hosts change names
/// with every job; the kernel counts, since its scheduler and its mitigations do.
[[nodiscard]] const std::vector<std::string>& identity_keys();

/// Keys of a result that must be the same as well: what was measured, and by what.
[[nodiscard]] const std::vector<std::string>& measurement_keys();

/// In one sentence, which of them differ between two results of one name; empty if none does. `allowed` keys may differ.
[[nodiscard]] std::string measurement_differences(const Result& then, const Result& now,
                                                  const std::vector<std::string>& allowed = {});

/// In one sentence, which keys of the environment differ; empty if none does. `allowed` keys may differ. What is not known on
/// both sides agrees.
[[nodiscard]] std::string differences(const Environment& then, const Environment& now,
                                      const std::vector<std::string>& allowed = {});

/// What is expected of every implementation, held against itself in earlier processes.
struct Settings {
  Expectation expectation = NoSlowerThan(1.05);
  /// Compare speed-ups over the baseline of each process's own run, in place of times: what the machine does to both
  /// cancels, and the baseline's own code must not have changed.
  bool by_speedup = false;
  /// Error rates of all implementations of one comparison together.
  gate::Rates family = {};
  /// Standard deviation between processes, if the user knows it: 0.01 is 1 %.
  std::optional<double> spread = {};
  /// Keys of the environment that may differ.
  std::vector<std::string> allowed = {};
};

/// Whether two files are of one process: a copy is no second measurement.
[[nodiscard]] bool same_process(const ResultsFile& one, const ResultsFile& other);

/// Why the files cannot stand for several runs of one thing; empty: they can.
[[nodiscard]] std::string inconsistent(const std::vector<ResultsFile>& files, const std::vector<std::string>& allowed);

namespace detail {

/// The rows of `implementation` in `comparison`, one per process that has it, and the results that they stand in.
struct Found {
  std::vector<const ImplementationResult*> rows;
  std::vector<const Result*> results;
  bool twice = false;
};

/// In one sentence, what was measured otherwise than in `now`; empty if nothing was.
[[nodiscard]] std::string first_measurement_difference(const Found& found, const Result& now,
                                                       const std::vector<std::string>& allowed);

[[nodiscard]] Found find(const std::vector<ResultsFile>& files, const std::string& comparison,
                         const std::string& implementation);

/// ln of a speed; none where there is no figure.
[[nodiscard]] std::optional<double> number_of(const ImplementationResult& row, bool by_speedup);

}  // namespace detail

/// What the settings expect, in words.
[[nodiscard]] std::string describe(const Settings& settings, const std::string& reference);

/// The verdict on one implementation: its rows now, one per process, against its rows then. `gates` share the error
/// rates. Nothing that cannot be compared passes.
[[nodiscard]] Judgement judge(const Settings& settings, const std::string& implementation,
                              const std::vector<const ImplementationResult*>& then,
                              const std::vector<const ImplementationResult*>& now, const std::string& reference,
                              std::size_t gates);

/// Baselines stored by earlier processes, for judging results of this one as they come.
class StoredBaseline {
 public:
  /// `environment` is this process's. Files of other machines, expired ones and copies are kept, but every judgement is
  /// then `invalid` with the reason.
  StoredBaseline(std::vector<ResultsFile> files, Settings settings, const Environment& environment, std::time_t now);

  /// Why nothing can be compared with it; empty: it can.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// Adds a judgement to each implementation of `result`.
  void judge_all(Result& result) const;

 private:
  std::vector<ResultsFile> files_;
  Settings settings_;
  std::string refusal_;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/stored_baseline-inl.hpp"
#endif
