// Participants: the implementations that a comparison still goes on with, and what became of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "pace/compare/implementation.hpp"
#include "pace/core/result.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// An implementation that is to leave the comparison, and why.
struct Drop {
  std::size_t index = 0;
  Outcome outcome = Outcome::wrong;
  std::string message = {};
};

/// A value that goes from stage to stage. Its functions are the rules by which one implementation's end concerns others:
/// without a baseline there is nothing to compare with, and on a lost device nothing more can run.
class Participants {
 public:
  /// At first all are pending. `names` are those of the comparison, in its order.
  Participants(std::vector<std::string> names, std::size_t baseline)
      : names_(std::move(names)), states_(names_.size()), baseline_(baseline) {}

  [[nodiscard]] std::size_t baseline() const { return baseline_; }
  /// Indices of those that are correct so far, ascending.
  [[nodiscard]] const std::vector<std::size_t>& remaining() const { return remaining_; }
  [[nodiscard]] bool empty() const { return remaining_.empty(); }
  [[nodiscard]] bool remains(std::size_t index) const {
    return std::binary_search(remaining_.begin(), remaining_.end(), index);
  }
  /// Neither admitted nor dropped.
  [[nodiscard]] bool pending(std::size_t index) const { return states_[index].pending; }
  [[nodiscard]] bool device_lost() const { return !lost_device_.empty(); }

  /// It is correct, and goes on.
  void admit(std::size_t index) {
    states_[index] = {.outcome = Outcome::measured, .pending = false};
    remaining_.insert(std::lower_bound(remaining_.begin(), remaining_.end(), index), index);
  }

  /// It does not go on, and without a baseline no other does.
  void drop(std::size_t index, Outcome outcome, std::string message) {
    states_[index] = {.outcome = outcome, .message = std::move(message), .pending = false};
    std::erase(remaining_, index);
    if (index != baseline_) return;
    for (const std::size_t other : std::exchange(remaining_, {})) drop_without_baseline(other);
  }
  /// The same of each that has not left already.
  void drop(const std::vector<Drop>& drops) {
    for (const auto& each : drops)
      if (remains(each.index)) drop(each.index, each.outcome, each.message);
  }

  void drop_without_baseline(std::size_t index) {
    const auto& lost = states_[baseline_];
    if (lost.outcome == Outcome::unreached) return drop(index, Outcome::unreached, lost.message);
    drop(index, Outcome::refused,
         "there is no baseline to compare with: '" + names_[baseline_] + "' " + to_string(lost.outcome) +
             (lost.message.empty() ? "" : ": " + lost.message));
  }

  void drop_failed(std::size_t index, const Failure& failure) {
    const bool missing = failure.device == Failure::Device::missing, lost = failure.device == Failure::Device::lost;
    if (missing) missing_device_ = failure.message;
    const auto outcome = failure.out_of_memory ? Outcome::out_of_memory : Outcome::threw;
    drop(index, missing ? Outcome::refused : outcome, failure.message);
    if (lost) lose_device("'" + names_[index] + "': " + failure.message);
  }

  /// Memory ran out for pace's own work, such as copies of operands: all that is not known yet stays unknown.
  void run_out_of_memory(const std::string& message) {
    if (pending(baseline_) || remains(baseline_)) drop(baseline_, Outcome::out_of_memory, message);
    for (std::size_t index = 0; index < states_.size(); ++index)
      if (pending(index)) drop_without_baseline(index);
  }

  /// `how` names the culprit, if that is known. The others are not to blame.
  void lose_device(std::string how) {
    lost_device_ = std::move(how);
    for (const std::size_t other : std::exchange(remaining_, {}))
      drop(other, Outcome::unreached, "the device was lost to this process by " + lost_device_);
  }

  void run_out_of_time(const std::string& reason) { drop(baseline_, Outcome::unreached, reason); }

  /// Enters into the rows of `result` what became of each.
  void enter(Result& result) const {
    for (std::size_t index = 0; index < states_.size(); ++index) {
      result.implementations[index].outcome = states_[index].outcome;
      result.implementations[index].message = states_[index].message;
    }
    result.missing_device = missing_device_;
    result.lost_device = lost_device_;
  }

 private:
  struct State {
    Outcome outcome = Outcome::refused;
    std::string message = {};
    bool pending = true;
  };

  std::vector<std::string> names_;
  std::vector<State> states_;
  std::size_t baseline_;
  std::vector<std::size_t> remaining_ = {};
  std::string missing_device_ = {}, lost_device_ = {};
};

/// What the exception being handled says. LibTorch's own errors do not say whether the device can still be used; the
/// device does.
[[nodiscard]] inline Failure current_failure_on(timing::Clock& clock) {
  Failure failure = current_failure();
  if (const auto* modes = clock.modes())
    if (failure.device == Failure::Device::fine && !modes->usable()) failure.device = Failure::Device::lost;
  return failure;
}

/// Enters the exception being handled, if memory ran out for pace's own work. Rethrows any other.
inline void enter_out_of_memory(Participants& participants) {
  const Failure failure = current_failure();
  if (!failure.out_of_memory) throw;
  participants.run_out_of_memory(failure.message);
}

/// Enters the exception being handled, which came out of the timing of `participants`: an implementation threw, or the
/// device is lost, or memory ran out. Rethrows any other.
inline void enter_exception(timing::Clock& clock, Participants& participants) {
  const Failure failure = current_failure_on(clock);
  try {
    throw;
  } catch (const ImplementationThrew& thrown) {
    participants.drop_failed(thrown.index, failure);
    // What was captured of it holds memory that the others may want.
    if (clock.modes() != nullptr && failure.out_of_memory) clock.modes()->forget();
  } catch (...) {
    // What was queued in one call may fail in whatever waits for it.
    if (failure.device == Failure::Device::lost) return participants.lose_device(failure.message);
    enter_out_of_memory(participants);
  }
}

}  // namespace pace::detail
