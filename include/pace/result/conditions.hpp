// Conditions: the load and the state of the machine while a comparison was timed, and whether they allow a verdict.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"

namespace pace {

/// The readings of a GPU's driver between cycles. Figures that the driver does not report are 0.
struct GpuConditions {
  std::size_t readings = 0;  ///< number of readings
  double lowest_clock = 0;   ///< lowest clock of the multiprocessors, in MHz
  double highest_clock = 0;  ///< highest clock of the multiprocessors, in MHz
  double hottest = 0;        ///< highest temperature, in degrees Celsius
  double most_power = 0;     ///< highest power, in watts
  double slowed = 0;         ///< share of the readings in which heat or the hardware slowed the GPU down
  /// Share of the readings in which the GPU was at its power limit, which long dense products reach on a healthy GPU.
  double power_limited = 0;
  /// Number of cycles during which the clock changed, so that the sides of a pair may have run at different clocks.
  std::size_t suspect_cycles = 0;
};

/// Conditions during the samples of one implementation; each sample counts from its preparation to its end.
struct SideConditions {
  Nanoseconds sampled{};                  ///< length of all samples, preparation included
  Nanoseconds off{};                      ///< part of `sampled` in which the measuring thread did not run
  std::int64_t involuntary_switches = 0;  ///< context switches by which the scheduler preempted the thread
  std::int64_t voluntary_switches = 0;    ///< context switches by which the thread blocked or yielded
  Nanoseconds process_cpu{};              ///< CPU time of all threads of the process during the samples
  /// Steps by which `process_cpu` grows for threads on other CPUs (timing::ThreadCounters); 0: none, or unknown.
  Nanoseconds process_cpu_step{};
  /// Median over the samples of the ticks of the CPU's counter in a nanosecond of the clock; 0: unknown.
  double ticks_per_nanosecond = 0;
  /// Share by which `ticks_per_nanosecond` may be wrong: what passed while the clock was read, as the counter measured
  /// it, and a step of the clock.
  double tick_error = 0;

  /// Returns the CPU seconds that the process used in a second of the samples; 0: unknown.
  [[nodiscard]] double cores() const { return sampled.count() > 0 ? process_cpu / sampled : 0; }

  /// Returns an estimate of the time for which the thread was ready to run and did not: the share of `off` that the
  /// involuntary switches have among all switches.
  [[nodiscard]] Nanoseconds waited() const {
    const auto switches = static_cast<double>(involuntary_switches + voluntary_switches);
    if (off.count() <= 0 || switches <= 0) return {};
    return off * (static_cast<double>(involuntary_switches) / switches);
  }
};

/// Conditions during the timed rounds of one comparison. Unknown values are absent.
struct Conditions {
  /// Share of the CPU time demanded by this machine that the hypervisor gave to other machines (steal time).
  std::optional<double> steal = {};
  /// Share of the time of all cores that other processes used.
  std::optional<double> others = {};
  /// CPU time that other processes used, summed over all cores.
  std::optional<Nanoseconds> others_cpu = {};
  /// Share of the rounds in which the measuring thread was ready to run and waited for a core.
  std::optional<double> waiting = {};
  /// Share of the rounds in which the container had used up its quota of CPU time.
  std::optional<double> throttled = {};
  /// Number of involuntary context switches of the measuring thread.
  std::optional<std::int64_t> involuntary_switches = {};
  /// Time by the timing clock less the time by a raw hardware counter.
  std::optional<Nanoseconds> clock_error = {};
  /// Time for which the machine was suspended.
  std::optional<Nanoseconds> suspended = {};
  Nanoseconds longest_cycle{};   ///< length of the longest crossover cycle; 0 without cycles
  Nanoseconds median_cycle{};    ///< median length of a crossover cycle; 0 without cycles
  Nanoseconds shortest_cycle{};  ///< length of the shortest crossover cycle; negative only if the clock ran backwards
  /// Conditions of each timed implementation, in the order of implementations; empty: unknown.
  std::vector<SideConditions> sides = {};
  /// Conditions of the GPU on which the calls ran; absent for the CPU, and if the driver reports none.
  std::optional<GpuConditions> gpu = {};
  /// Reasons why no verdict may be based on the figures, in full sentences; empty: there is none.
  std::vector<std::string> disturbances = {};
};

/// Limits beyond which no verdict is given. Rounds are paired and balanced, so that equal load on both sides cancels.
/// Yet another implementation may be the fastest one on a loaded machine.
namespace limits {

/// Share of the time of all cores that other processes may use. On two cores, the rest is a sixteenth of one.
inline constexpr double others = 0.97;
/// Length of a cycle. Page faults, disk accesses and pauses of a virtual machine are shorter, and robust statistics
/// tolerate them.
inline constexpr Nanoseconds gap = std::chrono::seconds(1);
/// Length of a cycle in median cycles. A cycle must exceed both limits, since the subject itself may take long.
inline constexpr double gap_factor = 10;
/// Error of the clock as a share of the elapsed time. NTP slews a clock by 0.05 % at most; steps are larger.
inline constexpr double clock_error = 0.01;
/// Error of the clock that is always tolerated, since two clocks cannot be read at the same instant.
inline constexpr Nanoseconds least_clock_error = std::chrono::milliseconds(2);

/// Share by which the clock may run faster in the samples of one implementation than in those of another, by the CPU's
/// counter. Both read the same counter where the clock is not tampered with.
inline constexpr double clock_rate = 0.005;
/// Largest error of that rate that reading the clock explains. It is larger than that of a reading from memory, 0.6 us
/// in samples of 37 us, and bounds what a clock could hide that takes its time.
inline constexpr double most_tick_error = 0.1;
/// CPU seconds in a second, for each thread that is allowed. Pools of threads go on spinning for a moment.
inline constexpr double cores_per_thread = 1.2;

}  // namespace limits

/// Returns why the times of the implementations `names`, in the order of `conditions.sides`, cannot be compared, as a
/// clause: the clock ran at different rates in their samples. Empty if it did not, or if that is unknown.
[[nodiscard]] inline std::string find_uneven_clock(const Conditions& conditions,
                                                   const std::vector<std::string>& names) {
  const SideConditions *fastest = nullptr, *slowest = nullptr;
  for (const auto& side : conditions.sides) {
    if (side.ticks_per_nanosecond <= 0) return {};
    if (fastest == nullptr || side.ticks_per_nanosecond < fastest->ticks_per_nanosecond) fastest = &side;
    if (slowest == nullptr || side.ticks_per_nanosecond > slowest->ticks_per_nanosecond) slowest = &side;
  }
  if (fastest == nullptr) return {};
  const double apart = slowest->ticks_per_nanosecond / fastest->ticks_per_nanosecond - 1;
  const double limit = limits::clock_rate + slowest->tick_error + fastest->tick_error;
  if (apart <= limit) return {};
  const auto name_of = [&](const SideConditions* side) {
    return '\'' + names.at(static_cast<std::size_t>(side - conditions.sides.data())) + '\'';
  };
  return "the clock runs " + format_percent(apart) + " slower in the samples of " + name_of(slowest) +
         " than in those of " + name_of(fastest) + ", by the CPU's own counter (limit: " + format_percent(limit) +
         "). Does the program replace clock_gettime()?";
}

/// Returns how far SideConditions::process_cpu may be from the truth if `threads` threads run. The time of the
/// measuring thread is exact. Where samples are shorter than a step, the steps of the others that fall into them are a
/// random number: its standard deviation is at most the square root of what is expected, and the steps of all CPUs come
/// at the same moment.
[[nodiscard]] inline Nanoseconds process_cpu_error(const SideConditions& side, double threads) {
  constexpr double deviations = 3, further_steps = 2;
  const double others = std::max(1.0, threads - 1), step = side.process_cpu_step.count();
  return Nanoseconds(others * (further_steps * step + deviations * std::sqrt(step * side.sampled.count())));
}

/// Returns why the CPU time of `side` is not that of the `threads` that are allowed, as a clause; empty if it is, or if
/// the baseline, which is the norm, uses as much.
[[nodiscard]] inline std::string find_more_threads(const SideConditions& side, double baseline_cores, int threads) {
  const double allowed = std::max(static_cast<double>(threads), baseline_cores);
  const Nanoseconds beyond = side.process_cpu - allowed * side.sampled;
  if (beyond <=
      std::max<Nanoseconds>((limits::cores_per_thread - 1) * allowed * side.sampled, process_cpu_error(side, allowed)))
    return {};
  return "its samples used " + format_significant(side.cores()) + " CPU seconds in each second, and " +
         std::to_string(threads) + (threads == 1 ? " thread is" : " threads are") +
         " allowed (--threads; the baseline used " + format_significant(baseline_cores) + ')';
}

/// Returns the positions in `conditions.sides` of the candidates whose own threads or child processes made the
/// measuring thread wait, so that the waiting is part of their cost. In the samples of each of them the thread waited
/// for more than `share` of the time, and in the samples of all other sides together for less. Other processes affect
/// all sides, and sides with more threads more; hence the result is empty if the CPU time of other processes accounts
/// for half of the waiting. `baseline` is the position of the baseline, which is never returned.
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

/// Returns the reasons, in full sentences, why `conditions` do not allow a verdict; empty if there are none. `elapsed`
/// is the length of the rounds. `share` is the largest share of the rounds that steal time, waiting and throttling may
/// each take (Options::max_interference). If `charged`, waiting and throttling are the cost of the implementations
/// themselves (sides_that_disturb()) and no reason.
[[nodiscard]] inline std::vector<std::string> find_disturbances(const Conditions& conditions, Nanoseconds elapsed,
                                                                double share, bool charged = false) {
  std::vector<std::string> found;
  const auto beyond = [&](const std::optional<double>& value, double limit, const char* what, const char* who) {
    if (!value || *value <= limit) return;
    found.push_back(who + format_percent(*value) + what + " (limit: " + format_percent(limit) + ").");
  };
  beyond(conditions.steal, share, " of the CPU time that this machine wanted", "The hypervisor gave others ");
  // One or two preemptions spoil a few samples, which robust statistics tolerate.
  constexpr std::int64_t fewest_switches = 5;
  if (!charged && conditions.involuntary_switches.value_or(fewest_switches) >= fewest_switches)
    beyond(conditions.waiting, share, " of the rounds, put aside for other work",
           "The measuring thread waited during ");
  // A thread is preempted also when the quota is used up.
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
