// Correct: every implementation ran and computed what the baseline computes.
#pragma once

#include <string>

#include "pace/core/result.hpp"

namespace pace {

/// Catch2 matcher for a whole Result or for one implementation of it. An implementation that threw, was refused or
/// was never compared is not correct either.
class Correct {
 public:
  bool match(const Result& result) const {
    problems_.clear();
    for (const auto& each : result.implementations) look_at(each);
    if (result.implementations.empty()) problems_ = "\n  it has no implementations";
    return problems_.empty();
  }
  bool match(const ImplementationResult& result) const {
    problems_.clear();
    look_at(result);
    return problems_.empty();
  }
  [[nodiscard]] std::string toString() const {
    return problems_.empty() ? "is correct" : "was expected to be correct, but:" + problems_;
  }

 private:
  void look_at(const ImplementationResult& each) const {
    if (each.outcome == Outcome::measured && each.checked) return;
    const bool unchecked = each.outcome == Outcome::measured;
    problems_ += "\n  '" + each.name + "' " +
                 (unchecked ? "was not checked: its outputs hold nothing that can be compared"
                            : std::string(to_string(each.outcome)) + ": " + each.message);
  }

  mutable std::string problems_;
};

}  // namespace pace
