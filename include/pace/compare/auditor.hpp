// Auditor: finds, during the rounds and after them, implementations that are right or fast only where they expect a check.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <ATen/core/ivalue.h>

#include "pace/compare/inspector.hpp"
#include "pace/compare/random_state.hpp"
#include "pace/compare/roster.hpp"
#include "pace/compare/round_values.hpp"
#include "pace/compare/verification.hpp"
#include "pace/core/random.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

class Auditor final : public timing::RoundObserver {
 public:
  Auditor(timing::Clock& clock, Roster& roster, Inspector& inspector)
      : clock_(clock), roster_(roster), inspector_(inspector), values_(roster), random_(roster.options.seed) {}

  /// Before anything is timed; also after rounds that an implementation's exception has ended.
  void begin() {
    took_ = renewing_ = {};
    if (!roster_.operands.renewed.empty()) values_.put_back();
  }

  /// All audits, and all values written for rounds, since begin().
  [[nodiscard]] Nanoseconds took() const { return took_ + renewing_; }

  /// Other values for all implementations, where rounds have values of their own.
  void round_started(std::size_t round) override {
    if (!roster_.renew) return;
    const Nanoseconds start = clock_.now();
    values_.renew(round);
    renewing_ += clock_.now() - start;
  }

  /// The first values again, whose answers are known; then, sometimes, an audit.
  void cycle_ended(const timing::Rounds& so_far) override {
    if (roster_.renew) {
      const Nanoseconds start = clock_.now();
      inspector_.notice_changes();
      values_.put_back();
      renewing_ += clock_.now() - start;
    }
    audit_sometimes(so_far);
  }

  /// What the last timed call returned must be right as well. Where the call writes to operands or draws random
  /// numbers, its last sample applied it many times over, and where rounds have values of their own, what
  /// it had to return is unknown; one more timed call from the first state stands in for it.
  void verify_last_outputs() {
    if (!roster_.checks()) return;
    const auto timed = roster_.running;
    for (const std::size_t index : timed) {
      if (!roster_.is_running(index)) continue;
      auto& implementation = *roster_.implementations[index];
      std::optional<std::size_t> set;
      // After an audit in the last cycle there is no such output any more.
      if (!roster_.operands.mutated.empty() || roster_.expected.random || roster_.renew || audited_last_ == index) {
        set = 0;
        roster_.operands.restore_all(*set);
        reset_random_state(roster_.options.seed);
        // A clock may make calls of its own, which draw random numbers.
        if (roster_.expected.random) {
          implementation.prepare(*set);
          implementation.run(*set, 1);
        } else {
          (void)timing::take_sample(clock_, implementation, *set, 1);
        }
      }
      const c10::IValue output = implementation.take_output();
      const Verification verification = verify(roster_.expected, output, roster_.operands, set, roster_.check);
      roster_.row(index).max_abs_error = std::max(roster_.row(index).max_abs_error, verification.max_abs_error);
      if (!verification.correct)
        roster_.give_up(index, Outcome::wrong,
                        "correct at first, but not in the last timed call: " + verification.message);
    }
  }

  /// After the rounds. Whether an implementation was found that spoilt the others' figures, so that these must be taken
  /// again.
  [[nodiscard]] bool inspect_all() {
    if (!roster_.checks()) return false;
    std::string spoilt = inspector_.disturbance();
    const std::string changed = inspector_.take_changed_operands();
    if (spoilt.empty()) spoilt = changed;
    const auto timed = roster_.running;
    for (const std::size_t index : timed) {
      // The baseline is not suspected of anything unless something happened.
      if ((index == roster_.baseline && changed.empty()) || roster_.running.empty()) continue;
      auto problem = inspector_.audit(*roster_.implementations[index], roster_.result.iterations);
      if (clock_.modes() != nullptr && problem.empty())
        problem = inspector_.audit_replay(*roster_.implementations[index], [&] {
          (void)timing::take_sample(clock_, *roster_.implementations[index], 0, roster_.result.iterations);
        });
      if (problem.empty() && index != roster_.baseline)
        problem = inspector_.probe_novelty(clock_, *roster_.implementations[index],
                                           0.5 * audit_share * roster_.options.budget);
      if (!problem.empty()) roster_.give_up(index, Outcome::wrong, std::move(problem));
    }
    if (spoilt.empty()) return false;
    if (roster_.running == timed)  // none did it again
      for (const std::size_t index : timed)
        if (index != roster_.baseline)
          roster_.give_up(index, Outcome::wrong, (timed.size() == 2 ? "" : "it or another candidate: ") + spoilt);
    return roster_.running.size() > 1;
  }

 private:
  /// Between cycles, at moments that cannot be foreseen, one candidate is called on other values; for at most
  /// `audit_share` of the time.
  void audit_sometimes(const timing::Rounds& so_far) {
    audited_last_.reset();
    if (!roster_.checks() || roster_.running.size() < 2) return;
    const Nanoseconds cycle =
        (so_far.elapsed - took()) * (static_cast<double>(roster_.running.size()) / static_cast<double>(so_far.rounds));
    if (took_ + std::max(cycle, longest_) > audit_share * so_far.elapsed || random_.below(4) != 0) return;
    const std::size_t index = roster_.running[random_.below(roster_.running.size())];
    if (index == roster_.baseline) return;
    const Nanoseconds start = clock_.now();
    const std::string problem = inspector_.audit(*roster_.implementations[index], roster_.result.iterations);
    if (!problem.empty()) throw ImplementationWrong{index, problem};
    audited_last_ = index;
    const Nanoseconds took = clock_.now() - start;
    took_ += took;
    longest_ = std::max(longest_, took);
  }

  /// Audits take this share of the rounds' time, and half as much again after them for each candidate.
  static constexpr double audit_share = 0.05;

  timing::Clock& clock_;
  Roster& roster_;
  Inspector& inspector_;
  RoundValues values_;
  SplitMix64 random_;
  /// The implementation that was audited after the last cycle.
  std::optional<std::size_t> audited_last_;
  Nanoseconds took_{}, longest_{}, renewing_{};
};

}  // namespace pace::detail
