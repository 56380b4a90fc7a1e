// Schedule: the random order of implementations and operand sets, balanced within every cycle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "pace/base/random.hpp"
#include "pace/result/options.hpp"

namespace pace::timing {

/// One place in the order of a round.
struct Turn {
  std::size_t implementation = 0;  ///< index of the implementation that runs
  std::size_t operands = 0;        ///< index of the operand set on which it runs
};

/// The order of k implementations. A cycle is k rounds. In each cycle, every implementation has every place of the
/// order once and, under OperandPolicy::crossover, every operand set once.
///
/// For even k, the cycle is a Williams design (E. J. Williams, "Experimental designs balanced for the estimation of
/// residual effects of treatments", 1949). Each implementation also follows each other one equally often, so that
/// first-order carry-over cancels too. For odd k, such a design takes 2k rows. We alternate a square of k rows and its
/// mirror image instead, so that carry-over cancels on average.
///
/// Each cycle draws every implementation's row of the square and its first operand set. So if two implementations are
/// the same code, a cycle and the same cycle with the two exchanged are equally likely given the past. The gate's error
/// rates rest on this fair coin. (Two mirrored squares with the same labels would balance carry-over exactly, but the
/// second would depend on the first's coin.)
class Schedule {
 public:
  /// Makes a schedule for `implementations` implementations. Equal seeds give equal schedules on every machine.
  Schedule(std::size_t implementations, OperandPolicy policy, std::uint64_t seed)
      : count_(implementations),
        policy_(policy),
        random_(seed),
        turns_(count_ * count_),
        labels_(count_),
        owners_(count_),
        shifts_(count_),
        first_row_(count_) {
    for (std::size_t i = 0; i < count_; ++i) labels_[i] = owners_[i] = shifts_[i] = i;
    // 0, 1, k-1, 2, k-2, ...: neighbours differ by every residue once.
    for (std::size_t place = 0; place < count_; ++place)
      first_row_[place] = place % 2 == 1 ? (place + 1) / 2 : (count_ - place / 2) % count_;
  }

  /// Rounds of a cycle: the number of implementations.
  [[nodiscard]] std::size_t rounds_per_cycle() const { return count_; }

  /// Returns the turns of the next cycle, round after round with k turns each. Valid until the next call; allocates
  /// nothing.
  [[nodiscard]] std::span<const Turn> next_cycle() {
    shuffle(labels_);
    shuffle(owners_);
    shuffle(shifts_);
    for (std::size_t round = 0; round < count_; ++round) {
      for (std::size_t place = 0; place < count_; ++place) {
        const std::size_t column = mirrored_ ? count_ - 1 - place : place;
        const std::size_t implementation = labels_[(first_row_[column] + round) % count_];
        turns_[round * count_ + place] = {implementation, operands_of(implementation, shifts_[round])};
      }
    }
    if (count_ % 2 == 1) mirrored_ = !mirrored_;
    return turns_;
  }

 private:
  [[nodiscard]] std::size_t operands_of(std::size_t implementation, std::size_t shift) const {
    switch (policy_) {
      case OperandPolicy::crossover:
        return (owners_[implementation] + shift) % count_;
      case OperandPolicy::fixed:
        return implementation;
      case OperandPolicy::shared:
        return 0;
    }
    return 0;
  }

  // Fisher and Yates, written out because the result of std::shuffle differs between standard libraries.
  void shuffle(std::vector<std::size_t>& values) {
    for (std::size_t last = values.size(); last > 1; --last) std::swap(values[last - 1], values[random_.below(last)]);
  }

  std::size_t count_;
  OperandPolicy policy_;
  SplitMix64 random_;
  std::vector<Turn> turns_;
  std::vector<std::size_t> labels_, owners_, shifts_, first_row_;
  bool mirrored_ = false;
};

}  // namespace pace::timing
