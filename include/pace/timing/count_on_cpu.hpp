// count_on_cpu: events of all threads of this process during some work, by Linux's perf events.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <ranges>
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

/// The threads of this process, the calling one last. Throws Unsupported if `folder` cannot be read.
[[nodiscard]] inline std::vector<pid_t> threads_of_process(const char* folder = "/proc/self/task") {
  std::vector<pid_t> found;
  const pid_t own = ::gettid();
  std::error_code error;
  for (std::filesystem::directory_iterator each(folder, error), end; !error && each != end; each.increment(error))
    if (const auto thread = static_cast<pid_t>(std::atol(each->path().filename().c_str())); thread != own)
      found.push_back(thread);
  if (error)
    throw Unsupported("the threads of the process are unknown, since " + std::string(folder) +
                      " cannot be read: " + error.message());
  found.push_back(own);
  return found;
}

/// Why the counter of `what` cannot be read in one of so many threads, by the `problem` of PerfEvent::open.
[[nodiscard]] inline std::string why_no_counter_in(const std::string& what, int problem, std::size_t threads) {
  if (problem == EMFILE || problem == ENFILE)
    return why_no_counter(what, problem,
                          "; a counter takes a file for each of " + std::to_string(threads) +
                              " threads; expected a higher ulimit -n, or fewer threads or counters");
  return why_no_counter(what, problem, "; virtual machines often have none");
}

/// Adds what one thread counted to `sum`. If a thread's counter was lost, all is: `remedy` is added to the reason.
inline void add_thread(EventCount& sum, FunctionRef<std::int64_t()> count, const std::string& remedy) {
  if (!sum.missing.empty()) return;
  try {
    sum.events = sum.events.value_or(0) + static_cast<double>(count());
  } catch (const Error& lost) {
    sum = {.missing = lost.what() + remedy};
  }
}

/// Counters in all threads of this process.
class EventsOfThreads {
 public:
  /// Throws Unsupported if the threads are unknown.
  explicit EventsOfThreads(const std::vector<std::string>& names)
      : counts_(names.size()), remedy_(names.size() > 1 ? "; or expected fewer counters at once" : "") {
    const auto threads = threads_of_process();
    // A thread's counters are together, so that those of the calling thread start last.
    for (const pid_t thread : threads)
      for (std::size_t place = 0; place < names.size(); ++place) open(thread, threads.size(), names[place], place);
    leave_out_missing();
    for (auto& each : events_) prepare(each);
    leave_out_missing();
  }

  /// Whether there is something to count.
  [[nodiscard]] bool any() const { return !events_.empty(); }
  /// Counts while `work` runs. The calling thread starts last and stops first, so that its own system calls for the
  /// others do not count. If `work` throws, the events end with this object.
  void over(FunctionRef<void()> work) {
    for (auto& each : events_) each.event.start();
    work();
    for (auto& each : std::views::reverse(events_)) each.event.stop();
  }
  /// After over(), or without any(): one count for each name.
  [[nodiscard]] std::vector<EventCount> counted() {
    for (const auto& each : events_)
      add_thread(counts_[each.place], [&] { return each.event.counted(each.what); }, remedy_);
    return std::move(counts_);
  }

 private:
  struct OfThread {
    std::size_t place;
    std::string what;
    PerfEvent event = {};
  };

  void open(pid_t thread, std::size_t threads, const std::string& name, std::size_t place) {
    std::string& missing = counts_[place].missing;
    if (!missing.empty()) return;
    const auto kind = perf_kind(name);
    const CounterEntry* const entry = counter_entry(name);
    if (!kind || entry == nullptr) {
      missing = entry != nullptr && entry->of_gpu ? "a GPU counts it; expected operands on a CUDA GPU"
                                                  : "the CPU has no counter of " + name;
      return;
    }
    OfThread each{.place = place, .what = entry->what};
    // Threads that they start count with them.
    if (each.event.open(*kind, {.of = thread, .children = true}))
      events_.push_back(std::move(each));
    else if (const int problem = errno; problem != ESRCH)  // it has ended
      missing = why_no_counter_in(each.what, problem, threads);
  }

  void prepare(OfThread& each) {
    try {
      each.event.prepare(each.what);
    } catch (const Error& lost) {
      counts_[each.place].missing = lost.what() + remedy_;
    }
  }

  void leave_out_missing() {
    std::erase_if(events_, [&](const OfThread& each) { return !counts_[each.place].missing.empty(); });
  }

  std::vector<EventCount> counts_;
  std::string remedy_;
  std::vector<OfThread> events_;
};

}  // namespace detail

/// Counts the events `names` of counter_entries while `work` runs, of all threads of this process, and of the threads
/// and processes that they start meanwhile. Returns one count for each name, or the reason. `work` does not run if no
/// name can be counted. Throws what `work` throws.
[[nodiscard]] inline std::vector<EventCount> count_on_cpu(const std::vector<std::string>& names,
                                                          FunctionRef<void()> work) {
  if (names.empty()) return {};
  std::optional<detail::EventsOfThreads> events;
  try {
    events.emplace(names);
  } catch (const Unsupported& none) {
    return std::vector<EventCount>(names.size(), {.missing = none.what()});
  }
  if (events->any()) events->over(work);
  return events->counted();
}

}  // namespace pace::timing
