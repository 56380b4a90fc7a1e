// KernelReport: all kernels of one call, and how much of the time of the call they explain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/kernels/kernel.hpp"

namespace pace::kernel {

/// All kernels of one call, with the times of the call itself.
struct KernelReport {
  std::string name;         ///< name of the call
  std::string device = {};  ///< name of the device
  /// Whether the call ran on the CPU, where kernels are timed in their place, by the ranges that LibTorch's profiler
  /// receives, and the call by the wall clock. There are no copies, fills or gaps then; unlisted() is the rest.
  bool by_ranges = false;
  std::vector<Kernel> kernels = {};  ///< in the order of their runs
  std::size_t copies = 0;            ///< copies among the nodes of the graph
  std::size_t fills = 0;             ///< fills among the nodes of the graph
  /// Conditional nodes of the graph. Their bodies run depending on a value on the device.
  std::size_t conditionals = 0;
  /// Whether the kernels that ran in the bodies of conditional nodes are listed, behind all others, as a profiler saw
  /// them. Kernels of bodies that did not run are not listed.
  bool bodies_profiled = false;
  /// Other nodes of the graph that do something, by their kind: `host function`, `event record`, `memory allocation`
  /// and others.
  std::map<std::string, std::size_t> other_nodes = {};
  /// How often host functions of the graph ran for this report at least, all of them together: replaying a kernel needs
  /// a launch of the graph before it, and that cannot leave out host functions.
  std::size_t host_function_runs = 0;
  std::vector<std::string> notes = {};  ///< facts that could not be determined, in sentences
  Nanoseconds copying{};                ///< time that copies and fills add to the kernels that follow them
  /// Time of one launch of the call as a graph, without the host; on the CPU, of one call that is not recorded.
  Nanoseconds whole{};
  /// Time between two kernels of a graph, measured by a short kernel that writes some megabytes (see gpu::Overhead).
  /// Times of kernels that are replayed alone do not include it.
  Nanoseconds gap{};
  Nanoseconds profiled_span{};  ///< time from the first kernel's start to the last one's end, by the profiler
  /// On the CPU, the time that recording adds to one call. It is subtracted from the kernels, and is not in `whole`.
  Nanoseconds recording{};
  std::size_t elsewhere = 0;  ///< on the CPU, the number of ranges on other threads, which are not listed
  double peak_bandwidth = 0;  ///< measured peak bandwidth of the memory, in bytes per second; 0: not measured

  /// The sum of Kernel::time() over all runs of all kernels.
  [[nodiscard]] Nanoseconds sum() const {
    Nanoseconds total{};
    for (const Kernel& kernel : kernels) total += kernel.time().value_or(Nanoseconds{}) * kernel.runs;
    return total;
  }
  /// The time of all gaps, one after each listed kernel.
  [[nodiscard]] Nanoseconds gaps() const { return gap * static_cast<double>(kernels.size()); }
  /// The share of `whole` that kernels, copies, fills and gaps are; 0 if `whole` is 0. The time of `other_nodes` is in
  /// `whole` alone.
  [[nodiscard]] double explained() const {
    return whole.count() > 0 ? (sum() + copying + gaps()).count() / whole.count() : 0;
  }
  /// On the CPU, the time of `whole` in none of the listed kernels: code that announces nothing, and the host's work. 0
  /// on a GPU, and where the kernels take longer than `whole`.
  [[nodiscard]] Nanoseconds unlisted() const {
    return by_ranges ? std::max(Nanoseconds{}, whole - sum()) : Nanoseconds{};
  }
  /// The share that `kernel` is of the kernels' time, on the CPU together with unlisted(); 0 if that is 0.
  [[nodiscard]] double share_of(const Kernel& kernel) const {
    return share_of(kernel.time().value_or(Nanoseconds{}) * kernel.runs);
  }
  /// The share that unlisted() is of the same.
  [[nodiscard]] double unlisted_share() const { return share_of(unlisted()); }

 private:
  [[nodiscard]] double share_of(Nanoseconds time) const {
    const double total = (sum() + unlisted()).count();
    return total > 0 ? time.count() / total : 0;
  }
};

}  // namespace pace::kernel
