// The kernels of a report as Inductor's mode `profile_bandwidth` takes them.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "benches/files/aot/package_facts.hpp"
#include "benches/kernels/compat/bandwidth_summary.hpp"
#include "benches/kernels/compat_lines.hpp"
#include "pace/kernels/report.hpp"

namespace pace::benches::kernels {

/// The lines of a summary of bandwidths, and the kernels that have none.
struct Bandwidths {
  std::vector<compat::KernelBandwidth> kernels = {};
  /// One message for each name without a line, with the reason.
  std::vector<std::string> missing = {};
};

/// The kernels of `report` that `shown` accepts, in the order of their runs, with one line for each run. If
/// `compatible`, times come from PyTorch's timer, and bytes from bytes_as_original(). Otherwise, times are
/// Kernel::memory_time(), as in the table.
[[nodiscard]] inline Bandwidths bandwidths_of(const kernel::KernelReport& report,
                                              const benches::aot::PackageFacts& facts, bool compatible,
                                              const std::function<bool(const kernel::Kernel&)>& shown) {
  Bandwidths all;
  for (const auto& kernel : report.kernels) {
    if (!shown(kernel)) continue;
    const auto time = compatible ? kernel.compatible : kernel.memory_time();
    const auto bytes = compatible ? bytes_as_original(kernel, written_by_inductor(kernel, facts)) : kernel.bytes;
    const bool timed = time && time->count() > 0;
    if (bytes && timed) {
      all.kernels.push_back(
          {.name = kernel.name, .info = {.milliseconds = time->count() * 1e-6, .gigabytes = *bytes * 1e-9}});
      continue;
    }
    std::string message = kernel.name + " is not in the summary of bandwidths: ";
    if (!bytes)
      message += "how many bytes it moves is not known";
    else if (!kernel.why_not_alone.empty())
      message += "it has no time, since " + kernel.why_not_alone;
    else
      message += compatible ? "PyTorch's timer has no time of it" : "it has no time";
    if (std::ranges::find(all.missing, message) == all.missing.end()) all.missing.push_back(std::move(message));
  }
  return all;
}

}  // namespace pace::benches::kernels
