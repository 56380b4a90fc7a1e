// Memory limits: times held against the measured bandwidth of the memory that calls must read and write.
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
// Declared in <ATen/Parallel.h>, which would cost a second to include.
TORCH_API int get_num_threads();
}  // namespace at

namespace pace::detail {

/// Notes `row` as impossible: its calls take `time`, below `least`. `taken` is how calls are described, and `machine`
/// what needs longer, and at which bandwidth.
inline void note_too_fast(ImplementationResult& row, const std::string& taken, Nanoseconds time,
                          const std::string& machine, Nanoseconds least, const timing::LeastTraffic& traffic,
                          Result& result) {
  const std::string why = taken + format_time(time) + ", and " + machine + " needs " + format_time(least) +
                          ", to read the " + format_significant(1e-6 * traffic.read) +
                          " MB of operands that the outputs depend on and to write the " +
                          format_significant(1e-6 * traffic.written) +
                          " MB of outputs that change with them. Is all the work done in each call?";
  result.notes.push_back('\'' + row.name + "' is too fast: " + why);
  row.context.object({Severity::impossible, why});
}

/// The threads by which calls may move memory: as many as an operator may use, or as an implementation used by itself.
[[nodiscard]] inline double most_threads(const Conditions& conditions) {
  double threads = std::max(1, at::get_num_threads());
  for (const auto& side : conditions.sides) threads = std::max(threads, std::ceil(side.cores()));
  return threads;
}

/// Holds the median time of `row` against `bandwidth`, which is measured again before the row is impossible, since a
/// measurement beside other work would be too small.
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
  note_too_fast(row, "its calls take ", row.time->median,
                "this machine, at " + format_factor(1 / timing::HostBandwidth::margin) + " its measured bandwidth,",
                *least, traffic, result);
}

/// Holds the cold time of `row`, if it has one, against the memory of a device.
inline void hold_against_device(timing::ModeClock& clock, const timing::LeastTraffic& traffic,
                                ImplementationResult& row, Result& result) {
  for (const auto& mode : row.modes) {
    if (mode.name != to_string(ClockChoice::cold) || !mode.time) continue;
    const Nanoseconds cold = mode.time->median;
    if (const auto least = clock.least_cold_time(traffic, cold); least && cold < *least)
      note_too_fast(row, "its calls take, from an empty L2, ", cold,
                    "the memory of this GPU, at the most that it was measured to move,", *least, traffic, result);
  }
}

/// Notes rows as impossible whose times are below what `traffic`, which every correct call has, takes by the memory of
/// the machine on which calls run: on the CPU by their median times, on a device by their cold times.
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
