// counter_entries: the counters that `--counters` and CounterAtMost() name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

namespace pace {

/// Unit of a counter's figure.
enum class CounterUnit {
  events,  ///< of one call
  bytes,   ///< of one call
  percent  ///< a share, on average over the calls
};

/// Returns `events`, `bytes` or `percent`.
[[nodiscard]] inline const char* to_string(CounterUnit unit) {
  switch (unit) {
    case CounterUnit::events:
      return "events";
    case CounterUnit::bytes:
      return "bytes";
    case CounterUnit::percent:
      return "percent";
  }
  return "?";
}
/// Prints to_string() of the value.
inline std::ostream& operator<<(std::ostream& out, CounterUnit unit) { return out << to_string(unit); }

/// A counter that pace reads.
struct CounterEntry {
  const char* name;  ///< as `--counters` and results have it
  const char* what;  ///< the events in words, such as `branch misses`
  /// Whether equal calls have equal counts, up to counter_tolerance, so that CounterAtMost() can judge them.
  bool is_exact = false;
  CounterUnit unit = CounterUnit::events;  ///< of its figure
  bool of_gpu = false;                     ///< whether a GPU counts, in place of the CPU
};

/// All counters. Those of the CPU count events in user code of the threads of the process.
inline constexpr CounterEntry counter_entries[] = {
    {"cycles", "cycles"},
    {"instructions", "instructions", true},
    {"branches", "branches", true},
    {"branch_misses", "branch misses"},
    {"cache_references", "accesses to the last-level cache"},
    {"cache_misses", "misses of the last-level cache"},
    {"page_faults", "page faults", true},
    {"dram_bytes", "bytes read from and written to the GPU's memory", false, CounterUnit::bytes, true},
    {"l2_hit_rate", "hits among the accesses to the GPU's L2 cache", false, CounterUnit::percent, true},
    {"sm_active", "time in which a multiprocessor has work", false, CounterUnit::percent, true},
    {"tensor_active", "time in which the tensor cores work", false, CounterUnit::percent, true},
    {"occupancy", "warps of the multiprocessors at work", false, CounterUnit::percent, true},
};

/// Exact counts of one side may lie so far apart, as a share, and still count as equal. A ratio may exceed its limit by
/// as much. Interrupts add a few events.
inline constexpr double counter_tolerance = 0.001;
/// Samples may differ by so many events, whatever share that is.
inline constexpr double counter_slack = 2;

/// Returns the entry of that name; null if there is none.
[[nodiscard]] inline const CounterEntry* counter_entry(std::string_view name) {
  const auto* const found = std::ranges::find(counter_entries, name, &CounterEntry::name);
  return found == std::end(counter_entries) ? nullptr : found;
}

/// Returns all names, or those of exact counters alone, separated by commas.
[[nodiscard]] inline std::string names_of_counters(bool exact_alone = false) {
  std::string names;
  for (const auto& each : counter_entries)
    if (each.is_exact || !exact_alone) names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

/// One call's figure of a counter, by several samples of many calls, outside of the timed rounds.
struct CounterSummary {
  std::string name = {};                     ///< a name of counter_entries
  CounterUnit unit = CounterUnit::events;    ///< that of the entry
  std::int64_t calls = 0;                    ///< calls of each sample
  double low = 0;                            ///< least of one call
  double high = 0;                           ///< most of one call; equal to `low` if the samples agree
  std::optional<double> baseline_low = {};   ///< least of the baseline; absent for it, for percent, or unknown
  std::optional<double> baseline_high = {};  ///< most of the baseline
  std::string missing = {};                  ///< why there are no counts; empty otherwise

  /// Returns the ratio of the means of both ends to the baseline's; absent without one.
  [[nodiscard]] std::optional<double> ratio() const {
    if (!missing.empty() || !baseline_low || !baseline_high || !(*baseline_low + *baseline_high > 0))
      return std::nullopt;
    return (low + high) / (*baseline_low + *baseline_high);
  }
};

}  // namespace pace
