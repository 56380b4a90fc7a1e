// StoredBaseline: results of earlier processes, and verdicts against them.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/config.hpp"
#include "pace/base/error.hpp"
#include "pace/gate/expectation.hpp"
#include "pace/gate/judge.hpp"
#include "pace/gate/times.hpp"
#include "pace/report/environment.hpp"
#include "pace/report/processes.hpp"
#include "pace/report/results_file.hpp"
#include "pace/result/result.hpp"

namespace pace::report {

/// Returns the keys of the environment in a results file that must be equal. Hosts of one kind count as one machine,
/// since a CI's hosts change names with every job; the kernel is among the keys, since its scheduler and its
/// mitigations change times.
[[nodiscard]] const std::vector<std::string>& identity_keys();

/// Returns the keys of a result that must be equal as well: the inputs, the implementations and the clock.
[[nodiscard]] const std::vector<std::string>& measurement_keys();

/// Returns a sentence that names the measurement_keys() which differ between two results of one name; empty if none
/// does. `allowed` keys may differ.
[[nodiscard]] std::string measurement_differences(const Result& then, const Result& now,
                                                  const std::vector<std::string>& allowed = {});

/// Returns a sentence that names the identity_keys() which differ; empty if none does. `allowed` keys may differ. A
/// fact that is unknown on both sides counts as equal.
[[nodiscard]] std::string differences(const Environment& then, const Environment& now,
                                      const std::vector<std::string>& allowed = {});

/// The expectation of every implementation in comparison with itself in earlier processes.
struct Settings {
  /// The speed that is demanded; its reference is the implementation's own stored figures.
  Expectation expectation = NoSlowerThan(1.05);
  /// Compare speed-ups over the baseline of each process's own run, in place of times: what the machine does to both
  /// cancels, and the baseline's own code must not have changed.
  bool by_speedup = false;
  /// Error rates of all implementations of one comparison together.
  gate::Rates family = {};
  /// Standard deviation between processes, if it is known: 0.01 is 1 %.
  std::optional<double> spread = {};
  /// Keys of the environment that may differ.
  std::vector<std::string> allowed = {};
};

/// Returns whether two files come from one process: a copy is not a second measurement.
[[nodiscard]] bool same_process(const ResultsFile& one, const ResultsFile& other);

/// Returns why the files cannot be several runs of the same measurement; empty if they can.
[[nodiscard]] std::string inconsistent(const std::vector<ResultsFile>& files, const std::vector<std::string>& allowed);

namespace detail {

/// The rows of `implementation` in `comparison`, one per process that has it, and the results that they stand in.
struct Found {
  std::vector<const ImplementationResult*> rows;
  std::vector<const Result*> results;
  bool twice = false;
};

/// Returns a sentence that names what was measured otherwise than in `now`; empty if nothing was.
[[nodiscard]] std::string first_measurement_difference(const Found& found, const Result& now,
                                                       const std::vector<std::string>& allowed);

[[nodiscard]] Found find(const std::vector<ResultsFile>& files, const std::string& comparison,
                         const std::string& implementation);

/// Returns ln of a speed; none where there is no figure.
[[nodiscard]] std::optional<double> number_of(const ImplementationResult& row, bool by_speedup);

}  // namespace detail

/// Returns the expectation in words; `reference` names the side to compare with.
[[nodiscard]] std::string describe(const Settings& settings, const std::string& reference);

/// Returns the verdict on one implementation: its rows now, one per process, against its rows then. The error rates are
/// shared by as many `gates`. Rows that cannot be compared do not pass.
[[nodiscard]] ProcessVerdict judge(const Settings& settings, const std::string& implementation,
                                   const std::vector<const ImplementationResult*>& then,
                                   const std::vector<const ImplementationResult*>& now, const std::string& reference,
                                   std::size_t gates);

/// Baselines stored by earlier processes, for judging results of this one as they come.
class StoredBaseline {
 public:
  /// `environment`: of this process. `now`: in seconds since 1970. With files of other machines, expired
  /// files or copies every judgement is `invalid` and has the reason.
  StoredBaseline(std::vector<ResultsFile> files, Settings settings, const Environment& environment, std::time_t now);

  /// Returns why nothing can be compared with the stored files; empty if it can.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }

  /// Adds a judgement to each implementation of `result`. Returns the messages of those added that close the gate.
  std::vector<std::string> judge_all(Result& result) const;

 private:
  std::vector<ResultsFile> files_;
  Settings settings_;
  std::string refusal_;
};

}  // namespace pace::report

#ifdef PACE_HEADER_ONLY
#include "pace/report/stored_baseline-inl.hpp"
#endif
