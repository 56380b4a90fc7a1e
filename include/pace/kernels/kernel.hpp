// Kernel: one kernel of a call with its times, its launch and its bytes, as values.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pace/base/units.hpp"
#include "pace/kernels/category.hpp"

namespace pace::kernel {

/// A launch on a GPU, as the driver reports it.
struct Launch {
  std::array<std::uint32_t, 3> grid{1, 1, 1};     ///< blocks in x, y and z
  std::array<std::uint32_t, 3> block{1, 1, 1};    ///< threads of a block in x, y and z
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< blocks of a cluster in x, y and z; all 1 without clusters
  int registers = 0;                              ///< of a thread
  std::int64_t local_bytes = 0;                   ///< of a thread: spilled registers and indexed arrays
  std::int64_t static_shared_bytes = 0;           ///< static shared memory of a block
  std::int64_t dynamic_shared_bytes = 0;          ///< dynamic shared memory of a block
  int blocks_per_multiprocessor = 0;              ///< blocks that one multiprocessor holds at a time
  double occupancy = 0;                           ///< threads of these blocks as a share of a multiprocessor's limit
  bool cooperative = false;                       ///< all blocks run at a time and may wait for each other
  /// Other attributes of the launch that are not the driver's defaults, such as `priority`, by name, as text.
  std::vector<std::pair<std::string, std::string>> attributes = {};
  /// Whether the kernel may begin before the one before it has ended (programmatic launch). Alone it cannot overlap
  /// with anything, so it takes longer than the time that it adds to the call.
  bool overlaps = false;

  /// Static and dynamic shared memory of a block, in bytes.
  [[nodiscard]] std::int64_t shared_bytes() const { return static_shared_bytes + dynamic_shared_bytes; }
  /// Local memory in words of four bytes, which Triton counts as spills.
  [[nodiscard]] std::int64_t spills() const { return local_bytes / 4; }
};

/// The time of a kernel over several samples.
struct KernelTime {
  Nanoseconds median{};  ///< the upper one of the two in the middle for an even number of samples
  Nanoseconds least{};   ///< the shortest time
  Nanoseconds most{};    ///< the longest time
};

/// Returns the summary of `samples`, which must not be empty.
[[nodiscard]] inline KernelTime summary_of(std::vector<Nanoseconds> samples) {
  std::ranges::sort(samples);
  return {samples[samples.size() / 2], samples.front(), samples.back()};
}

/// One of the configurations of a kernel among which its tuner chose, timed in the place of the kernel.
struct Configuration {
  std::string text = {};                       ///< its parameters, in short
  std::string printed = {};                    ///< its parameters, as Triton prints them
  bool chosen = false;                         ///< the tuner chose it
  std::optional<Launch> launch = {};           ///< absent if it could not be loaded
  std::optional<KernelTime> hot = {};          ///< alone, with its operands in the cache
  std::optional<KernelTime> cold = {};         ///< alone, with an empty cache
  std::optional<Nanoseconds> compatible = {};  ///< by the timer of KernelsOptions::compatible
  std::string why_not = {};                    ///< reason why it was not timed; empty if it was

  /// The median time with an empty cache, as tuners compare, or else with a hot one; nothing if it was not timed.
  [[nodiscard]] std::optional<Nanoseconds> time() const {
    const auto& times = cold ? cold : hot;
    return times ? std::optional(times->median) : std::nullopt;
  }
};

/// The time of one launch while the profiler records, by the profiler and by the clock of all other times.
struct UnderProfiler {
  Nanoseconds by_profiler{};  ///< median by the profiler
  Nanoseconds by_clock{};     ///< median by events, without the clock's own time
};

/// One kernel of a call.
struct Kernel {
  std::string name;                       ///< demangled, or without the number of its graph
  std::string symbol;                     ///< the driver's name or, on the CPU, the profiler's
  Category category = Category::unknown;  ///< by a provider, or by the name
  std::optional<Launch> launch;           ///< absent on the CPU, and where the driver does not report it
  double runs = 1;                        ///< in one call; on average for a kernel in the body of a conditional node
  std::optional<KernelTime> profiled;     ///< one run in the call, by the profiler; on the CPU by its ranges
  std::optional<KernelTime> hot;          ///< alone, repeated with its operands in the cache
  std::optional<KernelTime> cold;         ///< alone, with an empty cache
  /// Alone as in `hot`, while the profiler records. Both clocks agree; where both are above `hot`, the profiler slows
  /// the kernel (a fused pointwise kernel by 8 % on the H200, most kernels not at all).
  std::optional<UnderProfiler> under_profiler;
  std::optional<Nanoseconds> compatible;  ///< alone, by the timer of KernelsOptions::compatible
  /// Bytes that are restored before each launch alone, since the kernel works on them in place; 0 for most kernels.
  std::size_t restored_bytes = 0;
  Nanoseconds restoring{};      ///< time of restoring them, which no time of the kernel includes
  std::string why_not_alone;    ///< reason why it was not replayed alone; empty if it was
  std::optional<double> bytes;  ///< least number of bytes that it must read and write; absent: unknown
  /// Bytes that memory moved for one run with an empty cache, by the GPU's counters; bytes that were written last and
  /// are still in the cache are not included. Absent: not counted.
  std::optional<double> counted_bytes;
  /// In the order of the tuner's attempts; empty: not requested, or unknown.
  std::vector<Configuration> configurations;

  /// The median of `hot` or else of `profiled`; nothing without both.
  [[nodiscard]] std::optional<Nanoseconds> time() const {
    const auto& times = hot ? hot : profiled;
    return times ? std::optional(times->median) : std::nullopt;
  }
  /// The times that are compared with the memory's bandwidth: those with an empty cache if they were measured, since a
  /// cache has a larger bandwidth; otherwise `hot`, or else `profiled`.
  [[nodiscard]] std::optional<KernelTime> memory_times() const { return cold ? cold : hot ? hot : profiled; }
  /// The median of memory_times().
  [[nodiscard]] std::optional<Nanoseconds> memory_time() const {
    const auto times = memory_times();
    return times ? std::optional(times->median) : std::nullopt;
  }
  /// `bytes` per second of memory_time(); nothing if one of them is unknown.
  [[nodiscard]] std::optional<double> bandwidth() const { return bandwidth_of(bytes); }
  /// `counted_bytes` per second of memory_time(); nothing if one of them is unknown. It measures the load of the
  /// memory, not the quality of the kernel, which may have more to compute than to move.
  [[nodiscard]] std::optional<double> counted_bandwidth() const { return bandwidth_of(counted_bytes); }

 private:
  [[nodiscard]] std::optional<double> bandwidth_of(const std::optional<double>& moved) const {
    const auto took = memory_time();
    if (!moved || !took || !(took->count() > 0)) return std::nullopt;
    return *moved / took->count() * 1e9;
  }
};

}  // namespace pace::kernel
