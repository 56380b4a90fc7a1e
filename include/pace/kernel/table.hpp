// A KernelReport as a table for people.
#pragma once

#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "pace/core/format.hpp"
#include "pace/kernel/report.hpp"
#include "pace/report/colour.hpp"
#include "pace/report/table.hpp"

namespace pace::kernel {

/// Of the memory's measured peak: whoever moves bytes at less than this, for longer than a launch takes, is shown red.
inline constexpr double slow_share = 0.5;
inline constexpr Nanoseconds longer_than_a_launch = std::chrono::microseconds(12);

/// By what this device's memory can do. A kernel whose bytes nobody knows is not called slow.
[[nodiscard]] inline bool is_slow(const Kernel& kernel, double peak_bandwidth) {
  const auto bandwidth = kernel.bandwidth();
  const auto took = kernel.memory_time();
  return bandwidth && peak_bandwidth > 0 && *took > longer_than_a_launch && *bandwidth < slow_share * peak_bandwidth;
}

namespace detail {

[[nodiscard]] inline std::string dimensions(const std::array<std::uint32_t, 3>& sizes) {
  std::string text = std::to_string(sizes[0]);
  if (sizes[1] * sizes[2] > 1) text += 'x' + std::to_string(sizes[1]);
  if (sizes[2] > 1) text += 'x' + std::to_string(sizes[2]);
  return text;
}

}  // namespace detail

/// A line of totals, then one for each kernel in the order in which they run: times alone (hot) or, in brackets, by the
/// profiler; with an empty cache (cold); share of the sum; GB/s and share of the measured peak; what the driver says of the
/// launch. Long names are cut to `longest_name`.
inline void print_table(const KernelReport& report, std::ostream& out, bool colour = false,
                        std::size_t longest_name = 60) {
  using report::Cell;
  using report::Colour;
  const std::size_t count = report.kernels.size();
  out << report.name << " on " << report.device << ": " << count << (count == 1 ? " kernel" : " kernels");
  if (report.copies + report.fills > 0) out << ", " << report.copies << " copies, " << report.fills << " fills";
  out << "; as a graph " << format_time(report.whole) << " = kernels " << format_time(report.sum());
  if (report.copying.count() > 0) out << " + copies and fills " << format_time(report.copying);
  out << " + gaps " << format_time(report.gaps()) << " (" << format_percent(report.explained()) << ")\n";

  const auto left = report::Align::left;
  report::StreamingTable table({{"kernel", 0, left}, {"kind", 0, left}, {"hot"}, {"cold"}, {"share"}, {"GB/s"},
                                {"of peak"}, {"regs"}, {"spills"}, {"shared"}, {"grid"}, {"block"}, {"occupancy"}},
                               colour);
  std::vector<std::vector<Cell>> rows;
  for (const Kernel& kernel : report.kernels) {
    const auto& launch = kernel.launch;
    const auto bandwidth = kernel.bandwidth();
    std::string hot = kernel.hot ? format_time(kernel.hot->median) : "";
    if (!kernel.hot && kernel.profiled) hot = '[' + format_time(*kernel.profiled) + ']';
    std::vector<Cell> row{{kernel.name.size() > longest_name ? kernel.name.substr(0, longest_name - 3) + "..." : kernel.name},
                          {std::string(abbreviation(kernel.category))},
                          {hot},
                          {kernel.cold ? format_time(kernel.cold->median) : ""},
                          {format_percent(report.share_of(kernel))},
                          {bandwidth ? format_significant(*bandwidth * 1e-9) : ""},
                          {bandwidth && report.peak_bandwidth > 0 ? format_percent(*bandwidth / report.peak_bandwidth) : ""},
                          {std::to_string(launch.registers)},
                          {std::to_string(launch.spills())},
                          {std::to_string(launch.shared_bytes())},
                          {detail::dimensions(launch.grid)},
                          {detail::dimensions(launch.block)},
                          {format_percent(launch.occupancy)}};
    if (is_slow(kernel, report.peak_bandwidth))
      for (Cell& cell : row) cell.colour = Colour::red;
    rows.push_back(std::move(row));
  }
  table.fit(rows);
  out << table.header_if_due(rows.size());
  for (const auto& row : rows) out << table.line(row);
  for (const Kernel& kernel : report.kernels)
    if (!kernel.why_not_alone.empty()) out << kernel.name << " is not replayed alone: " << kernel.why_not_alone << '\n';
}

}  // namespace pace::kernel
