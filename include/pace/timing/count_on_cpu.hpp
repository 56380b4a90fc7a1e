// count_on_cpu: events of all threads of this process during some work, by Linux's perf events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <linux/perf_event.h>
#include <sys/types.h>

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

[[nodiscard]] inline std::vector<pid_t> threads_of_process() {
  std::vector<pid_t> found;
  std::error_code ignored;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/task", ignored))
    found.push_back(static_cast<pid_t>(std::atol(each.path().filename().c_str())));
  return found;
}

/// One counter in all threads. Its faults are its count's.
class ThreadsEvent {
 public:
  ThreadsEvent(const std::string& name, const std::vector<pid_t>& threads) {
    const auto kind = perf_kind(name);
    attempt([&] {
      if (!kind) throw Unsupported("the CPU has no counter of " + name);
      for (const pid_t thread : threads) events_.emplace_back(*kind, counter_entry(name)->what, thread);
    });
  }
  void start() {
    attempt([&] {
      for (auto& each : events_) each.start();
    });
  }
  void stop() {
    for (auto& each : events_) each.stop();
  }
  [[nodiscard]] EventCount count() {
    attempt([&] {
      std::int64_t sum = 0;
      for (const auto& each : events_) sum += each.counted();
      count_.events = sum;
    });
    return count_;
  }

 private:
  /// Nothing more is done after a fault.
  template <class F>
  void attempt(F&& step) {
    if (!count_.missing.empty()) return;
    try {
      step();
    } catch (const std::exception& error) {
      count_.missing = error.what();
    }
  }

  std::vector<PerfEvent> events_;
  EventCount count_;
};

}  // namespace detail

/// Counts the events `names` of all threads that this process has now, while `work` runs. What cannot be counted has
/// the reason. Throws what `work` throws.
[[nodiscard]] inline std::vector<EventCount> count_on_cpu(const std::vector<std::string>& names,
                                                          FunctionRef<void()> work) {
  const auto threads = detail::threads_of_process();
  std::vector<detail::ThreadsEvent> events;
  for (const auto& name : names) events.emplace_back(name, threads);
  for (auto& each : events) each.start();
  work();
  for (auto& each : events) each.stop();
  std::vector<EventCount> counts;
  for (auto& each : events) counts.push_back(each.count());
  return counts;
}

}  // namespace pace::timing
