// The times of a kernel's configurations, and how the chosen one compares with the best.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/format.hpp"
#include "pace/kernels/report.hpp"
#include "pace/kernels/table.hpp"
#include "pace/report/table.hpp"
#include "pace/report/text.hpp"

namespace pace::kernel {

/// Returns the fastest configuration; null if none was timed.
[[nodiscard]] inline const Configuration* best_of(const std::vector<Configuration>& configurations) {
  const Configuration* best = nullptr;
  for (const auto& each : configurations)
    if (each.time() && (best == nullptr || *each.time() < *best->time())) best = &each;
  return best;
}

/// Returns how much longer than the best configuration the chosen one takes: 0.05 is 5 %. Nothing if it was not timed.
[[nodiscard]] inline std::optional<double> behind_best(const std::vector<Configuration>& configurations) {
  const auto chosen = std::ranges::find_if(configurations, &Configuration::chosen);
  if (chosen == configurations.end() || !chosen->time()) return std::nullopt;
  return *chosen->time() / *best_of(configurations)->time() - 1;
}

/// Prints a table of the configurations of each kernel that has any: their times alone, how much longer than the best
/// one each takes, and their launches. The chosen one is marked with `*`, and with `colour` the best one is green.
inline void print_configurations(const KernelReport& report, std::ostream& out, bool colour = false) {
  using report::Cell;
  for (const Kernel& kernel : report.kernels) {
    if (kernel.configurations.empty()) continue;
    const auto* const best = best_of(kernel.configurations);
    const auto behind = behind_best(kernel.configurations);
    out << '\n'
        << report::printable(kernel.name) << ": " << std::to_string(kernel.configurations.size())
        << " configurations; ";
    if (!behind)
      out << "the chosen one was not timed\n";
    else if (*behind > 0)
      out << "the chosen one takes " << format_percent(*behind) << " longer than the best\n";
    else
      out << "the chosen one is the best\n";
    report::StreamingTable table({{"", 0, report::Align::left},
                                  {"configuration", 0, report::Align::left},
                                  {"hot"},
                                  {"cold"},
                                  {"behind"},
                                  {"regs"},
                                  {"spills"},
                                  {"shared"},
                                  {"grid"},
                                  {"block"},
                                  {"occupancy"}},
                                 colour);
    std::vector<std::vector<Cell>> rows;
    for (const auto& each : kernel.configurations) {
      const auto took = each.time();
      std::vector<Cell> row{{each.chosen ? "*" : ""},
                            {each.text},
                            {each.hot ? format_time(each.hot->median) : "inf"},
                            {each.cold ? format_time(each.cold->median) : ""},
                            {took ? format_percent(*took / *best->time() - 1) : ""}};
      std::ranges::move(detail::launch_cells(each.launch), std::back_inserter(row));
      if (&each == best)
        for (Cell& cell : row) cell.colour = report::Colour::green;
      rows.push_back(std::move(row));
    }
    table.fit(rows);
    out << table.header_if_due(rows.size());
    for (const auto& row : rows) out << table.line(row);
    for (const auto& each : kernel.configurations)
      if (!each.why_not.empty()) out << each.text << " was not timed: " << each.why_not << '\n';
  }
}

}  // namespace pace::kernel
