// Participants: the implementations that remain in a comparison, and the outcomes of the others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/cut_text.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/timing/clock.hpp"

namespace pace::detail {

/// Returns the place of implementation `index` among those `timed`, whose number stands for none.
[[nodiscard]] inline std::size_t place_of(std::size_t index, const std::vector<std::size_t>& timed) {
  return static_cast<std::size_t>(std::ranges::find(timed, index) - timed.begin());
}

/// An implementation that leaves the comparison, with the reason.
struct Drop {
  std::size_t index = 0;
  Outcome outcome = Outcome::wrong;
  std::string message = {};
};

/// A value that passes from stage to stage. It knows how the end of one implementation affects the others: without a
/// baseline there is no comparison, and on a lost device nothing more runs.
class Participants {
 public:
  /// Makes all implementations pending. `names` are their names in the order of the comparison.
  /// `memory_remedy`: what takes less memory, as a clause for messages of failed allocations; empty: nothing does.
  Participants(std::vector<std::string> names, std::size_t baseline, std::string memory_remedy = "")
      : names_(std::move(names)),
        states_(names_.size()),
        baseline_(baseline),
        memory_remedy_(std::move(memory_remedy)) {}

  [[nodiscard]] std::size_t baseline() const { return baseline_; }
  /// Indices of the implementations that are correct so far, in ascending order.
  [[nodiscard]] const std::vector<std::size_t>& remaining() const { return remaining_; }
  [[nodiscard]] bool empty() const { return remaining_.empty(); }
  [[nodiscard]] bool remains(std::size_t index) const {
    return std::binary_search(remaining_.begin(), remaining_.end(), index);
  }
  /// Whether the implementation remains, and has not failed beside the rounds.
  [[nodiscard]] bool is_measured(std::size_t index) const {
    return remains(index) && states_[index].outcome == Outcome::measured;
  }
  /// Whether the implementation is neither admitted nor dropped.
  [[nodiscard]] bool pending(std::size_t index) const { return states_[index].pending; }
  [[nodiscard]] bool device_lost() const { return !lost_device_.empty(); }

  /// Admits a correct implementation.
  void admit(std::size_t index) {
    states_[index] = {.outcome = Outcome::measured, .pending = false};
    remaining_.insert(std::lower_bound(remaining_.begin(), remaining_.end(), index), index);
  }

  /// Drops an implementation. With the baseline, it drops all that remain.
  void drop(std::size_t index, Outcome outcome, const std::string& message) {
    states_[index] = {.outcome = outcome, .message = cut_text(message, longest_kept), .pending = false};
    std::erase(remaining_, index);
    if (index != baseline_) return;
    for (const std::size_t other : std::exchange(remaining_, {})) drop_without_baseline(other);
  }
  /// Drops each of these implementations that still remains.
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
    drop(index, missing ? Outcome::refused : outcome,
         failure.out_of_memory ? with_remedy(failure.message) : failure.message);
    if (lost) lose_device("'" + names_[index] + "': " + failure.message);
  }

  /// Drops the baseline and all pending implementations, since pace's own work, such as copies of operands, ran out of
  /// memory.
  void run_out_of_memory(const std::string& message) {
    if (pending(baseline_) || remains(baseline_)) drop(baseline_, Outcome::out_of_memory, with_remedy(message));
    for (std::size_t index = 0; index < states_.size(); ++index)
      if (pending(index)) drop_without_baseline(index);
  }

  /// Drops all that remain as unreached. `how` says how the device was lost, with the implementation if known.
  void lose_device(std::string how) {
    lost_device_ = std::move(how);
    for (const std::size_t other : std::exchange(remaining_, {}))
      drop(other, Outcome::unreached, "the device was lost to this process by " + lost_device_);
  }

  /// Enters a failure beside the rounds, of implementation `index` or else of the device. The rounds' samples stay
  /// valid, so everyone keeps their figures.
  void fail_beside_rounds(std::optional<std::size_t> index, const Failure& failure) {
    if (index) states_[*index].outcome = failure.out_of_memory ? Outcome::out_of_memory : Outcome::threw;
    if (index) states_[*index].message = failure.message;
    if (failure.device == Failure::Device::lost)
      lost_device_ = (index ? "'" + names_[*index] + "': " : "") + failure.message;
  }

  void run_out_of_time(const std::string& reason) { drop(baseline_, Outcome::unreached, reason); }

  /// Writes the outcome of each implementation into the rows of `result`.
  void enter(Result& result) const {
    for (std::size_t index = 0; index < states_.size(); ++index) {
      result.implementations[index].outcome = states_[index].outcome;
      result.implementations[index].message = states_[index].message;
    }
    result.missing_device = missing_device_;
    result.lost_device = lost_device_;
  }

 private:
  /// Adds to the message of a failed allocation what takes less memory.
  [[nodiscard]] std::string with_remedy(const std::string& message) const {
    return message + (memory_remedy_.empty() ? "" : "; try: " + memory_remedy_);
  }

  struct State {
    Outcome outcome = Outcome::refused;
    std::string message = {};
    bool pending = true;
  };

  std::vector<std::string> names_;
  std::vector<State> states_;
  std::size_t baseline_;
  std::string memory_remedy_;
  std::vector<std::size_t> remaining_ = {};
  std::string missing_device_ = {}, lost_device_ = {};
};

/// Returns the message of the exception being handled, and whether the device still works. We look at the device, since
/// LibTorch's errors do not tell.
[[nodiscard]] inline Failure current_failure_on(timing::Clock& clock) {
  Failure failure = current_failure();
  if (const auto* modes = clock.modes())
    if (failure.device == Failure::Device::fine && !modes->usable()) failure.device = Failure::Device::lost;
  return failure;
}

/// Enters the exception being handled if pace's own work ran out of memory. Rethrows any other.
inline void enter_out_of_memory(Participants& participants) {
  const Failure failure = current_failure();
  if (!failure.out_of_memory) throw;
  participants.run_out_of_memory(failure.message);
}

/// Enters the exception being handled, which the timing of `participants` threw. An implementation threw, the device is
/// lost, or memory ran out. Rethrows any other.
inline void enter_exception(timing::Clock& clock, Participants& participants) {
  const Failure failure = current_failure_on(clock);
  try {
    throw;
  } catch (const ImplementationThrew& thrown) {
    participants.drop_failed(thrown.index, failure);
    // Its captured graphs hold memory that the others may need.
    if (clock.modes() != nullptr && failure.out_of_memory) clock.modes()->forget();
  } catch (...) {
    // Work that one call has queued may fail in a later call that waits for it.
    if (failure.device == Failure::Device::lost) return participants.lose_device(failure.message);
    enter_out_of_memory(participants);
  }
}

/// Enters the exception being handled, from work beside the rounds, whose samples stay valid. An implementation threw,
/// or the device is lost; rethrows any other. `when` begins the message. Returns the implementation that threw, if any.
inline std::optional<std::size_t> enter_exception_beside_rounds(timing::Clock& clock, const std::string& when,
                                                                Participants& participants) {
  Failure failure = current_failure_on(clock);
  failure.message = when + failure.message;
  std::optional<std::size_t> index;
  try {
    throw;
  } catch (const ImplementationThrew& thrown) {
    index = thrown.index;
  } catch (...) {
    if (failure.device != Failure::Device::lost) throw;
  }
  participants.fail_beside_rounds(index, failure);
  return index;
}

}  // namespace pace::detail
