// RoundValues: unseen operand values in each round, equal for all implementations.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "pace/base/random.hpp"
#include "pace/os/activity.hpp"
#include "pace/subject/operands.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/random_state.hpp"
#include "pace/subject/write_values.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/rounds.hpp"
#include "pace/verify/candidate_audit.hpp"

namespace pace::detail {

/// Before each round, untimed, the user's function writes unseen values, which are copied to all operand sets and
/// spares. Between cycles, operands hold their first values, whose outputs we know.
class RoundValues final : public timing::RoundObserver {
 public:
  /// All must outlive it, and `prepared.renew` must not be null.
  RoundValues(timing::Clock& clock, const Prepared& prepared, Auditor& audit)
      : clock_(clock), prepared_(prepared), operands_(*prepared.operands), audit_(audit) {}

  /// Throws what the user's function throws, and Error if it makes tensors of other shapes, strides or types.
  void round_started(std::size_t round) override {
    const Nanoseconds start = clock_.now();
    if (!own_)
      own_ = prepared_.given->clone();
    else
      give(operands_.given, own_->tensors());
    {
      const RandomStateKept kept;
      // Implementations cannot know this seed, so none can draw the values beforehand.
      reset_random_state(SplitMix64(prepared_.options.check_seed + round)());
      prepared_.renew(*own_);
    }
    operands_.of_round = own_->tensors();
    give_all(operands_.of_round);
    other_.emplace(round_values, remedy_of_round_values);
    took_ += clock_.now() - start;
  }

  /// Finds changed operands before it restores the first values.
  void cycle_ended(const timing::Rounds&) override {
    const Nanoseconds start = clock_.now();
    audit_.check_operands();
    put_back();
    took_ += clock_.now() - start;
  }

  [[nodiscard]] Nanoseconds took() const override { return took_; }

 private:
  void put_back() {
    other_.reset();
    operands_.of_round.clear();
    give_all(operands_.given);
  }
  static void give(const std::vector<at::Tensor>& values, const std::vector<at::Tensor>& to) {
    write_values(values, to);
  }
  void give_all(const std::vector<at::Tensor>& values) {
    for (const auto& set : operands_.tensors) give(values, set);
    for (const auto& spares : operands_.spare_tensors)
      for (const auto& spare : spares) give(values, spare);
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  OperandSets& operands_;
  Auditor& audit_;
  /// Values of the round, in memory that no implementation can reach.
  std::unique_ptr<OperandSet> own_;
  std::optional<UnseenValuesInUse> other_;
  Nanoseconds took_{};
};

}  // namespace pace::detail
