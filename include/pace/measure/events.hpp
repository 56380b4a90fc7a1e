// count_events: events of a call of each implementation, by counters of the CPU, outside of the rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "pace/result/counters.hpp"
#include "pace/subject/participants.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/event_count.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

/// Counters of each implementation by index, in the order of the options.
using CountersOfAll = std::map<std::size_t, std::vector<CounterSummary>>;

/// Counts the events `name` of `calls` calls of `subject` together, after untimed preparation.
[[nodiscard]] inline timing::EventCount events_of_calls(timing::Clock& clock, timing::Subject& subject,
                                                        const std::string& name, std::int64_t calls) {
  try {
    subject.prepare(0);
    auto count = clock.count_events(name, [&] { subject.run(0, calls); });
    subject.finish();
    return count;
  } catch (...) {
    subject.failed();
    throw;
  }
}

/// Counts events of the implementations in turns, so that a drift meets all sides.
class EventCounts {
 public:
  /// All must outlive it. `calls`: the calls of a count.
  EventCounts(timing::Clock& clock, const Prepared& prepared, Participants& participants, std::int64_t calls)
      : clock_(clock), prepared_(prepared), participants_(participants), calls_(calls) {}

  /// Counts each event several times. An implementation that throws meanwhile keeps its times, with the fault, as those
  /// do that have thrown since the rounds.
  [[nodiscard]] CountersOfAll count() {
    for (const auto& name : prepared_.options.counters)
      for (const std::size_t index : participants_.remaining()) found_[index].push_back({.name = name});
    for (std::size_t place = 0; place < prepared_.options.counters.size(); ++place)
      // The first turn warms up.
      for (int turn = 0; turn <= turns; ++turn)
        for (auto& [index, counters] : found_) add(index, turn, counters[place]);
    enter_baseline();
    return std::move(found_);
  }

 private:
  static constexpr int turns = 3;

  void add(std::size_t index, int turn, CounterSummary& counter) {
    if (!counter.missing.empty()) return;
    if (participants_.device_lost() || !participants_.is_measured(index)) {
      counter.missing = "a call of it has failed";
    } else if (time_left(clock_).count() <= 0) {
      counter.missing = "the time was over";
    } else {
      try {
        enter(events_of_calls(clock_, *prepared_.implementations[index], counter.name, calls_), turn, counter);
      } catch (...) {
        (void)enter_exception_beside_rounds(clock_, "after the rounds, when its events were counted: ", participants_);
        counter.missing = "a call of it has failed";
      }
    }
  }

  void enter(const timing::EventCount& count, int turn, CounterSummary& counter) const {
    counter.missing = count.missing;
    if (!count.events || turn == 0) return;
    const double each = static_cast<double>(*count.events) / static_cast<double>(calls_);
    counter.low = turn == 1 ? each : std::min(counter.low, each);
    counter.high = turn == 1 ? each : std::max(counter.high, each);
  }

  void enter_baseline() {
    const auto baseline = found_.find(participants_.baseline());
    if (baseline == found_.end()) return;
    for (auto& [index, counters] : found_)
      for (std::size_t place = 0; place < counters.size(); ++place) {
        const auto& reference = baseline->second[place];
        if (index == baseline->first || !reference.missing.empty()) continue;
        counters[place].baseline_low = reference.low;
        counters[place].baseline_high = reference.high;
      }
  }

  timing::Clock& clock_;
  const Prepared& prepared_;
  Participants& participants_;
  std::int64_t calls_;
  CountersOfAll found_;
};

/// Counts the events that the options name, in samples of as many calls as the rounds had. On a GPU it is at most as
/// many as the host launches without waiting.
[[nodiscard]] inline CountersOfAll count_events(timing::Clock& clock, const Prepared& prepared,
                                                Participants& participants, std::int64_t calls) {
  constexpr std::int64_t most_launches = 32;
  if (prepared.options.counters.empty()) return {};
  if (clock.modes() != nullptr) calls = std::min(calls, most_launches);
  return EventCounts(clock, prepared, participants, calls).count();
}

}  // namespace pace::detail
