// RunAccount: the exit code of a run, with codes for runs that neither succeeded nor failed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "pace/base/cut_text.hpp"
#include "pace/result/result.hpp"
#include "pace/result/verdict.hpp"

namespace pace {

/// Exit code of Catch2 for a failed test.
inline constexpr int exit_failed = 42;
/// Exit code if an undecided guard was let through, or the time ended before an implementation ran.
inline constexpr int exit_undecided = 43;
/// Exit code if nothing was measured. Catch2 uses it when every test was skipped.
inline constexpr int exit_unmeasured = 4;

namespace detail {

[[nodiscard]] inline std::string fate_of_exit(int code, bool allowed, const std::string& option) {
  if (allowed) return " (allowed by " + option + " on)\n";
  return " (exit code " + std::to_string(code) + "; 0 with " + option + " on)\n";
}

}  // namespace detail

/// Exit code for bad options, files that cannot be written and lost results. Catch2's own codes are 2 (no test ran), 3
/// (a filter matched nothing), 4 (all skipped) and 42 (a test failed).
inline constexpr int exit_error = 1;

/// Returns the exit code of a run that measured nothing, and prints the reason `why` to `errors`.
[[nodiscard]] inline int exit_without_figures(const std::string& why, bool allow_unmeasured, std::ostream& errors) {
  errors << "pace: " << why << detail::fate_of_exit(exit_unmeasured, allow_unmeasured, "--allow-unmeasured");
  return allow_unmeasured ? 0 : exit_unmeasured;
}

/// Determines the exit code of a run from its published results, rows and judgements.
class RunAccount {
 public:
  /// Adds a comparison with its rows and judgements.
  void add(const Result& result) {
    has_rows_ = true;
    const std::string name = result.name + '#' + std::to_string(++comparisons_[result.name]);
    lost_ += !result.lost_device.empty();
    if (!result.missing_device.empty()) without_device_.insert(result.name);
    for (const auto& row : result.implementations) {
      measured_ += row.outcome == Outcome::measured;
      unreached_ += row.outcome == Outcome::unreached;
      failed_ += at_fault(row.outcome);
      machines_ += row.outcome == Outcome::refused && !result.missing_device.empty();
      for (const auto& judgement : row.judgements) add(name, row, judgement);
      add_failures(result, row);
    }
  }
  /// Adds one row of a program that publishes no comparisons.
  void add_row(bool measured, bool unresolved) {
    has_rows_ = true;
    measured_ += measured;
    unresolved_rows_ += unresolved;
  }
  /// Adds one implementation of a comparison that other processes published.
  void add_outcome(Outcome outcome) {
    has_rows_ = true;
    measured_ += outcome == Outcome::measured;
    unreached_ += outcome == Outcome::unreached;
  }
  /// Adds a joint judgement of several processes on a comparison added before. Equal judgements count once.
  void add(const ImplementationResult& row, const Judgement& judgement) {
    const auto known = comparisons_.find(row.context.comparison);
    const auto times = known == comparisons_.end() ? 0 : known->second;
    add(row.context.comparison + '#' + std::to_string(times), row, judgement);
  }
  /// Adds the numbers of tests and assertions that Catch2 reports.
  void add_tests(std::uint64_t tests, std::uint64_t assertions) {
    tests_ += tests;
    assertions_ += assertions;
  }

  /// Returns why a run with Catch2's exit code `code` ends with `exit_unmeasured`; empty if it does not.
  [[nodiscard]] std::string why_unmeasured(int code) const {
    const auto nothing = [](const std::string& reason) { return reason + "; nothing was measured"; };
    if (code == exit_unmeasured)
      return measured_ == 0 ? nothing("every test was skipped")
                            : "every test was skipped, though not before " + std::to_string(measured_) +
                                  (measured_ == 1 ? " implementation was measured" : " implementations were measured");
    if (code != 0) return {};
    if (has_rows_) return measured_ == 0 ? nothing("no implementation could be measured") : "";
    return tests_ > 0 && assertions_ == 0 ? nothing("no test made a comparison or an assertion") : "";
  }
  /// Returns whether the machine alone is the reason for `exit_code`, which is not 0: nothing failed, and everything
  /// open is so because the machine was disturbed or lacks a device. More `failed_assertions`, Catch2's count, than
  /// such rows and judgements mean that something else failed.
  [[nodiscard]] bool is_for_machine(int exit_code, std::uint64_t failed_assertions) const {
    if (failed_ > 0 || lost_ > 0) return false;
    if (exit_code == exit_unmeasured) return true;
    if (open_ > 0) return false;
    return exit_code == exit_undecided ? unreached_ == 0 : exit_code == exit_failed && failed_assertions <= machines_;
  }
  /// Returns the failures in published results that no matcher has examined: implementations at fault, and judgements
  /// that close their gate. Catch2's exit code `code` does not include them. Empty if `code` reports another failure.
  [[nodiscard]] std::vector<std::string> unexamined(int code) const {
    std::vector<std::string> found;
    if (code != 0 && code != exit_unmeasured) return found;
    for (const auto& each : failures_) {
      // A test that is skipped because it lacks a device has no gate that could be closed.
      if (each.no_device && code != 0) continue;
      if (!(each.examined->outcome && each.is_of_outcome) && !each.examined->judgements) found.push_back(each.what);
    }
    return found;
  }
  /// Returns whether nothing was added.
  [[nodiscard]] bool empty() const { return !has_rows_; }

  /// Returns the exit code of the run for Catch2's `code`, and prints to `errors` why it differs. `allow_undecided` and
  /// `allow_unmeasured` turn the respective exit codes into 0.
  [[nodiscard]] int exit_code(int code, bool allow_undecided, bool allow_unmeasured, std::ostream& errors) const {
    // A lost device is a failure, which no option allows.
    if ((code == 0 || code == exit_unmeasured) && lost_ > 0) {
      errors << "pace: " << lost_ << (lost_ == 1 ? " comparison" : " comparisons") << " lost the device\n";
      return exit_failed;
    }
    if (const auto failed = unexamined(code); !failed.empty()) {
      for (const auto& each : failed) errors << "pace: " << each << '\n';
      errors << "pace: no assertion has examined " << (failed.size() == 1 ? "this failure" : "these failures")
             << ", so the run fails; expected CHECK_THAT(result, pace::AsExpected())\n";
      return exit_failed;
    }
    if (const auto reason = why_unmeasured(code); !reason.empty())
      code = exit_without_figures(reason, allow_unmeasured, errors);
    if (code != 0 || (unresolved_.empty() && unresolved_rows_ == 0 && unreached_ == 0)) return code;
    const std::string tail = detail::fate_of_exit(exit_undecided, allow_undecided, "--allow-undecided");
    if (const auto guards = unresolved_.size() + unresolved_rows_; guards > 0)
      errors << "pace: " << std::to_string(guards) << (guards == 1 ? " guard was" : " guards were")
             << " let through undecided: neither a regression nor its absence is proven" << tail;
    if (unreached_ > 0)
      errors << "pace: " << std::to_string(unreached_)
             << (unreached_ == 1 ? " implementation was" : " implementations were")
             << " not reached in time, so that nothing is known of " << (unreached_ == 1 ? "it" : "them") << tail;
    return allow_undecided ? 0 : exit_undecided;
  }

 private:
  struct Failure {
    std::string what;
    std::shared_ptr<const Examined> examined;
    /// Whether the implementation is the reason. Matchers of correctness report that as well.
    bool is_of_outcome = false;
    bool no_device = false;
  };

  void add_failures(const Result& result, const ImplementationResult& row) {
    const auto note = [&](const std::string& found) {
      failures_.push_back({case_name(result) + ": '" + row.name + "' " + found, row.examined,
                           at_fault(row.outcome) || row.outcome == Outcome::refused,
                           row.outcome == Outcome::refused && !result.missing_device.empty()});
    };
    if (at_fault(row.outcome)) {
      // Its judgements failed for the same reason, and a phase has the outcome of the whole.
      if (result.phase.empty()) note(std::string(to_string(row.outcome)) + ": " + cut_text(row.message));
      return;
    }
    for (const auto& judgement : row.judgements)
      if (!judgement.acceptable && !judgement.deferred)
        note("was expected to have a " + judgement.expectation + ": " + to_string(judgement.verdict));
  }

  void add(const std::string& comparison, const ImplementationResult& row, const Judgement& judgement) {
    if (judgement.unresolved) unresolved_.insert(comparison + '\n' + row.name + '\n' + judgement.expectation);
    if (judgement.acceptable && !judgement.unresolved) return;
    const bool no_device = row.outcome == Outcome::refused && without_device_.contains(row.context.comparison);
    if (judgement.verdict == Verdict::failed)
      ++failed_;
    else if (no_device || !row.context.disturbance.empty())
      machines_ += !judgement.acceptable;
    else
      ++open_;
  }

  /// Number of published comparisons by name.
  std::map<std::string, std::size_t> comparisons_;
  /// Guards by comparison, implementation and expectation.
  std::set<std::string> unresolved_;
  /// Names of comparisons on a device that does not exist.
  std::set<std::string> without_device_;
  std::vector<Failure> failures_;
  bool has_rows_ = false;
  std::size_t measured_ = 0, unreached_ = 0, lost_ = 0, unresolved_rows_ = 0;
  /// Rows and judgements that failed, that are not acceptable because of the machine, and that are open otherwise.
  std::size_t failed_ = 0, machines_ = 0, open_ = 0;
  std::uint64_t tests_ = 0, assertions_ = 0;
};

}  // namespace pace
