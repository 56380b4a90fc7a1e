// Exit codes for what is neither a success nor a failed test.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>

#include "pace/core/result.hpp"
#include "pace/core/verdict.hpp"

namespace pace::harness {

/// A guard was let through although nothing is proven of it. (A failed test has Catch2's 42.)
inline constexpr int exit_undecided = 43;
/// Nothing was measured: Catch2's own code where every test was skipped.
inline constexpr int exit_unmeasured = 4;

/// What a run amounts to for its exit code, from all that it publishes.
class RunAccount {
 public:
  void add(const Result& result) {
    ++comparisons_;
    for (const auto& row : result.implementations) {
      measured_ += row.outcome == Outcome::measured;
      for (const auto& judgement : row.judgements) unresolved_ += judgement.unresolved;
    }
  }
  void add(const Judgement& judgement) { unresolved_ += judgement.unresolved; }

  /// `code` unless that is 0 and must not stay so; then it says why in `errors`.
  [[nodiscard]] int exit_code(int code, bool allow_undecided, bool allow_unmeasured, std::ostream& errors) const {
    if (code == exit_unmeasured || (code == 0 && comparisons_ > 0 && measured_ == 0)) {
      errors << "pace: " << (code == 0 ? "no implementation could be measured" : "every test was skipped")
             << "; nothing was measured" << tail(exit_unmeasured, allow_unmeasured, "--allow-unmeasured");
      return allow_unmeasured ? 0 : exit_unmeasured;
    }
    if (code == 0 && unresolved_ > 0) {
      errors << "pace: " << unresolved_ << (unresolved_ == 1 ? " guard was" : " guards were")
             << " let through undecided: neither a regression nor its absence is proven"
             << tail(exit_undecided, allow_undecided, "--allow-undecided");
      return allow_undecided ? 0 : exit_undecided;
    }
    return code;
  }

 private:
  [[nodiscard]] static std::string tail(int code, bool allowed, const std::string& option) {
    if (allowed) return " (allowed by " + option + " on)\n";
    return " (exit code " + std::to_string(code) + "; 0 with " + option + " on)\n";
  }

  std::size_t comparisons_ = 0, measured_ = 0, unresolved_ = 0;
};

}  // namespace pace::harness
