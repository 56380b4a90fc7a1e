// MachineCounters: what the kernel counts of the machine and of this process, to see what else was at work.
#pragma once

#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "pace/core/conditions.hpp"
#include "pace/core/memory.hpp"
#include "pace/core/units.hpp"

namespace pace::timing {

/// Counters of the calling thread at one moment; reading them between samples takes half a microsecond.
struct ThreadCounters {
  Nanoseconds cpu{};
  /// Times that it was put aside, and that it stepped aside itself.
  std::int64_t involuntary_switches = 0, voluntary_switches = 0;
};

/// At one moment. Only differences mean something. What cannot be read is absent.
struct MachineCounters {
  /// Sums over all cores, in ticks of `tick`: everything; idle or waiting for a disk; given to other machines.
  std::optional<double> total_ticks = {}, idle_ticks = {}, steal_ticks = {};
  Nanoseconds tick = std::chrono::milliseconds(10);
  /// CPU time of this process with the children that it has waited for, and of the calling thread.
  std::optional<Nanoseconds> process_cpu = {}, thread_cpu = {};
  /// Times that the calling thread was put aside, and that it stepped aside itself.
  std::optional<std::int64_t> involuntary_switches = {}, voluntary_switches = {};
  std::optional<Nanoseconds> throttled = {};
  /// A hardware counter that nothing adjusts, and how long the machine has slept since it started.
  std::optional<Nanoseconds> raw = {}, slept = {};
};

namespace detail {

[[nodiscard]] inline std::optional<Nanoseconds> read_clock(clockid_t id) {
  timespec time{};
  if (::clock_gettime(id, &time) != 0) return std::nullopt;
  return Nanoseconds(1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec));
}

[[nodiscard]] inline Nanoseconds time_of(const timeval& time) {
  return Nanoseconds(1e9 * static_cast<double>(time.tv_sec) + 1e3 * static_cast<double>(time.tv_usec));
}

/// Into total_ticks, idle_ticks and steal_ticks, from a file like /proc/stat.
inline void read_ticks(const std::string& file, MachineCounters& counters) {
  std::FILE* const stat = std::fopen(file.c_str(), "r");
  if (stat == nullptr) return;
  double user, nice, system, idle, disk, hard, soft, steal;
  // Guests' time, which follows, is part of user and nice already.
  const int found = std::fscanf(stat, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &disk, &hard,
                                &soft, &steal);
  std::fclose(stat);
  if (found != 8) return;
  counters.total_ticks = user + nice + system + idle + disk + hard + soft + steal;
  counters.idle_ticks = idle + disk;
  counters.steal_ticks = steal;
}

template <class T>
[[nodiscard]] std::optional<T> difference(const std::optional<T>& before, const std::optional<T>& after) {
  if (!before || !after) return std::nullopt;
  return *after - *before;
}

}  // namespace detail

/// What cannot be read stays 0.
[[nodiscard]] inline ThreadCounters read_thread_counters() {
  ThreadCounters counters;
  rusage usage{};
  if (::getrusage(RUSAGE_THREAD, &usage) == 0) {
    counters.involuntary_switches = usage.ru_nivcsw;
    counters.voluntary_switches = usage.ru_nvcsw;
  }
  counters.cpu = detail::read_clock(CLOCK_THREAD_CPUTIME_ID).value_or(Nanoseconds(0));
  return counters;
}

/// Files are read under `root`, which is "" but for tests. Takes some 30 us; call it outside of what is timed.
[[nodiscard]] inline MachineCounters read_machine_counters(const std::string& root = "") {
  MachineCounters counters;
  detail::read_ticks(root + "/proc/stat", counters);
  if (const long per_second = ::sysconf(_SC_CLK_TCK); per_second > 0)
    counters.tick = Nanoseconds(1e9 / static_cast<double>(per_second));
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) == 0)
    counters.process_cpu = detail::time_of(usage.ru_utime) + detail::time_of(usage.ru_stime);
  // What an implementation has other programs do is its own doing, once it has waited for them.
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

/// A reading, and what the clock that times told just before and just after it: a thread may be put aside in between.
struct TimedCounters {
  Nanoseconds from{}, to{};
  MachineCounters counters = {};
};

/// What happened between two readings. Cycles and disturbances are for the caller to fill in.
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
  // Ticks are coarse: of fewer than ten, one more or less says too much.
  constexpr double fewest_ticks = 10;
  if (total && idle && steal && *total >= fewest_ticks) {
    const double wanted = *total - *idle;
    if (wanted >= fewest_ticks) conditions.steal = *steal / wanted;
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
    // Time off the CPU, shared among the reasons to leave it: a subject may sleep or wait for a device on purpose.
    const auto switches = static_cast<double>(*put_aside + *stepped_aside);
    const double off = std::max(0.0, 1 - *thread / elapsed);
    conditions.waiting = switches > 0 ? off * static_cast<double>(*put_aside) / switches : 0;
  }
  if (const auto throttled = difference(before.throttled, after.throttled); throttled && elapsed.count() > 0)
    conditions.throttled = *throttled / elapsed;
  // What lies within the two readings is no error: it is unknown when exactly the counter was read.
  if (const auto raw = difference(before.raw, after.raw))
    conditions.clock_error = *raw < shortest ? shortest - *raw : *raw > elapsed ? elapsed - *raw : Nanoseconds(0);
  conditions.suspended = difference(before.slept, after.slept);
  return conditions;
}

}  // namespace pace::timing
