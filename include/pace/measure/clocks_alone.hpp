// Clocks of a GPU while each implementation runs alone, held against each other.
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

/// Clocks of the multiprocessors that were read while one implementation ran alone, in MHz.
struct ClocksAlone {
  double lowest = 0;
  double highest = 0;
};

/// Returns whether the clock of the GPU changed during the rounds, or was reduced by the power limit. Otherwise all
/// sides had the same clock, as each would have alone.
[[nodiscard]] inline bool clock_was_unsteady(const Conditions& conditions) {
  return conditions.gpu && (conditions.gpu->suspect_cycles > 0 || conditions.gpu->power_limited > 0);
}

/// Runs each of `subjects` alone, all in turn and twice, for a tenth of a second each time (less if little is left of
/// the time of the program), and returns the clocks that were read meanwhile. A GPU takes tens of milliseconds to adapt
/// its clock to the power that the work takes, so that only the second half of each run counts. Returns nothing if the
/// driver reports no clock.
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

/// Returns why no verdict may be based on rounds in which all sides shared one clock, in a full sentence, if alone two
/// of them run at clocks that lie apart by more than 2 %; empty otherwise. `names` are those of the sides.
[[nodiscard]] inline std::string clocks_apart(const std::vector<ClocksAlone>& clocks,
                                              const std::vector<std::string>& names) {
  constexpr double apart = 1.02;
  const auto text = [](const ClocksAlone& at) {
    return format_significant(at.lowest, 4) +
           (at.highest > at.lowest ? " to " + format_significant(at.highest, 4) : std::string()) + " MHz";
  };
  for (std::size_t fast = 0; fast < clocks.size(); ++fast)
    for (std::size_t slow = 0; slow < clocks.size(); ++slow)
      if (clocks[fast].lowest > apart * clocks[slow].highest)
        return "The GPU has one clock for all sides in the rounds, and alone it runs '" + names[fast] + "' at " +
               text(clocks[fast]) + " and '" + names[slow] + "' at " + text(clocks[slow]) +
               ": each side's time is not what it takes alone. Lock the clocks (nvidia-smi --lock-gpu-clocks), or "
               "measure each side in a process of its own.";
  return {};
}

}  // namespace pace::detail
