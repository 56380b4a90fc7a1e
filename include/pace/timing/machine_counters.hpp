// MachineCounters: the kernel's counters of the machine and of this process, which show interference by other work.
#pragma once

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "pace/base/units.hpp"
#include "pace/os/memory.hpp"
#include "pace/result/conditions.hpp"

namespace pace::timing {

/// Counters of the calling thread at one moment. Reading them takes about a microsecond.
struct ThreadCounters {
  Nanoseconds cpu{};                      ///< CPU time
  std::int64_t involuntary_switches = 0;  ///< how often the thread was preempted
  std::int64_t voluntary_switches = 0;    ///< how often the thread gave up the CPU itself
  Nanoseconds process_cpu = {};           ///< CPU time of all threads of the process
  /// `process_cpu` grows in such steps for threads on other CPUs. The kernel updates it at its ticks, 1 to 10 ms apart.
  /// 0: it is always up to date.
  Nanoseconds process_cpu_step = {};
};

/// What a stretch of time took of the CPU.
struct CpuUse {
  bool preempted = false;   ///< whether the kernel preempted the measuring thread
  Nanoseconds own = {};     ///< CPU time of that thread
  Nanoseconds off = {};     ///< for how long it had no core
  Nanoseconds others = {};  ///< CPU time of the other threads of this process
};

/// Returns what the stretch of length `took` between two readings took of the CPU.
[[nodiscard]] inline CpuUse cpu_use_between(const ThreadCounters& before, const ThreadCounters& after,
                                            Nanoseconds took) {
  const Nanoseconds own = after.cpu - before.cpu;
  return {.preempted = after.involuntary_switches != before.involuntary_switches,
          .own = own,
          .off = took - own,
          .others = after.process_cpu - before.process_cpu - own};
}

/// Counters of the machine, this process and the calling thread at one moment. Only differences between two readings
/// mean something. A counter that cannot be read is absent.
struct MachineCounters {
  std::optional<double> total_ticks = {};                 ///< all time, summed over all cores, in units of `tick`
  std::optional<double> idle_ticks = {};                  ///< part of it that was idle or waiting for a disk
  std::optional<double> steal_ticks = {};                 ///< part of it that a hypervisor gave to other machines
  Nanoseconds tick = std::chrono::milliseconds(10);       ///< length of a tick
  std::optional<Nanoseconds> process_cpu = {};            ///< CPU time of this process and the children it waited for
  std::optional<Nanoseconds> thread_cpu = {};             ///< CPU time of the calling thread
  std::optional<std::int64_t> involuntary_switches = {};  ///< how often the calling thread was preempted
  std::optional<std::int64_t> voluntary_switches = {};    ///< how often the calling thread gave up the CPU itself
  std::optional<Nanoseconds> throttled = {};              ///< time for which the control group's quota stopped it
  std::optional<Nanoseconds> raw = {};                    ///< a hardware clock without adjustments
  std::optional<Nanoseconds> slept = {};                  ///< time in suspension since the machine started
  /// Whether this process may not use all CPUs that the ticks cover.
  bool restricted = false;
};

namespace detail {

/// Ticks are coarse: with fewer, one more or less would change the shares too much.
inline constexpr double fewest_ticks = 10;

[[nodiscard]] inline std::optional<Nanoseconds> read_clock(clockid_t id) {
  timespec time{};
  // From the kernel, since the program may have its own clock_gettime().
  if (::syscall(SYS_clock_gettime, id, &time) != 0) return std::nullopt;
  return Nanoseconds(1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec));
}

/// Time between two ticks of the kernel, the resolution of its coarse clock; 0: unknown.
[[nodiscard]] inline Nanoseconds time_between_ticks() {
  timespec step{};
  // From the kernel, as in read_clock().
  if (::syscall(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &step) != 0) return {};
  return Nanoseconds(1e9 * static_cast<double>(step.tv_sec) + static_cast<double>(step.tv_nsec));
}

[[nodiscard]] inline Nanoseconds time_of(const timeval& time) {
  return Nanoseconds(1e9 * static_cast<double>(time.tv_sec) + 1e3 * static_cast<double>(time.tv_usec));
}

/// Reads total_ticks, idle_ticks and steal_ticks from a file in the format of /proc/stat.
inline void read_ticks(const std::string& file, MachineCounters& counters) {
  std::FILE* const stat = std::fopen(file.c_str(), "r");
  if (stat == nullptr) return;
  double user, nice, system, idle, disk, hard, soft, steal;
  // The guests' time, which follows, is a part of user and nice.
  const int found = std::fscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &disk, &hard,
                                &soft, &steal);
  std::fclose(stat);
  if (found != 8) return;
  counters.total_ticks = user + nice + system + idle + disk + hard + soft + steal;
  counters.idle_ticks = idle + disk;
  counters.steal_ticks = steal;
}

/// Whether the main thread is limited to some of the CPUs, as by taskset or in a container.
[[nodiscard]] inline bool is_restricted() {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  // If the machine has more CPUs than the set holds, we assume that all can be used.
  cpu_set_t allowed;
  return ::sched_getaffinity(::getpid(), sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) < online;
}

template <class T>
[[nodiscard]] std::optional<T> difference(const std::optional<T>& before, const std::optional<T>& after) {
  if (!before || !after) return std::nullopt;
  return *after - *before;
}

}  // namespace detail

/// Reads the counters of the calling thread. A counter that cannot be read is 0.
[[nodiscard]] inline ThreadCounters read_thread_counters() {
  ThreadCounters counters;
  rusage usage{};
  if (::getrusage(RUSAGE_THREAD, &usage) == 0) {
    counters.involuntary_switches = usage.ru_nivcsw;
    counters.voluntary_switches = usage.ru_nvcsw;
  }
  counters.cpu = detail::read_clock(CLOCK_THREAD_CPUTIME_ID).value_or(Nanoseconds(0));
  counters.process_cpu = detail::read_clock(CLOCK_PROCESS_CPUTIME_ID).value_or(Nanoseconds(0));
  static const Nanoseconds between_ticks = detail::time_between_ticks();
  counters.process_cpu_step = between_ticks;
  return counters;
}

/// Reads the counters of the machine, this process and the calling thread. Tests prepend `root` to the paths of files.
/// Takes about 30 us, so call it outside of timed code.
[[nodiscard]] inline MachineCounters read_machine_counters(const std::string& root = "") {
  MachineCounters counters;
  detail::read_ticks(root + "/proc/stat", counters);
  counters.restricted = detail::is_restricted();
  if (const long per_second = ::sysconf(_SC_CLK_TCK); per_second > 0)
    counters.tick = Nanoseconds(1e9 / static_cast<double>(per_second));
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    counters.process_cpu = detail::time_of(usage.ru_utime) + detail::time_of(usage.ru_stime);
  // Work of child processes counts once this process has waited for them.
  if (counters.process_cpu && ::getrusage(RUSAGE_CHILDREN, &usage) == 0)
    *counters.process_cpu += detail::time_of(usage.ru_utime) + detail::time_of(usage.ru_stime);
  if (::getrusage(RUSAGE_THREAD, &usage) == 0) {
    counters.involuntary_switches = usage.ru_nivcsw;
    counters.voluntary_switches = usage.ru_nvcsw;
  }
  counters.thread_cpu = detail::read_clock(CLOCK_THREAD_CPUTIME_ID);
  // Control groups of version 2, then 1.
  if (const auto us = pace::detail::number_in((root + "/sys/fs/cgroup/cpu.stat").c_str(), "throttled_usec %lld"))
    counters.throttled = Nanoseconds(1e3 * static_cast<double>(*us));
  else if (const auto ns =
               pace::detail::number_in((root + "/sys/fs/cgroup/cpu/cpu.stat").c_str(), "throttled_time %lld"))
    counters.throttled = Nanoseconds(static_cast<double>(*ns));
  counters.raw = detail::read_clock(CLOCK_MONOTONIC_RAW);
  counters.slept = detail::difference(detail::read_clock(CLOCK_MONOTONIC), detail::read_clock(CLOCK_BOOTTIME));
  return counters;
}

/// A reading of counters between two readings of the clock, since the thread may be preempted between them.
struct TimedCounters {
  Nanoseconds from{};             ///< time just before the reading
  Nanoseconds to{};               ///< time just after the reading
  MachineCounters counters = {};  ///< the reading
};

/// Returns how many CPUs other work may have kept from `threads` threads of this process, on average between two
/// readings. That is its CPU time, limited to `threads` CPUs, less the idle time. Nothing if too little time passed, or
/// if this process may not use all CPUs, since others may have used the rest.
[[nodiscard]] inline std::optional<double> cores_taken_between(const TimedCounters& first, const TimedCounters& last,
                                                               int threads) {
  using detail::difference;
  const auto& before = first.counters;
  const auto& after = last.counters;
  const auto total = difference(before.total_ticks, after.total_ticks);
  const auto idle = difference(before.idle_ticks, after.idle_ticks);
  const auto process = difference(before.process_cpu, after.process_cpu);
  const Nanoseconds elapsed = last.to - first.from;
  // Each CPU has ticks of its own.
  const bool is_brief = elapsed < detail::fewest_ticks * after.tick;
  if (!total || !idle || !process || is_brief || before.restricted || after.restricted) return std::nullopt;
  const double taken = ((*total - *idle) * after.tick - *process) / elapsed;
  const double unused = *idle * after.tick / elapsed;
  return std::max(0.0, std::min(taken, static_cast<double>(threads)) - unused);
}

/// Returns the conditions between two readings. The caller adds cycles and disturbances.
[[nodiscard]] inline Conditions conditions_between(const TimedCounters& first, const TimedCounters& last) {
  using detail::difference;
  const auto& before = first.counters;
  const auto& after = last.counters;
  const Nanoseconds shortest = last.from - first.to, elapsed = last.to - first.from;
  Conditions conditions;
  const auto total = difference(before.total_ticks, after.total_ticks);
  const auto idle = difference(before.idle_ticks, after.idle_ticks);
  const auto steal = difference(before.steal_ticks, after.steal_ticks);
  const auto process = difference(before.process_cpu, after.process_cpu);
  if (total && idle && steal && *total >= detail::fewest_ticks) {
    const double wanted = *total - *idle;
    if (wanted >= detail::fewest_ticks) conditions.steal = *steal / wanted;
    if (process) {
      conditions.others_cpu = std::max(0.0, wanted - *steal - *process / after.tick) * after.tick;
      conditions.others = *conditions.others_cpu / (*total * after.tick);
    }
  }
  const auto thread = difference(before.thread_cpu, after.thread_cpu);
  const auto put_aside = difference(before.involuntary_switches, after.involuntary_switches);
  const auto stepped_aside = difference(before.voluntary_switches, after.voluntary_switches);
  conditions.involuntary_switches = put_aside;
  if (thread && put_aside && stepped_aside && elapsed.count() > 0) {
    // Divides time off the CPU in proportion to the switches. A subject may sleep or wait for a device on purpose.
    const auto switches = static_cast<double>(*put_aside + *stepped_aside);
    const double off = std::max(0.0, 1 - *thread / elapsed);
    conditions.waiting = switches > 0 ? off * static_cast<double>(*put_aside) / switches : 0;
  }
  if (const auto throttled = difference(before.throttled, after.throttled); throttled && elapsed.count() > 0)
    conditions.throttled = *throttled / elapsed;
  // A difference within the clock's two readings is no error: the counter was read at some time between them.
  if (const auto raw = difference(before.raw, after.raw))
    conditions.clock_error = *raw < shortest ? shortest - *raw : *raw > elapsed ? elapsed - *raw : Nanoseconds(0);
  conditions.suspended = difference(before.slept, after.slept);
  return conditions;
}

}  // namespace pace::timing
