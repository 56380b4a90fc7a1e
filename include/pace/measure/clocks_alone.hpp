// read_clocks_alone: clocks of a GPU while each implementation runs alone, and their comparison.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/result/conditions.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

/// Multiprocessor clocks read while one implementation ran alone, in MHz.
struct ClocksAlone {
  double lowest = 0;
  double highest = 0;
};

/// Whether the GPU's clock changed during the rounds, or the power limit reduced it. Otherwise all sides ran at the
/// clock that each has alone.
[[nodiscard]] inline bool clock_was_unsteady(const Conditions& conditions) {
  return conditions.gpu && (conditions.gpu->suspect_cycles > 0 || conditions.gpu->power_limited > 0);
}

/// Runs each of `subjects` alone for a tenth of a second, in turn and twice; less if little time is left. Returns the
/// clocks read meanwhile; nothing if the driver reports none. A GPU needs tens of milliseconds to adapt its clock to a
/// load, so only the second half of a run counts.
[[nodiscard]] inline std::vector<ClocksAlone> read_clocks_alone(timing::ModeClock& clock,
                                                                std::span<timing::Subject* const> subjects,
                                                                std::int64_t iterations, std::size_t operand_sets) {
  constexpr int turns = 2, fewest_readings = 2;
  constexpr Nanoseconds longest = std::chrono::milliseconds(100);
  const Nanoseconds each = std::min(longest, 0.1 * time_left(clock) / static_cast<double>(turns * subjects.size()));
  std::vector<ClocksAlone> found(subjects.size());
  for (int turn = 0; turn < turns; ++turn)
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      const Nanoseconds start = clock.now();
      int readings = 0;
      for (std::size_t set = 0; readings < fewest_readings || clock.now() - start < each;
           set = (set + 1) % operand_sets) {
        clock.begin_cycle();
        (void)timing::take_sample(clock, *subjects[i], set, iterations);
        if (clock.now() - start < 0.5 * each) continue;
        const auto reading = clock.look_at_gpu();
        if (!reading || reading->clock <= 0) return {};
        auto& clocks = found[i];
        clocks.lowest = clocks.lowest > 0 ? std::min(clocks.lowest, reading->clock) : reading->clock;
        clocks.highest = std::max(clocks.highest, reading->clock);
        ++readings;
      }
    }
  return found;
}

/// Describes clocks of two sides alone that lie over 2 % apart, as a sentence; empty if there are none. In the rounds
/// the sides take turns, so this says what they leave out.
[[nodiscard]] inline std::string describe_clocks_apart(const std::vector<ClocksAlone>& clocks,
                                                       const std::vector<std::string>& names) {
  constexpr double apart = 1.02;
  const auto text = [](const ClocksAlone& at) {
    return format_significant(at.lowest, 4) +
           (at.highest > at.lowest ? " to " + format_significant(at.highest, 4) : std::string()) + " MHz";
  };
  for (std::size_t fast = 0; fast < clocks.size(); ++fast)
    for (std::size_t slow = 0; slow < clocks.size(); ++slow)
      if (clocks[fast].lowest > apart * clocks[slow].highest)
        return "The sides take turns, which evens the GPU's clock out. In long runs alone, '" + names[fast] + "' has " +
               text(clocks[fast]) + " and '" + names[slow] + "' " + text(clocks[slow]) + ", which makes '" +
               names[slow] + "' slower there by up to " +
               format_percent(clocks[fast].highest / clocks[slow].lowest - 1) +
               "; try: lock the clocks (nvidia-smi --lock-gpu-clocks).";
  return {};
}

}  // namespace pace::detail
