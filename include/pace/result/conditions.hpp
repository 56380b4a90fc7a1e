// Conditions: load and state of the machine while a comparison was timed, and whether they allow a verdict.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/spelling.hpp"
#include "pace/base/units.hpp"

namespace pace {

/// Readings of a GPU's driver between cycles. Figures that the driver does not report are 0.
struct GpuConditions {
  std::size_t readings = 0;  ///< number of readings
  double lowest_clock = 0;   ///< lowest clock of the multiprocessors, in MHz
  double highest_clock = 0;  ///< highest clock of the multiprocessors, in MHz
  double hottest = 0;        ///< highest temperature, in degrees Celsius
  double most_power = 0;     ///< highest power, in watts
  double slowed = 0;         ///< share of the readings with the GPU slowed down by heat or the hardware
  /// Share of the readings with the GPU at its power limit. Long dense products reach it on a healthy GPU.
  double power_limited = 0;
  /// Number of cycles during which the clock changed.
  std::size_t suspect_cycles = 0;
  /// Number of cycles that were left out: the clock or the reasons for a low one differed between the sides.
  std::size_t dropped_cycles = 0;
  Nanoseconds paused{};             ///< time that the GPU was given to cool down
  std::size_t other_processes = 0;  ///< number of other processes that compute on it
  /// Share of the multiprocessors' time that these used; absent: unknown.
  std::optional<double> others = {};
  /// Who shares the GPU with this process, as clauses; such as an instance of MIG, MPS and other processes.
  std::vector<std::string> sharing = {};
};

/// Conditions during the samples of one implementation, their preparation included.
struct SideConditions {
  Nanoseconds sampled{};                  ///< length of all samples
  Nanoseconds off{};                      ///< part of `sampled` when the measuring thread did not run
  std::int64_t involuntary_switches = 0;  ///< context switches forced by the scheduler
  std::int64_t voluntary_switches = 0;    ///< context switches because the thread blocked or yielded
  Nanoseconds process_cpu{};              ///< CPU time of all threads of the process during the samples
  /// Step of `process_cpu` for threads on other CPUs (timing::ThreadCounters); 0: none, or unknown.
  Nanoseconds process_cpu_step{};
  /// Median over the samples of the ticks of the CPU's counter per nanosecond of the clock; 0: unknown.
  double ticks_per_nanosecond = 0;
  /// Relative error of `ticks_per_nanosecond`: a step of the clock, and the time to read it by the CPU's counter.
  double tick_error = 0;

  /// Whether threads of this process beside the measuring one used the CPU during the samples.
  [[nodiscard]] bool has_other_threads() const {
    constexpr double share = 0.05;
    const Nanoseconds own = sampled - off;
    return process_cpu - own > share * own;
  }
  /// Returns the CPU seconds that the process used per second of the samples; 0: unknown.
  [[nodiscard]] double cores() const { return sampled.count() > 0 ? process_cpu / sampled : 0; }

  /// Estimates how long the thread was ready to run and did not: `off` times the share of involuntary switches.
  [[nodiscard]] Nanoseconds waited() const {
    const auto switches = static_cast<double>(involuntary_switches + voluntary_switches);
    if (off.count() <= 0 || switches <= 0) return {};
    return off * (static_cast<double>(involuntary_switches) / switches);
  }
};

/// Conditions during the timed rounds of one comparison. Unknown values are absent.
struct Conditions {
  /// Share of the CPU time demanded by this machine that the hypervisor gave to others (steal time).
  std::optional<double> steal = {};
  /// Share of the time of all cores that other processes used.
  std::optional<double> others = {};
  /// CPU time that other processes used, summed over all cores.
  std::optional<Nanoseconds> others_cpu = {};
  /// Share of the rounds that the measuring thread was ready to run and waited for a core.
  std::optional<double> waiting = {};
  /// Share of the rounds with the container's quota of CPU time used up.
  std::optional<double> throttled = {};
  /// Number of involuntary context switches of the measuring thread.
  std::optional<std::int64_t> involuntary_switches = {};
  /// Time by the timing clock less the time by a raw hardware counter.
  std::optional<Nanoseconds> clock_error = {};
  /// Time for which the machine was suspended.
  std::optional<Nanoseconds> suspended = {};
  /// Number of cycles that were left out, since another process had the core within a sample.
  std::size_t interrupted_cycles = 0;
  /// Whether cycles ceased to be left out, so that those that count have others' time in them.
  bool gave_up_leaving_out = false;
  /// How much more CPU time one side takes in all cycles than in those that count, over the same of another side.
  double unevenness = 1;
  /// Whether nothing preempted the measuring thread within the samples that count, and no other thread ran in them.
  bool uninterrupted = false;
  Nanoseconds longest_cycle{};   ///< length of the longest crossover cycle; 0 without cycles
  Nanoseconds median_cycle{};    ///< median length of a crossover cycle; 0 without cycles
  Nanoseconds shortest_cycle{};  ///< length of the shortest crossover cycle; negative only if the clock ran backwards
  /// Conditions of each timed implementation, in their order; empty: unknown.
  std::vector<SideConditions> sides = {};
  /// Conditions of the GPU; absent for calls on the CPU, and if the driver reports none.
  std::optional<GpuConditions> gpu = {};
  /// Why the figures allow no verdict, in full sentences; empty: they do.
  std::vector<std::string> disturbances = {};
};

/// Limits for a verdict. Equal load on both sides cancels, since rounds are paired and balanced. Yet on a loaded
/// machine a different implementation may be the fastest.
namespace limits {

/// Share of the time of all cores that other processes may use. On two cores this leaves a sixteenth of one.
inline constexpr double others = 0.97;
/// Share of a GPU's multiprocessors' time that other processes may use. Their kernels run beside ours or in turns with
/// them, for milliseconds. NVML tells whole per cents, and a desktop that draws its clock takes one or two.
inline constexpr double gpu_others = 0.05;
/// Conditions::unevenness. A thread that was preempted finds cold caches, which takes longer for some code than for
/// other.
inline constexpr double unevenness = 1.1;
/// Length of a cycle. Page faults, disk accesses and pauses of a virtual machine are shorter, and robust statistics
/// tolerate them.
inline constexpr Nanoseconds gap = std::chrono::seconds(1);
/// Length of a cycle in median cycles. A cycle must exceed both limits: the code itself may take long.
inline constexpr double gap_factor = 10;
/// Error of the clock as a share of the elapsed time. NTP slews a clock by 0.05 % at most; steps are larger.
inline constexpr double clock_error = 0.01;
/// Tolerated error of the clock: two clocks cannot be read at the same instant.
inline constexpr Nanoseconds least_clock_error = std::chrono::milliseconds(2);

/// How much faster the clock may run in the samples of one implementation than in another's, by the CPU's counter. They
/// run equally fast unless someone tampers with the clock.
inline constexpr double clock_rate = 0.005;
/// Largest error of that rate that reading the clock explains. A reading from memory takes 0.6 us in samples of 37 us,
/// which is less. The limit bounds how much a slow clock could hide.
inline constexpr double most_tick_error = 0.1;
/// CPU seconds per second and allowed thread. Pools of threads go on spinning for a moment.
inline constexpr double cores_per_thread = 1.2;

}  // namespace limits

/// Returns as a clause why times cannot be compared: the clock ran unevenly between the samples. Empty if it did not,
/// or if that is unknown. `names` are in the order of `conditions.sides`.
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
         "); try: leave clock_gettime() as the system has it";
}

/// Returns the error of SideConditions::process_cpu with `threads` threads. Only the measuring thread's time is exact;
/// the others' grows by steps, all at the same moment. In short samples the number of steps is random, with a standard
/// deviation of at most the square root of its mean.
[[nodiscard]] inline Nanoseconds process_cpu_error(const SideConditions& side, double threads) {
  constexpr double deviations = 3, further_steps = 2;
  const double others = std::max(1.0, threads - 1), step = side.process_cpu_step.count();
  return Nanoseconds(others * (further_steps * step + deviations * std::sqrt(step * side.sampled.count())));
}

/// Returns as a clause why `side` used more CPU time than `threads` threads can; empty if it did not, or if the
/// baseline used as much.
[[nodiscard]] inline std::string find_more_threads(const SideConditions& side, double baseline_cores, int threads) {
  const double allowed = std::max(static_cast<double>(threads), baseline_cores);
  const Nanoseconds beyond = side.process_cpu - allowed * side.sampled;
  if (beyond <=
      std::max<Nanoseconds>((limits::cores_per_thread - 1) * allowed * side.sampled, process_cpu_error(side, allowed)))
    return {};
  return "its samples used " + format_significant(side.cores()) + " CPU seconds in each second, and " +
         std::to_string(threads) + (threads == 1 ? " thread is" : " threads are") + " allowed (the baseline used " +
         format_significant(baseline_cores) + "); try: as many threads for all (" + option_text("threads") + ')';
}

/// Returns the positions in `conditions.sides` of candidates whose own threads or child processes made the measuring
/// thread wait, as a part of their cost. It waited for more than `share` of their samples, and less in the other sides'
/// together. Other processes affect all sides, so the result is empty if their CPU time accounts for half of the
/// waiting. Never returns `baseline`, the baseline's position.
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

/// Returns why `conditions` allow no verdict, in full sentences; empty if they do. `elapsed` is the length of the
/// rounds. Steal time, waiting and throttling may each take `share` of it (Options::max_interference). If `charged`,
/// waiting and throttling are the implementations' own cost (sides_that_disturb()) and no reason.
[[nodiscard]] inline std::vector<std::string> find_disturbances(const Conditions& conditions, Nanoseconds elapsed,
                                                                double share, bool charged = false) {
  std::vector<std::string> found;
  const auto beyond = [&](const std::optional<double>& value, double limit, const char* what, const char* who) {
    if (!value || *value <= limit) return;
    found.push_back(who + format_percent(*value) + what + " (limit: " + format_percent(limit) + ").");
  };
  beyond(conditions.steal, share, " of the CPU time that this machine wanted", "The hypervisor gave others ");
  // Between samples others may have the core for as long as they like.
  charged = charged || conditions.uninterrupted;
  // One or two preemptions spoil a few samples, which robust statistics tolerate.
  constexpr std::int64_t fewest_switches = 5;
  if (!charged && conditions.involuntary_switches.value_or(fewest_switches) >= fewest_switches)
    beyond(conditions.waiting, share, " of the rounds, put aside for other work",
           "The measuring thread waited during ");
  // Using up the quota preempts the thread, too.
  if (!charged)
    beyond(conditions.throttled, share, " of the rounds", "The container's quota of CPU time was used up during ");
  if (share < 1 && conditions.unevenness > limits::unevenness)
    found.push_back("Interrupted cycles are left out, and the rest favour one side: over all cycles it takes " +
                    format_percent(conditions.unevenness - 1) +
                    " more CPU time, beside another side (limit: " + format_percent(limits::unevenness - 1) + ").");
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
  // Where the driver reports clocks, cycles are left out unless these agree between the sides.
  if (conditions.gpu && conditions.gpu->highest_clock <= 0)
    beyond(conditions.gpu->slowed, share, " of the readings", "The GPU was slowed down by heat or its hardware in ");
  if (conditions.gpu && share < 1) {
    const auto& gpu = *conditions.gpu;
    beyond(gpu.others, limits::gpu_others, " of the GPU's multiprocessors' time", "Other processes used ");
    if (gpu.other_processes > 0 && !gpu.others)
      found.push_back(std::to_string(gpu.other_processes) + (gpu.other_processes == 1 ? " process" : " processes") +
                      " beside this one may use the GPU, and the driver does not tell how much.");
  }
  if (conditions.suspended && *conditions.suspended > limits::least_clock_error)
    found.push_back("The machine slept for " + format_time(*conditions.suspended) + " during the rounds.");
  return found;
}

}  // namespace pace
