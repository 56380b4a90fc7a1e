// AuditSchedule: when to audit the rounds, which implementation, and with what result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/function_ref.hpp"
#include "pace/base/random.hpp"
#include "pace/base/units.hpp"
#include "pace/result/result.hpp"
#include "pace/subject/implementation.hpp"
#include "pace/subject/participants.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"

namespace pace::detail {

/// Chooses unpredictable moments for audits, for implementations in this process or in their own. Keeps the times of
/// the rounds for the checks after them.
class AuditSchedule {
 public:
  /// Largest share of the rounds' time for audits.
  static constexpr double share = 0.05;

  /// `clock` must outlive it. Moments follow from `seed`. Below Audit::strict it checks nothing between cycles.
  AuditSchedule(timing::Clock& clock, std::uint64_t seed, Audit level)
      : clock_(clock), random_(seed), strict_(level == Audit::strict) {}

  /// Rounds of the implementations `timed` begin. Forgets earlier rounds.
  void begin(const std::vector<std::size_t>& timed) {
    timed_ = timed;
    shortest_.assign(timed.size(), Nanoseconds(std::numeric_limits<double>::infinity()));
    took_ = {};
    fault_.reset();
  }
  /// Before the rounds, no implementation is timed.
  void clear() { timed_.clear(); }

  /// Draws the seed of the round's random numbers. Chooses the call of each sample whose output is kept: in one round
  /// of four a random one, else the last.
  void round_started(OperandSets& operands) {
    constexpr std::size_t one_in = 4;
    operands.kept_call.reset();
    if (strict_ && random_.below(one_in) == 0) operands.kept_call = random_();
    operands.round_seed = random_();
  }

  /// After a cycle: sometimes lets `audit(index)` check one implementation, and keeps the fault it returns.
  void cycle_ended(const timing::Rounds& so_far, OperandSets& operands, FunctionRef<std::string(std::size_t)> audit) {
    operands.kept_call.reset();
    operands.round_seed.reset();
    elapsed_ = so_far.elapsed;
    for (std::size_t place = 0; place < timed_.size(); ++place)
      for (std::size_t round = so_far.rounds - std::min(so_far.rounds, timed_.size()); round < so_far.rounds; ++round)
        shortest_[place] = std::min(shortest_[place], so_far.samples[place][round]);
    constexpr std::size_t one_in = 8;
    const Nanoseconds cycle = timing::time_of_cycle(so_far, timed_.size());
    if (!strict_ || found() || timed_.size() < 2 || took_ + std::max(cycle, longest_) > share * so_far.elapsed ||
        random_.below(one_in) != 0)
      return;
    const std::size_t index = timed_[random_.below(timed_.size())];
    const Nanoseconds start = clock_.now();
    if (auto problem = audit(index); !problem.empty()) enter(index, std::move(problem));
    const Nanoseconds took = clock_.now() - start;
    took_ += took;
    longest_ = std::max(longest_, took);
  }

  /// Keeps the first fault only.
  void enter(std::size_t index, std::string problem) {
    if (!fault_) fault_ = Drop{index, Outcome::wrong, std::move(problem)};
  }
  [[nodiscard]] bool found() const { return fault_.has_value(); }
  /// Moves out the fault that ended the rounds; nothing if none did.
  [[nodiscard]] std::optional<Drop> take_fault() { return std::exchange(fault_, std::nullopt); }

  /// Implementations in the rounds, in the order of the samples.
  [[nodiscard]] const std::vector<std::size_t>& timed() const { return timed_; }
  /// Time of the audits, and of the rounds.
  [[nodiscard]] Nanoseconds took() const { return took_; }
  [[nodiscard]] Nanoseconds elapsed() const { return elapsed_; }
  /// Shortest time of a call in a sample, for the implementation `index`, which must be timed.
  [[nodiscard]] Nanoseconds shortest_of(std::size_t index) const { return shortest_[place_of(index, timed_)]; }
  /// For rounds that another process timed: `elapsed` in all, `shortest` times of a call for each of timed().
  void take_times(Nanoseconds elapsed, std::vector<Nanoseconds> shortest) {
    elapsed_ = elapsed;
    shortest_ = std::move(shortest);
  }

 private:
  timing::Clock& clock_;
  SplitMix64 random_;
  bool strict_;
  std::vector<std::size_t> timed_;
  /// Shortest time of a call in a sample, for each of `timed_`.
  std::vector<Nanoseconds> shortest_;
  Nanoseconds took_{}, longest_{}, elapsed_{};
  std::optional<Drop> fault_;
};

}  // namespace pace::detail
