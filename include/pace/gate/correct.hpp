// Correct: every implementation ran and computed what the baseline computes.
#pragma once

#include <string>

#include "pace/core/result.hpp"
#include "pace/gate/matcher.hpp"

namespace pace {

/// Catch2 matcher for a whole Result or for one implementation of it. An implementation that threw, was refused or
/// was never compared is not correct either. One that the program's time did not suffice for is not incorrect: it is let
/// through, and the program's exit code says so (see pace::RunAccount). `!Correct()` asks for one that ran and is not
/// correct.
class Correct : public Matcher {
 public:
  template <class R>
  bool match(const R& result) const {
    return holds(result);
  }
  [[nodiscard]] bool holds(const Result& result) const {
    problems_.clear();
    unreached_.clear();
    for (const auto& each : result.implementations) look_at(each);
    if (result.implementations.empty()) problems_ = "\n  it has no implementations";
    if (!result.lost_device.empty()) problems_ += "\n  its device was lost: " + result.lost_device;
    return problems_.empty();
  }
  [[nodiscard]] bool holds(const ImplementationResult& result) const {
    problems_.clear();
    unreached_.clear();
    look_at(result);
    return problems_.empty();
  }
  [[nodiscard]] bool fails(const Result& result) const {
    static_cast<void>(holds(result));
    for (const auto& each : result.implementations)
      if (at_fault(each.outcome)) return true;
    return false;
  }
  [[nodiscard]] bool fails(const ImplementationResult& result) const {
    static_cast<void>(holds(result));
    return at_fault(result.outcome);
  }
  [[nodiscard]] std::string toString() const {
    if (!problems_.empty()) return "was expected to be correct, but:" + problems_;
    return unreached_.empty() ? "is correct" : "is not known to be incorrect:" + unreached_;
  }

 private:
  void look_at(const ImplementationResult& each) const {
    if (each.outcome == Outcome::measured && each.checked) return;
    if (each.outcome == Outcome::unreached) {
      unreached_ += "\n  '" + each.name + "' was not measured: " + each.message;
      return;
    }
    const bool unchecked = each.outcome == Outcome::measured;
    problems_ += "\n  '" + each.name + "' " +
                 (unchecked ? "was not checked: its outputs hold nothing that can be compared"
                            : std::string(to_string(each.outcome)) + ": " + each.message);
  }

  mutable std::string problems_, unreached_;
};

}  // namespace pace
