// read_counters: figures of the machine's counters over calls of each implementation, outside of the rounds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
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

/// Counts `calls` calls of `subject`, which names itself if it throws.
[[nodiscard]] inline std::vector<timing::EventCount> count_calls(timing::Clock& clock, timing::Subject& subject,
                                                                 const std::vector<std::string>& names,
                                                                 std::int64_t calls) {
  try {
    return clock.count_events(names, subject, calls);
  } catch (...) {
    subject.failed();
    throw;
  }
}

/// Counts calls of the implementations in turns, so that a drift meets all sides. A turn reads all counters.
class CounterTurns {
 public:
  /// All must outlive it. `calls`: those of a sample.
  CounterTurns(timing::Clock& clock, const Prepared& prepared, Participants& participants, std::int64_t calls)
      : clock_(clock), prepared_(prepared), participants_(participants), calls_(calls) {}
  CounterTurns(const CounterTurns&) = delete;
  CounterTurns& operator=(const CounterTurns&) = delete;
  ~CounterTurns() { clock_.end_counts(); }

  /// Takes a sample that warms up, and then several. An implementation that throws meanwhile keeps its times, with the
  /// fault, as those do that have thrown since the rounds.
  [[nodiscard]] CountersOfAll read() {
    for (const auto& name : prepared_.options.counters)
      for (const std::size_t index : participants_.remaining())
        found_[index].push_back({.name = name, .unit = counter_entry(name)->unit, .calls = calls_});
    for (int turn = 0; turn <= turns; ++turn)
      for (auto& [index, counters] : found_) add(index, turn, counters);
    enter_baseline();
    return std::move(found_);
  }

 private:
  static constexpr int turns = 3;

  void add(std::size_t index, int turn, std::vector<CounterSummary>& counters) {
    std::vector<CounterSummary*> open;
    std::vector<std::string> names;
    for (auto& each : counters)
      if (each.missing.empty()) {
        open.push_back(&each);
        names.push_back(each.name);
      }
    const auto leave = [&](const char* why) {
      for (auto* const each : open) each->missing = why;
    };
    if (open.empty()) return;
    if (participants_.device_lost() || !participants_.is_measured(index)) return leave("a call of it has failed");
    if (time_left(clock_).count() <= 0) return leave("the time was over");
    try {
      const auto counts = count_calls(clock_, *prepared_.implementations[index], names, calls_);
      for (std::size_t place = 0; place < open.size(); ++place) enter(counts[place], turn, *open[place]);
    } catch (...) {
      (void)enter_exception_beside_rounds(clock_, "after the rounds, when its events were counted: ", participants_);
      leave("a call of it has failed");
    }
  }

  void enter(const timing::EventCount& count, int turn, CounterSummary& counter) const {
    counter.missing = count.missing;
    if (!count.events || turn == 0) return;
    const double calls = counter.unit == CounterUnit::percent ? 1 : static_cast<double>(calls_);
    const double each = *count.events / calls;
    counter.low = turn == 1 ? each : std::min(counter.low, each);
    counter.high = turn == 1 ? each : std::max(counter.high, each);
  }

  void enter_baseline() {
    const auto baseline = found_.find(participants_.baseline());
    if (baseline == found_.end()) return;
    for (auto& [index, counters] : found_)
      for (std::size_t place = 0; place < counters.size(); ++place) {
        const auto& reference = baseline->second[place];
        if (index == baseline->first || !reference.missing.empty() || reference.unit == CounterUnit::percent) continue;
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

/// Reads the counters that the options name, over samples of as many calls as the rounds had. On a GPU a sample has at
/// most as many as the host launches without waiting.
[[nodiscard]] inline CountersOfAll read_counters(timing::Clock& clock, const Prepared& prepared,
                                                 Participants& participants, std::int64_t calls) {
  constexpr std::int64_t most_launches = 32;
  if (clock.modes() != nullptr) calls = std::min(calls, most_launches);
  return CounterTurns(clock, prepared, participants, calls).read();
}

}  // namespace pace::detail
