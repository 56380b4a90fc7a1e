// Conditions: what else happened on the machine while a comparison was timed, and whether figures can stand it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pace/core/format.hpp"
#include "pace/core/units.hpp"

namespace pace {

/// What a GPU's driver told between cycles. Figures that it did not tell are 0.
struct GpuConditions {
  std::size_t readings = 0;
  /// Clock of the multiprocessors, in MHz.
  double lowest_clock = 0, highest_clock = 0;
  double hottest = 0;     ///< in degrees Celsius
  double most_power = 0;  ///< in watts
  /// Shares of the readings: slowed down by heat or by the hardware; held at its power limit, which long dense products
  /// reach on a healthy GPU.
  double slowed = 0, power_limited = 0;
  /// Cycles during which the clock changed: their sides need not have seen the same GPU.
  std::size_t suspect_cycles = 0;
};

/// Over the samples of one implementation, from before each is prepared until it has ended.
struct SideConditions {
  Nanoseconds sampled{};
  /// The part of it in which the measuring thread did not run.
  Nanoseconds off{};
  /// Times that it was put aside for something else, and that it stepped aside itself.
  std::int64_t involuntary_switches = 0, voluntary_switches = 0;

  /// Time for which it was ready to run and did not, as Conditions::waiting has it.
  [[nodiscard]] Nanoseconds waited() const {
    const auto switches = static_cast<double>(involuntary_switches + voluntary_switches);
    if (off.count() <= 0 || switches <= 0) return {};
    return off * (static_cast<double>(involuntary_switches) / switches);
  }
};

/// Over the timed rounds of one comparison. What is not known is absent.
struct Conditions {
  /// Share of the CPU time that this machine wanted and its hypervisor gave to others.
  std::optional<double> steal = {};
  /// Share of the time of all cores that other processes used.
  std::optional<double> others = {};
  /// ... and that time itself, of all cores together.
  std::optional<Nanoseconds> others_cpu = {};
  /// Share of the rounds in which the measuring thread was ready to run and did not, since something else ran.
  std::optional<double> waiting = {};
  /// Share of the rounds in which the container had used up its quota of CPU time.
  std::optional<double> throttled = {};
  /// Times that the measuring thread was put aside for something else.
  std::optional<std::int64_t> involuntary_switches = {};
  /// What the timing clock told more than a raw hardware counter did.
  std::optional<Nanoseconds> clock_error = {};
  /// For how long the machine slept.
  std::optional<Nanoseconds> suspended = {};
  /// The longest crossover cycle and the median one; 0 without cycles. The shortest is below 0 only if the clock ran
  /// backwards.
  Nanoseconds longest_cycle{}, median_cycle{}, shortest_cycle{};
  /// One for each implementation that was timed, in their order. Empty: not known.
  std::vector<SideConditions> sides = {};
  /// Conditions of the GPU that did the work, if one did and its driver reports them.
  std::optional<GpuConditions> gpu = {};
  /// Why no verdict may rest on the figures, in full sentences. Empty: nothing speaks against them.
  std::vector<std::string> disturbances = {};
};

/// Beyond these no verdict is given. Rounds are paired and balanced, so load on both sides alike cancels; what is left
/// is that a loaded machine is another machine, on which another implementation may be the faster one.
namespace limits {

/// Share of the cores' time. With a tenth of the machine left, what this process needs does not fit in.
inline constexpr double others = 0.9;
/// Length of a cycle: a page fault, a disk or a pause of a virtual machine take less, and then a robust statistic
/// copes.
inline constexpr Nanoseconds gap = std::chrono::seconds(1);
/// ... and it is this many times the median cycle, or the subject itself takes that long.
inline constexpr double gap_factor = 10;
/// Share of the elapsed time. NTP slews a clock by 0.05 % at most; steps are larger.
inline constexpr double clock_error = 0.01;
/// ... and at least this much, since two clocks are not read at once.
inline constexpr Nanoseconds least_clock_error = std::chrono::milliseconds(2);

}  // namespace limits

/// Positions among `conditions.sides` of candidates that made the measuring thread wait, by threads or child processes of
/// their own: the waiting is part of what such a candidate costs. In the samples of each of them the thread waited for
/// more than `share` of the time, and in those of all other sides together for less. Work of other processes falls on all
/// sides alike, except that a side with more threads meets more of it; so the result is empty where the time of other
/// processes accounts for half of the waiting. `baseline` is the position of the baseline, which is never among them.
[[nodiscard]] inline std::vector<std::size_t> sides_that_disturb(const Conditions& conditions, std::size_t baseline,
                                                                 double share) {
  std::vector<std::size_t> own;
  Nanoseconds waited{}, rest_waited{}, rest_sampled{};
  for (std::size_t i = 0; i < conditions.sides.size(); ++i) {
    const auto& side = conditions.sides[i];
    if (i != baseline && side.waited() > share * side.sampled) {
      own.push_back(i);
      waited += side.waited();
    } else {
      rest_waited += side.waited();
      rest_sampled += side.sampled;
    }
  }
  constexpr double accounts_for = 0.5;
  const bool others_did = !conditions.others_cpu || *conditions.others_cpu > accounts_for * waited;
  if (others_did || rest_waited > share * rest_sampled) own.clear();
  return own;
}

/// What of `conditions` speaks against the figures. `share` is the most that steal, waiting and throttling may each
/// take (see Options::max_interference). `charged`: implementations made the thread wait themselves, and the others did not.
[[nodiscard]] inline std::vector<std::string> find_disturbances(const Conditions& conditions, Nanoseconds elapsed,
                                                                double share, bool charged = false) {
  std::vector<std::string> found;
  const auto beyond = [&](const std::optional<double>& value, double limit, const char* what, const char* who) {
    if (!value || *value <= limit) return;
    found.push_back(who + format_percent(*value) + what + " (limit: " + format_percent(limit) + ").");
  };
  beyond(conditions.steal, share, " of the CPU time that this machine wanted", "The hypervisor gave others ");
  // Put aside once or twice it has a few bad samples, which a robust statistic copes with.
  constexpr std::int64_t fewest_switches = 5;
  if (!charged && conditions.involuntary_switches.value_or(fewest_switches) >= fewest_switches)
    beyond(conditions.waiting, share, " of the rounds, put aside for other work",
           "The measuring thread waited during ");
  // A thread that has used up the quota is put aside as well.
  if (!charged)
    beyond(conditions.throttled, share, " of the rounds", "The container's quota of CPU time was used up during ");
  if (share < 1) beyond(conditions.others, limits::others, " of all cores' time", "Other processes used ");
  if (conditions.longest_cycle > limits::gap && conditions.longest_cycle > limits::gap_factor * conditions.median_cycle)
    found.push_back("The process stood still: one cycle of rounds took " + format_time(conditions.longest_cycle) +
                    ", others " + format_time(conditions.median_cycle) + '.');
  if (conditions.shortest_cycle.count() < 0) found.push_back("The clock ran backwards during the rounds.");
  if (const auto& error = conditions.clock_error) {
    const Nanoseconds size(error->count() < 0 ? -error->count() : error->count());
    if (size > limits::least_clock_error && size > limits::clock_error * elapsed)
      found.push_back("The clock jumped: it told " + format_time(size) + (error->count() < 0 ? " less" : " more") +
                      " than the hardware counter did.");
  }
  if (conditions.gpu)
    beyond(conditions.gpu->slowed, share, " of the readings", "The GPU was slowed down by heat or its hardware in ");
  if (conditions.suspended && *conditions.suspended > limits::least_clock_error)
    found.push_back("The machine slept for " + format_time(*conditions.suspended) + " during the rounds.");
  return found;
}

}  // namespace pace
