// KernelSettings: settings of the operating system that any call can change.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <string>
#include <vector>

namespace pace::detail {

struct KernelSettings {
  /// A handler for faults can compute values when they are read.
  static constexpr int timer_signals[] = {SIGALRM, SIGVTALRM, SIGPROF};
  static constexpr int fault_signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE};
  static constexpr __itimer_which interval_timers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

  int scheduling = 0;
  sched_param scheduling_parameters{};
  /// Handlers of these signals.
  std::array<void (*)(int), std::size(timer_signals)> timer_handlers{};
  std::array<void (*)(int), std::size(fault_signals)> fault_handlers{};
  /// Whether the interval timers run, and the sum of their intervals in us.
  std::array<bool, std::size(interval_timers)> armed{};
  long interval = 0;
  /// Identifiers of the timers of timer_create(); empty where the kernel does not list them.
  std::vector<int> timers = {};
  /// How the CPU speculates (stores, indirect branches, flushing of the first cache); below 0: the kernel cannot tell.
  std::array<int, 3> speculation{};
  /// Whether the CPU's counter may be read; the slack of timers in ns; whether huge pages are off.
  int counter = 0, timer_slack = 0, huge_pages_off = 0;

  [[nodiscard]] static KernelSettings now() {
    KernelSettings found;
    found.scheduling = ::sched_getscheduler(0);
    (void)::sched_getparam(0, &found.scheduling_parameters);
    std::ranges::transform(timer_signals, found.timer_handlers.begin(), handler_of);
    std::ranges::transform(fault_signals, found.fault_handlers.begin(), handler_of);
    for (std::size_t i = 0; i < std::size(interval_timers); ++i) {
      itimerval timer{};
      if (::getitimer(interval_timers[i], &timer) != 0) continue;
      found.armed[i] = timer.it_value.tv_sec != 0 || timer.it_value.tv_usec != 0;
      found.interval += timer.it_interval.tv_sec * 1'000'000 + timer.it_interval.tv_usec;
    }
    found.timers = timers_of_process();
    for (std::size_t i = 0; i < found.speculation.size(); ++i)
      found.speculation[i] = ::prctl(PR_GET_SPECULATION_CTRL, i, 0, 0, 0);
    (void)::prctl(PR_GET_TSC, &found.counter);
    found.timer_slack = ::prctl(PR_GET_TIMERSLACK);
    found.huge_pages_off = ::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);
    return found;
  }

  /// Appends what differs in `after`, in words.
  void add_changes(const KernelSettings& after, std::vector<std::string>& changes) const {
    const auto add = [&](bool differs, const char* what) {
      if (differs) changes.emplace_back(what);
    };
    add(scheduling != after.scheduling ||
            scheduling_parameters.sched_priority != after.scheduling_parameters.sched_priority,
        "the scheduling class of this thread");
    add(timer_handlers != after.timer_handlers, "the handlers of the signals that timers send");
    add(fault_handlers != after.fault_handlers, "the handlers of the signals that faults send, such as SIGSEGV");
    add(armed != after.armed || interval != after.interval, "the interval timers that send signals");
    add(timers != after.timers, "the timers of the process (timer_create)");
    add(speculation != after.speculation, "how the CPU speculates");
    add(counter != after.counter, "whether the CPU's counter may be read");
    add(timer_slack != after.timer_slack, "the slack of timers");
    add(huge_pages_off != after.huge_pages_off, "the use of huge pages");
  }

  /// Restores what it can, and stops timers that were not there before. Handlers of faults stay: memory protected for
  /// their sake would end the process.
  void restore() const {
    const KernelSettings present = now();
    if (scheduling != present.scheduling ||
        scheduling_parameters.sched_priority != present.scheduling_parameters.sched_priority)
      (void)::sched_setscheduler(0, scheduling, &scheduling_parameters);
    for (std::size_t i = 0; i < std::size(interval_timers); ++i)
      if (!armed[i] && present.armed[i]) {
        const itimerval none{};
        (void)::setitimer(interval_timers[i], &none, nullptr);
      }
    for (const int timer : present.timers)
      if (std::find(timers.begin(), timers.end(), timer) == timers.end()) (void)::syscall(SYS_timer_delete, timer);
    // After the timers, whose signals would end the process without a handler.
    for (std::size_t i = 0; i < std::size(timer_signals); ++i)
      if (timer_handlers[i] != present.timer_handlers[i]) {
        struct sigaction action = action_of(timer_signals[i]);
        action.sa_handler = timer_handlers[i];
        (void)::sigaction(timer_signals[i], &action, nullptr);
      }
    for (std::size_t i = 0; i < speculation.size(); ++i)
      if (speculation[i] != present.speculation[i] && speculation[i] > 0)
        (void)::prctl(PR_SET_SPECULATION_CTRL, i, speculation[i] & ~PR_SPEC_PRCTL, 0, 0);
    if (counter != present.counter) (void)::prctl(PR_SET_TSC, counter);
    if (timer_slack != present.timer_slack) (void)::prctl(PR_SET_TIMERSLACK, timer_slack);
    if (huge_pages_off != present.huge_pages_off) (void)::prctl(PR_SET_THP_DISABLE, huge_pages_off, 0, 0, 0);
  }

 private:
  [[nodiscard]] static struct sigaction action_of(int signal) {
    struct sigaction action{};
    (void)::sigaction(signal, nullptr, &action);
    return action;
  }
  // A handler with three arguments lies in the same place.
  [[nodiscard]] static void (*handler_of(int signal))(int) { return action_of(signal).sa_handler; }

  [[nodiscard]] static std::vector<int> timers_of_process() {
    std::vector<int> found;
    std::FILE* const file = std::fopen("/proc/self/timers", "r");
    if (file == nullptr) return found;
    char line[128];
    int timer = 0;
    while (std::fgets(line, sizeof line, file) != nullptr)
      if (std::sscanf(line, "ID: %d", &timer) == 1) found.push_back(timer);
    std::fclose(file);
    std::sort(found.begin(), found.end());
    return found;
  }
};

}  // namespace pace::detail
