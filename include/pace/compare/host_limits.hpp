// Host limits: times on the CPU held against the measured bandwidth of the machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>

#include <c10/macros/Export.h>

#include "pace/core/format.hpp"
#include "pace/core/result.hpp"
#include "pace/timing/clock.hpp"
#include "pace/timing/host_bandwidth.hpp"

namespace at {
// Declared in <ATen/Parallel.h>, which would cost a second to include.
TORCH_API int get_num_threads();
}  // namespace at

namespace pace::detail {

/// Notes a row whose median time is below the least time of `traffic` as impossible. The bandwidths are measured again
/// before that, since a measurement beside other work would be too small.
inline void hold_against_host(timing::Clock& clock, const timing::LeastTraffic& traffic, Result& result) {
  auto* const bandwidth = clock.host_bandwidth();
  if (bandwidth == nullptr || traffic.empty()) return;
  double threads = std::max(1, at::get_num_threads());
  // Implementations may have threads of their own.
  for (const auto& side : result.conditions.sides) threads = std::max(threads, std::ceil(side.cores()));
  for (auto& row : result.implementations) {
    if (!row.time || !row.context.impossible.empty()) continue;
    timing::LeastTraffic own = traffic;
    if (row.context.repeats_outputs) own.written = 0;
    if (row.context.keeps) own.read = 0;
    if (own.empty()) continue;
    auto least = bandwidth->least_time(own, threads);
    constexpr int further_tries = 3;
    for (int i = 0; i < further_tries && least && row.time->median < *least; ++i) {
      bandwidth->measure_again(own, threads);
      least = bandwidth->least_time(own, threads);
    }
    if (!least || row.time->median >= *least) continue;
    row.context.impossible = "its calls take " + format_time(row.time->median) + ", and this machine needs " +
                             format_time(*least) + ", at " + format_factor(1 / timing::HostBandwidth::margin) +
                             " its measured bandwidth, to read the " + format_significant(1e-6 * own.read) +
                             " MB of operands that the outputs depend on and to write the " +
                             format_significant(1e-6 * own.written) +
                             " MB of outputs that change with them. Is all the work done in each call?";
    result.notes.push_back('\'' + row.name + "' is too fast: " + row.context.impossible);
  }
}

}  // namespace pace::detail
