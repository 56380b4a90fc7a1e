// Kernels of a package, each with the line that wrapper_benchmark has for it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <ostream>
#include <string>

#include "benches/files/aot/package_facts.hpp"
#include "benches/kernels/compat/bytes.hpp"
#include "benches/kernels/compat/info_line.hpp"
#include "benches/kernels/package_provider.hpp"
#include "pace/kernels/report.hpp"
#include "pace/report/text.hpp"

namespace pace::benches::kernels {

/// The line for a package without kernels.
inline constexpr const char* no_kernels =
    "No kernel with benchmark functionality found. Make sure you run inductor with config.benchmark_kernel being True";

/// Inductor's record of a kernel that it wrote itself; null: it did not write this one.
[[nodiscard]] inline const benches::aot::PackageKernel* written_by_inductor(const kernel::Kernel& kernel,
                                                                            const benches::aot::PackageFacts& facts) {
  const auto recorded = benches::kernels::recorded_of(kernel, facts);
  const auto own = std::ranges::find_if(
      recorded, [](const auto* each) { return each->kind != benches::aot::PackageKernel::Kind::external; });
  return own == recorded.end() ? nullptr : *own;
}

/// The bytes that one run of `kernel` moves, as the original counts them: Inductor's estimate, or else the bytes of the
/// arguments. `recorded`: the record of the kernel, or null.
[[nodiscard]] inline std::optional<double> bytes_as_original(const kernel::Kernel& kernel,
                                                             const benches::aot::PackageKernel* recorded) {
  if (kernel.bytes || recorded == nullptr || recorded->argument_bytes.empty()) return kernel.bytes;
  const auto in_out = [](const std::string& name) { return name.starts_with("in_out_ptr"); };
  return benches::kernels::compat::count_bytes(
      recorded->argument_bytes, static_cast<std::size_t>(std::ranges::count_if(recorded->arguments, in_out)));
}

inline void tell_launch(const std::optional<kernel::Launch>& launch, benches::kernels::compat::InfoLine& info) {
  info.registers.reset(), info.spills.reset(), info.shared_bytes.reset();
  if (!launch) return;
  info.registers = launch->registers;
  info.spills = launch->spills();
  info.shared_bytes = launch->shared_bytes();
}

/// Prints a line with the original's time for each kernel that Inductor wrote and that is `shown` (all, without it).
/// Each kernel has one line, in the order of their runs. If its time or its bytes are unknown, `complaints` says so
/// instead. Returns the number of lines. Without any, it prints the original's message for that. With
/// `all_configurations`, a line for each of a kernel's configurations instead of the kernel's own figures.
inline std::size_t print_kernel_lines(const kernel::KernelReport& report, const benches::aot::PackageFacts& facts,
                                      bool colour, bool all_configurations, std::ostream& out, std::ostream& complaints,
                                      const std::function<bool(const kernel::Kernel&)>& shown = {}) {
  std::vector<const benches::aot::PackageKernel*> told;
  for (const auto& kernel : report.kernels) {
    const auto* const known = written_by_inductor(kernel, facts);
    if (known == nullptr || (shown && !shown(kernel)) || std::ranges::find(told, known) != told.end()) continue;
    const auto has_no_line = [&, &kernel = kernel](const std::string& why) {
      complaints << report::printable(kernel.name) << " has no line: " << report::printable(why) << '\n';
    };
    if (!kernel.compatible) {
      has_no_line(kernel.why_not_alone.empty() ? "the original's timer has no time of it" : kernel.why_not_alone);
      continue;
    }
    const auto bytes = bytes_as_original(kernel, known);
    if (!bytes) {
      has_no_line("how many bytes it moves is not known");
      continue;
    }
    told.push_back(known);
    benches::kernels::compat::InfoLine info{.milliseconds = kernel.compatible->count() * 1e-6,
                                            .gigabytes = *bytes * 1e-9};
    const auto description = benches::kernels::compat::description(report.name, kernel.category, known->key);
    if (!all_configurations) {
      tell_launch(kernel.launch, info);
      out << benches::kernels::compat::info_line(info, description + ' ', {}, colour) << '\n';
      continue;
    }
    out << description << '\n';
    for (const auto& each : kernel.configurations) {
      info.milliseconds = each.compatible ? each.compatible->count() * 1e-6 : std::numeric_limits<double>::infinity();
      tell_launch(each.launch, info);
      out << benches::kernels::compat::configuration_line(info, each.printed, colour) << '\n';
    }
  }
  if (told.empty()) out << no_kernels << '\n';
  return told.size();
}

}  // namespace pace::benches::kernels
