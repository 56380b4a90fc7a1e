// Exit codes for what is neither a success nor a failed test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <ostream>
#include <set>
#include <string>

#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"

namespace pace {

/// Catch2's code of a failed test.
inline constexpr int exit_failed = 42;
/// A guard was let through although nothing is proven of it, or an implementation was not reached in time.
inline constexpr int exit_undecided = 43;
/// Nothing was measured: Catch2's own code where every test was skipped.
inline constexpr int exit_unmeasured = 4;

namespace detail {

[[nodiscard]] inline std::string fate_of_exit(int code, bool allowed, const std::string& option) {
  if (allowed) return " (allowed by " + option + " on)\n";
  return " (exit code " + std::to_string(code) + "; 0 with " + option + " on)\n";
}

}  // namespace detail

/// Bad options, files that cannot be written and results that got lost end with it. Catch2's own codes are 2 (no test
/// ran), 3 (a filter matched nothing), 4 (all skipped) and 42 (a test failed).
inline constexpr int exit_error = 1;

/// The exit code of a run in which nothing was measured, as `why` says, which goes to `errors`.
[[nodiscard]] inline int exit_without_figures(const std::string& why, bool allow_unmeasured, std::ostream& errors) {
  errors << "pace: " << why << detail::fate_of_exit(exit_unmeasured, allow_unmeasured, "--allow-unmeasured");
  return allow_unmeasured ? 0 : exit_unmeasured;
}

/// What a run amounts to for its exit code, from all that it publishes.
class RunAccount {
 public:
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
    }
  }
  /// One row of a program that publishes no comparisons.
  void add_row(bool measured, bool unresolved) {
    has_rows_ = true;
    measured_ += measured;
    unresolved_rows_ += unresolved;
  }
  /// One implementation of a comparison that other processes have published.
  void add_row(Outcome outcome) {
    has_rows_ = true;
    measured_ += outcome == Outcome::measured;
    unreached_ += outcome == Outcome::unreached;
  }
  /// A judgement on a comparison that was added before, as several processes make it together. One that repeats another
  /// counts once.
  void add(const ImplementationResult& row, const Judgement& judgement) {
    const auto known = comparisons_.find(row.context.comparison);
    const auto times = known == comparisons_.end() ? 0 : known->second;
    add(row.context.comparison + '#' + std::to_string(times), row, judgement);
  }
  /// Catch2's totals.
  void add_tests(std::uint64_t tests, std::uint64_t assertions) {
    tests_ += tests;
    assertions_ += assertions;
  }

  /// Why a run that ended with Catch2's `code` ends with `exit_unmeasured`; empty where it does not.
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
  /// Whether a run ends with `exit_code`, which is not 0, for reasons of the machine alone: nothing has failed, and what
  /// is open is so since the machine was disturbed or lacks a device. `failed_assertions` is Catch2's count; those that
  /// no such row or judgement accounts for are about something else.
  [[nodiscard]] bool is_for_machine(int exit_code, std::uint64_t failed_assertions) const {
    if (failed_ > 0 || lost_ > 0) return false;
    if (exit_code == exit_unmeasured) return true;
    if (open_ > 0) return false;
    return exit_code == exit_undecided ? unreached_ == 0 : exit_code == exit_failed && failed_assertions <= machines_;
  }
  /// Whether nothing was published.
  [[nodiscard]] bool empty() const { return !has_rows_; }

  /// `code` unless that is 0, or `exit_unmeasured`, and must not stay so; then it says why in `errors`.
  [[nodiscard]] int exit_code(int code, bool allow_undecided, bool allow_unmeasured, std::ostream& errors) const {
    // What was not reached for it is no matter of time, which options allow.
    if ((code == 0 || code == exit_unmeasured) && lost_ > 0) {
      errors << "pace: " << lost_ << (lost_ == 1 ? " comparison" : " comparisons") << " lost the device\n";
      return exit_failed;
    }
    if (const auto reason = why_unmeasured(code); !reason.empty())
      code = exit_without_figures(reason, allow_unmeasured, errors);
    if (code != 0 || (unresolved_.empty() && unresolved_rows_ == 0 && unreached_ == 0)) return code;
    const std::string tail = detail::fate_of_exit(exit_undecided, allow_undecided, "--allow-undecided");
    if (const auto guards = unresolved_.size() + unresolved_rows_; guards > 0)
      errors << "pace: " << guards << (guards == 1 ? " guard was" : " guards were")
             << " let through undecided: neither a regression nor its absence is proven" << tail;
    if (unreached_ > 0)
      errors << "pace: " << unreached_ << (unreached_ == 1 ? " implementation was" : " implementations were")
             << " not reached in time, so that nothing is known of " << (unreached_ == 1 ? "it" : "them") << tail;
    return allow_undecided ? 0 : exit_undecided;
  }

 private:
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

  /// How often a comparison of each name was published.
  std::map<std::string, std::size_t> comparisons_;
  /// Guards by comparison, implementation and expectation.
  std::set<std::string> unresolved_;
  /// Names of comparisons on a device that is not there.
  std::set<std::string> without_device_;
  bool has_rows_ = false;
  std::size_t measured_ = 0, unreached_ = 0, lost_ = 0, unresolved_rows_ = 0;
  /// Rows and judgements that failed; that are not acceptable for reasons of the machine; that are open for others.
  std::size_t failed_ = 0, machines_ = 0, open_ = 0;
  std::uint64_t tests_ = 0, assertions_ = 0;
};

}  // namespace pace
