// MachineWatch: follows the rounds of one comparison, to say what else happened meanwhile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "pace/clock/clock.hpp"
#include "pace/clock/machine_counters.hpp"
#include "pace/core/conditions.hpp"

namespace pace::detail {

/// Starts when it is made. A clock without counters (a fake one) leaves the figures about the machine empty.
template <clock::Clock C>
class MachineWatch {
 public:
  /// Takes memory for `most_cycles`, so that none is allocated between samples.
  MachineWatch(C& clock, std::size_t most_cycles) : clock_(clock) {
    cycles_.reserve(most_cycles);
    before_ = read();
    start_ = clock_.now();
  }

  /// A cycle ended; `elapsed` is what the clock has told since the first one began.
  void add_cycle(Nanoseconds elapsed) {
    if (cycles_.size() < cycles_.capacity()) cycles_.push_back(elapsed - last_);
    last_ = elapsed;
  }

  [[nodiscard]] Conditions finish() {
    const Nanoseconds elapsed = clock_.now() - start_;
    const auto after = read();
    Conditions conditions;
    if constexpr (clock::CountsMachine<C>) conditions = clock::conditions_between(before_, after, elapsed);
    if (cycles_.empty()) return conditions;
    const auto middle = cycles_.begin() + static_cast<std::ptrdiff_t>(cycles_.size() / 2);
    const auto [shortest, longest] = std::minmax_element(cycles_.begin(), cycles_.end());
    conditions.shortest_cycle = *shortest;
    conditions.longest_cycle = *longest;
    std::nth_element(cycles_.begin(), middle, cycles_.end());
    conditions.median_cycle = *middle;
    return conditions;
  }

 private:
  [[nodiscard]] clock::MachineCounters read() {
    if constexpr (clock::CountsMachine<C>) return clock_.counters();
    else return {};
  }

  C& clock_;
  clock::MachineCounters before_;
  Nanoseconds start_{}, last_{};
  std::vector<Nanoseconds> cycles_;
};

}  // namespace pace::detail
