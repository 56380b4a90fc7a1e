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

/// Linux's report of a counter.
struct PerfReading {
  std::uint64_t value = 0;    ///< events counted
  std::uint64_t enabled = 0;  ///< ns when it should have counted
  std::uint64_t running = 0;  ///< ns when it counted
};

/// Returns the events. Throws Error, with `what` was counted, if the counter was off for a part of the time, as when
/// several users take turns, since it then missed some.
[[nodiscard]] inline std::int64_t whole_count(const PerfReading& reading, const std::string& what) {
  if (reading.running != reading.enabled)
    throw Error("the counter of " + what + " ran for " + std::to_string(reading.running) + " of " +
                std::to_string(reading.enabled) +
                " ns, since something else uses the counters, too; expected it for this thread alone");
  return static_cast<std::int64_t>(reading.value);
}

}  // namespace detail

/// Counts the events of one thread outside of the kernel. Interrupts may add a few.
class PerfEvent {
 public:
  /// Which threads count.
  struct Threads {
    pid_t of = 0;           ///< the thread; 0: the calling one
    bool children = false;  ///< whether also threads and processes that it starts meanwhile
  };

  /// Opens the event; false if Linux refuses, with the reason in errno.
  [[nodiscard]] bool open(PerfKind kind, Threads threads) {
    perf_event_attr wanted{};
    wanted.type = kind.type;
    wanted.size = sizeof wanted;
    wanted.config = kind.config;
    wanted.disabled = 1;
    wanted.inherit = threads.children ? 1 : 0;
    wanted.exclude_kernel = 1;
    wanted.exclude_hv = 1;
    // Counts whenever the thread runs, or else fails; does not take turns with other events.
    wanted.pinned = 1;
    wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    event_ = FileDescriptor(
        static_cast<int>(::syscall(SYS_perf_event_open, &wanted, threads.of, -1, -1, PERF_FLAG_FD_CLOEXEC)));
    return event_.get() >= 0;
  }

  /// Makes it ready to count. Throws Error, with `what` it counts, if the counter is lost.
  void prepare(const std::string& what) {
    // A pinned event that once found no counter is in an error state, and cannot be read until enabled.
    ::ioctl(event_.get(), PERF_EVENT_IOC_ENABLE, 0);
    stop();
    ::ioctl(event_.get(), PERF_EVENT_IOC_RESET, 0);
    before_ = read(what);
  }
  /// Counts from now on.
  void start() { ::ioctl(event_.get(), PERF_EVENT_IOC_ENABLE, 0); }
  /// Counts no longer.
  void stop() { ::ioctl(event_.get(), PERF_EVENT_IOC_DISABLE, 0); }
  /// After stop(): the events since start(). Throws Error if the counter is lost, or missed some.
  [[nodiscard]] std::int64_t counted(const std::string& what) const {
    const detail::PerfReading after = read(what);
    // A reset zeroes the value but not the times.
    return detail::whole_count(
        {.value = after.value, .enabled = after.enabled - before_.enabled, .running = after.running - before_.running},
        what);
  }

 private:
  [[nodiscard]] detail::PerfReading read(const std::string& what) const {
    detail::PerfReading reading;
    const ssize_t length = ::read(event_.get(), &reading, sizeof reading);
    // A read returns length 0 if the pinned event found no counter.
    if (length != sizeof reading)
      throw Error("the counter of " + what + " was lost: " +
                  (length == 0 ? "something else uses the counters; expected one for this thread alone"
                               : std::strerror(errno)));
    return reading;
  }

  FileDescriptor event_;
  detail::PerfReading before_;
};

/// Why the counter of `what` cannot be read, by the `problem` of PerfEvent::open, and what may help. `otherwise` is the
/// remedy where the CPU has none.
[[nodiscard]] inline std::string why_no_counter(const std::string& what, int problem, const std::string& otherwise) {
  const bool denied = problem == EACCES || problem == EPERM;
  return "the counter of " + what + " cannot be read: " + std::strerror(problem) +
         (denied ? "; expected permission, such as by sysctl kernel.perf_event_paranoid=2 (in a container also by a "
                   "seccomp profile that allows perf_event_open)"
                 : otherwise);
}

}  // namespace pace::timing
