// Where the time of a compiled module goes, kernel by kernel and category by category, as Inductor prints it.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <functional>
#include <map>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "benches/kernels/compat/simple_table.hpp"
#include "pace/base/error.hpp"

namespace pace::benches::kernels::compat {

/// All runs of one kernel under the profiler.
struct ProfiledKernel {
  std::string name = {};
  /// Microseconds that the device spent in them, in all.
  double device_microseconds = 0;
  std::size_t count = 0;
};

/// Categories of the report, in its order.
inline constexpr std::array<std::string_view, 5> profile_categories{
    "triton_pointwise", "triton_reduction", "triton_persistent_reduction", "triton_unknown", "unknown"};

/// By the name alone.
[[nodiscard]] inline std::string_view profile_category(std::string_view name) {
  if (name.starts_with("triton_poi")) return profile_categories[0];
  if (name.starts_with("triton_red")) return profile_categories[1];
  if (name.starts_with("triton_per")) return profile_categories[2];
  if (name.starts_with("triton_")) return profile_categories[3];
  return profile_categories[4];
}

struct ProfileReport {
  std::string benchmark = {};
  /// Time of one run, by the host's clock.
  double wall_milliseconds = 0;
  /// How often the module ran under the profiler.
  std::size_t runs = 1;
  /// `cuda`, ...; empty: none.
  std::string device = "cuda";
  /// Words of the first generation, which knew CUDA alone.
  bool original = false;
};

/// A table for each category that has kernels, each kernel's share of the wall time, how much of it the device was
/// busy, and a line for machines. Throws Error for a wall time or a number of runs that is not above 0.
inline void print_profile_report(const ProfileReport& report, std::span<const ProfiledKernel> kernels,
                                 std::ostream& out) {
  if (!(report.wall_milliseconds > 0) || report.runs == 0)
    throw Error("a profile report: expected a wall time and a number of runs above 0");
  struct Line {
    std::string name;
    double milliseconds = 0, count = 0;
  };
  std::map<std::string_view, std::vector<Line>> lines;
  const auto runs = static_cast<double>(report.runs);
  for (const auto& each : kernels)
    lines[profile_category(each.name)].push_back(
        {each.name, each.device_microseconds / 1000 / runs, static_cast<double>(each.count) / runs});
  const auto percent = [&](double milliseconds) {
    return detail::print("%.2f%%", milliseconds / report.wall_milliseconds * 100);
  };
  std::string device = report.original ? "CUDA" : report.device;
  std::ranges::transform(device, device.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });

  double busy = 0;
  std::string for_machines = "Output for tabulate: " + report.benchmark;
  for (const auto category : profile_categories) {
    double total = 0;
    if (const auto found = lines.find(category); found != lines.end() && !device.empty()) {
      std::ranges::stable_sort(found->second, std::greater(), &Line::milliseconds);
      std::vector<std::vector<TableCell>> rows;
      for (const Line& line : found->second) {
        total += line.milliseconds;
        rows.push_back({line.name.substr(0, 120), line.milliseconds, line.count, percent(line.milliseconds)});
      }
      rows.push_back({std::string("Total"), total, std::string(), percent(total)});
      out << "\n  == " << category << " category kernels == \n"
          << simple_table({"Kernel", "Self " + device + " TIME (ms)", "Count", "Percent"}, rows) << '\n';
    }
    busy += total;
    for_machines += ", " + percent(total);
  }
  if (device.empty())
    out << "No device detected\n";
  else
    out << "\nPercent of time when " << (report.original ? "GPU" : device) << " is busy: " << percent(busy) << '\n';
  out << detail::print("Total wall time %.3f ms\n", report.wall_milliseconds) << for_machines << ", " << percent(busy)
      << detail::print(", %.3fms\n", report.wall_milliseconds);
}

}  // namespace pace::benches::kernels::compat
