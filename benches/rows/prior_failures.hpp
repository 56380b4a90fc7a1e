// How earlier processes of a run ended in one comparison.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/message_parts.hpp"
#include "pace/run/run_context.hpp"

namespace pace::benches {

/// How implementations ended earlier processes of this run in one comparison, while they were made ready or run.
class PriorFailures {
 public:
  /// Takes the failures in the comparison `name` out of run_context(), so that a later comparison of that name does not
  /// get them. Their messages name `place`, where the inputs were recorded; empty: that is unknown.
  explicit PriorFailures(const std::string& name, const std::string& place = "") {
    RunContext::PriorFailure failure;
    while (run_context().recollection != nullptr && run_context().recollection->next_fate(name, failure)) {
      if (!place.empty()) failure.message = add_to_reason(std::move(failure.message), " (" + place + ')');
      failures_.push_back(failure);
    }
  }

  /// The failure of the implementation with that index; null: it has not failed.
  [[nodiscard]] const RunContext::PriorFailure* of(std::size_t backend) const {
    const auto found =
        std::ranges::find(failures_, static_cast<std::int64_t>(backend), &RunContext::PriorFailure::implementation);
    return found == failures_.end() ? nullptr : &*found;
  }
  /// The failure of a process that was making the inputs; null: none has failed then.
  [[nodiscard]] const RunContext::PriorFailure* of_inputs() const {
    const auto found = std::ranges::find_if(failures_, [](const auto& each) { return each.implementation < 0; });
    return found == failures_.end() ? nullptr : &*found;
  }
  [[nodiscard]] bool empty() const { return failures_.empty(); }

 private:
  std::vector<RunContext::PriorFailure> failures_;
};

}  // namespace pace::benches
