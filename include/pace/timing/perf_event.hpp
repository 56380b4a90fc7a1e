// PerfEvent: events of one thread that the CPU or Linux counts.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "pace/base/error.hpp"
#include "pace/os/file_descriptor.hpp"

namespace pace::timing {

/// An event, as perf_event_open names it.
struct PerfKind {
  std::uint32_t type = 0;    ///< such as PERF_TYPE_HARDWARE
  std::uint64_t config = 0;  ///< such as PERF_COUNT_HW_INSTRUCTIONS
};

namespace detail {

/// Linux's report of a counter of the CPU.
struct PerfReading {
  std::uint64_t value = 0;    ///< events counted
  std::uint64_t enabled = 0;  ///< ns when it should have counted
  std::uint64_t running = 0;  ///< ns when it counted
};

/// Returns the events. Throws Error, with `what` was counted, if the counter was off for a part of the time, as when
/// several users take turns, since it then missed some.
[[nodiscard]] inline std::int64_t whole_count(const PerfReading& reading, const std::string& what) {
  if (reading.running != reading.enabled)
    throw Error("the CPU's counter of " + what + " ran for " + std::to_string(reading.running) + " of " +
                std::to_string(reading.enabled) +
                " ns, since something else uses the counters, too; expected it for this thread alone");
  return static_cast<std::int64_t>(reading.value);
}

}  // namespace detail

/// Counts the events of one thread outside of the kernel. Interrupts may add a few.
class PerfEvent {
 public:
  /// `what`: the events in words, such as `instructions`. `thread`: 0 for the calling one. Throws Unsupported, with the
  /// remedy, if the kernel does not permit it or the CPU has no such counter.
  PerfEvent(PerfKind kind, std::string what, pid_t thread = 0) : what_(std::move(what)) {
    perf_event_attr wanted{};
    wanted.type = kind.type;
    wanted.size = sizeof wanted;
    wanted.config = kind.config;
    wanted.disabled = 1;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    // Counts whenever the thread runs, or else fails; does not take turns with other events.
    wanted.pinned = 1;
    wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    event_ =
        FileDescriptor(static_cast<int>(::syscall(SYS_perf_event_open, &wanted, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    if (event_.get() >= 0) return;
    const int problem = errno;
    const bool denied = problem == EACCES || problem == EPERM;
    throw Unsupported("the CPU's counter of " + what_ + " cannot be read: " + std::strerror(problem) +
                      (denied ? "; expected permission, such as by sysctl kernel.perf_event_paranoid=2 (in a container "
                                "also by a seccomp profile that allows perf_event_open)"
                              : "; virtual machines often have none"));
  }

  /// Counts from now on. Throws Error if the counter is lost.
  void start() {
    // A pinned event that once found no counter is in an error state, and cannot be read until enabled.
    ::ioctl(event_.get(), PERF_EVENT_IOC_ENABLE, 0);
    ::ioctl(event_.get(), PERF_EVENT_IOC_DISABLE, 0);
    ::ioctl(event_.get(), PERF_EVENT_IOC_RESET, 0);
    before_ = read();
    ::ioctl(event_.get(), PERF_EVENT_IOC_ENABLE, 0);
  }
  /// Counts no longer.
  void stop() { ::ioctl(event_.get(), PERF_EVENT_IOC_DISABLE, 0); }
  /// After stop(): the events since start(). Throws Error if the counter is lost, or missed some.
  [[nodiscard]] std::int64_t counted() const {
    const detail::PerfReading after = read();
    // A reset zeroes the value but not the times.
    return detail::whole_count(
        {.value = after.value, .enabled = after.enabled - before_.enabled, .running = after.running - before_.running},
        what_);
  }

 private:
  [[nodiscard]] detail::PerfReading read() const {
    detail::PerfReading reading;
    const ssize_t length = ::read(event_.get(), &reading, sizeof reading);
    // A read returns length 0 if the pinned event found no counter.
    if (length != sizeof reading)
      throw Error("the CPU's counter of " + what_ + " was lost: " +
                  (length == 0 ? "something else uses the counters; expected one for this thread alone"
                               : std::strerror(errno)));
    return reading;
  }

  std::string what_;
  FileDescriptor event_;
  detail::PerfReading before_;
};

}  // namespace pace::timing
