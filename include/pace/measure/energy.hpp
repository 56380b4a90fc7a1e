// measure_energy: energy of a call of each implementation, by the moves of a GPU's counter.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/base/units.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/result.hpp"
#include "pace/stats/ratio_of_sums.hpp"
#include "pace/subject/prepare.hpp"
#include "pace/subject/time_left.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/energy.hpp"
#include "pace/timing/subject.hpp"

namespace pace::detail {

/// Energies between neighbouring moves of the counter, and the calls meanwhile.
struct EnergyParts {
  std::vector<double> millijoules, calls;
};

/// Number of calls done at some moment.
struct CallsDone {
  Nanoseconds at{};
  double calls = 0;
};

/// Adds the parts between moves from `from` on. Calls at a move lie between those at the ends of two samples.
inline void add_parts(const std::vector<timing::EnergyMove>& moves, const std::vector<CallsDone>& done,
                      Nanoseconds from, EnergyParts& parts) {
  const timing::EnergyMove* before = nullptr;
  double calls_before = 0;
  for (const auto& move : moves) {
    const auto next = std::ranges::lower_bound(done, move.at, {}, &CallsDone::at);
    if (move.at < from || next == done.begin() || next == done.end()) continue;
    const auto last = next - 1;
    const double calls = std::lerp(last->calls, next->calls, (move.at - last->at) / (next->at - last->at));
    if (before != nullptr && move.millijoules > before->millijoules) {
      parts.millijoules.push_back(move.millijoules - before->millijoules);
      parts.calls.push_back(calls - calls_before);
    }
    before = &move;
    calls_before = calls;
  }
}

/// Returns how many calls take about 30 ms. Between samples a GPU idles for some hundred microseconds, which takes a
/// third of the power at most: less than half a per cent of the energy.
[[nodiscard]] inline std::int64_t calls_of_long_sample(timing::Clock& clock, timing::Subject& subject,
                                                       std::int64_t most) {
  constexpr Nanoseconds long_enough = std::chrono::milliseconds(30);
  if (most <= 0) most = std::int64_t{1} << 40;
  std::int64_t calls = 1;
  while (true) {
    const Nanoseconds took = timing::take_sample(clock, subject, 0, calls);
    if (took >= long_enough || calls >= most) return calls;
    const double wanted = took.count() > 0 ? 1.1 * long_enough / took : 10;
    calls = std::min(most,
                     static_cast<std::int64_t>(std::ceil(static_cast<double>(calls) * std::clamp(wanted, 1.1, 10.0))));
  }
}

/// The board's power follows the load, and the driver averages it, for some tenths of a second.
inline constexpr Nanoseconds settling_of_power = std::chrono::milliseconds(500);

/// Calls `subject` for `time`, and adds what the counter tells of it. Returns false if there is no counter.
[[nodiscard]] inline bool record_calls(timing::ModeClock& clock, timing::Subject& subject, std::size_t sets,
                                       std::int64_t most_calls, Nanoseconds time, EnergyParts& parts) {
  const std::int64_t calls = calls_of_long_sample(clock, subject, most_calls);
  const Nanoseconds start = clock.now();
  const auto recording = clock.record_energy();
  if (!recording) return false;
  std::vector<CallsDone> done{{start, 0}};
  for (std::size_t set = 0; done.back().at - start < time; set = (set + 1) % sets) {
    (void)timing::take_sample(clock, subject, set, calls);
    done.push_back({clock.now(), done.back().calls + static_cast<double>(calls)});
  }
  add_parts(recording->stop(), done, start + settling_of_power, parts);
  return true;
}

/// Why the energies that were just measured, for `took`, are not those of this process alone; empty: nothing is known.
[[nodiscard]] inline std::string others_took_energy(timing::ModeClock& clock, Nanoseconds took) {
  const auto sharing = clock.look_for_others(took);
  if (sharing.processes == 0 || (sharing.others && *sharing.others <= limits::gpu_others)) return {};
  return "the counter is the whole board's, and other processes " +
         (sharing.others ? "used " + format_percent(*sharing.others) + " of the GPU meanwhile"
                         : "may have used the GPU meanwhile");
}

/// Measures the energy of a call of each of `remaining`, alone for two seconds and twice. The second turns come in
/// reverse order, so that a steady drift of the temperature cancels. Takes at most half of the time left, and returns
/// nothing if that is too little.
[[nodiscard]] inline std::map<std::size_t, EnergySummary> measure_energy(timing::ModeClock& clock,
                                                                         const Prepared& prepared,
                                                                         const std::vector<std::size_t>& remaining) {
  constexpr int turns = 2;
  constexpr Nanoseconds longest = std::chrono::seconds(2);
  const auto count = static_cast<double>(remaining.size());
  const Nanoseconds each = std::min(longest, 0.5 * time_left(clock) / (turns * count));
  std::map<std::size_t, EnergyParts> parts;
  std::map<std::size_t, EnergySummary> found;
  if (each < 2 * settling_of_power) return found;
  const Nanoseconds start = clock.now();
  auto order = remaining;
  for (int turn = 0; turn < turns; ++turn) {
    for (const std::size_t index : order)
      if (!record_calls(clock, *prepared.implementations[index], prepared.operands->sets.size(),
                        prepared.options.max_iterations, each, parts[index])) {
        for (const std::size_t one : remaining)
          found[one].missing = clock.device_name() + " has no counter of energy that NVML can read";
        return found;
      }
    std::ranges::reverse(order);
  }
  const std::string spoilt = others_took_energy(clock, clock.now() - start);
  const std::size_t baseline = prepared.participants.baseline();
  const auto estimate = [&](std::size_t index) {
    return stats::ratio_of_sums(parts[index].millijoules, parts[index].calls);
  };
  const auto reference = estimate(baseline);
  const auto& options = prepared.options;
  // One wrong verdict of either kind, over all candidates.
  const double wrong = std::min(options.alpha, options.beta) / std::max(1.0, count - 1);
  for (const std::size_t index : remaining) {
    const auto own = estimate(index);
    auto& summary = found[index];
    summary.moves = parts[index].calls.size() + (parts[index].calls.empty() ? 0 : turns);
    if (!spoilt.empty() || !(own.value > 0)) {
      summary.missing = !spoilt.empty() ? spoilt : "the GPU's counter of energy did not move twice while it ran";
      continue;
    }
    summary.millijoules = own.value;
    summary.interval = own.interval(options.confidence);
    if (index == baseline || !(reference.value > 0)) continue;
    const auto ratio = own / reference;
    summary.ratio = ratio.value;
    summary.ratio_interval = ratio.interval(1 - 2 * wrong);
  }
  return found;
}

}  // namespace pace::detail
