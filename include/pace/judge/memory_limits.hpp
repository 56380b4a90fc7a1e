// hold_against_memory: times that are impossible at the measured bandwidth of memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>

#include <c10/macros/Export.h>

#include "pace/base/format.hpp"
#include "pace/result/conditions.hpp"
#include "pace/result/options.hpp"
#include "pace/result/result.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/host_bandwidth.hpp"

namespace at {
// Declared in <ATen/Parallel.h>, which takes a second to include.
TORCH_API int get_num_threads();
}  // namespace at

namespace pace::detail {

/// A call that takes `time`, less than the `least` that the machine needs for its traffic.
struct TooFast {
  Nanoseconds time{}, least{};
  std::string taken;    ///< begins the message, before the time
  std::string machine;  ///< names the memory and its bandwidth
};

/// Notes `row` as impossible.
inline void note_too_fast(const TooFast& call, const timing::LeastTraffic& traffic, ImplementationResult& row,
                          Result& result) {
  const std::string why = call.taken + format_time(call.time) + ", and " + call.machine + " needs " +
                          format_time(call.least) + ", to read the " + format_significant(1e-6 * traffic.read) +
                          " MB of operands that the outputs depend on and to write the " +
                          format_significant(1e-6 * traffic.written) +
                          " MB of outputs that change with them; try: do all of the work in each call";
  result.notes.push_back('\'' + row.name + "' is too fast: " + why + '.');
  row.context.enter(Objection::of(Severity::impossible, why));
}

/// Threads that may move memory: as many as an operator may use, or as an implementation used itself.
[[nodiscard]] inline double most_threads(const Conditions& conditions) {
  double threads = std::max(1, at::get_num_threads());
  for (const auto& side : conditions.sides) threads = std::max(threads, std::ceil(side.cores()));
  return threads;
}

/// Holds the median time of `row` against `bandwidth`. Measures that again before calling a row impossible, since other
/// work makes it look too small.
inline void hold_against_host(timing::HostBandwidth& bandwidth, const timing::LeastTraffic& traffic,
                              ImplementationResult& row, Result& result) {
  const double threads = most_threads(result.conditions);
  auto least = bandwidth.least_time(traffic, threads);
  constexpr int further_tries = 3;
  for (int i = 0; i < further_tries && least && row.time->median < *least; ++i) {
    bandwidth.measure_again(traffic, threads);
    least = bandwidth.least_time(traffic, threads);
  }
  if (!least || row.time->median >= *least) return;
  note_too_fast(
      {.time = row.time->median,
       .least = *least,
       .taken = "its calls take ",
       .machine = "this machine, at " + format_factor(1 / timing::HostBandwidth::margin) + " its measured bandwidth,"},
      traffic, row, result);
}

/// Holds the cold time of `row`, if any, against a device's memory.
inline void hold_against_device(timing::ModeClock& clock, const timing::LeastTraffic& traffic,
                                ImplementationResult& row, Result& result) {
  for (const auto& mode : row.modes) {
    if (mode.name != to_string(ClockChoice::cold) || !mode.time) continue;
    const Nanoseconds cold = mode.time->median;
    if (const auto least = clock.least_cold_time(traffic, cold); least && cold < *least)
      note_too_fast({.time = cold,
                     .least = *least,
                     .taken = "its calls take, from an empty L2, ",
                     .machine = "the memory of this GPU, at the most that it was measured to move,"},
                    traffic, row, result);
  }
}

/// Notes rows as impossible that are faster than memory moves `traffic`, the least of every correct call. Uses median
/// times on the CPU, and cold times on a device.
inline void hold_against_memory(timing::Clock& clock, const timing::LeastTraffic& traffic, Result& result) {
  auto* const bandwidth = clock.host_bandwidth();
  auto* const modes = result.lost_device.empty() ? clock.modes() : nullptr;
  if ((bandwidth == nullptr && modes == nullptr) || traffic.empty()) return;
  for (auto& row : result.implementations) {
    if (!row.time || row.context.has(Severity::impossible)) continue;
    timing::LeastTraffic own = traffic;
    if (row.context.repeats_outputs) own.written = 0;
    if (row.context.keeps) own.read = 0;
    if (own.empty()) continue;
    if (bandwidth != nullptr)
      hold_against_host(*bandwidth, own, row, result);
    else
      hold_against_device(*modes, own, row, result);
  }
}

}  // namespace pace::detail
