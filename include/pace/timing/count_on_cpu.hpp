// count_on_cpu: events of all threads of this process during some work, by Linux's perf events.
#pragma once

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <linux/perf_event.h>
#include <sys/types.h>
#include <unistd.h>

#include "pace/base/error.hpp"
#include "pace/base/function_ref.hpp"
#include "pace/result/counters.hpp"
#include "pace/timing/event_count.hpp"
#include "pace/timing/perf_event.hpp"

namespace pace::timing {

namespace detail {

[[nodiscard]] inline std::optional<PerfKind> perf_kind(std::string_view name) {
  static const std::map<std::string_view, PerfKind> kinds = {
      {"cycles", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES}},
      {"instructions", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS}},
      {"branches", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS}},
      {"branch_misses", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES}},
      {"cache_references", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES}},
      {"cache_misses", {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}},
      {"page_faults", {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS}},
  };
  const auto found = kinds.find(name);
  return found == kinds.end() ? std::nullopt : std::optional(found->second);
}

/// The threads of this process, the calling one last.
[[nodiscard]] inline std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> found;
  const pid_t own = ::gettid();
  std::error_code error;
  for (std::filesystem::directory_iterator each("/proc/self/task", error), end; !error && each != end;
       each.increment(error))
    if (const auto thread = static_cast<pid_t>(std::atol(each->path().filename().c_str())); thread != own)
      found.push_back(thread);
  found.push_back(own);
  return found;
}

/// One counter in all threads.
class ThreadsEvent {
 public:
  /// Throws Unsupported, with the remedy, if it cannot be read.
  ThreadsEvent(PerfKind kind, std::string what) : what_(std::move(what)) {
    const auto threads = threads_of_process();
    for (const pid_t thread : threads) {
      // Threads that they start count with them.
      if (PerfEvent event; event.open(kind, {.of = thread, .children = true}))
        events_.push_back(std::move(event));
      else if (const int problem = errno; problem == EMFILE || problem == ENFILE)
        throw Unsupported(why_no_counter(
            what_, problem, "; a counter takes a file for each of " + std::to_string(threads.size()) + " threads"));
      else if (problem != ESRCH)  // it has ended
        throw Unsupported(why_no_counter(what_, problem, "; virtual machines often have none"));
    }
    for (auto& each : events_) each.prepare(what_);
  }
  /// Counts while `work` runs. The calling thread starts last and stops first, so that its own system calls for the
  /// others do not count. If `work` throws, the events end with this object.
  void over(FunctionRef<void()> work) {
    for (auto& each : events_) each.start();
    work();
    for (auto each = events_.rbegin(); each != events_.rend(); ++each) each->stop();
  }
  /// After over(). Throws Error if the counter was lost, or missed some.
  [[nodiscard]] std::int64_t counted() const {
    std::int64_t sum = 0;
    for (const auto& each : events_) sum += each.counted(what_);
    return sum;
  }

 private:
  std::string what_;
  std::vector<PerfEvent> events_;
};

}  // namespace detail

/// Counts the events `name` of counter_entries while `work` runs, of all threads of this process and of those that they
/// start meanwhile. Does not run `work` if they cannot be counted, which has a reason. Throws what `work` throws.
[[nodiscard]] inline EventCount count_on_cpu(const std::string& name, FunctionRef<void()> work) {
  const auto kind = detail::perf_kind(name);
  if (!kind) return {.missing = "the CPU has no counter of " + name};
  std::optional<detail::ThreadsEvent> event;
  try {
    event.emplace(*kind, counter_entry(name)->what);
  } catch (const Error& none) {
    return {.missing = none.what()};
  }
  event->over(work);
  try {
    return {.events = event->counted()};
  } catch (const Error& lost) {
    return {.missing = lost.what()};
  }
}

}  // namespace pace::timing
