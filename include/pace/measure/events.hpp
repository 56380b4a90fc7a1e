// count_events: events of a call of each implementation, by counters of the CPU, outside of the rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pace/result/counters.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/event_count.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

/// Events of `calls` calls of `subject` together.
[[nodiscard]] inline std::vector<timing::EventCount> events_of_calls(timing::Clock& clock, timing::Subject& subject,
                                                                     const std::vector<std::string>& names,
                                                                     std::int64_t calls) {
  try {
    subject.prepare(0);
    auto counts = clock.count_events(names, [&] { subject.run(0, calls); });
    subject.finish();
    return counts;
  } catch (...) {
    subject.failed();
    throw;
  }
}

/// Two counts of `calls` calls, as events of one call.
[[nodiscard]] inline CounterSummary summary_of(const std::string& name, const timing::EventCount& first,
                                               const timing::EventCount& second, std::int64_t calls) {
  CounterSummary summary{.name = name};
  if (!first.events || !second.events) {
    summary.missing = first.events ? second.missing : first.missing;
    return summary;
  }
  const auto each = [&](std::int64_t events) { return static_cast<double>(events) / static_cast<double>(calls); };
  summary.low = each(std::min(*first.events, *second.events));
  summary.high = each(std::max(*first.events, *second.events));
  return summary;
}

/// Counts the events that the options name, of one of `prepared` implementations in samples of `calls` calls, twice.
/// Throws what a call throws.
[[nodiscard]] inline std::vector<CounterSummary> count_events(timing::Clock& clock, const Prepared& prepared,
                                                              std::size_t index, std::int64_t calls) {
  const auto& names = prepared.options.counters;
  auto& subject = *prepared.implementations[index];
  const auto first = events_of_calls(clock, subject, names, calls);
  const auto second = events_of_calls(clock, subject, names, calls);
  std::vector<CounterSummary> found;
  for (std::size_t i = 0; i < names.size(); ++i)
    found.push_back(summary_of(names[i], first.at(i), second.at(i), calls));
  return found;
}

/// Enters the ratios of `own` counts to the baseline's.
inline void enter_ratios(const std::vector<CounterSummary>& baseline, std::vector<CounterSummary>& own) {
  for (std::size_t i = 0; i < std::min(own.size(), baseline.size()); ++i) {
    if (!own[i].missing.empty() || !baseline[i].missing.empty() || !(baseline[i].low > 0)) continue;
    own[i].ratio_low = own[i].low / baseline[i].high;
    own[i].ratio_high = own[i].high / baseline[i].low;
  }
}

}  // namespace pace::detail
