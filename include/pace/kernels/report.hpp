// KernelReport: all kernels of one call of something, and how far they explain the time that it takes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pace/core/units.hpp"
#include "pace/kernels/kernel.hpp"

namespace pace::kernel {

struct KernelReport {
  std::string name;
  std::string device = {};
  /// On the CPU: kernels are timed in their place, between the ranges that the profiler is told of, and the whole by the
  /// wall clock. There are no copies, fills or gaps then: what lies between kernels is the host's work.
  bool by_ranges = false;
  /// In the order in which they run.
  std::vector<Kernel> kernels = {};
  /// Nodes of the graph that are none: copies and fills of memory.
  std::size_t copies = 0, fills = 0;
  /// Nodes of the graph whose bodies run if, or while, something holds on the device: kernels in there are not listed.
  std::size_t conditionals = 0;
  /// What could not be found out, in sentences.
  std::vector<std::string> notes = {};
  /// What copies and fills add to the kernels that follow them.
  Nanoseconds copying{};
  /// One launch of the whole as a graph, without the host; on the CPU one call, while nothing is recorded.
  Nanoseconds whole{};
  /// What lies between two kernels of a graph, by a short kernel that writes some megabytes (see gpu::Overhead). Alone,
  /// kernels are told without it.
  Nanoseconds gap{};
  /// By the profiler, from the first kernel's start to the last one's end.
  Nanoseconds profiled_span{};
  /// What recording adds to one call by ranges; it is taken away from the kernels, and not in the whole.
  Nanoseconds recording{};
  /// In the call by ranges: how many ranges other threads had, which are not among the kernels.
  std::size_t elsewhere = 0;
  /// Bytes per second of this device's memory at most, measured; 0: not measured.
  double peak_bandwidth = 0;

  /// Kernels alone, or in their place where they cannot be.
  [[nodiscard]] Nanoseconds sum() const {
    Nanoseconds total{};
    for (const Kernel& kernel : kernels) total += kernel.time().value_or(Nanoseconds{});
    return total;
  }
  /// One behind each kernel.
  [[nodiscard]] Nanoseconds gaps() const { return gap * static_cast<double>(kernels.size()); }
  /// Which share of the whole the kernels, the copies and the gaps are.
  [[nodiscard]] double explained() const {
    return whole.count() > 0 ? (sum() + copying + gaps()).count() / whole.count() : 0;
  }
  /// Which share of the sum of all kernels this one takes.
  [[nodiscard]] double share_of(const Kernel& kernel) const {
    const double total = sum().count();
    return total > 0 ? kernel.time().value_or(Nanoseconds{}).count() / total : 0;
  }
};

}  // namespace pace::kernel
