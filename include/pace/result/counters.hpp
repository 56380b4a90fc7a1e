// counter_entries: the counters that `--counters` and CounterAtMost() name.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace pace {

/// A counter that pace reads.
struct CounterEntry {
  const char* name;  ///< as `--counters` and results have it
  const char* what;  ///< the events, such as `branches that were mispredicted`
};

/// All counters: events in user code of the threads of the process.
inline constexpr CounterEntry counter_entries[] = {
    {"cycles", "cycles of the CPU"},
    {"instructions", "instructions that the CPU executed"},
    {"branches", "branches that the CPU executed"},
    {"branch_misses", "branches that the CPU mispredicted"},
    {"cache_references", "accesses to the CPU's last-level cache"},
    {"cache_misses", "misses of the CPU's last-level cache"},
    {"page_faults", "pages that the kernel had to provide"},
};

/// Returns the entry of that name; null if there is none.
[[nodiscard]] inline const CounterEntry* counter_entry(std::string_view name) {
  const auto* const found = std::ranges::find(counter_entries, name, &CounterEntry::name);
  return found == std::end(counter_entries) ? nullptr : found;
}

/// Returns all names, separated by commas.
[[nodiscard]] inline std::string names_of_counters() {
  std::string names;
  for (const auto& each : counter_entries) names += (names.empty() ? "" : ", ") + std::string(each.name);
  return names;
}

/// Events of one call, by two counts of many calls, outside of the timed rounds.
struct CounterSummary {
  std::string name = {};                  ///< a name of counter_entries
  double low = 0;                         ///< fewer events of one call
  double high = 0;                        ///< more events of one call; equal to `low` if the counts agree
  std::optional<double> ratio_low = {};   ///< smallest ratio to the baseline's; absent for the baseline
  std::optional<double> ratio_high = {};  ///< largest ratio
  std::string missing = {};               ///< why there are no counts; empty otherwise
};

}  // namespace pace
