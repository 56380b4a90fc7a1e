// print_table: a KernelReport as a table.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/kernels/report.hpp"
#include "pace/report/table.hpp"
#include "pace/report/text.hpp"

namespace pace::kernel {

/// Share of the memory's measured peak bandwidth below which a kernel counts as slow, if it takes longer than a launch.
inline constexpr double slow_share = 0.5;
/// Time that is surely longer than a launch; shorter kernels do not count as slow.
inline constexpr Nanoseconds longer_than_a_launch = std::chrono::microseconds(12);

/// Whether the bandwidth of a kernel is below slow_share of `peak_bandwidth`, in bytes per second, for a time above
/// longer_than_a_launch. False if its bytes or the peak are unknown.
[[nodiscard]] inline bool is_slow(const Kernel& kernel, double peak_bandwidth) {
  const auto bandwidth = kernel.bandwidth();
  const auto took = kernel.memory_time();
  return bandwidth && peak_bandwidth > 0 && *took > longer_than_a_launch && *bandwidth < slow_share * peak_bandwidth;
}

/// Name of the row with KernelReport::unlisted().
inline constexpr std::string_view unlisted_name = "not in any listed kernel";

namespace detail {

[[nodiscard]] inline std::string dimensions(const std::array<std::uint32_t, 3>& sizes) {
  std::string text = std::to_string(sizes[0]);
  if (sizes[1] * sizes[2] > 1) text += 'x' + std::to_string(sizes[1]);
  if (sizes[2] > 1) text += 'x' + std::to_string(sizes[2]);
  return text;
}

/// The size of the grid and, where they are not the usual ones, the blocks of a cluster and that the launch is
/// cooperative.
[[nodiscard]] inline std::string grid_of(const Launch& launch) {
  std::string text = dimensions(launch.grid);
  if (launch.cluster != Launch().cluster) text += ", cluster " + dimensions(launch.cluster);
  if (launch.cooperative) text += ", cooperative";
  return text;
}

/// Returns remarks on the launches of a kernel, as predicates without its name.
[[nodiscard]] inline std::vector<std::string> remarks_on(const Kernel& kernel) {
  std::vector<std::string> remarks;
  if (kernel.restored_bytes > 0)
    remarks.push_back("is launched on restored memory: " + std::to_string(kernel.restored_bytes) +
                      " bytes are restored before each launch alone, in " + format_time(kernel.restoring) +
                      (kernel.hot && kernel.restoring > kernel.hot->median ? ", longer than it takes itself" : "") +
                      ", which no time of it includes");
  if (!kernel.launch) return remarks;
  if (kernel.launch->overlaps)
    remarks.emplace_back(
        "may begin before the kernel before it has ended (programmatic launch): alone it overlaps with "
        "nothing, and takes longer than it adds to the call");
  if (!kernel.launch->attributes.empty()) {
    std::string text = "is launched with";
    for (const auto& [name, value] : kernel.launch->attributes)
      text += (text.ends_with("with") ? " " : "; ") + name + ": " + value;
    remarks.push_back(std::move(text));
  }
  return remarks;
}

}  // namespace detail

/// Returns the notes of a report, with notes on kernels that take longer than the call, on host functions and on
/// conditional nodes, in sentences.
[[nodiscard]] inline std::vector<std::string> notes_of(const KernelReport& report) {
  std::vector<std::string> notes = report.notes;
  if (report.by_ranges && report.sum() > report.whole)
    notes.push_back("the listed kernels take " + format_percent(report.explained()) +
                    " of the call, so that nothing is left beside them, and shares are of their sum; why: kernels and "
                    "the call are timed in turn, in calls of their own; try: again on an idle machine");
  if (report.host_function_runs > 0)
    notes.push_back("host functions of the graph ran at least " + std::to_string(report.host_function_runs) +
                    " times for this list, since no launch of the graph can leave them out; their time is a part of "
                    "the whole, and of no kernel");
  if (report.conditionals > 0)
    notes.push_back(std::to_string(report.conditionals) + " conditional node" + (report.conditionals == 1 ? "" : "s") +
                    " of the graph (if, while or switch): kernels in the bodies " +
                    (report.bodies_profiled ? "are listed as they ran in this run, and not timed alone"
                                            : "are neither listed nor timed alone"));
  return notes;
}

namespace detail {

/// Prints the totals of a report of a GPU.
inline void print_totals(const KernelReport& report, std::ostream& out) {
  if (report.copies + report.fills > 0)
    out << ", " << std::to_string(report.copies) << " copies, " << std::to_string(report.fills) << " fills";
  for (const auto& [name, count] : report.other_nodes)
    out << ", " << std::to_string(count) << ' ' << report::printable(name) << (count == 1 ? "" : "s");
  out << "; as a graph " << format_time(report.whole) << " = kernels " << format_time(report.sum());
  if (report.copying.count() > 0) out << " + copies and fills " << format_time(report.copying);
  out << " + gaps " << format_time(report.gaps()) << " (" << format_percent(report.explained()) << ")\n";
}

/// Prints the totals of a report by ranges.
inline void print_range_totals(const KernelReport& report, std::ostream& out) {
  out << "; " << format_time(report.whole) << " a call; kernels take " << format_time(report.sum()) << " ("
      << format_percent(report.explained()) << "), without the " << format_time(report.recording)
      << " that recording them adds\n";
  if (report.elsewhere > 0)
    out << std::to_string(report.elsewhere)
        << " ranges of other threads are not among them: they run at the same time\n";
}

[[nodiscard]] inline std::vector<report::Cell> launch_cells(const std::optional<Launch>& launch) {
  if (!launch) return std::vector<report::Cell>(6);
  return {{std::to_string(launch->registers)},
          {std::to_string(launch->spills())},
          {std::to_string(launch->shared_bytes())},
          {grid_of(*launch)},
          {dimensions(launch->block)},
          {format_percent(launch->occupancy)}};
}

/// On the CPU, the median, the least and the largest time of a kernel in its place. On a GPU, the time alone (hot) or,
/// in brackets, by the profiler; and the time with an empty cache (cold).
[[nodiscard]] inline std::vector<report::Cell> time_cells(const KernelReport& report, const Kernel& kernel) {
  const auto& place = kernel.profiled;
  if (report.by_ranges && place)
    return {{format_time(place->median)}, {format_time(place->least)}, {format_time(place->most)}};
  if (report.by_ranges) return std::vector<report::Cell>(3);
  std::string hot = kernel.hot ? format_time(kernel.hot->median) : "";
  if (!kernel.hot && place) hot = '[' + format_time(place->median) + ']';
  return {{hot}, {kernel.cold ? format_time(kernel.cold->median) : ""}};
}

}  // namespace detail

/// Prints a line of totals, and one line for each kernel in the order of their runs. It has the times, the share, GB/s,
/// the share of the measured peak, and the launch. GB/s are by `bytes` or else by `counted_bytes`. Data in a cache may
/// exceed 100 % of the peak.
///
/// With `colour`, slow kernels are red (is_slow()). Names are cut to `longest_name` bytes. With `shown`, prints only
/// the lines of kernels that it accepts. Totals and shares are always of all kernels. Without it, on the CPU, a last
/// line has KernelReport::unlisted(), so that shares sum to 100 %.
inline void print_table(const KernelReport& report, std::ostream& out, bool colour = false,
                        std::size_t longest_name = 60, const std::function<bool(const Kernel&)>& shown = {}) {
  using report::Cell;
  using report::Colour;
  const std::size_t count = report.kernels.size();
  out << report::printable(report.name) << " on " << report.device << ": " << std::to_string(count)
      << (count == 1 ? " kernel" : " kernels");
  if (report.by_ranges)
    detail::print_range_totals(report, out);
  else
    detail::print_totals(report, out);

  const auto left = report::Align::left;
  std::vector<report::Column> columns{{"kernel", 0, left}, {"kind", 0, left}};
  if (report.by_ranges)
    columns.insert(columns.end(), {{"time"}, {"least"}, {"most"}});
  else
    columns.insert(columns.end(), {{"hot"}, {"cold"}});
  columns.insert(columns.end(), {{"share"}, {"GB/s"}, {"of peak"}});
  if (!report.by_ranges)
    columns.insert(columns.end(), {{"regs"}, {"spills"}, {"shared"}, {"grid"}, {"block"}, {"occupancy"}});
  report::StreamingTable table(std::move(columns), colour);
  std::vector<std::vector<Cell>> rows;
  bool any_counted = false;
  for (const Kernel& kernel : report.kernels) {
    if (shown && !shown(kernel)) continue;
    const bool counted = !kernel.bytes && kernel.counted_bytes;
    any_counted = any_counted || counted;
    const auto bandwidth = counted ? kernel.counted_bandwidth() : kernel.bandwidth();
    const std::string name = report::printable(kernel.name);
    std::vector<Cell> row{{name.size() > longest_name ? name.substr(0, longest_name - 3) + "..." : name},
                          {std::string(abbreviation(kernel.category))}};
    std::ranges::move(detail::time_cells(report, kernel), std::back_inserter(row));
    row.push_back({format_percent(report.share_of(kernel))});
    row.push_back({bandwidth ? (counted ? "*" : "") + format_significant(*bandwidth * 1e-9) : ""});
    row.push_back({bandwidth && report.peak_bandwidth > 0 ? format_percent(*bandwidth / report.peak_bandwidth) : ""});
    if (!report.by_ranges) std::ranges::move(detail::launch_cells(kernel.launch), std::back_inserter(row));
    if (is_slow(kernel, report.peak_bandwidth))
      for (Cell& cell : row) cell.colour = Colour::red;
    rows.push_back(std::move(row));
  }
  if (report.unlisted().count() > 0 && !shown)
    rows.push_back({{std::string(unlisted_name)},
                    {""},
                    {format_time(report.unlisted())},
                    {""},
                    {""},
                    {format_percent(report.unlisted_share())},
                    {""},
                    {""}});
  table.fit(rows);
  out << table.header_if_due(rows.size());
  for (const auto& row : rows) out << table.line(row);
  if (any_counted) out << "* of the bytes that memory moved, by the GPU's counters: what must be moved is not known\n";
  for (const Kernel& kernel : report.kernels)
    if (!kernel.why_not_alone.empty() && (!shown || shown(kernel)))
      out << report::printable(kernel.name) << " is not replayed alone: " << report::printable(kernel.why_not_alone)
          << '\n';
  for (const Kernel& kernel : report.kernels)
    if (!shown || shown(kernel))
      for (const auto& remark : detail::remarks_on(kernel))
        out << report::printable(kernel.name) << ' ' << report::printable(remark) << '\n';
  for (const auto& note : notes_of(report)) out << report::printable(note) << '\n';
}

}  // namespace pace::kernel
