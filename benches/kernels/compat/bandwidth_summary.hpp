// The bandwidth of all kernels of a module, as Inductor's mode `profile_bandwidth` prints it at the end of a graph.
#pragma once

#include <algorithm>
#include <functional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "benches/kernels/compat/info_line.hpp"

namespace pace::benches::kernels::compat {

struct KernelBandwidth {
  std::string name = {};
  InfoLine info = {};
};

namespace detail {

[[nodiscard]] inline std::string bandwidth_totals(const std::string& file, std::span<const KernelBandwidth> kernels) {
  double milliseconds = 0, gigabytes = 0;
  for (const auto& each : kernels) {
    milliseconds += each.info.milliseconds;
    gigabytes += each.info.gigabytes;
  }
  return "SUMMARY (" + file + ")\n" +
         print("%.2fms   \t %.2f GB\t %.2fGB/s", milliseconds, gigabytes, gigabytes / (milliseconds / 1e3));
}

}  // namespace detail

/// The line of one kernel while it runs.
[[nodiscard]] inline std::string bandwidth_line(const KernelBandwidth& kernel, bool colour) {
  return info_line(kernel.info, "", " \t " + kernel.name, colour);
}

/// The lines at the end of the output. `file`: of the module.
[[nodiscard]] inline std::string bandwidth_summary(const std::string& file, std::span<const KernelBandwidth> kernels) {
  return detail::bandwidth_totals(file, kernels);
}

/// The text appended to a file: all kernels, the slowest first, with their share of the time; then the summary.
inline void write_bandwidth_info(const std::string& file, std::span<const KernelBandwidth> kernels, std::ostream& out) {
  std::vector<KernelBandwidth> sorted(kernels.begin(), kernels.end());
  std::ranges::stable_sort(sorted, std::greater(), [](const auto& each) { return each.info.milliseconds; });
  double total = 0;
  for (const auto& each : sorted) total += each.info.milliseconds;
  out << "====================\nTRITON KERNELS BANDWIDTH INFO (" << file << ")\n";
  for (const auto& each : sorted)
    out << info_line(each.info, "", detail::print(" \t %.2f%% \t ", each.info.milliseconds / total * 100) + each.name,
                     false)
        << '\n';
  out << detail::bandwidth_totals(file, kernels) << "\n\n";
}

}  // namespace pace::benches::kernels::compat
